// Plain words: phrases that a reader only understands at the second reading are banned, place by place.
import { describe, expect, test } from 'vitest';
import { expectNone } from './expect-none.ts';
import { PLACES, usesIn } from './language.ts';

describe('plain words', () => {
  test.each(PLACES.filter(({ enforced }) => enforced).map((place) => [place.name, place] as const))(
    'leave out banned phrases in %s',
    (_name, { texts }) => {
      const found = texts();
      expect(found.length).toBeGreaterThan(10);
      expectNone(usesIn(found));
    },
  );

  test('cover every place', () => {
    expect(PLACES.filter(({ texts }) => texts().length <= 10).map(({ name }) => name)).toEqual([]);
  });

  test.each([
    ['Nobody is told.', 2],
    ['What is refused costs nothing. It goes on by itself.', 3],
    ['If none of its own files can be removed, go on to the next page. Who may use it?', 0],
    ['There is no room, and there are no more files than before.', 0],
    ['The key is no API key.', 1],
  ])('finds the phrases of "%s"', (text, count) => {
    expect(usesIn([{ at: 'here:1', text }])).toHaveLength(count);
  });
});
