// What is counted of each model: attempts at it, those that failed, failovers away from it, and what is under way; and the totals of
// these and of its delays, as the series have them, for the history that the console draws.
import { Counter, Gauge, type Registry } from 'prom-client';
import { ownerOf } from '../../api/slug.ts';
import { DELAY_BOUNDS, type DelayName } from './delay-metrics.ts';
import { boundedLabel } from './labels.ts';

type Mode = 'live' | 'file';

/** Models are those of the catalogue. */
export interface ModelMetrics {
  /** A connection or a request to it is made. */
  attempted(mode: Mode, model: string): void;
  attemptFailed(mode: Mode, model: string, reason: string): void;
  /** A session or file went on with another model; `model` is the one that was left. */
  failedOver(mode: Mode, model: string, reason: string): void;
  /** One connection or file more, or one fewer. */
  underWay(mode: Mode, model: string, change: 1 | -1): void;
  modelTotals(): Promise<ReadonlyMap<string, ModelFigures>>;
}

/** Counts since the start; of each delay, how many were at most as long as each of its bounds, and all of them last. */
export interface ModelFigures extends Record<DelayName, number[]> {
  attempts: number;
  failures: number;
  failovers: number;
  underWay: number;
}

export const noFigures = (): ModelFigures => ({
  attempts: 0,
  failures: 0,
  failovers: 0,
  underWay: 0,
  partial: [],
  final: [],
  file: [],
});

export function modelMetrics(registry: Registry): ModelMetrics {
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `voxgate_${name}`, help, labelNames, registers: [registry] });
  const attempts = counter(
    'model_attempts_total',
    'Live connections and file requests to models, including retries and fallbacks.',
    ['mode', 'model'],
  );
  const failures = counter('model_failures_total', 'Failed attempts, by model and reason.', [
    'mode',
    'model',
    'reason',
  ]);
  const failovers = counter(
    'failovers_total',
    'Live sessions and files that continued with another model, by the failed model and the reason.',
    ['mode', 'provider', 'model', 'reason'],
  );
  const underWay = new Gauge({
    name: 'voxgate_model_concurrency',
    help: 'Live connections and files in progress, by model.',
    labelNames: ['mode', 'model'],
    registers: [registry],
  });
  const bounded = boundedLabel();
  return {
    attempted: (mode, model) => attempts.inc({ mode, model: bounded(model) }),
    attemptFailed: (mode, model, reason) => failures.inc({ mode, model: bounded(model), reason }),
    failedOver: (mode, model, reason) =>
      failovers.inc({ mode, provider: ownerOf(model), model: bounded(model), reason }),
    underWay: (mode, model, change) => underWay.inc({ mode, model: bounded(model) }, change),
    async modelTotals() {
      const totals = new Map<string, ModelFigures>();
      const of = (model: unknown) => {
        const name = String(model);
        const known = totals.get(name) ?? noFigures();
        totals.set(name, known);
        return known;
      };
      for (const [series, name] of [
        [attempts, 'attempts'],
        [failures, 'failures'],
        [failovers, 'failovers'],
        [underWay, 'underWay'],
      ] as const)
        for (const { labels, value } of (await series.get()).values) of(labels.model)[name] += value;
      for (const [name, { metric, bounds }] of Object.entries(DELAY_BOUNDS) as [DelayName, Bounds][]) {
        const { values = [] } = (await registry.getSingleMetric(`voxgate_${metric}`)?.get()) ?? {};
        for (const { labels, value } of values) {
          if (!('le' in labels)) continue;
          const at = bounds.indexOf(Number(labels.le));
          of(labels.model)[name][at === -1 ? bounds.length : at] = value;
        }
      }
      return totals;
    },
  };
}

type Bounds = (typeof DELAY_BOUNDS)[DelayName];
