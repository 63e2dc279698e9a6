// One run: interims that become finals, speakers, models, delays and cost; warnings, and failovers on demand.
import { useSignal } from '@preact/signals';
import type { SessionEvent } from '@voxgate/client';
import type { ChosenModel } from '../../../api/choice.ts';
import type { BreakBody } from '../../../api/console/console.ts';
import type { SessionAnswer } from '../../../api/usage.ts';
import { ActionButton } from '../../controls/actions.tsx';
import { Badge, Failure, Notice, type Tone } from '../../controls/notice.tsx';
import { Link } from '../../controls/page.tsx';
import { Table } from '../../controls/table.tsx';
import { Figure } from '../../controls/values.tsx';
import { request, useAnswer } from '../../data/api.ts';
import { reasonText, usd } from '../../data/format.ts';
import { endOf, type Run, type RunState } from './run.ts';
import { speakerClass, Timeline } from './timeline.tsx';

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
        <Choice models={run.choice.value} />
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
function Transcript({ run: { finals, interim, changes, forgottenFinals, request, choice } }: { run: Run }) {
  const lines = interim.value === undefined ? finals.value : [...finals.value, interim.value];
  const begun = new Set([request.model, ...choice.value.slice(0, 1).map(({ model }) => model)]);
  return (
    <div role="log" aria-label="Transcript" class="transcript">
      {forgottenFinals.value === 0 ? null : (
        <p class="quiet small">{forgottenFinals.value} earlier lines are no longer shown.</p>
      )}
      {lines.length === 0 ? <p class="quiet">Words appear here as they are recognised.</p> : null}
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

/** With `auto`: which models were chosen, and why in this order. */
function Choice({ models }: { models: readonly ChosenModel[] }) {
  if (models.length === 0) return null;
  return (
    <Table
      caption="Chosen by the gateway"
      rows={models}
      idOf={({ model }) => model}
      empty={null}
      columns={[
        {
          title: 'Chosen by the gateway',
          cell: ({ model, reason }) => (
            <>
              <code>{model}</code>
              <p class="quiet small">{reason}</p>
            </>
          ),
        },
        { title: 'Measured', cell: measuredOf },
        {
          title: 'USD a minute',
          cell: ({ price_per_minute: price }) => (price === undefined ? 'per session' : price),
        },
      ]}
    />
  );
}

function measuredOf({ measured, error_rate: rate, first_word_ms: delay }: ChosenModel): string {
  if (measured === 0) return 'nothing yet';
  const failed = rate === undefined ? '' : `, ${(rate * 100).toFixed(1)} % failed`;
  return `${measured} attempts${failed}${delay === undefined ? '' : `, first words after ${ms(delay)}`}`;
}

function SpeakerName({ speaker }: { speaker: number | undefined }) {
  return speaker === undefined ? null : <strong class="speaker-name">Speaker {speaker + 1}</strong>;
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

/** Before the first run. */
export function Invitation() {
  return (
    <section class="card empty">
      <h2>Try a model with your voice</h2>
      <p>
        Speak into the microphone, play the sample, or drop a file. Words appear while they are spoken, with their
        times, their delay and what they cost. <Link to="/models">All models</Link>
      </p>
    </section>
  );
}

const TONES: Readonly<Record<RunState, Tone>> = {
  opening: 'busy',
  listening: 'good',
  reconnecting: 'warn',
  finishing: 'busy',
  ended: 'quiet',
};

/** A run with a warning looks different from one without. */
export function toneOf({ state, failure, warnings }: Run): Tone {
  if (failure.value !== undefined) return 'bad';
  return warnings.value.length > 0 ? 'warn' : TONES[state.value];
}

/** Warnings of the gateway, and a lost connection. */
export function Warnings({ run: { warnings, reconnecting } }: { run: Run }) {
  const broken = reconnecting.value;
  if (warnings.value.length === 0 && broken === undefined) return null;
  return (
    <Notice tone="warn">
      {broken === undefined ? null : (
        <p>
          The connection was lost ({broken.reason}). Attempt {broken.attempt} to reconnect follows; audio is kept until
          then.
        </p>
      )}
      {warnings.value.map(({ code, message, param }) => (
        <p key={`${code} ${param} ${message}`}>
          {message} <code class="small">{param === undefined ? code : `${code}: ${param}`}</code>
        </p>
      ))}
    </Notice>
  );
}

const POLL_MS = 2_000;

const FAULTS: Readonly<Record<BreakBody['fault'], string>> = {
  drop: 'cut the connection',
  stall: 'fall silent',
  error: 'report an error',
};

/** Makes a simulated provider fail in this session, to show a failover; hidden with a real provider. */
function BreakProvider({ run }: { run: Run }) {
  const id = run.sessionId.value;
  const fault = useSignal<BreakBody['fault']>('drop');
  const isLive = run.state.value === 'listening' || run.state.value === 'reconnecting';
  const { value } = useAnswer<SessionAnswer>(isLive && id !== undefined ? `sessions/${id}` : undefined, POLL_MS);
  const leg = value?.legs?.at(-1);
  if (!isLive || leg?.simulated !== true) return null;
  return (
    <div class="break">
      <p>
        <code>{leg.model}</code> is simulated here. Make it fail for this session, and see what happens to your words.
      </p>
      <div class="row">
        <select
          aria-label="How the provider fails"
          value={fault.value}
          onChange={(event) => (fault.value = event.currentTarget.value as BreakBody['fault'])}
        >
          {Object.entries(FAULTS).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
        <ActionButton
          class="danger"
          action={() => request('POST', `playground/sessions/${id}/break`, { fault: fault.value })}
        >
          Break the provider
        </ActionButton>
      </div>
    </div>
  );
}

const MEANING = {
  speech:
    'From the end of the speech until its final was on this page: with the model’s own wait for the end of a turn, and the way to this browser.',
  gateway: 'From when the provider’s final was read from its connection until the gateway had written it to this page.',
} as const;

export function medianOf(delays: readonly number[]): number | undefined {
  return delays.toSorted((one, other) => one - other)[Math.floor(delays.length / 2)];
}

export const ms = (delay: number | undefined): string | undefined => {
  if (delay === undefined) return undefined;
  return delay < 10 ? `${delay.toFixed(1)} ms` : `${Math.round(delay)} ms`;
};

export const costOf = (run: Run): string | undefined => {
  const cost = run.ended.value?.cost_usd ?? run.figures.value?.costUsd.value;
  return cost === undefined ? undefined : usd(cost);
};

/** How late finals come: the last one, and the median. */
function Delays({ run }: { run: Run }) {
  const speech = run.finals.value.map(({ delayMs }) => delayMs);
  const gateway = run.figures.value?.gatewayMs.value ?? [];
  const seconds = run.ended.value?.audio_seconds ?? run.tape.value?.seconds;
  run.sent.value;
  return (
    <section class="stack close">
      <dl class="figures">
        <Figure title="End of speech to final, median" value={ms(medianOf(speech))} note={lastOf(speech)} />
        {gateway.length === 0 ? null : (
          <Figure title="Of which in the gateway" value={ms(medianOf(gateway))} note={lastOf(gateway)} />
        )}
        <Figure title="Audio" value={seconds === undefined ? undefined : `${seconds.toFixed(1)} s`} />
        <Figure title={run.ended.value === undefined ? 'Cost so far' : 'Cost'} value={costOf(run)} />
      </dl>
      <details class="small quiet">
        <summary>What the delays are</summary>
        <p>{MEANING.speech}</p>
        {gateway.length === 0 ? null : <p>The gateway itself: {MEANING.gateway}</p>}
      </details>
    </section>
  );
}

const lastOf = (delays: readonly number[]): string | undefined =>
  delays.length === 0 ? undefined : `${ms(delays.at(-1))} for the last one`;
