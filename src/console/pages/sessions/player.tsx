// Goes through what happened, step by step or at the pace that it happened at.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { WatchedFrame } from '../../../api/console/watching.ts';
import { atMs } from './lanes.ts';

/** Between two frames, however much time was between them. */
const PAUSE_MS = { min: 60, max: 1_000 } as const;

interface PlayerProps {
  frames: readonly WatchedFrame[];
  count: number;
  /** Whether the page follows the newest frame. */
  isNewest: boolean;
  isOver: boolean;
  onChosen(count: number): void;
}

export function Player({ frames, count, isNewest, isOver, onChosen }: PlayerProps) {
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
