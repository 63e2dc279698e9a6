// Limits of a key over several nodes: what is taken on one is known on the others within a quarter of a second, and while they
// cannot hear each other each has its share.
import { describe, expect, test } from 'vitest';
import { createSharedKeyLimits, type KeyLimits } from '../../../src/accounts/auth/limits.ts';
import { apiKey } from '../../fakes/api-keys.ts';
import { LimitsNetwork, messages } from '../../fakes/network/limits-network.ts';

const key = apiKey({ id: 'key_a', organisationId: 'org_a' });

async function edges(count: number, requestsPerMinuteMax = 60) {
  const network = new LimitsNetwork();
  const nodes = Array.from({ length: count }, (_, index) => network.open(`node0${index}`));
  network.own(nodes[0]!);
  await network.pass(3_000);
  const settings = {
    requestsPerMinutePerKeyMax: requestsPerMinuteMax,
    sessionsPerKeyMax: 2,
    tokensPerMinutePerKeyMax: 12,
    clock: network.clock,
  };
  const limits = nodes.map((node) => createSharedKeyLimits(settings, node.shared));
  return { network, nodes, limits: limits as [KeyLimits, KeyLimits, ...KeyLimits[]] };
}

/** How many are let through at once. */
function takeAll(limits: KeyLimits, what: 'takeRequest' | 'takeToken' = 'takeRequest'): number {
  for (let taken = 0; ; taken++) {
    try {
      limits[what](key);
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limit_exceeded' });
      return taken;
    }
  }
}

describe('requests and tokens a minute', () => {
  test.each([
    ['takeRequest', 60],
    ['takeToken', 12],
  ] as const)('%s: what was taken on one node cannot be taken on another', async (what, max) => {
    const { network, limits } = await edges(3);
    expect(takeAll(limits[0], what)).toBe(max);
    await network.pass(250);
    expect([takeAll(limits[1], what), takeAll(limits[2]!, what)]).toEqual([0, 0]);
    await network.pass(60_000);
    expect(takeAll(limits[1], what)).toBe(max);
  });

  test('stay within a single node’s limit over ten minutes, plus one minute’s worth', async () => {
    const { network, limits } = await edges(3);
    let taken = 0;
    for (let second = 0; second < 600; second++) {
      for (const each of limits) taken += takeAll(each);
      await network.pass(1_000);
    }
    expect(taken).toBeGreaterThanOrEqual(590);
    expect(taken).toBeLessThanOrEqual(60 * 3 + 600);
  });

  test('cause no message on a single node', async () => {
    const { network, limits } = await edges(1);
    takeAll(limits[0]);
    expect(Reflect.get(network.clock, 'timeouts')).toHaveProperty('size', 0);
  });

  test('give every node its share, at least one, while the bus is away', async () => {
    const { nodes, limits } = await edges(3);
    for (const node of nodes) node.connect(false);
    expect(limits.map((each) => takeAll(each))).toEqual([20, 20, 20]);
    const { nodes: two, limits: single } = await edges(2, 1);
    for (const node of two) node.connect(false);
    expect(single.map((each) => takeAll(each))).toEqual([1, 1]);
  });

  test('ignore counts from outside this gateway, and repeats', async () => {
    const { network, nodes, limits } = await edges(2);
    const honest = messages.taken('zzzzzz', 7, [['requests', 'key_a', 30, 60]]);
    nodes[0]!.bus.publish('limits.taken', honest);
    nodes[0]!.bus.publish('limits.taken', honest);
    nodes[0]!.bus.publish('limits.taken', { type: 'limits.taken' });
    nodes[0]!.bus.publish('limits.taken', { ...messages.taken('yyyyyy', 1, []), mark: 'x'.repeat(43) } as never);
    nodes[0]!.bus.publish('limits.taken', messages.taken('yyyyyy', 1, [['requests', 'key_a', 1, 0]]));
    await network.settle();
    expect(takeAll(limits[1])).toBe(30);
    expect(nodes[1]!.limits.rates.ignored).toBe(4);
  });

  test('report 10,000 keys per quarter of a second, and count those beyond', async () => {
    const { network, nodes, limits } = await edges(2);
    for (let count = 0; count < 10_050; count++) limits[0].takeRequest(apiKey({ id: `key_${count}` }));
    expect(nodes[0]!.limits.rates.untold).toBe(50);
    await network.pass(250);
    limits[1].takeRequest(apiKey({ id: 'key_9999' }));
    expect(limits[1].takeRequest(apiKey({ id: 'key_9999' }))['RateLimit-Remaining']).toBe('57');
  });
});

test('refuses sessions in the words of one node, and says when others cannot be asked', async () => {
  const { network, nodes, limits } = await edges(2);
  const take = async (from: KeyLimits) => {
    const taking = Promise.resolve(from.takeSession(key));
    taking.catch(() => {});
    await network.settle();
    return taking;
  };
  const end = await take(limits[0]);
  await take(limits[1]);
  await expect(take(limits[1])).rejects.toMatchObject({
    code: 'too_many_sessions',
    message: 'This key may have 2 sessions at a time. End one, or try again later.',
    extras: { headers: { 'RateLimit-Limit': '2', 'RateLimit-Remaining': '0' } },
  });
  end();
  for (const node of nodes) node.connect(false);
  await expect(take(limits[1])).rejects.toMatchObject({
    message:
      'This key may have 1 sessions at a time on this node, which cannot reach the others right now. End one, or try again later.',
  });
});

test('counts files over all nodes, separately from sessions', async () => {
  const { network, limits } = await edges(2);
  const take = async (from: KeyLimits, what: 'takeFile' | 'takeSession') => {
    const taking = Promise.resolve(from[what](key));
    taking.catch(() => {});
    await network.settle();
    return taking;
  };
  for (const each of limits) {
    await take(each, 'takeFile');
    await take(each, 'takeSession');
  }
  await expect(take(limits[0], 'takeFile')).rejects.toMatchObject({
    message: 'This key may have 2 files in progress at a time. Wait for an answer, or try again later.',
  });
});
