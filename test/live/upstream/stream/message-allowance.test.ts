// How many messages a provider may send, by a clock that is moved by hand.
import { expect, test } from 'vitest';
import { MessageAllowance } from '../../../../src/live/upstream/stream-connection.ts';

const RATE = 16_000;
const count = (allowance: MessageAllowance, nowMs: number, most: number) => {
  let taken = 0;
  while (taken < most && allowance.take(nowMs)) taken++;
  return taken;
};

test('permits 200 messages per second of audio, at any time', () => {
  const allowance = new MessageAllowance(RATE, 0);
  for (let second = 0; second < 3_600; second++) allowance.sent(2 * RATE);
  expect(count(allowance, 0, 1_000_000)).toBe(3_600 * 200 + 4_000);
});

test('permits 50 messages a second without audio, and 4000 at once', () => {
  const allowance = new MessageAllowance(RATE, 0);
  for (let second = 0; second < 1_000; second++) expect(count(allowance, second * 1_000, 50)).toBe(50);
  expect(count(allowance, 1_000_000, 10_000)).toBe(4_000);
  expect(count(allowance, 1_001_000, 10_000)).toBe(50);
});
