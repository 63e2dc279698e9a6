// A session as it goes, or as it went: its charts with the current state lit and the edge just taken, and what happened, step by
// step. Nothing is attached to a session that nobody watches: the feed ends with this page.
import { useComputed, useSignal } from '@preact/signals';
import { useCallback, useEffect, useMemo } from 'preact/hooks';
import { Figure } from '../../controls/figure.tsx';
import { Badge, Notice } from '../../controls/notice.tsx';
import { length, usd } from '../../data/format.ts';
import { reasonText } from '../../data/reasons.ts';
import { Actors } from './actors.tsx';
import { Happened } from './happened.tsx';
import { Player } from './player.tsx';
import { Timeline } from './timeline.tsx';
import { Turns } from './turns.tsx';
import { type View, viewAfter, Watch } from './watch.ts';

/** @param isOver the session has ended: what it had is in the summary of the page */
export function Live({ id, isOver: hasEnded }: { id: string; isOver: boolean }) {
  const watch = useMemo(() => new Watch(id), [id]);
  useEffect(() => () => watch.close(), [watch]);
  /** The frame that is shown, by its place; undefined follows the newest. */
  const shown = useSignal<number | undefined>(undefined);
  const { frames, before } = watch.told.value;
  const count = Math.min(shown.value ?? frames.length, frames.length);
  const view = useMemo(() => frames.slice(0, count).reduce(viewAfter, before), [frames, before, count]);
  const isOver = watch.state.value === 'over';
  const choose = useCallback(
    (next: number) => {
      const last = watch.told.value.frames.length;
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
