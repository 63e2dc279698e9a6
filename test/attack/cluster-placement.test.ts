// A bad node in a cluster: one that cannot reach its provider, one without a credential, and NATS that goes away under everybody.
// What the others make of it, with real processes; the edge has no provider key at all.
import { expect, it } from 'vitest';
import WebSocket from 'ws';
import type { ServerEvent } from '../../src/api/listen-events.ts';
import { Caller } from '../cluster/rig/caller.ts';
import { Cluster, type ClusterNode } from '../cluster/rig/cluster.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { freePorts } from '../fakes/free-ports.ts';
import { withoutNode } from '../fakes/metrics-text.ts';
import { startProvider } from './rig/rig.ts';

const STARTS = 183;
const AT_A_TIME = 8;
const CALLERS = 40;
const FAR_LEGS = /^voxgate_queue_depth\{queue="far_legs"[^}]*\} (\d+)$/m;

/** What became of one session: `final` when it was heard, else the code of its error, or of its refusal. */
function start({ url }: ClusterNode, key: string): Promise<string> {
  return new Promise((resolve) => {
    const query = new URLSearchParams({ model: 'deepgram/nova-3', interim_results: 'false' });
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/listen?${query}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    let outcome = 'nothing';
    socket.on('error', () => {});
    socket.on('unexpected-response', (_, { statusCode }) => {
      resolve(`status ${statusCode}`);
      socket.terminate();
    });
    socket.on('open', () => {
      socket.send(numberedAudio(0, 16_000));
      socket.send('{"type":"close"}');
    });
    socket.on('message', (data) => {
      const event = JSON.parse(String(data)) as ServerEvent;
      if (event.type === 'error') outcome = event.error.code;
      else if (event.type === 'transcript' && event.is_final) outcome = 'final';
    });
    socket.on('close', () => resolve(outcome));
  });
}

async function outcomesOf(cluster: Cluster): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  let left = STARTS;
  const one = async () => {
    while (left-- > 0) {
      const outcome = await start(cluster.node('front'), cluster.key);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, one));
  return counts;
}

const text = async ({ url }: ClusterNode, path: string, key = '') =>
  (await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${key}` } })).text();

const legsOf = async (nodes: readonly ClusterNode[]): Promise<number[]> =>
  Promise.all(nodes.map(async (node) => Number(FAR_LEGS.exec(await text(node, '/metrics'))?.[1])));

it.each<[string, (url: string) => Promise<Record<string, string>>]>([
  [
    'cannot reach its provider',
    async () => ({
      VOXGATE_DEEPGRAM_URL: `http://127.0.0.1:${(await freePorts(1))[0]}`,
      DEEPGRAM_API_KEY: 'simulated',
    }),
  ],
  ['has no credential for it', async (url) => ({ VOXGATE_DEEPGRAM_URL: url })],
  ['has a credential that is refused', async (url) => ({ VOXGATE_DEEPGRAM_URL: url, DEEPGRAM_API_KEY: 'bad-key' })],
])(
  'loses no start to an upstream node that %s while another works',
  async (_, badEnv) => {
    const provider = await startProvider('deepgram');
    const cluster = await Cluster.start({
      front: { roles: 'edge,accounts' },
      bad: { roles: 'upstream', env: await badEnv(provider.url) },
      good: { roles: 'upstream', env: { VOXGATE_DEEPGRAM_URL: provider.url, DEEPGRAM_API_KEY: 'simulated' } },
    });
    const models = JSON.parse(await text(cluster.node('front'), '/v1/models?mode=live&provider=deepgram', cluster.key));
    expect(models.data.map(({ available }: { available: boolean }) => available)).not.toContain(false);
    const outcomes = await outcomesOf(cluster);
    console.info(`of ${STARTS} starts: ${JSON.stringify(outcomes)}`);
    expect(outcomes).toEqual({ final: STARTS });
    // Nothing of that is worth an alarm.
    for (const node of cluster.nodes.values()) {
      const metrics = await text(node, '/metrics');
      expect(
        withoutNode(metrics).match(/^voxgate_(dead_letters_total\{.*|bus_ignored .*|bus_refused_total\{.*)$/gm),
      ).toEqual(['voxgate_bus_ignored 0']);
    }
  },
  120_000,
);

it('spreads legs again after an outage of NATS, and of a node', async () => {
  const cluster = await Cluster.start({
    front: { roles: 'edge,accounts' },
    left: { roles: 'upstream' },
    right: { roles: 'upstream' },
  });
  const sides = [cluster.node('left'), cluster.node('right')];
  const callers = Array.from({ length: CALLERS }, () => new Caller(cluster.node('front').url, cluster.key, 1));
  const turns = async (count: number) => {
    await Promise.all(callers.map((caller) => caller.final(caller.finals.length + count)));
  };
  /** Legs move a few at a time, at the ends of turns. */
  const balanced = async () => {
    let legs = await legsOf(sides);
    for (let turn = 0; turn < 60 && Math.min(...legs) < CALLERS * 0.3; turn++) {
      await turns(1);
      legs = await legsOf(sides);
    }
    return legs;
  };
  try {
    await turns(1);
    const before = await legsOf(sides);
    await cluster.nats.restart();
    await turns(2);
    const after = await balanced();
    console.info(`${CALLERS} legs: ${before.join(':')}, after a loss of NATS ${after.join(':')}`);
    expect(after[0]! + after[1]!).toBe(CALLERS);
    expect(Math.min(...after)).toBeGreaterThanOrEqual(CALLERS * 0.3);

    await cluster.node('left').end('SIGKILL');
    await turns(2);
    expect((await legsOf(sides.slice(1)))[0]).toBe(CALLERS);
    await cluster.node('left').start();
    const now = await balanced();
    console.info(`after the loss of a node and its return ${now.join(':')}`);
    expect(Math.min(...now)).toBeGreaterThanOrEqual(CALLERS * 0.3);
    await Promise.all(callers.map((caller) => caller.finish()));
  } finally {
    for (const caller of callers) caller.terminate();
  }
}, 180_000);

it('stops at a node’s limit of legs, and gives the rest to others', async () => {
  const cluster = await Cluster.start({
    front: { roles: 'edge,accounts' },
    small: { roles: 'upstream', env: { VOXGATE_LEGS_PER_NODE_MAX: '5' } },
    large: { roles: 'upstream' },
  });
  const callers = Array.from({ length: 20 }, () => new Caller(cluster.node('front').url, cluster.key, 1));
  try {
    await Promise.all(callers.map((caller) => caller.final(2)));
    expect(await legsOf([cluster.node('small'), cluster.node('large')])).toEqual([5, 15]);
    await Promise.all(callers.map((caller) => caller.finish()));
  } finally {
    for (const caller of callers) caller.terminate();
  }
}, 60_000);
