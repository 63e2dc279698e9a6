// What nodes report to each other of how models are doing: each edge its own totals of the last six hours, so that a lost message is made
// good by the next one. What was reported by others is not passed on.
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../../machines/clock.ts';
import { Mode } from '../../../api/models.ts';
import type { Bus, Detach } from '../../../cluster/bus/bus.ts';
import { MODELS_MEASURED } from '../../../cluster/bus/subjects.ts';
import { CELLS } from './delays.ts';
import type { ModelMeasures, Totals } from './measures.ts';

/** Models whose totals have changed are reported this often; all of them, to nodes that missed a message, this often. */
export const SHARE_MS = 30_000;
const ALL_MS = 300_000;
/** Of one message: about 60 KB at most. */
const MODELS_MAX = 100;
/** More than a node can count in six hours. */
const COUNT_MAX = 10_000_000;

const Count = Type.Integer({ minimum: 0, maximum: COUNT_MAX });

const Report = Type.Object({
  type: Type.Literal(MODELS_MEASURED),
  /** The node that has counted. */
  node: Type.String({ minLength: 1, maxLength: 64 }),
  models: Type.Array(
    Type.Object({
      mode: Mode,
      /** `<provider>/<model>`. */
      model: Type.String({ minLength: 1, maxLength: 256 }),
      attempts: Count,
      errors: Count,
      empties: Count,
      /** Cells with anything in them, and how much. */
      delays: Type.Array(Type.Tuple([Type.Integer({ minimum: 0, maximum: CELLS - 1 }), Count]), { maxItems: CELLS }),
    }),
    { maxItems: MODELS_MAX },
  ),
});
type Report = Static<typeof Report>;
type Reported = Report['models'][number];

export interface ShareMeasuresOptions {
  bus: Pick<Bus, 'node' | 'isConnected' | 'publish' | 'subscribe'>;
  clock: Clock;
  measures: Pick<ModelMeasures, 'here' | 'reported' | 'nodeGone'>;
  /** Nodes that serve clients, this one included. A node that is alone reports nothing. */
  edges(): number;
  /** Calls when there are more or fewer nodes. */
  onNodes(listener: () => void): Detach;
  onGone(listener: (node: string) => void): Detach;
  /** Whether this node has that model. */
  knows(model: string): boolean;
  /** A report was left out; `name` is why. */
  onDrop(name: 'unread_measures' | 'measures_unknown_model' | 'measures_no_room'): void;
}

/** Shares the measurements of this node with the others, until it is detached. */
export function shareMeasures({ bus, clock, measures, edges, ...options }: ShareMeasuresOptions): Detach {
  const { onNodes, onGone, knows, onDrop } = options;
  /** What was reported last, by model. */
  const said = new Map<string, string>();
  let allAtMs = clock.now() + ALL_MS;
  let timer: unknown;
  const report = (): void => {
    timer = clock.setTimeout(report, SHARE_MS);
    if (edges() < 2 || !bus.isConnected) return;
    const isAll = clock.now() >= allAtMs;
    if (isAll) allAtMs = clock.now() + ALL_MS;
    const models: Reported[] = [];
    for (const { mode, slug, totals } of measures.here()) {
      const reported = reportOf(mode, slug, totals);
      const name = `${mode} ${slug}`;
      const text = JSON.stringify(reported);
      const isEmpty = reported.attempts === 0 && reported.delays.length === 0;
      if (said.get(name) === text && (isEmpty || !isAll)) continue;
      said.set(name, text);
      models.push(reported);
    }
    for (let at = 0; at < models.length; at += MODELS_MAX) {
      const body: Report = { type: MODELS_MEASURED, node: bus.node, models: models.slice(at, at + MODELS_MAX) };
      bus.publish(MODELS_MEASURED, body);
    }
  };
  const receive = (body: unknown): void => {
    if (!Value.Check(Report, body)) {
      onDrop('unread_measures');
      return;
    }
    if (body.node === bus.node) return;
    for (const { mode, model, attempts, errors, empties, delays } of body.models) {
      if (!knows(model)) onDrop('measures_unknown_model');
      else {
        const counts = new Uint32Array(CELLS);
        for (const [cell, count] of delays) counts[cell] = count;
        const totals: Totals = { attempts, errors, empties, delays: counts };
        if (measures.reported(body.node, mode, model, totals) === 'no_room') onDrop('measures_no_room');
      }
    }
  };
  timer = clock.setTimeout(report, SHARE_MS);
  const detach = [
    bus.subscribe(MODELS_MEASURED, receive),
    // A node that has just begun knows nothing.
    onNodes(() => {
      allAtMs = clock.now();
    }),
    onGone((node) => measures.nodeGone(node)),
    () => clock.clearTimeout(timer),
  ];
  return () => {
    for (const each of detach) each();
  };
}

function reportOf(mode: Mode, model: string, { attempts, errors, empties, delays }: Totals): Reported {
  const cells = Array.from(delays, (count, cell): [number, number] => [cell, bounded(count)]);
  return {
    ...{ mode, model, attempts: bounded(attempts), errors: bounded(errors), empties: bounded(empties) },
    delays: cells.filter(([, count]) => count > 0),
  };
}

const bounded = (count: number): number => Math.min(COUNT_MAX, count);
