import { expect, test } from 'vitest';
import { MemoryBus } from '../../../src/cluster/bus/memory.ts';
import { Peers } from '../../../src/cluster/replication/peers.ts';
import { EventClock } from '../../simulation/event-clock.ts';

const TOPIC = 'accounts.position';

async function rig() {
  const clock = new EventClock();
  const bus = new MemoryBus({ node: 'here' });
  const peers = new Peers({ bus, clock, topic: TOPIC });
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
  expect(told).toEqual([3, 3].map((number) => ({ type: TOPIC, node: 'here', number })));
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
