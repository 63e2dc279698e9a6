// Lines over time. The same figures are in the table below them, for whom a picture says nothing.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

const HEIGHT = 170;
const DASHES = [4, 4];

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
  /** At least so much fits in. */
  least: number;
  format(value: number): string;
}

export function Lines({ title, times, lines, least, format }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const isEmpty = lines.every(({ values }) => values.every((value) => value === null));
  useEffect(() => {
    const element = box.current;
    if (element === null || isEmpty) return;
    const style = getComputedStyle(element);
    const colours = [...element.querySelectorAll('i')].map((each) => getComputedStyle(each).color);
    const options: uPlot.Options = {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false },
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
    };
    const chart = new uPlot(options, [[...times], ...lines.map(({ values }) => [...values])], element);
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
  }, [times, lines, least, format, isEmpty]);
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
