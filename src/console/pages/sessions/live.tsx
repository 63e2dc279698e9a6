// A session as it goes, or as it went: its charts with the current state lit and the edge just taken, and what happened, step by
// step. Nothing is attached to a session that nobody watches: the feed ends with this page.
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { WatchedActor, WatchedFrame } from '../../../api/console/watching.ts';
import { Chart, statesIn } from '../../charts/chart.tsx';
import { DRAWINGS, transitionsOf } from '../../charts/drawings.ts';
import { Figure } from '../../controls/figure.tsx';
import { Badge, Notice } from '../../controls/notice.tsx';
import { Table } from '../../controls/table.tsx';
import { length, usd } from '../../data/format.ts';
import { NOTHING, type View, viewAfter, Watch } from './watch.ts';

export function Live({ id }: { id: string }) {
  const watch = useMemo(() => new Watch(id), [id]);
  useEffect(() => () => watch.close(), [watch]);
  /** Frames that are shown; undefined follows the newest. */
  const shown = useSignal<number | undefined>(undefined);
  const frames = watch.frames.value;
  const count = Math.min(shown.value ?? frames.length, frames.length);
  const view = useMemo(() => frames.slice(0, count).reduce(viewAfter, NOTHING), [frames, count]);
  const step = (by: number) => {
    const next = Math.min(frames.length, Math.max(1, count + by));
    shown.value = next === frames.length ? undefined : next;
  };
  return (
    <section class="stack">
      <div class="row apart">
        <h2>What it does</h2>
        <State watch={watch} />
      </div>
      <Figures view={view} />
      <Charts view={view} />
      <div class="row">
        <button type="button" disabled={count <= 1} onClick={() => step(-1)}>
          One step back
        </button>
        <input
          type="range"
          class="scrubber"
          aria-label="Step"
          min={Math.min(1, frames.length)}
          max={frames.length}
          value={count}
          onInput={(event) => step(Number(event.currentTarget.value) - count)}
        />
        <button type="button" disabled={count >= frames.length} onClick={() => step(1)}>
          One step on
        </button>
        <button type="button" disabled={shown.value === undefined} onClick={() => (shown.value = undefined)}>
          Newest
        </button>
        <span class="quiet small">
          {count} of {frames.length}
        </span>
      </div>
      <Timeline frames={frames.slice(0, count)} />
    </section>
  );
}

function State({ watch }: { watch: Watch }) {
  const tone = useComputed(
    () => ({ opening: 'busy', on: 'good', broken: 'warn', over: 'quiet' })[watch.state.value] as 'good',
  );
  const words = { opening: 'connecting', on: 'watching', broken: 'connecting again', over: 'nothing more follows' };
  return <Badge tone={tone.value}>{words[watch.state.value]}</Badge>;
}

function Figures({ view: { figures, ended } }: { view: View }) {
  return (
    <>
      {ended === undefined ? null : <Notice tone="busy">It has ended: {ended}.</Notice>}
      {figures === undefined ? null : (
        <dl class="figures">
          <Figure title="Audio received" value={length(figures.received_seconds)} />
          <Figure title="Sent to the model" value={length(figures.sent_seconds)} />
          <Figure title="Settled by finals" value={length(figures.settled_seconds)} />
          <Figure title="Cost so far" value={usd(figures.cost_usd)} />
          <Figure title="Held" value={usd(figures.held_usd)} />
        </dl>
      )}
    </>
  );
}

/** The chart of the actor that is chosen, beside all of them. */
function Charts({ view: { actors, taken } }: { view: View }) {
  const chosen = useSignal('session');
  const all = [...actors.values()];
  const actor = actors.get(chosen.value) ?? all[0];
  if (actor === undefined) return null;
  return (
    <>
      <Table
        caption="Charts of this session"
        rows={all}
        idOf={({ id }) => id}
        empty={<p>None.</p>}
        columns={[
          {
            title: 'Actor',
            cell: ({ id }) => (
              <button type="button" class="plain" aria-pressed={id === actor.id} onClick={() => (chosen.value = id)}>
                <code>{id}</code>
              </button>
            ),
          },
          { title: 'Chart', cell: ({ machine }) => machine },
          { title: 'About', cell: ({ about }) => about ?? '' },
          { title: 'Node', cell: ({ node }) => <code>{node}</code> },
          {
            title: 'State',
            cell: ({ value, status }) => <Badge tone={status === 'active' ? 'good' : 'quiet'}>{wordsOf(value)}</Badge>,
          },
        ]}
      />
      {DRAWINGS.has(actor.machine) ? (
        <>
          <Chart key={actor.machine} machine={actor.machine} value={actor.value} taken={taken.get(actor.id) ?? []} />
          <Next actor={actor} />
        </>
      ) : null}
    </>
  );
}

/** What could come next: the events that leave a state in which the actor is. */
function Next({ actor: { machine, value, status } }: { actor: WatchedActor }) {
  if (status !== 'active') return null;
  const current = new Set(statesIn(machine, value));
  const events = transitionsOf(DRAWINGS.get(machine) ?? '').filter(({ from }) => current.has(from));
  const names = [...new Set(events.map(({ event }) => event.replace(/ (?:\[|\/).*$/, '')))];
  return <p class="quiet">Could come next: {names.join(', ') || 'nothing'}.</p>;
}

function Timeline({ frames }: { frames: readonly WatchedFrame[] }) {
  const told = frames.filter(({ kind }) => kind !== 'audio' && kind !== 'actors');
  return (
    <Table
      caption="What happened"
      rows={told.toReversed()}
      idOf={({ sequence, kind }) => `${sequence} ${kind}`}
      empty={<p>Nothing yet.</p>}
      columns={[
        { title: 'At', cell: ({ at }) => <code class="small">{at.slice(11, 23)}</code> },
        {
          title: 'What',
          cell: (frame) => (frame.kind === 'mark' ? <strong>{frame.mark.replace('_', ' ')}</strong> : frame.kind),
        },
        { title: 'Details', cell: detailsOf },
      ]}
    />
  );
}

function detailsOf(frame: WatchedFrame): string {
  switch (frame.kind) {
    case 'mark':
      return [frame.model, frame.text].filter((part) => part !== undefined && part !== '').join(': ');
    case 'step': {
      const passed = frame.through.map((value) => `${wordsOf(value)} → `).join('');
      return `${frame.actor}: ${frame.event} → ${passed}${wordsOf(frame.value)}`;
    }
    case 'actor':
      return `${frame.actor.id} (${frame.actor.about ?? frame.actor.machine})`;
    case 'gone':
      return frame.actor;
    case 'dropped':
      return `${frame.count} frames were left out`;
    case 'ended':
      return frame.reason;
    default:
      return '';
  }
}

/** `{live: {link: 'streaming'}}` is `live.link.streaming`; regions are parted by commas. */
function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return Object.entries((value ?? {}) as Record<string, unknown>)
    .map(([key, below]) => `${key}.${wordsOf(below)}`)
    .join(', ');
}
