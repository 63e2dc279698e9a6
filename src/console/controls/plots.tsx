// Plots: lines over time, and bars of days. A table below them has the same figures, for people who cannot see the picture.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { UsageList } from '../../api/usage.ts';

/** Draws into a box as wide as its place, in the colours of its style. Nothing is drawn without options. */
function usePlot(
  height: number,
  plotOf: (box: HTMLElement, style: CSSStyleDeclaration) => [Partial<uPlot.Options>, uPlot.AlignedData] | undefined,
  inputs: readonly unknown[],
) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    const plot = element && plotOf(element, getComputedStyle(element));
    if (!plot) return;
    const [options, data] = plot;
    const frame = { width: element.clientWidth, height, legend: { show: false }, cursor: { y: false }, series: [] };
    const chart = new uPlot({ ...frame, ...options }, data, element);
    const resize = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      chart.destroy();
    };
  }, inputs);
  return box;
}

export interface Line {
  name: string;
  /** Of the colours for series, from 1. */
  colour: number;
  isDashed?: boolean;
  /** Null where there is none. */
  values: readonly (number | null)[];
}

interface LinesProps {
  title: string;
  /** In seconds since 1970. */
  times: readonly number[];
  lines: readonly Line[];
  /** The scale reaches this value at least. */
  least: number;
  format(value: number): string;
}

const DASHES = [4, 4];

export function Lines({ title, times, lines, least, format }: LinesProps) {
  const isEmpty = lines.every(({ values }) => values.every((value) => value === null));
  const box = usePlot(
    170,
    (element, style) => {
      if (isEmpty) return undefined;
      const colours = [...element.querySelectorAll('i')].map((each) => getComputedStyle(each).color);
      return [
        {
          scales: { y: { range: (_chart, _min, max) => [0, Math.max(least, max || 0)] } },
          axes: [
            { stroke: style.color, grid: { show: false }, ticks: { show: false } },
            {
              stroke: style.color,
              size: 56,
              grid: { stroke: style.borderColor, width: 1 },
              ticks: { show: false },
              values: (_chart, at) => at.map(format),
            },
          ],
          series: [
            { value: (_chart, at) => new Date(at * 1000).toLocaleTimeString() },
            ...lines.map(({ name, isDashed }, at) => ({
              label: name,
              stroke: colours[at] ?? style.color,
              width: isDashed ? 1 : 1.75,
              ...(isDashed ? { dash: DASHES } : {}),
              spanGaps: true,
              points: { size: 4 },
            })),
          ],
        },
        [[...times], ...lines.map(({ values }) => [...values])],
      ];
    },
    [times, lines, least, format, isEmpty],
  );
  return (
    <figure class="card lines">
      <figcaption>{title}</figcaption>
      {isEmpty ? (
        <p class="quiet small">Nothing measured yet.</p>
      ) : (
        <div ref={box} class="chart-box" role="img" aria-label={title}>
          {lines.map(({ name, colour, isDashed }) => (
            <i key={`${name} ${isDashed}`} class={`colour-${colour}`} hidden />
          ))}
        </div>
      )}
    </figure>
  );
}

interface DailyCostsProps {
  label: string;
  /** Each a bar, such as `2026-01-31`, days without use included. */
  dates: readonly string[];
  /** Usage grouped by day. */
  rows: UsageList['data'];
}

export function DailyCosts({ label, dates, rows }: DailyCostsProps) {
  const costOf = (date: string) =>
    rows.filter(({ group }) => group === date).reduce((sum, { cost_usd }) => sum + Number(cost_usd), 0);
  const box = usePlot(
    180,
    (_element, style) => [
      {
        scales: {
          x: { time: false, range: [0.5, dates.length + 0.5] },
          y: { range: (_chart, _min, max) => [0, max || 1] },
        },
        axes: [
          {
            stroke: style.color,
            grid: { show: false },
            ticks: { show: false },
            values: (_chart, at) => at.map((day) => dates[day - 1]?.slice(8).replace(/^0/, '') ?? ''),
          },
          {
            stroke: style.color,
            size: 70,
            grid: { stroke: style.borderColor },
            values: (_chart, at) => at.map((usd) => `$${usd}`),
          },
        ],
        series: [
          {},
          { label, fill: style.outlineColor, paths: uPlot.paths.bars?.({ size: [0.7, 40] }), points: { show: false } },
        ],
      },
      [dates.map((_date, at) => at + 1), dates.map(costOf)],
    ],
    [dates, rows, label],
  );
  return <div ref={box} class="chart-box" role="img" aria-label={label} />;
}
