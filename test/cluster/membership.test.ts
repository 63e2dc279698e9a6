// Which nodes there are, by a simulated clock: who is heard, who is gone and when, who has least to do, and whose name it is.
import { describe, expect, test } from 'vitest';
import { BusError } from '../../src/cluster/bus/bus.ts';
import { NODE_HEARTBEAT } from '../../src/cluster/bus/subjects.ts';
import type { Heartbeat, NodeLoad } from '../../src/cluster/membership/heartbeat.ts';
import { joinCluster, type Membership, type MembershipOptions } from '../../src/cluster/membership/membership.ts';
import { ClusterError } from '../../src/cluster/membership/name-lease.ts';
import { SimulatedCluster, type SimulatedNode } from '../fakes/network/simulated-cluster.ts';

interface Rig {
  node: SimulatedNode;
  load: NodeLoad;
  members: Membership;
  gone: string[];
  warnings: string[];
  conflicts: string[];
  changes: () => number;
}

type Overrides = Partial<Pick<MembershipOptions, 'self' | 'wallMs'>> & { roles?: MembershipOptions['self']['roles'] };

function options(
  cluster: SimulatedCluster,
  name: string,
  { roles = ['edge', 'upstream'], ...overrides }: Overrides = {},
) {
  const node = cluster.node(name);
  const rig = { node, load: { sessions: 0, legs: 0, sessionsMax: 100 }, gone: [], warnings: [], conflicts: [] } as Omit<
    Rig,
    'members' | 'changes'
  >;
  const given: MembershipOptions = {
    bus: node.bus,
    leases: node.leases,
    clock: cluster.clock,
    wallMs: () => 1e12 + cluster.clock.now(),
    self: { id: `id-${name}`, roles, version: '1.2.3' },
    load: () => rig.load,
    answersNow: async () => !cluster.isFrozen,
    onWarning: (sentence) => rig.warnings.push(sentence),
    onConflict: (sentence) => rig.conflicts.push(sentence),
    ...overrides,
  };
  return { rig, given };
}

async function join(cluster: SimulatedCluster, name: string, overrides?: Overrides): Promise<Rig> {
  const { rig, given } = options(cluster, name, overrides);
  const members = await joinCluster(given);
  let changes = 0;
  members.onGone((node) => rig.gone.push(node));
  members.onNodes(() => changes++);
  return { ...rig, members, changes: () => changes };
}

const names = ({ members }: Rig) => members.nodes().map(({ node }) => node);

/** How a start ends while the time passes: `joined`, or the sentence. */
async function outcome(cluster: SimulatedCluster, joining: Promise<unknown>, ms: number): Promise<string | undefined> {
  let ended: string | undefined;
  joining.then(
    () => {
      ended = 'joined';
    },
    (error: unknown) => {
      ended = error instanceof ClusterError ? error.message : String(error);
    },
  );
  for (let gone = 0; gone < ms && ended === undefined; gone += 100) await cluster.pass(100);
  return ended;
}

describe('the nodes of a gateway', () => {
  test('know each other within a quarter of a second of joining', async () => {
    const cluster = new SimulatedCluster();
    const a = await join(cluster, 'a');
    await cluster.pass(1000);
    const b = await join(cluster, 'b', { roles: ['edge'] });
    await cluster.pass(250);
    expect([names(a), names(b)]).toEqual([
      ['a', 'b'],
      ['b', 'a'],
    ]);
    expect([a.members.count('edge'), a.members.count('upstream'), a.members.count('accounts')]).toEqual([2, 1, 0]);
    expect(a.members.nodes()[1]).toMatchObject({ id: 'id-b', roles: ['edge'], version: '1.2.3', sessionsMax: 100 });
  });

  test('report a killed node after six seconds of silence, once', async () => {
    const cluster = new SimulatedCluster();
    const [a, b] = [await join(cluster, 'a'), await join(cluster, 'b')];
    await cluster.pass(10_000);
    b.node.kill();
    await cluster.pass(3900);
    expect(a.gone).toEqual([]);
    await cluster.pass(2200);
    expect(a.gone).toEqual(['b']);
    expect(names(a)).toEqual(['a']);
    await cluster.pass(20_000);
    expect(a.gone).toEqual(['b']);
  });

  test('report a leaving node at once, and its name is free', async () => {
    const cluster = new SimulatedCluster();
    const [a, b] = [await join(cluster, 'a'), await join(cluster, 'b')];
    await b.members.leave();
    expect([a.gone, names(a)]).toEqual([['b'], ['a']]);
    await b.members.leave();
    const again = await join(cluster, 'b2', { self: { id: 'id-b', roles: ['edge'], version: '2' } });
    expect(again.members.isJoined).toBe(true);
    await cluster.pass(20_000);
    expect(a.gone).toEqual(['b']);
  });

  test('stay listed while NATS is away, and for six more seconds after its return', async () => {
    const cluster = new SimulatedCluster();
    const [a, b] = [await join(cluster, 'a'), await join(cluster, 'b')];
    await cluster.pass(2000);
    for (const { node } of [a, b]) node.setCut(true);
    await cluster.pass(300_000);
    expect([a.members.count('edge'), a.gone, a.members.isJoined]).toEqual([2, [], false]);
    a.node.setCut(false);
    await cluster.pass(5900);
    expect(a.gone).toEqual([]);
    b.node.setCut(false);
    await cluster.pass(20_000);
    expect([a.gone, b.gone, names(a), names(b)]).toEqual([[], [], ['a', 'b'], ['b', 'a']]);
    expect([a.members.isJoined, b.members.isJoined, a.conflicts]).toEqual([true, true, []]);
  });

  test('stay listed while the server hangs and the connection seems intact', async () => {
    const cluster = new SimulatedCluster();
    const [a, b] = [await join(cluster, 'a'), await join(cluster, 'b')];
    await cluster.pass(2000);
    cluster.isFrozen = true;
    await cluster.pass(12_000);
    expect(a.gone).toEqual([]);
    cluster.isFrozen = false;
    await cluster.pass(10_000);
    b.node.kill();
    await cluster.pass(7000);
    expect(a.gone).toEqual(['b']);
  });

  test('hear that one drains at once', async () => {
    const cluster = new SimulatedCluster();
    const [a, b] = [await join(cluster, 'a', { roles: ['edge'] }), await join(cluster, 'b')];
    await cluster.pass(2000);
    const before = a.changes();
    b.members.drain();
    expect(a.changes()).toBe(before + 1);
    expect(a.members.nodes()[1]).toMatchObject({ node: 'b', draining: true });
    expect(a.members.count('upstream')).toBe(1);
  });

  test('report changes, not every heartbeat', async () => {
    const cluster = new SimulatedCluster();
    const a = await join(cluster, 'a');
    await join(cluster, 'b');
    await cluster.pass(60_000);
    expect(a.changes()).toBe(1);
  });

  test('report soon what a node could not reach, and what it lacks', async () => {
    const cluster = new SimulatedCluster();
    const [a, b] = [await join(cluster, 'a'), await join(cluster, 'b')];
    await cluster.pass(2500);
    const upstream = { providers: ['asr'], credentials: [], failing: ['asr'], shortOf: 'legs' as const };
    b.load.upstream = upstream;
    b.members.changed();
    await cluster.pass(250);
    expect(a.members.nodes()[1]).toMatchObject({ node: 'b', upstream });
  });
});

describe('the name of a node', () => {
  test('waits while its killed process still holds it', async () => {
    const cluster = new SimulatedCluster();
    const a = await join(cluster, 'a');
    await cluster.pass(7000);
    a.node.kill();
    const { given } = options(cluster, 'next', { self: { id: 'id-a', roles: ['edge'], version: '1' } });
    const began = cluster.clock.now();
    expect(await outcome(cluster, joinCluster(given), 60_000)).toBe('joined');
    expect(cluster.clock.now() - began).toBeLessThanOrEqual(20_000);
  });

  test('stays with the first node for a second one, refused after 20 s in one sentence', async () => {
    const cluster = new SimulatedCluster();
    const a = await join(cluster, 'a');
    const { given } = options(cluster, 'twin', { self: { id: 'id-a', roles: ['edge'], version: '1' } });
    const began = cluster.clock.now();
    expect(await outcome(cluster, joinCluster(given), 60_000)).toMatch(
      /^Another node is called "id-a": give this one another VOXGATE_NODE_ID/,
    );
    expect(cluster.clock.now() - began).toBeLessThanOrEqual(21_500);
    expect([names(a), a.members.isJoined, a.conflicts]).toEqual([['a'], true, []]);
  });

  test('passes from a node that was cut off to its successor, with one notice', async () => {
    const cluster = new SimulatedCluster();
    const a = await join(cluster, 'a');
    a.node.setCut(true);
    await cluster.pass(16_000);
    const twin = await join(cluster, 'twin', { self: { id: 'id-a', roles: ['edge'], version: '1' } });
    a.node.setCut(false);
    await cluster.pass(60_000);
    expect(a.conflicts).toHaveLength(1);
    expect([a.members.isJoined, twin.members.isJoined, twin.conflicts]).toEqual([false, true, []]);
  });

  test.each([
    [60, 15, 'joined'],
    [60, 25, 'NATS did not answer in time.'],
    [0, 25, 'NATS did not answer in time.'],
  ])(
    'waits for a missing NATS server for %i s, and for an answer 20 s (%i s: %s)',
    async (missingSeconds, silentSeconds, expected) => {
      const cluster = new SimulatedCluster();
      const { rig, given } = options(cluster, 'a');
      const { acquire } = rig.node.leases;
      rig.node.leases.acquire = async (...args) => {
        const seconds = cluster.clock.now() / 1000;
        if (seconds < missingSeconds) throw new BusError('handler_failed', 'no suitable peers for placement');
        if (seconds < missingSeconds + silentSeconds) throw new BusError('timeout', 'NATS did not answer in time.');
        return acquire(...args);
      };
      expect(await outcome(cluster, joinCluster(given), 120_000)).toBe(expected);
      expect(rig.warnings).toHaveLength(1);
    },
  );

  test('follows as soon as NATS is there for a node that started without it', async () => {
    const cluster = new SimulatedCluster();
    const a = await join(cluster, 'a');
    const { rig, given } = options(cluster, 'b');
    rig.node.setCut(true);
    const members = await joinCluster(given);
    await cluster.pass(30_000);
    expect([members.isJoined, names(a)]).toEqual([false, ['a']]);
    rig.node.setCut(false);
    await cluster.pass(3000);
    expect([members.isJoined, names(a)]).toEqual([true, ['a', 'b']]);
  });
});

describe('clocks that differ', () => {
  test.each([
    [600_000, /id-b" is 600\.0 s ahead of the one of "id-a"/],
    [-2500, /id-b" is 2\.5 s behind the one of "id-a"/],
    [1900, undefined],
  ])('cause one warning per node at %i ms', async (skewMs, expected) => {
    const cluster = new SimulatedCluster();
    const a = await join(cluster, 'a');
    await join(cluster, 'b', { wallMs: () => 1e12 + cluster.clock.now() + skewMs });
    await cluster.pass(120_000);
    if (expected === undefined) expect(a.warnings).toEqual([]);
    else expect(a.warnings).toEqual([expect.stringMatching(expected)]);
  });

  test('cause no warning for heartbeats that were delayed', async () => {
    const cluster = new SimulatedCluster();
    const a = await join(cluster, 'a');
    const b = await join(cluster, 'b');
    await cluster.pass(4000);
    const old = a.members.nodes()[1] as Heartbeat;
    for (let beats = 0; beats < 30; beats++) {
      a.node.hear(NODE_HEARTBEAT, { ...old, wallMs: old.wallMs - 60_000 + beats * 2000 } as Heartbeat);
    }
    await cluster.pass(4000);
    expect([a.warnings, names(b)]).toEqual([[], ['b', 'a']]);
  });
});

test('ignores and counts an invalid heartbeat', async () => {
  const cluster = new SimulatedCluster();
  const a = await join(cluster, 'a');
  for (const body of [null, 'x', {}, { node: 'b' }]) a.node.hear(NODE_HEARTBEAT, body as Heartbeat);
  expect([a.members.ignored, names(a)]).toEqual([4, ['a']]);
});

test('ignores nodes beyond its capacity', async () => {
  const cluster = new SimulatedCluster();
  const a = await join(cluster, 'a');
  await join(cluster, 'b');
  await cluster.pass(1000);
  const good = a.members.nodes()[1] as Heartbeat;
  for (let index = 0; index < 2000; index++) a.node.hear(NODE_HEARTBEAT, { ...good, node: `n${index}` } as Heartbeat);
  expect([a.members.nodes().length, a.members.ignored]).toEqual([1025, 977]);
});
