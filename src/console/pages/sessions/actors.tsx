// The charts that a session has a part in, and the one that is chosen, drawn: its state lit, the edge just taken, what could come next.
import { useSignal } from '@preact/signals';
import type { WatchedActor } from '../../../api/console/watching.ts';
import { Badge } from '../../controls/notice.tsx';
import { Chart, DRAWINGS, statesIn, transitionsOf } from '../../controls/state-chart.tsx';
import type { View } from './watch.ts';

export function Actors({ view: { actors, taken } }: { view: View }) {
  const chosen = useSignal('session');
  const all = [...actors.values()].sort((one, other) => orderOf(one) - orderOf(other));
  const actor = actors.get(chosen.value) ?? all[0];
  if (actor === undefined) return null;
  return (
    <div class="actors">
      <ul class="plain-list" aria-label="Charts of this session">
        {all.map(({ id, about, node, value, status }) => (
          <li key={id}>
            <button
              type="button"
              class={taken.has(id) ? 'actor has-moved' : 'actor'}
              aria-pressed={id === actor.id}
              onClick={() => (chosen.value = id)}
            >
              <strong>{id}</strong>
              <Badge tone={toneOf(status, value)}>{shortOf(value)}</Badge>
              <span class="quiet small">{[about, node && `node ${node}`].filter(Boolean).join(', ')}</span>
            </button>
          </li>
        ))}
      </ul>
      <div class="stack">
        {DRAWINGS.has(actor.machine) ? (
          <Chart key={actor.machine} machine={actor.machine} value={actor.value} taken={taken.get(actor.id) ?? []} />
        ) : (
          <p class="empty card">
            {STATES[actor.machine] ?? 'It has a state, and no drawing.'} Now: {wordsOf(actor.value)}.
          </p>
        )}
        <Next actor={actor} />
      </div>
    </div>
  );
}

/** The session and its own charts first, then its legs, and then what is around it. */
const ORDER = ['session', 'turn', 'failover', 'upstream', 'placing', 'money', 'breaker', 'node'];
const orderOf = ({ machine }: WatchedActor): number => ORDER.indexOf(machine);

const STATES: Readonly<Record<string, string>> = {
  money:
    'Whether the hold pays for the audio: free, held, starved (audio waits for money), trusted (the ledger does not answer), short.',
  placing:
    'Which node has the leg: none, queued (its turn to dial has not come), asking, waiting for the bus or for a node, placed.',
};

function toneOf(status: string, value: unknown) {
  if (value === 'failed' || value === 'open' || value === 'short' || status === 'stopped') return 'bad';
  if (value === 'starved' || value === 'trusted' || String(value).startsWith('waiting')) return 'warn';
  return status === 'active' ? 'good' : 'quiet';
}

/** What could come next: the events that leave a state in which the actor is. */
function Next({ actor: { machine, value, status } }: { actor: WatchedActor }) {
  if (status !== 'active' || !DRAWINGS.has(machine)) return null;
  const current = new Set(statesIn(machine, value));
  const events = transitionsOf(DRAWINGS.get(machine) ?? '').filter(({ from }) => current.has(from));
  const names = [...new Set(events.map(({ event }) => event.replace(/ ?(?:\[|\/).*$/, '')))].filter(
    (name) => name !== '',
  );
  return (
    <p class="quiet small">
      Could come next:{' '}
      {names.length === 0
        ? 'nothing'
        : names.map((name) => (
            <code key={name} class="chip">
              {name}
            </code>
          ))}
    </p>
  );
}

/** Of several regions the first, which says most: `streaming`. */
function shortOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const [first] = Object.values((value ?? {}) as Record<string, unknown>);
  return first === undefined ? '' : shortOf(first);
}

/** `{live: {link: 'streaming'}}` is `live.link.streaming`; regions are parted by commas. */
export function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value.replaceAll('_', ' ');
  return Object.entries((value ?? {}) as Record<string, unknown>)
    .map(([key, below]) => `${key}.${wordsOf(below)}`)
    .join(', ');
}
