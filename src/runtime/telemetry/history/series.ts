// Steps of several nodes as series over time: by model or by node, with rates and percentiles.
import type { HistoryFigures, HistorySeries } from '../../../api/console/gateway.ts';
import { DELAY_BOUNDS } from '../delay-metrics.ts';
import { type ModelFigures, noFigures } from '../model-metrics.ts';
import { addFigures, type Slot, WINDOWS, type Window } from './history.ts';

/** Beside the one of everything: those with the most attempts. */
const SERIES_MAX = 8;
const ALL = 'all';

export interface NodeSlots {
  /** The name that its operator gave it. */
  node: string;
  slots: readonly Slot[];
}

export function seriesOf(
  nodes: readonly NodeSlots[],
  { window, by, nowMs }: { window: Window; by: 'model' | 'node'; nowMs: number },
): { times: number[]; series: HistorySeries[] } {
  const { stepMs, slotMs, slotsMax } = WINDOWS[window];
  const count = Math.ceil((slotMs * slotsMax) / stepMs);
  const last = Math.floor(nowMs / stepMs) * stepMs;
  const times = Array.from({ length: count }, (_, at) => last - (count - 1 - at) * stepMs);
  const named = new Map<string, Map<number, ModelFigures>>([[ALL, new Map()]]);
  const add = (name: string, atMs: number, figures: ModelFigures) => {
    const steps = named.get(name) ?? new Map<number, ModelFigures>();
    named.set(name, steps);
    const sum = steps.get(atMs) ?? noFigures();
    steps.set(atMs, sum);
    addFigures(sum, figures, (one, other) => one + other);
  };
  for (const { node, slots } of nodes)
    for (const { atMs, sessions, models } of slots) {
      // Of a node, and of all, what is under way is its sessions.
      for (const name of by === 'node' ? [ALL, node] : [ALL]) add(name, atMs, { ...noFigures(), underWay: sessions });
      for (const [model, figures] of models) {
        const counted = { ...figures, underWay: 0 };
        add(ALL, atMs, counted);
        if (by === 'node') add(node, atMs, counted);
        else add(model, atMs, figures);
      }
    }
  const ran = named.get(ALL) as Map<number, ModelFigures>;
  const series = [...named].map(([name, steps]): HistorySeries => {
    const total = noFigures();
    for (const atMs of times) addFigures(total, steps.get(atMs) ?? noFigures(), Math.max);
    const points = times.map((atMs) => (ran.has(atMs) ? figuresOf(steps.get(atMs) ?? noFigures()) : null));
    return { name, total: figuresOf(total), points };
  });
  const [all, ...others] = series as [HistorySeries, ...HistorySeries[]];
  const busiest = others.sort((one, other) => other.total.attempts - one.total.attempts).slice(0, SERIES_MAX);
  return { times: times.map((ms) => ms / 1000), series: [all, ...busiest] };
}

function figuresOf({ attempts, failures, failovers, underWay, partial, final, file }: ModelFigures): HistoryFigures {
  const figures: HistoryFigures = { attempts, under_way: underWay };
  // What failed in a step may have been attempted in the one before.
  const rate = (of: number) => rounded(Math.min(1, of / Math.max(attempts, of)));
  if (attempts + failures > 0) figures.error_rate = rate(failures);
  if (attempts + failovers > 0) figures.failover_rate = rate(failovers);
  const percentiles = (counts: readonly number[], bounds: readonly number[]): [number, number] | undefined =>
    counts.at(-1) ? [percentile(0.5, counts, bounds), percentile(0.95, counts, bounds)] : undefined;
  const firstWord = percentiles(partial, DELAY_BOUNDS.partial.bounds);
  const ofFinal = percentiles(final, DELAY_BOUNDS.final.bounds);
  const ofFile = percentiles(file, DELAY_BOUNDS.file.bounds);
  if (firstWord !== undefined) figures.first_word = firstWord;
  if (ofFinal !== undefined) figures.final = ofFinal;
  if (ofFile !== undefined) figures.file = ofFile;
  return figures;
}

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;

/**
 * As Prometheus' `histogram_quantile` has it: linear within a bucket, and the last bound for what is beyond it.
 *
 * @param counts how many are at most as long as each bound; all of them last
 */
export function percentile(share: number, counts: readonly number[], bounds: readonly number[]): number {
  const rank = share * (counts.at(-1) ?? 0);
  const at = counts.findIndex((count) => count >= rank);
  const [low = 0, high] = [bounds[at - 1], bounds[at]];
  if (high === undefined) return bounds.at(-1) ?? 0;
  const below = counts[at - 1] ?? 0;
  const inside = (counts[at] ?? 0) - below;
  return rounded(inside === 0 ? high : low + (high - low) * ((rank - below) / inside));
}
