// One run as it goes: interims that turn into finals, who said what, how late, what happened, and what it cost.
import type { SessionEvent } from '@voxgate/client';
import { Badge, Failure, Notice } from '../../controls/notice.tsx';
import { Table } from '../../controls/table.tsx';
import { usd } from '../../data/format.ts';
import type { Final, Run } from './run.ts';
import { Waveform } from './waveform.tsx';

const STATES = { opening: 'busy', listening: 'good', finishing: 'busy', ended: 'quiet' } as const;

export function Transcription({ run }: { run: Run }) {
  const { finals, interim, failovers, failure, state, ended, sessionId, events } = run;
  return (
    <>
      <section class="card">
        <div class="row apart">
          <h2>Heard</h2>
          <div class="row">
            <Badge tone={STATES[state.value]}>{state.value}</Badge>
            {sessionId.value === undefined ? null : (
              <a href={`/sessions/${sessionId.value}`} target="_blank" rel="noreferrer">
                Watch this session
              </a>
            )}
          </div>
        </div>
        <Failure of={failure.value} />
        {failovers.value.map(({ from, to, reason, seq }) => (
          <Notice tone="warn" key={seq}>
            <span>
              <strong>{from}</strong> failed ({reason}): <strong>{to}</strong> went on, and no word was lost.
            </span>
          </Notice>
        ))}
        <div role="log" aria-label="Transcript" class="transcript">
          {finals.value.map((final) => (
            <p key={final.turn}>
              {final.speaker === undefined ? '' : <strong>Speaker {final.speaker}: </strong>}
              {final.text}
            </p>
          ))}
          {interim.value === '' ? null : <p class="quiet">{interim.value}</p>}
        </div>
        <Waveform run={run} />
        <Figures finals={finals.value} />
        {ended.value === undefined ? null : (
          <p>
            {ended.value.audio_seconds.toFixed(1)} s of audio for {usd(ended.value.cost_usd)}.
          </p>
        )}
      </section>
      <details class="card">
        <summary>Events ({events.value.length})</summary>
        <Events events={events.value} />
      </details>
    </>
  );
}

/** From the end of the speech to its final, which ends with the model's own endpointing. */
function Figures({ finals }: { finals: readonly Final[] }) {
  if (finals.length === 0) return null;
  const delays = finals.map(({ delayMs }) => delayMs).sort((one, other) => one - other);
  const median = delays[Math.floor(delays.length / 2)] as number;
  return (
    <p class="quiet">
      From the end of the speech to its final: {Math.round(median)} ms in the middle,{' '}
      {Math.round(delays.at(-1) as number)} ms at most.
    </p>
  );
}

function Events({ events }: { events: readonly SessionEvent[] }) {
  return (
    <Table
      caption="Events"
      rows={events.toReversed()}
      idOf={(event) => `${'seq' in event ? event.seq : ''} ${event.type}`}
      empty={<p>None yet.</p>}
      columns={[
        { title: 'At', cell: (event) => ('at' in event ? String(event.at).slice(11, 23) : '') },
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
