// Sessions at a time over all nodes: exact while somebody counts, each node's share while nobody does, and the truth again after.
import { describe, expect, test } from 'vitest';
import type { SlotRequest, SlotTaken } from '../../src/cluster/limits/session-slots.ts';
import { drawn } from '../fakes/drawn.ts';
import { LimitsNetwork, type LimitsNode } from '../fakes/network/limits-network.ts';
import { seeded } from '../fakes/random.ts';

/** Longer than a count that begins waits for everybody. */
const COUNTED_MS = 3_000;

const ofKey = (keyId: string, keyMax: number, organisationMax: number | null = null): SlotRequest => ({
  keyId,
  organisationId: 'org_1',
  keyMax,
  organisationMax,
});

async function three() {
  const network = new LimitsNetwork();
  const nodes = [network.open('aaaaaa'), network.open('bbbbbb'), network.open('cccccc')] as const;
  const served = network.own(nodes[0]);
  await network.pass(COUNTED_MS);
  const take = async (node: LimitsNode, request: SlotRequest) => {
    const taking = node.limits.places.take(request);
    await network.settle();
    return taking;
  };
  return { network, nodes, served, take };
}

const leave = (taken: SlotTaken) => {
  if ('full' in taken) throw new Error('It was refused.');
  taken.leave();
};

test('skips a counting node that is known to be away: shares decide, counts follow later', async () => {
  const { network, nodes, served, take } = await three();
  nodes[0].isFrozen = true;
  nodes[1].isCounterAway = true;
  const now = network.clock.now();
  for (let place = 1; place <= 3; place++) expect(await take(nodes[1], ofKey('key_1', 9))).toHaveProperty('leave');
  expect(await take(nodes[1], ofKey('key_1', 9))).toEqual({ full: 'key', max: 3, isShare: true });
  expect([network.clock.now(), served.places]).toEqual([now, 0]);
  nodes[0].isFrozen = false;
  nodes[1].isCounterAway = false;
  await network.pass(20_000);
  expect(served.places).toBe(3);
});

describe('sessions while a node counts', () => {
  test.each([
    ['a key', ofKey('key_1', 3), ofKey('key_2', 3), 'key'],
    ['an organisation', ofKey('key_1', 9, 3), { ...ofKey('key_2', 9, 3), organisationId: 'org_2' }, 'organisation'],
  ])(
    '%s has no more on all nodes together than it may have, and one more when one ends',
    async (_, request, other, full) => {
      const { network, nodes, served, take } = await three();
      const taken = await Promise.all(nodes.map((node) => take(node, request)));
      for (const node of nodes) expect(await take(node, request)).toEqual({ full, max: 3, isShare: false });
      expect(await take(nodes[1], other)).toHaveProperty('leave');
      leave(taken[2] as SlotTaken);
      leave(taken[2] as SlotTaken);
      await network.settle();
      expect(served.places).toBe(3);
      expect(await take(nodes[1], request)).toHaveProperty('leave');
    },
  );

  test('places of a node that is gone are free at once', async () => {
    const { nodes, served, take } = await three();
    for (let count = 0; count < 3; count++) await take(nodes[2], ofKey('key_1', 3));
    nodes[2].end();
    expect(await take(nodes[1], ofKey('key_1', 3))).toHaveProperty('full');
    served.forget('cccccc');
    expect(await take(nodes[1], ofKey('key_1', 3))).toHaveProperty('leave');
  });

  test('report their number for a node that was forgotten but is present', async () => {
    const { network, nodes, served, take } = await three();
    for (let count = 0; count < 2; count++) await take(nodes[2], ofKey('key_1', 3));
    served.forget('cccccc');
    served.rollCall();
    await network.settle();
    expect(served.places).toBe(2);
  });

  test('pass as 20,000 sessions of 5,000 keys to the next counting node', async () => {
    const { network, nodes, take } = await three();
    for (let count = 0; count < 20_000; count++) await take(nodes[1], ofKey(`key_${count % 5_000}`, 100));
    const next = network.own(nodes[2]);
    await network.pass(COUNTED_MS);
    expect(next.places).toBe(20_000);
  }, 60_000);

  test('ignore messages of other gateways, and invalid questions', async () => {
    const { nodes, served } = await three();
    const handler = nodes[0].handlers.get('limits.places');
    for (const body of [
      { type: 'limits.ask' },
      { type: 'limits.ask', text: '{"op":"take"}', mark: 'x' },
      { type: '' },
    ]) {
      await expect((async () => handler?.(body, 'aaaaaa/limits'))()).rejects.toThrow('not of this gateway');
    }
    expect(served.ignored).toBe(3);
  });
});

describe('sessions without a counting node', () => {
  test.each([
    ['the node that counts is gone', ({ nodes }: Three) => nodes[0].end()],
    ['it does nothing', ({ nodes }: Three) => nodes[0].freeze(true)],
    ['the bus is away', ({ nodes }: Three) => nodes.map((node) => node.connect(false))],
    ['it has just begun', ({ network, nodes }: Three) => network.own(nodes[0])],
  ])('since %s, every node lets in its share, and one at least', async (_, happens) => {
    const world = await three();
    const { network, nodes } = world;
    happens(world);
    const takings = nodes
      .slice(1)
      .flatMap(({ limits: { places } }) => [
        ...[1, 2, 3].map(() => places.take(ofKey('key_1', 6))),
        places.take(ofKey('key_2', 1)),
      ]);
    await network.settle();
    await network.pass(1_000);
    const outcomes = (await Promise.all(takings)).map((taken) => ('full' in taken ? taken : 'taken'));
    const ofOne = ['taken', 'taken', { full: 'key', max: 2, isShare: true }, 'taken'];
    expect(outcomes).toEqual([...ofOne, ...ofOne]);
  });

  test('count again later if they began meanwhile, and not if they ended', async () => {
    const { network, nodes, take } = await three();
    const before = await take(nodes[1], ofKey('key_1', 6));
    nodes[0].end();
    await take(nodes[1], ofKey('key_1', 6));
    await take(nodes[2], ofKey('key_1', 6));
    leave(before);
    const next = network.own(nodes[2]);
    await network.pass(COUNTED_MS);
    expect(next.places).toBe(2);
    expect(await take(nodes[1], ofKey('key_1', 2))).toEqual({ full: 'key', max: 2, isShare: false });
  });

  test('wait only once for an unresponsive node', async () => {
    const { network, nodes } = await three();
    nodes[0].freeze(true);
    const first = nodes[1].limits.places.take(ofKey('key_1', 9));
    await network.settle();
    await network.pass(1_000);
    await first;
    const second = nodes[1].limits.places.take(ofKey('key_1', 9));
    await network.settle();
    expect(await Promise.race([second, Promise.resolve('later')])).toHaveProperty('leave');
    nodes[0].freeze(false);
    await network.pass(12_000);
    expect(nodes[0].served?.places).toBe(2);
  });
});

type Three = Awaited<ReturnType<typeof three>>;

const SEEDS = drawn(200);

test(`${SEEDS} histories of sessions on three nodes, with nothing amiss: never one too many, and none refused without reason`, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = seeded(seed);
    const network = new LimitsNetwork(random);
    const nodes = ['aaaaaa', 'bbbbbb', 'cccccc'].map((name) => network.open(name));
    network.own(nodes[0] as LimitsNode);
    await network.pass(COUNTED_MS);
    const max = random.integer(1, 4);
    const open = new Set<() => void>();
    const opening: Promise<void>[] = [];
    for (let step = 0; step < 60; step++) {
      if (random.next() < 0.5) {
        const taking = random.pick(nodes).limits.places.take(ofKey('key_1', max));
        opening.push(
          taking.then((taken) => {
            if (!('full' in taken)) open.add(taken.leave);
            else expect(taken.isShare).toBe(false);
            expect(open.size).toBeLessThanOrEqual(max);
          }),
        );
      } else if (open.size > 0) {
        const one = random.pick([...open]);
        open.delete(one);
        one();
      }
      for (let count = random.integer(0, 3); count > 0; count--) network.step();
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await network.settle();
    await Promise.all(opening);
    expect(nodes[0]?.served?.places).toBe(open.size);
    // What is free can be had, wherever.
    for (let free = max - open.size; free >= 0; free--) {
      const taking = random.pick(nodes).limits.places.take(ofKey('key_1', max));
      await network.settle();
      expect('full' in (await taking)).toBe(free === 0);
    }
  }
});

test(`${SEEDS} histories in which nodes are cut off, freeze and change the count: when all is well again, it is the truth`, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = seeded(seed);
    const network = new LimitsNetwork(random);
    const nodes = ['aaaaaa', 'bbbbbb', 'cccccc'].map((name) => network.open(name));
    network.own(nodes[0] as LimitsNode);
    const open = new Set<() => void>();
    const opening: Promise<unknown>[] = [];
    for (let step = 0; step < 80; step++) {
      const node = random.pick(nodes);
      const chance = random.next();
      if (chance < 0.4) {
        const taking = node.limits.places.take(ofKey(`key_${random.integer(1, 3)}`, 5, 8));
        opening.push(taking.then((taken) => 'full' in taken || open.add(taken.leave)));
      } else if (chance < 0.6 && open.size > 0) {
        const one = random.pick([...open]);
        open.delete(one);
        one();
      } else if (chance < 0.68) node.connect(!node.isConnected);
      else if (chance < 0.74) node.freeze(!node.isFrozen);
      else if (chance < 0.78) network.own(node);
      else if (chance < 0.82) nodes.find((each) => each.served)?.served?.forget(node.name);
      else network.clock.increment(random.integer(0, 1_500));
      for (let count = random.integer(0, 4); count > 0; count--) network.step();
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    for (const node of nodes) {
      node.freeze(false);
      node.connect(true);
    }
    await network.pass(40_000);
    await Promise.all(opening);
    const serving = nodes.filter((node) => node.served !== undefined);
    expect([seed, serving.map((node) => node.served?.places)]).toEqual([seed, [open.size]]);
    expect(nodes.reduce((sum, node) => sum + node.limits.places.size, 0)).toBe(open.size);
  }
}, 120_000);
