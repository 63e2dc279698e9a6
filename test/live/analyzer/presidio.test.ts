// What a service in Presidio's shape is asked, and what is made of its answers: offsets in code points, and answers that are about
// something else.
import { expect, it } from 'vitest';
import { analyzeRequest, matchesIn } from '../../../src/live/analyzer/presidio.ts';

const BOTH = ['name', 'address'] as const;
const entity = (start: unknown, end: unknown, entity_type: unknown = 'PERSON') => ({
  start,
  end,
  score: 0.85,
  entity_type,
});
const found = (text: string, ...entities: unknown[]) =>
  matchesIn(JSON.stringify(entities), text, BOTH).map((match) => [match.class, text.slice(match.from, match.to)]);

it('requests the entities of the classes, and no others', () => {
  expect(analyzeRequest('Hi', 'en', ['address', 'name'])).toEqual({
    text: 'Hi',
    language: 'en',
    entities: ['PERSON', 'LOCATION'],
  });
  expect(analyzeRequest('Hi', 'de', ['address']).entities).toEqual(['LOCATION']);
});

it('reads offsets as code points', () => {
  expect(found('😀😀 Zoe in Berlin', entity(3, 6), entity(10, 16, 'LOCATION'))).toEqual([
    ['name', 'Zoe'],
    ['address', 'Berlin'],
  ]);
  expect(found('Zoe 😀', entity(0, 5))).toEqual([['name', 'Zoe 😀']]);
  expect(found('\ud83d Zoe', entity(2, 5))).toEqual([['name', 'Zoe']]);
});

it('passes over entities of classes that are not redacted', () => {
  expect(found('Zoe at noon', entity(7, 11, 'DATE_TIME'), entity(0, 3))).toEqual([['name', 'Zoe']]);
  expect(matchesIn(JSON.stringify([entity(0, 3)]), 'Zoe', ['address'])).toEqual([]);
});

it.each<[string, unknown[]]>([
  ['beyond the text', [entity(0, 4)]],
  ['before the text', [entity(-1, 2)]],
  ['empty', [entity(2, 2)]],
  ['backwards', [entity(2, 1)]],
  ['not whole numbers', [entity(0.5, 2)]],
  ['texts', [entity('0', '2')]],
  ['absent', [{ entity_type: 'PERSON' }]],
  ['of no entity', [null]],
  ['beyond the text by its last emoji', [entity(0, 3), entity(0, 5)]],
])('relies on nothing of an answer with offsets that are %s', (_, entities) => {
  expect(() => found('Zoe', ...entities)).toThrow();
});

it.each(['', '{}', '{"error":"x"}', '<html>', 'null', '[{"start":0,"end":1}]'])(
  'relies on nothing of the answer %j',
  (body) => {
    expect(() => matchesIn(body, 'Zoe', BOTH)).toThrow();
  },
);
