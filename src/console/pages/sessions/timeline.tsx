// A session over its time: legs as bars by model, audio received, sent and settled, turns as ticks, and failures as marks. The line is the
// frame that is shown.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { AudioFrame, WatchedFrame } from '../../../api/console/watching.ts';
import { length, usd } from '../../data/format.ts';
import { atMs, type Lanes, lanesOf, type Tick } from './lanes.ts';

interface TimelineProps {
  frames: readonly WatchedFrame[];
  /** The number of frames shown. */
  count: number;
  onChosen(count: number): void;
}

const percent = (share: number): string => `${(share * 100).toFixed(3)}%`;

export function Timeline({ frames, count, onChosen }: TimelineProps) {
  const lanes = useMemo(() => lanesOf(frames), [frames]);
  const [first] = frames;
  const here = frames[count - 1];
  if (first === undefined || here === undefined) return null;
  const now = (atMs(here) - atMs(first)) / 1000 / lanes.seconds;
  const figures = lanes.audio.findLast(({ at }) => at <= now)?.frame;
  const choose = (event: MouseEvent) => {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    const ms = atMs(first) + ((event.clientX - left) / width) * lanes.seconds * 1000;
    onChosen(frames.filter((frame) => atMs(frame) <= ms).length);
  };
  const lane = (title: string, value: string, children: ComponentChildren) => (
    <Lane title={title} value={value} now={now} watchedFrom={unwatched(title, lanes)} onChosen={choose}>
      {children}
    </Lane>
  );
  const seconds = (value: number | undefined) => (value === undefined ? '' : length(value));
  return (
    <section class="card lanes" aria-label="Timeline">
      {lane('Legs', `${lanes.legs.length}`, <Legs lanes={lanes} />)}
      {lane(
        'Received',
        seconds(figures?.received_seconds),
        <Area lanes={lanes} of={({ received_seconds }) => received_seconds} />,
      )}
      {lane('Sent', seconds(figures?.sent_seconds), <Area lanes={lanes} of={({ sent_seconds }) => sent_seconds} />)}
      {lane(
        'Settled',
        seconds(figures?.settled_seconds),
        <Area lanes={lanes} of={({ settled_seconds }) => settled_seconds} />,
      )}
      {lane(
        'Turns',
        `${lanes.turns.filter(({ at, mark }) => mark === 'turn_final' && at <= now).length}`,
        <Ticks ticks={lanes.turns} />,
      )}
      {lane('Events', `${lanes.events.filter(({ at }) => at <= now).length}`, <Ticks ticks={lanes.events} />)}
      {lane(
        'Cost',
        figures === undefined ? '' : usd(figures.cost_usd),
        <Area lanes={lanes} of={({ cost_usd }) => Number(cost_usd)} />,
      )}
      <div class="scale" aria-hidden="true">
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <span key={share}>{length(Math.round(share * lanes.seconds))}</span>
        ))}
      </div>
      <Legend />
    </section>
  );
}

/** Of the lanes that are known only while the session is watched. */
const unwatched = (title: string, { watchedFrom }: Lanes): number | undefined =>
  ['Received', 'Sent', 'Settled', 'Cost'].includes(title) ? watchedFrom : undefined;

const LEGEND: readonly (readonly [Tick['mark'], string])[] = [
  ['turn_final', 'final of a turn'],
  ['failover', 'failover'],
  ['leg_lost', 'connection lost'],
  ['warning', 'warning'],
  ['discontinuity', 'audio without a final'],
  ['suspended', 'other event'],
];

const Legend = () => (
  <ul class="legend plain-list" aria-label="Legend">
    {LEGEND.map(([mark, words]) => (
      <li key={mark}>
        <svg class="lane" aria-hidden="true">
          <Ticks ticks={[{ at: 0.5, mark, words }]} />
        </svg>
        {words}
      </li>
    ))}
  </ul>
);

interface LaneProps {
  title: string;
  value: string;
  now: number;
  /** Where what it shows began to be known; undefined where all of it is. */
  watchedFrom: number | undefined;
  onChosen(event: MouseEvent): void;
  children: ComponentChildren;
}

function Lane({ title, value, now, watchedFrom, onChosen, children }: LaneProps) {
  return (
    <>
      <span class="quiet small">{title}</span>
      {/* What it does can be done by the scrubber with the keyboard, too. */}
      <svg class="lane" role="img" aria-label={`${title}: ${value}`} onPointerDown={onChosen}>
        {watchedFrom === undefined ? null : <Unwatched until={watchedFrom} />}
        {children}
        <line class="now" x1={percent(now)} x2={percent(now)} y1="0" y2="100%" />
      </svg>
      <span class="small value">{value}</span>
    </>
  );
}

function Unwatched({ until }: { until: number }) {
  const isWide = until > 0.25;
  return (
    <>
      <title>Not watched before this point</title>
      <rect class="unwatched" width={percent(until)} height="100%" />
      <line class="watched-from" x1={percent(until)} x2={percent(until)} y1="0" y2="100%" />
      <text
        class="watched-words"
        x={percent(until)}
        dx={isWide ? -6 : 6}
        y="50%"
        text-anchor={isWide ? 'end' : 'start'}
        dominant-baseline="central"
      >
        watched from here
      </text>
    </>
  );
}

function Legs({ lanes: { legs } }: { lanes: Lanes }) {
  return (
    <>
      {legs.map(({ from, to, model, series, words }) => (
        <svg key={from} x={percent(from)} width={percent(Math.max(0.004, to - from))} height="100%">
          <title>{words}</title>
          <rect class={`leg series-${series}`} width="100%" height="100%" rx="3" />
          <text class={`leg-name series-${series}`} x="7" y="50%" dominant-baseline="central">
            {model}
          </text>
        </svg>
      ))}
    </>
  );
}

/** How much there was at each time, against the most there was. */
function Area({ lanes: { audio }, of }: { lanes: Lanes; of(frame: AudioFrame): number }) {
  const most = Math.max(...audio.map(({ frame }) => of(frame)), 0);
  const [first] = audio;
  const last = audio.at(-1);
  if (first === undefined || last === undefined || most === 0) return null;
  const points = audio.map(
    ({ at, frame }) => `${(at * 1000).toFixed(1)},${(100 - (of(frame) / most) * 94).toFixed(1)}`,
  );
  const outline = [`${first.at * 1000},100`, ...points, `${last.at * 1000},100`].join(' ');
  return (
    <svg width="100%" height="100%" viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
      <polygon class="area" points={outline} />
      <polyline class="outline" points={points.join(' ')} vector-effect="non-scaling-stroke" />
    </svg>
  );
}

const SHAPES: Partial<Record<Tick['mark'], string>> = {
  failover: 'M0 -6 L6 0 L0 6 L-6 0 Z',
  leg_lost: 'M-5 -5 L5 5 M-5 5 L5 -5',
  warning: 'M0 -6 L6 5 L-6 5 Z',
  discontinuity: 'M-5 -5 H5 V5 H-5 Z',
};
const OTHER = 'M-3 0 A3 3 0 1 0 3 0 A3 3 0 1 0 -3 0 Z';

function Ticks({ ticks }: { ticks: readonly Tick[] }) {
  return (
    <>
      {ticks.map(({ at, mark, words }, index) => (
        <svg key={`${index} ${at}`} x={percent(at)} y="50%" overflow="visible" width="1" height="1">
          <title>{words}</title>
          {mark === 'turn_final' ? (
            <rect class="tick" x="-1.5" y="-8" width="3" height="16" rx="1" />
          ) : (
            <path class={`mark-${mark}`} d={SHAPES[mark] ?? OTHER} />
          )}
        </svg>
      ))}
    </>
  );
}
