// Who is told of the use of a key, and how often: the traffic between edges, and what each of them lets through.
import { describe, expect, test } from 'vitest';
import { createSharedKeyLimits, type KeyLimits } from '../../src/accounts/auth/limits.ts';
import { RATES_TAKEN } from '../../src/cluster/bus/subjects.ts';
import { apiKey } from '../fakes/api-keys.ts';
import { LimitsNetwork, type LimitsNode } from '../fakes/network/limits-network.ts';

const SECONDS = 60;
const TICK_MS = 200;

interface Edge {
  node: LimitsNode;
  limits: KeyLimits;
}

function open(network: LimitsNetwork, name: string, requestsPerMinuteMax = 60): Edge {
  const node = network.open(name);
  const settings = { requestsPerMinutePerKeyMax: requestsPerMinuteMax, sessionsPerKeyMax: 2, clock: network.clock };
  return { node, limits: createSharedKeyLimits(settings, node.shared) };
}

function edges(count: number, requestsPerMinuteMax?: number) {
  const network = new LimitsNetwork();
  const opened = Array.from({ length: count }, (_, index) =>
    open(network, `node${`${index}`.padStart(2, '0')}`, requestsPerMinuteMax),
  );
  return { network, edges: opened as [Edge, Edge, Edge, ...Edge[]] };
}

/** How many requests of the key pass, of that many. */
function take({ limits }: Edge, keyId: string, count: number): number {
  for (let taken = 0; taken < count; taken++) {
    try {
      limits.takeRequest(apiKey({ id: keyId }));
    } catch {
      return taken;
    }
  }
  return count;
}

const ALL = 1_000;

/** Messages that arrive at one edge a second, while each uses a key five times a second. */
async function trafficOf(count: number, keyOf: (index: number) => string, max = 600): Promise<number> {
  const { network, edges: all } = edges(count, max);
  const use = async () => {
    for (const [index, edge] of all.entries()) take(edge, keyOf(index), 1);
    await network.pass(TICK_MS);
  };
  await use();
  await network.pass(1_000);
  network.sent.messages = 0;
  for (let passed = 0; passed < SECONDS * 1_000; passed += TICK_MS) await use();
  return network.sent.messages / count / SECONDS;
}

describe('the traffic of rate limits, with five requests a second at each edge', () => {
  test('stays at one announcement in half a minute where each edge has separate keys', async () => {
    for (const count of [8, 16, 32]) {
      const perEdge = await trafficOf(count, (index) => `key_${index}`);
      expect(perEdge).toBeLessThanOrEqual(((count - 1) * 2) / SECONDS);
    }
  }, 30_000);

  test('stays equal at 8, 16 and 32 edges that share keys in pairs, apart from announcements', async () => {
    for (const count of [8, 16, 32]) {
      const perEdge = await trafficOf(count, (index) => `key_${index >> 1}`);
      expect(perEdge - ((count - 2) * 2) / SECONDS).toBeLessThanOrEqual(4);
    }
  }, 30_000);

  test('drops to one message in two seconds where all edges share a lightly used key', async () => {
    const perEdge = await trafficOf(8, () => 'key_all', 100_000);
    expect(perEdge).toBeLessThanOrEqual(7 * 0.51);
    expect(perEdge).toBeGreaterThan(7 * 0.4);
  });
});

describe('use of a key', () => {
  test('reaches the next edge from its first request on, once usage is high', async () => {
    const {
      network,
      edges: [one, two],
    } = edges(3);
    for (let count = 0; count < 6; count++) {
      take(one, 'key_a', 10);
      await network.pass(500);
    }
    expect(take(one, 'key_a', ALL) + take(two, 'key_a', ALL)).toBeLessThanOrEqual(5);
  });

  test('below an eighth of the limit is made known to an edge that begins to use the key', async () => {
    const {
      network,
      edges: [one, two],
    } = edges(3, 6_000);
    take(one, 'key_a', 1);
    await network.pass(300);
    take(one, 'key_a', 700);
    await network.pass(300);
    // The announcement of the first request is all that the other one was told.
    expect(Number(two.limits.takeRequest(apiKey({ id: 'key_a' }))['RateLimit-Remaining'])).toBeGreaterThan(5_990);
    await network.pass(500);
    expect(Number(two.limits.takeRequest(apiKey({ id: 'key_a' }))['RateLimit-Remaining'])).toBeLessThan(5_500);
  });

  test('stays limited over 32 edges as on one, to an eighth of the limit', async () => {
    const { network, edges: all } = edges(32, 320);
    let passed = 0;
    for (let second = 0; second < 240; second++) {
      for (const edge of all) passed += take(edge, 'key_a', 1);
      await network.pass(1_000);
    }
    expect(passed).toBeLessThanOrEqual(320 * 5 * 1.125 + 32);
    expect(passed).toBeGreaterThanOrEqual(320 * 4);
  }, 30_000);

  test('synchronises again after lost messages', async () => {
    const {
      network,
      edges: [one, two, three],
    } = edges(3);
    network.loses = (from, to) => from === one.node.name && to === two.node.name;
    take(one, 'key_a', 30);
    take(two, 'key_a', 1);
    await network.pass(500);
    // The second one cannot hear the first, but the third, which heard both.
    take(three, 'key_a', 10);
    await network.pass(500);
    expect(take(two, 'key_a', ALL)).toBeLessThanOrEqual(20);
    network.loses = undefined;
  });

  test('synchronises half a minute after a lost announcement', async () => {
    const {
      network,
      edges: [one, two],
    } = edges(3, 6_000);
    network.loses = () => true;
    take(one, 'key_a', 1);
    take(two, 'key_a', 1);
    await network.pass(500);
    network.loses = undefined;
    let passed = 0;
    for (let count = 0; count < 30 * 5; count++) {
      passed += take(one, 'key_a', 20) + take(two, 'key_a', 20);
      await network.pass(TICK_MS);
    }
    expect(passed).toBeLessThanOrEqual(6_000 + 3_000 + 6_000 / 8 + 40);
  });

  test('reaches an edge that joins late, and one that was restarted', async () => {
    const {
      network,
      edges: [one, two],
    } = edges(3);
    take(one, 'key_a', 30);
    await network.pass(500);
    const late = open(network, 'late00');
    expect(take(late, 'key_a', 5)).toBe(5);
    await network.pass(500);
    expect(take(late, 'key_a', ALL)).toBeLessThanOrEqual(26);
    await network.pass(500);
    two.node.end();
    const again = open(network, 'node99');
    take(again, 'key_a', 1);
    await network.pass(500);
    expect(take(again, 'key_a', ALL)).toBeLessThanOrEqual(3);
  });

  test('synchronises once the bus is back and the key is used again', async () => {
    const {
      network,
      edges: [one, two],
    } = edges(3);
    take(one, 'key_a', 1);
    take(two, 'key_a', 1);
    await network.pass(500);
    for (const each of [one, two]) each.node.connect(false);
    expect(take(one, 'key_a', ALL)).toBeLessThanOrEqual(20);
    for (const each of [one, two]) each.node.connect(true);
    take(one, 'key_a', 1);
    await network.pass(500);
    expect(take(two, 'key_a', ALL)).toBeLessThanOrEqual(60 - 20 + 2);
  });

  test('goes in full to all while an earlier version is present, in messages that it reads', async () => {
    const {
      network,
      edges: [one, two, old],
    } = edges(3, 6_000);
    old.node.isEarlier = true;
    let counted = 0;
    const sent = new Set<string>();
    old.node.bus.subscribe(RATES_TAKEN, (body) => {
      sent.add(body.type);
      const { taken } = JSON.parse((body as unknown as { text: string }).text) as {
        taken: [string, string, number, number][];
      };
      for (const entry of taken) {
        expect(entry).toHaveLength(4);
        counted += entry[2];
      }
    });
    for (let count = 0; count < 20; count++) {
      take(one, 'key_a', 1);
      take(two, 'key_b', 1);
      await network.pass(TICK_MS);
    }
    await network.pass(500);
    expect([counted, sent.size]).toEqual([40, 1]);
    expect(old.node.actors.size).toBe(1);
  });

  test('includes messages of an earlier version, which have no totals', async () => {
    const {
      network,
      edges: [one, two],
    } = edges(3);
    const { messages } = await import('../fakes/network/limits-network.ts');
    one.node.bus.publish(RATES_TAKEN, messages.taken('zzzzzz', 1, [['requests', 'key_a', 30, 60]]));
    await network.settle();
    expect(take(two, 'key_a', ALL)).toBe(30);
  });
});
