// What every node remembers of its metrics, asked for when somebody looks at the charts.
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Bus, BusBody, Detach } from '../../bus/bus.ts';
import { READ_HISTORY } from '../../bus/subjects.ts';
import type { MetricsHistory, Slot, Window } from '../../telemetry/history/history.ts';
import { type AskingBus, askEvery } from './ask-every.ts';

const Count = Type.Integer({ minimum: 0 });
const Counts = Type.Array(Count, { maxItems: 32 });
const WindowName = Type.Union([Type.Literal('hour'), Type.Literal('day')]);
const HistoryRequest = Type.Object({ type: Type.Literal('history.read'), window: WindowName });
const Remembered = Type.Object({
  type: Type.Literal('history.remembered'),
  slots: Type.Array(
    Type.Object({
      atMs: Type.Integer(),
      sessions: Count,
      models: Type.Array(
        Type.Object({
          model: Type.String({ maxLength: 256 }),
          attempts: Count,
          failures: Count,
          failovers: Count,
          underWay: Count,
          partial: Counts,
          final: Counts,
          file: Counts,
        }),
        { maxItems: 64 },
      ),
    }),
    { maxItems: 512 },
  ),
});
type Remembered = Static<typeof Remembered>;

export function serveHistory(bus: Pick<Bus, 'serve'>, history: Pick<MetricsHistory, 'slots'>): Detach {
  return bus.serve(READ_HISTORY, async (body): Promise<Remembered> => {
    const slots = Value.Check(HistoryRequest, body) ? await history.slots(body.window) : [];
    return {
      type: 'history.remembered',
      slots: slots.map(({ atMs, sessions, models }) => ({
        atMs,
        sessions,
        models: [...models].map(([model, figures]) => ({ model, ...figures })),
      })),
    };
  });
}

/** By node; undefined of one that did not answer. Never rejects. */
export async function readHistories(
  bus: AskingBus,
  nodes: readonly string[],
  window: Window,
): Promise<Map<string, Slot[] | undefined>> {
  const answers = await askEvery(bus, nodes, READ_HISTORY, { type: 'history.read', window } as BusBody, Remembered);
  return new Map([...answers].map(([node, answer]) => [node, answer?.slots.map(slotOf)] as const));
}

const slotOf = ({ models, ...slot }: Remembered['slots'][number]): Slot => ({
  ...slot,
  models: new Map(models.map(({ model, ...figures }) => [model, figures])),
});
