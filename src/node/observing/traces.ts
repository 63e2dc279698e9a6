// Traces of a node: opened where a collector is named, counted, and sent to the end when the node stops.

import { openTracing } from '../../runtime/telemetry/tracing/open-tracing.ts';
import type { Tracing } from '../../runtime/telemetry/tracing/tracing.ts';
import { releaseVersion } from '../../runtime/version.ts';
import { type Assembly, lastingName } from '../context.ts';

export async function openTraces({
  config,
  logger,
  metrics,
  node,
  defer,
}: Pick<Assembly, 'config' | 'logger' | 'metrics' | 'defer'> & { node: string }): Promise<Tracing | undefined> {
  const tracing = await openTracing({
    settings: config.tracing,
    resource: {
      'service.version': releaseVersion(),
      'service.instance.id': lastingName(config),
      'voxgate.node': node,
    },
    listener: {
      exported: (outcome, spans) => metrics.traced(outcome, spans),
      dropped: () => metrics.dropped('trace_spans'),
      fault: (error) => logger.warn({ err: error }, 'traces not sent'),
    },
  });
  if (tracing === undefined) return undefined;
  metrics.watchQueue('trace_spans', () => tracing.waiting);
  defer(() => tracing.close());
  return tracing;
}
