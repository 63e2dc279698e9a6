// What is counted of each model: attempts at it, those that failed, failovers away from it, and what is in progress; and the totals of
// these and of its delays, as the series have them, for the history that the console draws.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { ownerOf } from '../../api/slug.ts';

type Mode = 'live' | 'file';

/** Models are those of the catalogue. */
export interface ModelMetrics {
  /** A connection or a request to it is made. */
  attempted(mode: Mode, model: string): void;
  attemptFailed(mode: Mode, model: string, reason: string): void;
  /** A session or file continued with another model; `model` is the one that was left. */
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

/**
 * How long things take, by model of the catalogue, in seconds: histograms, with bounds where people tell the difference. Their
 * help says what is measured; docs/operations/monitoring.md says where it cannot be known.
 */
export interface DelayMetrics {
  dialled(model: string, seconds: number): void;
  partialHeard(model: string, seconds: number): void;
  finalTold(model: string, seconds: number): void;
  /** `to_client`: of a final; `to_provider`: of audio, sampled. `leg`: whether its connection is on this node. */
  passed(direction: 'to_client' | 'to_provider', leg: 'near' | 'far', model: string, seconds: number): void;
  /** A file, by the model that answered. */
  fileAnswered(model: string, seconds: number): void;
}

const DIAL = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10];
const HEARD = [0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30];
const OWN = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
const FILE = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800];

/** Histograms whose percentiles the console draws. */
export const DELAY_BOUNDS = {
  partial: { metric: 'partial_delay_seconds', bounds: HEARD },
  final: { metric: 'final_delay_seconds', bounds: HEARD },
  file: { metric: 'file_seconds', bounds: FILE },
} as const;
type DelayName = keyof typeof DELAY_BOUNDS;

export function delayMetrics(registry: Registry): DelayMetrics {
  const boundedModel = boundedLabel();
  const histogram = <Label extends string>(name: string, help: string, buckets: number[], labelNames: Label[]) =>
    new Histogram({ name: `voxgate_${name}`, help, buckets, labelNames, registers: [registry] });
  const byModel = (name: string, help: string, buckets: number[]) => {
    const series = histogram(name, help, buckets, ['model']);
    return (model: string, seconds: number) => series.observe({ model: boundedModel(model) }, seconds);
  };
  const own = histogram(
    'gateway_delay_seconds',
    'Delay of the gateway itself: `to_client`, from reading the provider’s final until it was written to the client; `to_provider`, from the client’s audio until it was sent to the provider, sampled once a second. With `leg="far"` without the transfer between the two nodes.',
    OWN,
    ['direction', 'leg', 'model'],
  );
  return {
    dialled: byModel(
      'dial_seconds',
      'Time from the request for a provider connection until the provider takes audio.',
      DIAL,
    ),
    partialHeard: byModel(
      'partial_delay_seconds',
      'Time from sending the first audio of a turn to the provider until its first interim words.',
      HEARD,
    ),
    finalTold: byModel(
      'final_delay_seconds',
      'Time from sending the last audio of a turn to the provider until its final was written to the client.',
      HEARD,
    ),
    passed: (direction, leg, model, seconds) => own.observe({ direction, leg, model: boundedModel(model) }, seconds),
    fileAnswered: byModel(
      'file_seconds',
      'Time from the request for a file until the model returned its transcript.',
      FILE,
    ),
  };
}

/** Distinct values of one label; further ones are counted together under `other`. */
const LABEL_VALUES_MAX = 200;

/** Lets a bounded number of values through; the rest become `other`. */
export function boundedLabel(): (value: string) => string {
  const seen = new Set<string>();
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= LABEL_VALUES_MAX) return 'other';
    seen.add(value);
    return value;
  };
}
