// The audio that was sent, as a waveform, with the words of the finals at their times, failovers and lost audio. A word plays from its time.
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { SCROLLING } from '../../controls/page.tsx';
import { reasonText } from '../../data/format.ts';
import type { Final, Run } from './run.ts';
import { Player, TAPE_SECONDS_MAX, type Tape } from './tape.ts';

const PIXELS_PER_SECOND = 120;
const HEIGHT = 72;
const BAR_GAP = 2;

export function Timeline({ run }: { run: Run }) {
  const box = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const scrolled = useSignal(0);
  const shown = useSignal<{ start: number; end: number } | undefined>(undefined);
  const follows = useRef(true);
  const player = useMemo(() => new Player(), []);
  const tape = run.tape.value;
  run.sent.value;
  useEffect(() => () => player.stop(), [player]);
  useLayoutEffect(() => {
    if (box.current === null || canvas.current === null || tape === undefined) return;
    if (follows.current) box.current.scrollLeft = box.current.scrollWidth;
    draw(canvas.current, tape, box.current.scrollLeft, box.current.clientWidth);
  });
  if (tape === undefined) return null;
  const at = (second: number) => Math.max(0, second - tape.from) * PIXELS_PER_SECOND;
  const visible = (box.current?.clientWidth ?? 800) / PIXELS_PER_SECOND;
  const from = tape.from + scrolled.value / PIXELS_PER_SECOND;
  const words = wordsBetween(run.finals.value, from - visible, from + 2 * visible);
  const playing = player.at.value;
  const lit = playing === undefined ? shown.value : words.find(({ start, end }) => playing >= start && playing < end);
  return (
    <figure class="tape">
      <section
        ref={box}
        class="view"
        {...SCROLLING}
        aria-label="Waveform of what was sent, with its words"
        onScroll={({ currentTarget: { scrollLeft, scrollWidth, clientWidth } }) => {
          scrolled.value = scrollLeft;
          follows.current = scrollWidth - scrollLeft - clientWidth < 40;
        }}
      >
        <div class="whole" style={{ width: `${at(tape.seconds)}px` }}>
          <canvas ref={canvas} height={HEIGHT} role="img" aria-label="Loudness" />
          {lit === undefined ? null : <Stretch class="lit" left={at(lit.start)} right={at(lit.end)} />}
          {run.gaps.value.map(({ from: start, to, reason, seq }) => (
            <Stretch
              key={seq}
              class="gap"
              left={at(start)}
              right={at(to)}
              title={`Not transcribed: ${reasonText(reason)}`}
            />
          ))}
          {run.changes.value.map(({ event, at: second }) => (
            <span key={event.seq} class="change" style={{ left: `${at(second)}px` }}>
              <span>{event.to} takes over</span>
            </span>
          ))}
          {playing === undefined ? null : <span class="needle" style={{ left: `${at(playing)}px` }} />}
          <div class="words">
            {words.map((word) => (
              <Word
                key={`${word.start} ${word.text}`}
                word={word}
                isLit={lit !== undefined && lit.start === word.start}
                left={at(word.start)}
                play={() => player.play(tape, word.start)}
                show={(isShown) => {
                  shown.value = isShown ? word : undefined;
                }}
              />
            ))}
          </div>
        </div>
      </section>
      <figcaption class="row apart">
        <span class="quiet small">{captionOf(tape)}</span>
        <button
          type="button"
          class="plain"
          onClick={() => (playing === undefined ? player.play(tape, tape.from) : player.stop())}
        >
          {playing === undefined ? 'Listen' : 'Stop listening'}
        </button>
      </figcaption>
    </figure>
  );
}

function captionOf(tape: Tape): string {
  const kept = `The last ${TAPE_SECONDS_MAX / 60} minutes are kept`;
  return tape.from > 0
    ? `${kept}; what came before ${tape.from.toFixed(0)} s is only removed here, not from the transcript.`
    : 'A word plays from there. The recording stays in this browser.';
}

function Stretch({ left, right, ...rest }: { class: string; left: number; right: number; title?: string }) {
  return <span {...rest} style={{ left: `${left}px`, width: `${Math.max(2, right - left)}px` }} />;
}

interface WordProps {
  word: TimedWord;
  isLit: boolean;
  left: number;
  play(): void;
  show(isShown: boolean): void;
}

function Word({ word: { text, start, end, room, speaker }, isLit, left, play, show }: WordProps) {
  const width = Math.max(14, (room - start) * PIXELS_PER_SECOND - 2);
  return (
    <button
      type="button"
      class={`word ${isLit ? 'lit' : ''} ${speakerClass(speaker)}`}
      style={{ left: `${left}px`, width: `${width}px` }}
      title={`${text}: ${start.toFixed(2)} to ${end.toFixed(2)} s`}
      onClick={play}
      onMouseEnter={() => show(true)}
      onMouseLeave={() => show(false)}
      onFocus={() => show(true)}
      onBlur={() => show(false)}
    >
      {text}
    </button>
  );
}

/** Only the visible part: the canvas does not scroll. */
function draw(canvas: HTMLCanvasElement, tape: Tape, left: number, width: number): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const scale = devicePixelRatio;
  canvas.width = width * scale;
  canvas.height = HEIGHT * scale;
  canvas.style.width = `${width}px`;
  context.scale(scale, scale);
  context.fillStyle = getComputedStyle(canvas).color;
  for (const { start, samples, peak } of tape.peaks) {
    const x = (start - tape.from) * PIXELS_PER_SECOND - left;
    const bar = (samples.length / tape.sampleRate) * PIXELS_PER_SECOND - BAR_GAP;
    if (x + bar < 0) continue;
    if (x > width) break;
    const height = Math.max(2, Math.sqrt(peak) * (HEIGHT - 8));
    context.fillRect(x, (HEIGHT - height) / 2, Math.max(1, bar), height);
  }
}

interface TimedWord {
  text: string;
  /** Seconds from the beginning. */
  start: number;
  end: number;
  /** The beginning of the next word. */
  room: number;
  speaker: number | undefined;
}

/** The words between two times. A final without the times of its words is one word. */
function wordsBetween(finals: readonly Final[], from: number, to: number): TimedWord[] {
  const words = finals
    .filter(({ start, end }) => end >= from && start <= to)
    .flatMap(({ text, start, end, speaker, words: timed }) =>
      timed === undefined || timed.length === 0
        ? [{ text, start, end, speaker }]
        : timed.map((each) => ({
            text: each.word,
            start: each.start,
            end: each.end,
            speaker: each.speaker ?? speaker,
          })),
    )
    .filter(({ text, start, end }) => text !== '' && end >= from && start <= to);
  return words.map((word, at) => ({ ...word, room: words[at + 1]?.start ?? word.end + 0.5 }));
}

const SPEAKER_STYLES = 4;

/** A speaker is shown by name, line style and colour, never by colour alone. */
export const speakerClass = (speaker: number | undefined): string =>
  speaker === undefined ? '' : `speaker speaker-${(speaker % SPEAKER_STYLES) + 1}`;
