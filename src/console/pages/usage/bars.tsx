// Bars over the days of a month. The same figures are in the table below it, for whom a picture says nothing.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Day } from './days.ts';

const HEIGHT = 180;

export function Bars({ label, days }: { label: string; days: readonly Day[] }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const style = getComputedStyle(element);
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false },
        scales: {
          x: { time: false, range: [0.5, days.length + 0.5] },
          y: { range: (_chart, _min, max) => [0, max || 1] },
        },
        axes: [
          {
            stroke: style.color,
            grid: { show: false },
            ticks: { show: false },
            values: (_chart, at) => at.map((day) => days[day - 1]?.date.slice(8).replace(/^0/, '') ?? ''),
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
      [days.map((_day, at) => at + 1), days.map(({ usd }) => usd)],
      element,
    );
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
  }, [days, label]);
  return <div ref={box} class="chart-box" role="img" aria-label={label} />;
}
