// What idle nodes send each other, as their number grows; and that every node has the lists of providers of all others.
import { describe, expect, test } from 'vitest';
import type { BusBody } from '../../src/cluster/bus/bus.ts';
import { NODE_HEARTBEAT, NODE_STATUS } from '../../src/cluster/bus/subjects.ts';
import { HEARTBEAT_MS, type NodeLoad, type UpstreamState } from '../../src/cluster/membership/heartbeat.ts';
import { joinCluster, type Membership } from '../../src/cluster/membership/membership.ts';
import { providers } from '../../src/vendors/index.ts';
import { SimulatedCluster } from '../fakes/network/simulated-cluster.ts';

const NAMES = providers.map(({ name }) => name);
const LISTS: UpstreamState = { providers: NAMES, credentials: NAMES, failing: [], shortOf: null };
const SECONDS = 20;
/** Without lists. */
const HEARTBEAT_BYTES_MAX = 320;

interface Joined {
  name: string;
  load: NodeLoad;
  members: Membership;
}

async function join(cluster: SimulatedCluster, name: string): Promise<Joined> {
  const node = cluster.node(name);
  const load: NodeLoad = { sessions: 0, legs: 0, sessionsMax: 100, upstream: LISTS };
  const members = await joinCluster({
    bus: node.bus,
    leases: node.leases,
    clock: cluster.clock,
    wallMs: () => 1e12 + cluster.clock.now(),
    self: { id: `id-${name}`, roles: ['edge', 'upstream'], version: '1.2.3' },
    load: () => load,
    onConflict: (sentence) => expect.fail(sentence),
  });
  return { name, load, members };
}

async function joinAll(cluster: SimulatedCluster, count: number): Promise<Joined[]> {
  const joined: Joined[] = [];
  for (let index = 0; index < count; index++) joined.push(await join(cluster, `node${index}`));
  await cluster.pass(3 * HEARTBEAT_MS);
  return joined;
}

/** The lists that a node has of every other one. */
const listsOf = ({ members }: Joined) => members.nodes().map(({ upstream }) => upstream);

async function idle(count: number) {
  const cluster = new SimulatedCluster();
  const joined = await joinAll(cluster, count);
  Object.assign(cluster.received, { messages: 0, bytes: 0 });
  await cluster.pass(SECONDS * 1000);
  for (const each of joined) expect(listsOf(each)).toEqual(joined.map(() => LISTS));
  const { messages, bytes } = cluster.received;
  return { perNode: messages / count / SECONDS, bytes: bytes / count / SECONDS, bytesEach: bytes / messages };
}

describe('idle nodes', () => {
  test.each([8, 16, 32])('%i of them send each other one heartbeat without lists every two seconds', async (count) => {
    const { perNode, bytes, bytesEach } = await idle(count);
    console.info(`${count} nodes: each receives ${perNode} messages/s, ${Math.round(bytes)} bytes/s`);
    expect(perNode).toBeCloseTo(((count - 1) * 1000) / HEARTBEAT_MS, 5);
    expect(bytesEach).toBeLessThan(HEARTBEAT_BYTES_MAX);
  });
});

describe('lists of providers', () => {
  test('travel once when they change, and reach every node after one heartbeat', async () => {
    const cluster = new SimulatedCluster();
    const joined = await joinAll(cluster, 4);
    const [first] = joined as [Joined];
    const changed = { ...LISTS, failing: ['deepgram'] };
    let changes = 0;
    joined[1]?.members.onNodes(() => changes++);
    first.load.upstream = changed;
    await cluster.pass(HEARTBEAT_MS);
    for (const { members } of joined)
      expect(members.nodes().find(({ node }) => node === first.name)?.upstream).toEqual(changed);
    expect(changes).toBe(1);
    Object.assign(cluster.received, { messages: 0, bytes: 0 });
    await cluster.pass(2 * HEARTBEAT_MS);
    expect(cluster.received.bytes / cluster.received.messages).toBeLessThan(HEARTBEAT_BYTES_MAX);
  });

  test('reach a node that joins later, and a node that was cut off while they changed', async () => {
    const cluster = new SimulatedCluster();
    const [first] = (await joinAll(cluster, 3)) as [Joined];
    const late = await join(cluster, 'late');
    await cluster.pass(500);
    expect(listsOf(late)).toEqual([LISTS, LISTS, LISTS, LISTS]);
    const node = cluster.nodes.get('late');
    node?.setCut(true);
    first.load.upstream = { ...LISTS, credentials: [] };
    await cluster.pass(3 * HEARTBEAT_MS);
    node?.setCut(false);
    await cluster.pass(HEARTBEAT_MS + 500);
    expect(listsOf(late)).toContainEqual({ ...LISTS, credentials: [] });
    first.load.upstream = LISTS;
    await cluster.pass(HEARTBEAT_MS + 500);
    expect(listsOf(late)).toEqual([LISTS, LISTS, LISTS, LISTS]);
  });

  test('follow a request when a heartbeat was lost, and no leg opens there before', async () => {
    const cluster = new SimulatedCluster();
    await joinAll(cluster, 2);
    cluster.loses = (topic, to) => topic === NODE_HEARTBEAT && to === 'late';
    const joining = await join(cluster, 'late');
    await cluster.pass(3 * HEARTBEAT_MS);
    expect(listsOf(joining)).toEqual([LISTS]);
    cluster.loses = undefined;
    const seen: unknown[] = [];
    joining.members.onNodes(() => seen.push(joining.members.nodes()[1]?.upstream?.providers));
    await cluster.pass(HEARTBEAT_MS);
    expect(listsOf(joining)).toEqual([LISTS, LISTS, LISTS]);
    expect(seen[0]).toEqual([]);
  });

  test('cause one request per revision in an unreadable form, and the node counts as capable', async () => {
    const cluster = new SimulatedCluster();
    const [first] = (await joinAll(cluster, 1)) as [Joined];
    const odd = cluster.node('odd');
    let requests = 0;
    const load = { sessions: 0, legs: 0, sessionsMax: null, draining: false, leaving: false, wallMs: 1e12 };
    const beat = { type: NODE_HEARTBEAT, node: 'odd', id: 'odd', roles: ['edge'], version: '9.0.0', ...load };
    let upstreamRevision = 7;
    odd.bus.serve(NODE_STATUS, () => {
      requests++;
      return { ...beat, upstreamRevision, upstream: 'another form' };
    });
    for (const revision of [7, 7, 7, 8, 8]) {
      upstreamRevision = revision;
      odd.bus.publish(NODE_HEARTBEAT, { ...beat, upstreamRevision, upstream: 'another form' } as BusBody);
      await cluster.pass(500);
      expect(first.members.nodes()[1]).toMatchObject({ node: 'odd', upstreamRevision });
      expect(first.members.nodes()[1]?.upstream).toBeUndefined();
    }
    expect(requests).toBe(2);
  });

  test('follow the new start of a node that was killed and restarted', async () => {
    const cluster = new SimulatedCluster();
    const [first] = (await joinAll(cluster, 3)) as [Joined];
    cluster.nodes.get('node2')?.kill();
    cluster.kept.clear();
    const again = await join(cluster, 'node2b');
    again.load.upstream = { ...LISTS, credentials: ['google'] };
    await cluster.pass(5 * HEARTBEAT_MS);
    expect(listsOf(first)).toEqual([LISTS, LISTS, again.load.upstream]);
    expect(listsOf(again)).toEqual([again.load.upstream, LISTS, LISTS]);
  });

  test('repeat while an earlier version is present, which reads a heartbeat without them as all', async () => {
    const cluster = new SimulatedCluster();
    await joinAll(cluster, 2);
    const old = cluster.node('old');
    const heard: unknown[] = [];
    old.bus.subscribe(NODE_HEARTBEAT, (body) => {
      const { node, upstream } = body as BusBody & { node: string; upstream?: unknown };
      if (node !== 'old') heard.push(upstream);
    });
    const load = { sessions: 0, legs: 0, sessionsMax: null, draining: false, leaving: false, wallMs: 1e12 };
    const beat = { type: NODE_HEARTBEAT, node: 'old', id: 'old', roles: ['edge'], version: '1.0.0', ...load };
    old.bus.publish(NODE_HEARTBEAT, beat);
    await cluster.pass(5_000);
    expect(heard.length).toBeGreaterThanOrEqual(4);
    expect(heard).toEqual(heard.map(() => LISTS));
  });
});
