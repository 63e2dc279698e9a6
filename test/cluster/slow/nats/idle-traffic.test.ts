// What idle nodes, and edges with keys of their own, send each other over a real nats-server. `CLUSTER_FULL=1` measures as many
// nodes as docs/operations/cluster.md lists.
import type { Stats } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { createSharedKeyLimits } from '../../../../src/accounts/auth/limits.ts';
import { openNatsBus } from '../../../../src/cluster/bus/nats/bus.ts';
import { natsLeases } from '../../../../src/cluster/bus/nats/jetstream/leases.ts';
import { openClusterLimits } from '../../../../src/cluster/limits/limits.ts';
import { LimitsMessages } from '../../../../src/cluster/limits/messages.ts';
import { joinCluster } from '../../../../src/cluster/membership/membership.ts';
import { backgroundClock } from '../../../../src/runtime/telemetry/clock.ts';
import { providers } from '../../../../src/vendors/index.ts';
import { apiKey } from '../../../fakes/api-keys.ts';
import { natsServerIsHere, startNatsServer } from '../../../fakes/network/nats-server.ts';
import { SECRETS } from '../../../fakes/secrets.ts';
import { FULL } from '../../rig/crowd.ts';

const COUNTS = FULL ? [8, 16, 32] : [8, 16];
const SECONDS = FULL ? 20 : 6;
const USE_MS = 200;
/** With its seal and subject. */
const HEARTBEAT_BYTES_MAX = 500;

const NAMES = providers.map(({ name }) => name);
const upstream = { providers: NAMES, credentials: NAMES, failing: [], shortOf: null };
const messages = new LimitsMessages(SECRETS);
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function join(url: string, index: number) {
  const bus = await openNatsBus({ secrets: SECRETS, servers: [url], prefix: 'idle', startMs: 20_000 });
  const members = await joinCluster({
    bus,
    leases: natsLeases(bus),
    self: { id: `node-${index}`, roles: ['edge', 'upstream'], version: '0.1.0' },
    load: () => ({ sessions: 0, legs: 0, sessionsMax: 100, url: 'https://edge.example.com', upstream }),
    onConflict: (sentence) => expect.fail(sentence),
  });
  const shared = openClusterLimits({
    bus,
    clock: backgroundClock,
    messages,
    edges: () => members.count('edge'),
    others: () =>
      members
        .nodes()
        .slice(1)
        .map(({ node }) => ({ node, isEarlier: false })),
    onNodes: (listener) => members.onNodes(listener),
  });
  const settings = { requestsPerMinutePerKeyMax: 600, sessionsPerKeyMax: 100, clock: backgroundClock };
  const { takeRequest } = createSharedKeyLimits(settings, shared);
  return {
    use: () => void takeRequest(apiKey({ id: `key_${index}` })),
    received: (): Stats => bus.link.connection.stats(),
    async leave() {
      shared.close();
      await members.leave();
      await bus.close();
    },
  };
}

type Node = Awaited<ReturnType<typeof join>>;

/** What one node receives a second. */
async function measure(nodes: readonly Node[]) {
  const sum = (of: (stats: Stats) => number) => nodes.reduce((total, { received }) => total + of(received()), 0);
  const [messagesBefore, bytesBefore] = [sum(({ inMsgs }) => inMsgs), sum(({ inBytes }) => inBytes)];
  await wait(SECONDS * 1_000);
  return {
    messages: (sum(({ inMsgs }) => inMsgs) - messagesBefore) / nodes.length / SECONDS,
    bytes: (sum(({ inBytes }) => inBytes) - bytesBefore) / nodes.length / SECONDS,
  };
}

// It says itself why, when nats-server is not here.
test.skipIf(!natsServerIsHere)(
  'limits idle traffic to one heartbeat per node every two seconds, with little for keys',
  async () => {
    for (const count of COUNTS) {
      const server = await startNatsServer({ jetStream: true });
      const nodes = await Promise.all(Array.from({ length: count }, (_, index) => join(server.url, index)));
      // Joining makes every node send its lists of providers.
      await wait(5_000);
      const idle = await measure(nodes);
      const timers = nodes.map(({ use }) => setInterval(use, USE_MS));
      await wait(1_000);
      const used = await measure(nodes);
      for (const timer of timers) clearInterval(timer);
      const shown = ({ messages, bytes }: typeof idle) => `${messages.toFixed(1)} messages/s, ${Math.round(bytes)} B/s`;
      console.info(`${count} nodes, each receives: idle ${shown(idle)}; with keys of each edge ${shown(used)}`);
      // Leases and pings are the rest.
      expect(idle.messages / (count - 1)).toBeLessThan(0.7);
      expect(idle.bytes / (count - 1)).toBeLessThan(0.7 * HEARTBEAT_BYTES_MAX);
      expect(used.messages / (count - 1)).toBeLessThan(0.8);
      await Promise.all(nodes.map((node) => node.leave()));
      await server.stop();
    }
  },
  240_000,
);
