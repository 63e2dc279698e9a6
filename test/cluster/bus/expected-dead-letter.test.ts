// Which dead letters are worth an alert.
import { expect, test } from 'vitest';
import { type DeadLetterReason, isExpectedDeadLetter } from '../../../src/cluster/bus/bus.ts';
import { MemoryBus } from '../../../src/cluster/bus/memory.ts';

test.each<[string, string, DeadLetterReason, boolean]>([
  ['a leg that has ended meanwhile', 'abc123/leg.ses_1.1', 'unknown_actor', true],
  ['a session whose node is gone', 'abc123/ses_1', 'unknown_node', true],
  ['a requester, from a node that has ended since', 'forgotten', 'unknown_actor', true],
  ['a service that no node offers', 'upstream.open', 'unknown_actor', false],
  ['a service of a node that is gone', 'node.status', 'unknown_node', false],
  ['a leg, when too much was on its way', 'abc123/leg.ses_1.1', 'overflow', false],
  ['a leg whose receiver failed', 'abc123/leg.ses_1.1', 'handler_failed', false],
  ['a leg, while the bus was away', 'abc123/leg.ses_1.1', 'disconnected', false],
])('classifies a letter to %s as merely late or not', (_, to, reason, expected) => {
  expect(isExpectedDeadLetter({ to, reason, from: 'abc123/ses_1', type: 'leg.close' })).toBe(expected);
});

test('raises no alarm for late letters of an ended session, but does for unserved requests', async () => {
  const alarms: string[] = [];
  const bus = new MemoryBus({ onDeadLetter: (letter) => isExpectedDeadLetter(letter) || alarms.push(letter.to) });
  bus.attach('ses_1', () => {})();
  bus.send(bus.address('ses_1'), bus.address('leg.ses_1.1'), { type: 'leg.failed' });
  await bus.request('upstream.open', bus.address('ses_1'), { type: 'leg.open' }, 100).catch(() => {});
  expect(alarms).toEqual(['upstream.open']);
});
