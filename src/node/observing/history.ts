// What a node remembers of its metrics for the charts of the console, told to the nodes that ask for it.
import { serveHistory } from '../../live/session/watch/node-queries.ts';
import { backgroundClock } from '../../runtime/telemetry/clock.ts';
import { MetricsHistory } from '../../runtime/telemetry/history.ts';
import type { Assembly } from '../context.ts';

export function openHistory({ bus, metrics, defer }: Pick<Assembly, 'bus' | 'metrics' | 'defer'>): void {
  const history = new MetricsHistory({
    totals: () => metrics.modelTotals(),
    sessions: () => metrics.countSessions(),
    clock: backgroundClock,
    wallNowMs: () => Date.now(),
  });
  defer(() => history.close());
  defer(serveHistory(bus, history));
}
