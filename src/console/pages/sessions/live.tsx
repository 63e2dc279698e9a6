// A session live, or replayed: its timeline and charts, its turns and what happened, step by step. The feed ends with this page: nothing is
// attached to a session that is not watched.
import { useComputed, useSignal } from '@preact/signals';
import { useCallback, useEffect, useMemo } from 'preact/hooks';
import type { WatchedFrame } from '../../../api/console/watching.ts';
import { Badge, Notice } from '../../controls/notice.tsx';
import { Table } from '../../controls/table.tsx';
import { Figure } from '../../controls/values.tsx';
import { failoverText, length, reasonText, shortSeconds, usd } from '../../data/format.ts';
import { person } from '../../data/organisation.ts';
import { Actors, wordsOf } from './actors.tsx';
import { atMs, wordsOfMark } from './lanes.ts';
import { Timeline } from './timeline.tsx';
import { type View, viewAfter, Watch } from './watch.ts';

/** @param isOver the session has ended: the summary of the page has its figures */
export function Live({ id, isOver: hasEnded }: { id: string; isOver: boolean }) {
  const watch = useMemo(() => new Watch(id), [id]);
  useEffect(() => () => watch.close(), [watch]);
  /** The number of frames shown; undefined follows the newest. */
  const shown = useSignal<number | undefined>(undefined);
  const { frames, before } = watch.history.value;
  const count = Math.min(shown.value ?? frames.length, frames.length);
  const view = useMemo(() => frames.slice(0, count).reduce(viewAfter, before), [frames, before, count]);
  const isOver = watch.state.value === 'over';
  const choose = useCallback(
    (next: number) => {
      const last = watch.history.value.frames.length;
      const at = Math.min(last, Math.max(1, next));
      shown.value = at === last ? undefined : at;
    },
    [watch],
  );
  return (
    <section class="stack">
      <div class="row apart">
        <h2>{hasEnded || isOver ? 'What happened' : 'Live'}</h2>
        <State watch={watch} />
      </div>
      {hasEnded && shown.value === undefined ? null : <Figures view={view} />}
      <Timeline frames={frames} count={count} onChosen={choose} />
      <Player frames={frames} count={count} isNewest={shown.value === undefined} isOver={isOver} onChosen={choose} />
      <Actors view={view} />
      <Turns frames={frames.slice(0, count)} />
      <div class="log">
        <Happened frames={frames.slice(0, count)} />
      </div>
    </section>
  );
}

function State({ watch }: { watch: Watch }) {
  const tone = useComputed(
    () => ({ opening: 'busy', on: 'good', broken: 'warn', over: 'quiet' })[watch.state.value] as 'good',
  );
  const words = { opening: 'connecting', on: 'live', broken: 'connecting again', over: 'replay' };
  return <Badge tone={tone.value}>{words[watch.state.value]}</Badge>;
}

function Figures({ view: { figures, ended } }: { view: View }) {
  return (
    <>
      {ended === undefined ? null : <Notice tone="busy">It has ended: {reasonText(ended)}.</Notice>}
      {figures === undefined ? null : (
        <dl class="figures narrow">
          <Figure title="Audio received" value={length(figures.received_seconds)} />
          <Figure title="Sent to the model" value={length(figures.sent_seconds)} />
          <Figure title="Settled by finals" value={length(figures.settled_seconds)} />
          {/* After the end, the summary of the page shows the charge. */}
          {ended === undefined ? <Figure title="Cost so far" value={usd(figures.cost_usd)} /> : null}
          {ended === undefined ? <Figure title="Held" value={usd(figures.held_usd)} /> : null}
        </dl>
      )}
    </>
  );
}

/** Bounds of the pause between two frames. */
const PAUSE_MS = { min: 60, max: 1_000 } as const;

interface PlayerProps {
  frames: readonly WatchedFrame[];
  count: number;
  /** Whether the page follows the newest frame. */
  isNewest: boolean;
  isOver: boolean;
  onChosen(count: number): void;
}

/** Goes through what happened, step by step or at its original pace. */
function Player({ frames, count, isNewest, isOver, onChosen }: PlayerProps) {
  const isPlaying = useSignal(false);
  useEffect(() => {
    if (!isPlaying.value) return;
    const [here, next] = [frames[count - 1], frames[count]];
    if (here === undefined || next === undefined) {
      isPlaying.value = false;
      return;
    }
    const pauseMs = Math.min(PAUSE_MS.max, Math.max(PAUSE_MS.min, atMs(next) - atMs(here)));
    const timer = setTimeout(() => onChosen(count + 1), pauseMs);
    return () => clearTimeout(timer);
  }, [isPlaying.value, frames, count, onChosen]);
  const play = () => {
    if (!isPlaying.value && count >= frames.length) onChosen(1);
    isPlaying.value = !isPlaying.value;
  };
  const step = (by: number) => {
    isPlaying.value = false;
    onChosen(count + by);
  };
  return (
    <div class="row player">
      <button type="button" aria-label="One step back" disabled={count <= 1} onClick={() => step(-1)}>
        ‹
      </button>
      <button type="button" disabled={frames.length < 2} onClick={play}>
        {isPlaying.value ? 'Pause' : isOver ? 'Replay' : 'Play'}
      </button>
      <button type="button" aria-label="One step on" disabled={count >= frames.length} onClick={() => step(1)}>
        ›
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
      <span class="quiet small value">
        {count} of {frames.length}
      </span>
      {isNewest ? null : (
        <button type="button" onClick={() => step(frames.length - count)}>
          {isOver ? 'To the end' : 'Go live'}
        </button>
      )}
    </div>
  );
}

type Mark = Extract<WatchedFrame, { kind: 'mark' }>;
type Row = Mark & { number: number };

/** The turns with a final. Transcripts are there only while the session is live, and only where the organisation shows them. */
function Turns({ frames }: { frames: readonly WatchedFrame[] }) {
  const turns = frames.filter((frame): frame is Mark => frame.kind === 'mark' && frame.mark === 'turn_final');
  if (turns.length === 0) return null;
  const hasText = turns.some(({ transcript }) => transcript !== undefined);
  return (
    <section class="stack close">
      <div class="row apart">
        <h3>Turns</h3>
        <span class="quiet small">{noteOn(hasText)}</span>
      </div>
      <div class="log">
        <Table<Row>
          caption="Turns"
          rows={turns.map((turn, at) => ({ ...turn, number: at + 1 })).toReversed()}
          idOf={({ sequence }) => String(sequence)}
          empty={null}
          columns={[
            { title: 'Turn', cell: ({ number }) => `Turn ${number}` },
            { title: 'From – to', cell: ({ start, end }) => spanOf(start, end) },
            ...(hasText ? [{ title: 'Transcript', cell: transcriptOf }] : []),
            { title: 'Model', cell: ({ model = '' }) => <span>{model}</span> },
            { title: 'Final after', isNumber: true, cell: ({ final_ms: ms }) => delayOf(ms) },
            { title: 'In the gateway', isNumber: true, cell: ({ gateway_ms: ms }) => delayOf(ms) },
          ]}
        />
      </div>
    </section>
  );
}

const transcriptOf = ({ transcript }: Mark) =>
  transcript === undefined ? <span class="quiet">not kept</span> : transcript === '' ? '–' : <span>{transcript}</span>;

function noteOn(hasText: boolean): string {
  if (hasText) return 'Transcripts are shown while the session is live, and are not stored.';
  if (person.value?.organisation.show_transcripts) return 'Transcripts are shown only while a session is live.';
  return 'Your organisation does not show transcripts here. An owner can turn them on in Settings.';
}

const delayOf = (ms: number | undefined): string => (ms === undefined ? '–' : shortSeconds(ms / 1000));

const spanOf = (start: number | undefined, end: number | undefined): string =>
  start === undefined || end === undefined ? '–' : `${start.toFixed(1)} – ${end.toFixed(1)} s`;

/** What happened in words, the latest first. */
function Happened({ frames }: { frames: readonly WatchedFrame[] }) {
  const shown = frames.filter(({ kind }) => kind !== 'audio' && kind !== 'actors');
  return (
    <Table
      caption="What happened"
      rows={shown.toReversed()}
      idOf={({ sequence, kind }) => `${sequence} ${kind}`}
      empty={<p>Nothing yet.</p>}
      columns={[
        { title: 'At', cell: ({ at }) => <code class="small">{at.slice(11, 23)}</code> },
        { title: 'What', cell: whatOf },
        { title: 'Details', cell: detailsOf },
      ]}
    />
  );
}

function whatOf(frame: WatchedFrame) {
  if (frame.kind === 'mark') return <strong>{wordsOfMark(frame.mark)}</strong>;
  if (frame.kind === 'step') return <code>{frame.actor}</code>;
  return frame.kind === 'actor' ? <code>{frame.actor.id}</code> : frame.kind;
}

const markText = ({ mark, text }: Mark): string =>
  mark === 'leg_lost' ? reasonText(text) : mark === 'failover' ? failoverText(text) : text;

function detailsOf(frame: WatchedFrame): string {
  switch (frame.kind) {
    case 'mark':
      return [frame.model, markText(frame)].filter((part) => part !== undefined && part !== '').join(': ');
    case 'step': {
      const passed = frame.through.map((value) => `${wordsOf(value)} → `).join('');
      return `${frame.event === '' ? '' : `${frame.event} → `}${passed}${wordsOf(frame.value)}`;
    }
    case 'actor':
      return `begins: ${[frame.actor.about, wordsOf(frame.actor.value)].filter(Boolean).join(', ')}`;
    case 'gone':
      return frame.actor;
    case 'dropped':
      return `${frame.count} frames were left out`;
    case 'ended':
      return reasonText(frame.reason);
    default:
      return '';
  }
}
