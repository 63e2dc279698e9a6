import { expect, it } from 'vitest';
import { SharedPlaces } from '../../src/runtime/limits/shared-places.ts';

it('one organisation has half of the places at most, and what it gives back is there again', () => {
  const places = new SharedPlaces(3);
  const take = (...organisations: string[]) => organisations.map((each) => places.take(each));
  expect(take('one', 'one', 'one')).toEqual([true, true, false]);
  expect(take('two', 'two')).toEqual([true, false]);
  places.giveBack('one');
  expect(take('one', 'one')).toEqual([true, false]);
});
