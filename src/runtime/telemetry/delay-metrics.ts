// How long things take, by model: histograms, with bounds where people tell the difference. What each is measured from and to is said
// in its help; docs/operations/monitoring.md says where it cannot be known.
import { Histogram, type Registry } from 'prom-client';
import { boundedLabel } from './labels.ts';

/** Models are those of the catalogue; times are seconds. */
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
export type DelayName = keyof typeof DELAY_BOUNDS;

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
