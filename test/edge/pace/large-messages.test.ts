// Places for large messages: bounded for the process and for an organisation, given on in the order of asking.
import { expect, test } from 'vitest';
import { LargeMessages } from '../../../src/edge/pace/large-messages.ts';

const asker = (organisationId: string, granted: string[]) => ({
  organisationId,
  granted: () => void granted.push(organisationId),
});

test('one organisation has half of the places, and the others are served meanwhile', () => {
  const large = new LargeMessages(4);
  const granted: string[] = [];
  const greedy = Array.from({ length: 4 }, () => asker('greedy', granted));
  expect(greedy.map((each) => large.enter(each))).toEqual([true, true, false, false]);
  const others = [asker('b', granted), asker('c', granted), asker('d', granted)];
  expect(others.map((each) => large.enter(each))).toEqual([true, true, false]);
  large.leave(greedy[0]!);
  expect(granted).toEqual(['greedy']);
  large.leave(others[0]!);
  expect(granted).toEqual(['greedy', 'd']);
});

test('who gives up the wait is not given a place', () => {
  const large = new LargeMessages(1);
  const granted: string[] = [];
  const [first, second, third] = ['a', 'b', 'c'].map((name) => asker(name, granted)) as [
    ReturnType<typeof asker>,
    ReturnType<typeof asker>,
    ReturnType<typeof asker>,
  ];
  expect([large.enter(first), large.enter(second), large.enter(third)]).toEqual([true, false, false]);
  large.leave(second);
  large.leave(first);
  expect(granted).toEqual(['c']);
  large.leave(third);
  expect(large.enter(first)).toBe(true);
});
