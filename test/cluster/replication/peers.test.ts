import { describe, expect, test } from 'vitest';
import { MemoryBus } from '../../../src/cluster/bus/memory.ts';
import { Peers } from '../../../src/cluster/replication/peers.ts';
import { EventClock } from '../../simulation/event-clock.ts';

const TOPIC = 'accounts.position';

async function rig() {
  const clock = new EventClock();
  const bus = new MemoryBus({ node: 'here' });
  const peers = new Peers({ bus, clock, topic: TOPIC, node: 'here', version: 3, others: 2 });
  const run = async (forMs: number) => {
    clock.setTimeout(() => {}, forMs);
    await clock.run(clock.now() + forMs, () => false);
  };
  return { bus, peers, run };
}

test('a replica that is ahead counts for three seconds', async () => {
  const { bus, peers, run } = await rig();
  const body: { type: string } = Object.assign({ type: TOPIC }, { node: 'there', number: 7 });
  bus.publish(TOPIC, body);
  expect([6, 7].map((number) => peers.isAhead(number))).toEqual([true, false]);
  await run(2_900);
  expect(peers.isAhead(6)).toBe(true);
  await run(200);
  expect(peers.isAhead(6)).toBe(false);
  peers.close();
});

test('a replica is level with the others only while their positions arrive, and none has more entries', async () => {
  const { bus, peers, run } = await rig();
  expect(peers.isLevel(9)).toBe(false);
  for (const [node, number] of Object.entries({ there: 7, elsewhere: 5 })) {
    const body: { type: string } = Object.assign({ type: TOPIC }, { node, number });
    bus.publish(TOPIC, body);
  }
  expect([6, 7, 8].map((number) => peers.isLevel(number))).toEqual([false, true, true]);
  await run(3_100);
  expect(peers.isLevel(8)).toBe(false);
  peers.close();
});

test('reports once a second, and no more after it was closed', async () => {
  const { bus, peers, run } = await rig();
  const told: unknown[] = [];
  bus.subscribe(TOPIC, (body) => told.push(body));
  peers.say(3);
  await run(2_500);
  expect(told).toEqual([3, 3].map((number) => ({ type: TOPIC, node: 'here', number, version: 3 })));
  expect(peers.isAhead(0)).toBe(false);
  peers.close();
  await run(5_000);
  expect(told).toHaveLength(2);
});

test('ignores malformed positions', async () => {
  const { bus, peers } = await rig();
  for (const body of [{}, { node: 'there' }, { node: 'there', number: '9' }, { node: 1, number: 9 }]) {
    bus.publish(TOPIC, { type: TOPIC, ...body });
  }
  expect(peers.isAhead(0)).toBe(false);
  for (let index = 0; index < 200; index++) {
    const body: { type: string } = Object.assign({ type: TOPIC }, { node: `node-${index}`, number: 9 });
    bus.publish(TOPIC, body);
  }
  expect(peers.isAhead(8)).toBe(true);
  peers.close();
});

describe('the version of operations that may be used', () => {
  const say = (bus: MemoryBus, node: string, version?: unknown) => {
    const body: { type: string } = Object.assign({ type: TOPIC }, { node, number: 1, version });
    bus.publish(TOPIC, body);
  };

  test('is the first until the other replicas have reported theirs, then the oldest of them', async () => {
    const { bus, peers } = await rig();
    expect(peers.commonVersion()).toBe(1);
    say(bus, 'second', 2);
    expect(peers.commonVersion()).toBe(1);
    say(bus, 'third', 4);
    expect(peers.commonVersion()).toBe(2);
    expect(peers.olderThan(3)).toEqual(['second']);
    say(bus, 'second', 3);
    expect({ version: peers.commonVersion(), older: peers.olderThan(3) }).toEqual({ version: 3, older: [] });
    peers.close();
  });

  test('is that of the replicas that are there when another one has not reported for ten seconds', async () => {
    const { peers, run } = await rig();
    await run(9_900);
    expect(peers.commonVersion()).toBe(1);
    await run(200);
    expect(peers.commonVersion()).toBe(3);
    peers.close();
  });

  test('counts a replica for ten minutes after its last report, as the first version where it names none, and ignores wrong ones', async () => {
    const { bus, peers, run } = await rig();
    say(bus, 'second', undefined);
    say(bus, 'third', 'new');
    await run(599_000);
    expect({ version: peers.commonVersion(), older: peers.olderThan(2) }).toEqual({ version: 1, older: ['second'] });
    await run(2_000);
    expect(peers.commonVersion()).toBe(3);
    peers.close();
  });
});
