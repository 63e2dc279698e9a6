// One run as it goes: interims that turn into finals, who said what, which model heard it, how late, and what it cost.
import type { SessionEvent } from '@voxgate/client';
import { Link } from '../../controls/link.tsx';
import { Badge, Failure, Notice } from '../../controls/notice.tsx';
import { Table } from '../../controls/table.tsx';
import { reasonText } from '../../data/reasons.ts';
import { BreakProvider } from './break-provider.tsx';
import { Delays } from './delays.tsx';
import { endOf } from './run/plain.ts';
import type { Run } from './run/run.ts';
import { toneOf, Warnings } from './run/warnings.tsx';
import { SpeakerName, speakerClass } from './speakers.tsx';
import { Timeline } from './timeline.tsx';

export function Transcription({ run }: { run: Run }) {
  const { failure, state, ended, sessionId, events } = run;
  const end = ended.value === undefined ? undefined : endOf(ended.value.reason);
  return (
    <>
      <section class="card">
        <div class="row apart">
          <h2>Heard</h2>
          <div class="row">
            <Badge tone={toneOf(run)}>{state.value}</Badge>
            {sessionId.value === undefined ? null : (
              <a href={`/sessions/${sessionId.value}`} target="_blank" rel="noreferrer">
                Watch this session
              </a>
            )}
          </div>
        </div>
        <Failure of={failure.value} />
        <Warnings run={run} />
        {failure.value === undefined && end !== undefined ? <Notice tone="warn">{end}</Notice> : null}
        <BreakProvider run={run} />
        <Timeline run={run} />
        <Transcript run={run} />
        <Delays run={run} />
      </section>
      <details class="card">
        <summary>Events ({events.value.length})</summary>
        <Events events={events.value} />
      </details>
    </>
  );
}

/** One line for each turn; it begins as an interim and stays the same line when it is final. */
function Transcript({ run: { finals, interim, changes, forgottenFinals, asked } }: { run: Run }) {
  const lines = interim.value === undefined ? finals.value : [...finals.value, interim.value];
  const begun = new Set([asked.model]);
  return (
    <div role="log" aria-label="Transcript" class="transcript">
      {forgottenFinals.value === 0 ? null : (
        <p class="quiet small">{forgottenFinals.value} earlier lines are shown here no more.</p>
      )}
      {lines.length === 0 ? <p class="quiet">Words appear here as they are heard.</p> : null}
      {lines.map(({ turn, model, speaker, text, is_final }, at) => {
        const isNew = at === 0 ? !begun.has(model) : lines[at - 1]?.model !== model;
        const change = changes.value.findLast(({ event }) => event.to === model)?.event;
        return (
          <div key={turn} class="line">
            {isNew ? (
              <p class="takeover">
                <Badge tone="warn">failover</Badge>
                <span>
                  <code>{model}</code> heard it from here on
                  {change === undefined
                    ? ''
                    : `: ${change.from} failed (${reasonText(change.reason)}), and its audio was replayed`}
                </span>
              </p>
            ) : null}
            <p class={`${is_final ? 'final' : 'interim'} ${speakerClass(speaker)}`}>
              <SpeakerName speaker={speaker} /> {text}
              {is_final ? null : <span class="unseen"> (may still change)</span>}
            </p>
          </div>
        );
      })}
    </div>
  );
}

function Events({ events }: { events: readonly SessionEvent[] }) {
  return (
    <Table
      caption="Events"
      rows={events.toReversed()}
      idOf={(event) => `${event.session_id} ${event.seq} ${event.type}`}
      empty={<p>None yet.</p>}
      columns={[
        { title: 'At', cell: ({ at }) => at.slice(11, 23) },
        { title: 'Event', cell: ({ type }) => <code>{type}</code> },
        { title: 'What it says', cell: (event) => <code class="small">{rest(event)}</code> },
      ]}
    />
  );
}

function rest(event: SessionEvent): string {
  const hidden = new Set(['type', 'at', 'seq', 'session_id']);
  return JSON.stringify(Object.fromEntries(Object.entries(event).filter(([name]) => !hidden.has(name))));
}

/** Where nothing was heard yet. */
export function Invitation() {
  return (
    <section class="card empty">
      <h2>Hear what a model makes of your voice</h2>
      <p>
        Speak into the microphone, play the sample, or drop a file. Words appear while they are spoken, with their
        times, their delay and what they cost. <Link to="/models">All models</Link>
      </p>
    </section>
  );
}
