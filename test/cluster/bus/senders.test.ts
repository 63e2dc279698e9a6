// What waits until its sender has given a sign of life: for how long, how much of it, and what becomes of it.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Sealer } from '../../../src/cluster/bus/sealing/frame-seal.ts';
import { KeyRing } from '../../../src/cluster/bus/sealing/key-ring.ts';
import { Refusals } from '../../../src/cluster/bus/sealing/refusals.ts';
import { Senders } from '../../../src/cluster/bus/sealing/senders.ts';
import { SECRETS } from '../../fakes/secrets.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function rig(sendersMax?: number) {
  const ring = new KeyRing(SECRETS, 'test');
  const refusals = new Refusals({});
  const asked: { node: string; nonce: string }[] = [];
  const taken: string[] = [];
  const senders = new Senders({
    node: 'here',
    ring,
    sendersMax,
    challenge: (node, nonce) => void asked.push({ node, nonce }),
    refused: (reason) => refusals.note(reason),
  });
  const sender = (node: string) => new Sealer(ring, node);
  const arrived = (sealer: Sealer, text: string) => {
    const [subject, reply] = ['a.subject', ''];
    return { subject, reply, data: sealer.seal(subject, reply, Buffer.from(text)) };
  };
  const receive = (message: ReturnType<typeof arrived>) => senders.receive(message, (plain) => taken.push(`${plain}`));
  const prove = (sealer: Sealer) =>
    senders.receiveProof(arrived(sealer, asked.at(-1)?.nonce ?? ''), (plain) => `${plain}`);
  return { senders, refused: refusals.counts, asked, taken, sender, arrived, receive, prove };
}

test('arrive in order with the heartbeat, and nothing twice', () => {
  const { taken, sender, arrived, receive, prove, refused } = rig();
  const sealer = sender('there');
  const messages = ['1', '2', '3'].map((text) => arrived(sealer, text));
  for (const message of [...messages, ...messages]) receive(message);
  expect(taken).toEqual([]);
  prove(sealer);
  for (const message of messages) receive(message);
  receive(arrived(sealer, '4'));
  expect([taken, refused.replayed]).toEqual([['1', '2', '3', '4'], 6]);
});

test('counts as stale when it arrives after later ones, and as a replay when repeated', () => {
  const { taken, sender, arrived, receive, prove, refused } = rig();
  const sealer = sender('there');
  receive(arrived(sealer, 'first'));
  prove(sealer);
  const held = Array.from({ length: 100 }, (_, index) => arrived(sealer, `held ${index}`));
  const later = [arrived(sealer, 'later 1'), arrived(sealer, 'later 2')];
  for (const message of later) receive(message);
  for (const message of held) receive(message);
  expect([taken, refused.stale, refused.replayed]).toEqual([['first', 'later 1', 'later 2'], 100, 0]);
  for (const message of later) receive(message);
  expect([taken.length, refused.stale, refused.replayed]).toEqual([3, 100, 2]);
  // So much later that nobody can say.
  for (let count = 0; count < 20_000; count++) receive(arrived(sealer, 'next'));
  for (const message of later) receive(message);
  expect([refused.stale, refused.replayed]).toEqual([102, 2]);
});

test('counts as stale when it is from this node, as forged when it only claims so', () => {
  const { taken, sender, arrived, receive, refused } = rig();
  receive(arrived(sender('here'), 'own'));
  expect([taken, refused.stale, refused.forged]).toEqual([[], 1, 0]);
  const foreign = new Sealer(new KeyRing({ secret: Buffer.from('x'.repeat(40)) }, 'test'), 'here');
  receive(arrived(foreign, 'not own'));
  expect([taken, refused.stale, refused.forged]).toEqual([[], 1, 1]);
});

test('expires without a heartbeat, and is counted; the requests for one stop', () => {
  const { senders, taken, asked, sender, arrived, receive, prove, refused } = rig();
  const sealer = sender('dead');
  for (const text of ['1', '2']) receive(arrived(sealer, text));
  vi.advanceTimersByTime(60_000);
  expect([refused.stale, senders.size.held, vi.getTimerCount()]).toEqual([2, 0, 0]);
  expect(asked.length).toBeLessThan(25);
  prove(sealer);
  expect([taken, refused.stale]).toEqual([[], 3]);
});

test('expires when it was sealed long before the heartbeat, by any clock', () => {
  const { taken, sender, arrived, receive, prove, refused } = rig();
  const sealer = sender('there');
  const recorded = arrived(sealer, 'recorded');
  vi.advanceTimersByTime(3_000);
  receive(recorded);
  receive(arrived(sealer, 'fresh'));
  prove(sealer);
  expect([taken, refused.stale]).toEqual([['fresh'], 1]);
});

test('stays bounded in number and bytes, as do the known senders', () => {
  const { senders, sender, arrived, receive, refused } = rig(3);
  const many = sender('many');
  for (let count = 0; count < 4_100; count++) receive(arrived(many, 'x'));
  expect([senders.size.held, refused.overflow]).toEqual([4_096, 4]);
  senders.close();
  const large = sender('large');
  for (let count = 0; count < 17; count++) receive(arrived(large, 'x'.repeat(1_048_576)));
  expect([senders.size.held, refused.overflow]).toEqual([16, 5]);
  for (const node of ['a', 'b', 'c', 'd']) receive(arrived(sender(node), 'x'));
  expect(senders.size.senders).toBe(3);
});
