// What was sent, as a waveform, with the words of the finals where they were heard.
import { useEffect, useRef } from 'preact/hooks';
import type { Run } from './run.ts';

const PIXELS_PER_PEAK = 6;
const PEAKS_PER_SECOND = 20;
const HEIGHT = 72;

export function Waveform({ run }: { run: Run }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const peaks = run.peaks.value;
  const width = Math.max(300, peaks.length * PIXELS_PER_PEAK);
  useEffect(() => {
    if (canvas.current !== null) draw(canvas.current, peaks);
  }, [peaks]);
  const words = run.finals.value.flatMap(
    (final) => final.words ?? [{ word: final.text, start: final.start, end: final.end }],
  );
  return (
    <figure class="waveform">
      <div style={{ width: `${width}px` }}>
        <canvas ref={canvas} width={width} height={HEIGHT} role="img" aria-label="Waveform of what was sent" />
        <div class="words" aria-hidden="true">
          {words.map(({ word, start, end }) => (
            <span
              key={start}
              style={{ left: `${at(start)}px`, minWidth: `${at(end - start)}px` }}
              title={`${start.toFixed(2)} to ${end.toFixed(2)} s`}
            >
              {word}
            </span>
          ))}
        </div>
      </div>
    </figure>
  );
}

const at = (seconds: number): number => seconds * PEAKS_PER_SECOND * PIXELS_PER_PEAK;

function draw(canvas: HTMLCanvasElement, peaks: readonly number[]): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.clearRect(0, 0, canvas.width, HEIGHT);
  context.fillStyle = getComputedStyle(canvas).color;
  for (const [index, peak] of peaks.entries()) {
    const height = Math.max(1, peak * HEIGHT);
    context.fillRect(index * PIXELS_PER_PEAK, (HEIGHT - height) / 2, PIXELS_PER_PEAK - 2, height);
  }
}
