// A node with the role `upstream` and nothing else, in a process of its own: the scripted provider behind a bus on NATS. Tells
// when it is there, and what it has and has used when asked; ends with whoever started it.
import { openNatsBus } from '../../../src/cluster/bus/nats/bus.ts';
import { LegService } from '../../../src/live/upstream/service/leg-service.ts';
import { UpstreamHost } from '../../../src/live/upstream/upstream-host.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { loopback } from '../../../src/vendors/loopback/index.ts';
import { LoopbackEngine } from '../../../src/vendors/loopback/simulator.ts';
import { SECRETS } from '../secrets.ts';

export interface UpstreamNodeOptions {
  url: string;
  prefix: string;
  node: string;
}

export type UpstreamNodeOrder = 'tell' | 'drain';

/** `legs`: open now. `cpuMs`: used since the start. */
export type UpstreamNodeReport = { ready: true } | { legs: number; cpuMs: number } | { drained: true };

const { url, prefix, node } = JSON.parse(process.argv[2] as string) as UpstreamNodeOptions;
const bus = await openNatsBus({ secrets: SECRETS, servers: [url], prefix, node, startMs: 10_000 });
const upstream = new UpstreamHost({
  providers: new Map([[loopback.name, loopback]]),
  engines: { loopback: new LoopbackEngine(systemClock) },
  access: () => ({ baseUrl: undefined, credential: undefined }),
  clock: systemClock,
});
// There are others, and nobody has less to do.
const placement = { hasOther: () => true, others: () => [], onNodes: () => () => {} };
const legs = new LegService(bus, upstream, { placement });
const tell = (report: UpstreamNodeReport) => process.send?.(report);

process.on('message', async (order: UpstreamNodeOrder) => {
  if (order === 'drain') {
    await legs.drain();
    tell({ drained: true });
    return;
  }
  const { user, system } = process.cpuUsage();
  tell({ legs: upstream.size, cpuMs: (user + system) / 1000 });
});
process.on('disconnect', () => process.exit());
tell({ ready: true });
