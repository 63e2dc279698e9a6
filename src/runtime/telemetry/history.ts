// What one node remembers of its metrics, for the charts of the console: the last hour in steps of ten seconds and the last day in
// steps of five minutes. It has the counts of each step, so that percentiles can be made over any steps, models and nodes.
import type { Clock } from '../../../machines/clock.ts';
import type { HistoryFigures, HistorySeries } from '../../api/console/gateway.ts';
import { DELAY_BOUNDS, type ModelFigures, noFigures } from './model-metrics.ts';

export const WINDOWS = {
  hour: { stepMs: 30_000, slotMs: 10_000, slotsMax: 360 },
  day: { stepMs: 600_000, slotMs: 300_000, slotsMax: 288 },
} as const;
export type Window = keyof typeof WINDOWS;

/** Of one step; those beyond it are counted together as `other`. */
const MODELS_MAX = 32;
const OTHER = 'other';
const SAMPLE_MS = WINDOWS.hour.slotMs;

export interface Slot {
  /** Wall clock, milliseconds: when it began. */
  atMs: number;
  /** The most live sessions that were counted. */
  sessions: number;
  models: Map<string, ModelFigures>;
}

interface HistoryOptions {
  totals(): Promise<ReadonlyMap<string, ModelFigures>>;
  sessions(): number;
  clock: Clock;
  wallNowMs(): number;
}

export class MetricsHistory {
  readonly #options: HistoryOptions;
  readonly #kept: Readonly<Record<Window, Map<number, Slot>>> = { hour: new Map(), day: new Map() };
  #before: ReadonlyMap<string, ModelFigures> = new Map();
  #latest: Promise<void> = Promise.resolve();
  #timer: unknown;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#again();
  }

  close(): void {
    this.#options.clock.clearTimeout(this.#timer);
  }

  /** The steps of a window up to this moment, oldest first; none for a time at which the node did not run. */
  async slots(window: Window): Promise<Slot[]> {
    await this.sample();
    const { stepMs, slotMs, slotsMax } = WINDOWS[window];
    const steps = new Map<number, Slot>();
    const from = this.#options.wallNowMs() - slotMs * slotsMax;
    for (const slot of this.#kept[window].values())
      if (slot.atMs > from) addTo(slotAt(steps, slot.atMs, stepMs), slot.sessions, slot.models);
    return [...steps.values()];
  }

  /** Adds what was counted since the last sample. One at a time. */
  sample(): Promise<void> {
    this.#latest = this.#latest.then(async () => {
      const totals = await this.#options.totals();
      const nowMs = this.#options.wallNowMs();
      const since = sinceOf(this.#before, totals);
      this.#before = totals;
      for (const [window, slots] of Object.entries(this.#kept) as [Window, Map<number, Slot>][]) {
        const { slotMs, slotsMax } = WINDOWS[window];
        addTo(slotAt(slots, nowMs, slotMs), this.#options.sessions(), since);
        for (const old of [...slots.keys()].slice(0, Math.max(0, slots.size - slotsMax))) slots.delete(old);
      }
    });
    return this.#latest;
  }

  #again(): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      void this.sample();
      this.#again();
    }, SAMPLE_MS);
  }
}

function slotAt(slots: Map<number, Slot>, ms: number, stepMs: number): Slot {
  const atMs = Math.floor(ms / stepMs) * stepMs;
  const slot = slots.get(atMs) ?? { atMs, sessions: 0, models: new Map() };
  slots.set(atMs, slot);
  return slot;
}

function addTo(slot: Slot, sessions: number, models: ReadonlyMap<string, ModelFigures>): void {
  slot.sessions = Math.max(slot.sessions, sessions);
  for (const [model, figures] of models) {
    const name = slot.models.has(model) || slot.models.size < MODELS_MAX - 1 ? model : OTHER;
    const sum = slot.models.get(name) ?? noFigures();
    slot.models.set(name, sum);
    addFigures(sum, figures, Math.max);
  }
}

/** Counts are added up; of what is in progress, `together` decides. */
function addFigures(sum: ModelFigures, more: ModelFigures, together: (one: number, other: number) => number): void {
  sum.attempts += more.attempts;
  sum.failures += more.failures;
  sum.failovers += more.failovers;
  sum.underWay = together(sum.underWay, more.underWay);
  for (const name of ['partial', 'final', 'file'] as const)
    for (const [at, count] of more[name].entries()) sum[name][at] = (sum[name][at] ?? 0) + count;
}

/** What was counted between two totals; models without anything are left out. */
function sinceOf(
  before: ReadonlyMap<string, ModelFigures>,
  after: ReadonlyMap<string, ModelFigures>,
): Map<string, ModelFigures> {
  const since = new Map<string, ModelFigures>();
  for (const [model, now] of after) {
    const then = before.get(model) ?? noFigures();
    const less = (name: 'partial' | 'final' | 'file') => {
      const counts = now[name].map((count, at) => count - (then[name][at] ?? 0));
      return counts.at(-1) ? counts : [];
    };
    const figures: ModelFigures = {
      attempts: now.attempts - then.attempts,
      failures: now.failures - then.failures,
      failovers: now.failovers - then.failovers,
      underWay: now.underWay,
      partial: less('partial'),
      final: less('final'),
      file: less('file'),
    };
    const { attempts, failures, failovers, underWay, partial, final, file } = figures;
    if (attempts + failures + failovers + underWay + partial.length + final.length + file.length > 0)
      since.set(model, figures);
  }
  return since;
}

/** Beside the one of everything: those with the most attempts. */
const SERIES_MAX = 8;
const ALL = 'all';

interface NodeSlots {
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
      // Of a node, and of all, what is in progress is its sessions.
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
