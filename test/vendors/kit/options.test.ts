// What an option table makes of its rows: schemas, what is honoured where, and what goes on the wire.
import { Value } from '@sinclair/typebox/value';
import { expect, it } from 'vitest';
import { flag, honouredBy, integer, nested, optionTable, texts } from '../../../src/vendors/kit/options.ts';

const everywhere = honouredBy({ live: true, batch: ['big', 'small'] });
const options = optionTable({
  punctuate: everywhere(flag('Punctuation.')),
  terms: everywhere(texts(2, 'Terms.'), {
    other: { models: ['small'], schema: texts(1, 'Terms.') },
    wire: { live: 'config.terms', batch: 'terms[]' },
  }),
  silence_ms: honouredBy({ live: ['big'] })(integer(0, 9, 'Silence.'), { wire: false }),
  unused: honouredBy({})(flag('Known, and of no use.')),
});

it('shares one schema among models with the same options, and allows no others', () => {
  expect(options.schema('big')).toBe(options.schema('other'));
  expect(Value.Check(options.schema('big'), { terms: ['a', 'b'], silence_ms: 9 })).toBe(true);
  expect(Value.Check(options.schema('small'), { terms: ['a', 'b'] })).toBe(false);
  expect(Value.Check(options.schema('big'), { novel: true })).toBe(false);
  expect(Object.keys(options.schema('small').properties)).toEqual(Object.keys(options.rows));
});

it('honours what a row says, in the mode it says', () => {
  const honoured = (model: string, mode: 'live' | 'batch') =>
    [...Object.keys(options.rows), 'toString'].filter((name) => options.honours(name, model, mode));
  expect(honoured('big', 'live')).toEqual(['punctuate', 'terms', 'silence_ms']);
  expect(honoured('novel', 'live')).toEqual(['punctuate', 'terms']);
  expect(honoured('small', 'batch')).toEqual(['punctuate', 'terms']);
  expect(honoured('novel', 'batch')).toEqual([]);
});

it('writes what is honoured by its name on the wire', () => {
  const params = { punctuate: false, terms: ['a'], silence_ms: 3, unused: true, novel: 1 };
  expect(options.honoured(params, 'big', 'live')).toEqual({ punctuate: false, terms: ['a'], silence_ms: 3 });
  expect(options.wire(params, 'big', 'live')).toEqual({ punctuate: false, 'config.terms': ['a'] });
  expect(options.wire({ ...params, punctuate: undefined }, 'big', 'batch')).toEqual({ 'terms[]': ['a'] });
});

it('turns dotted names into members of objects', () => {
  const wire = { a: 1, 'b.c': 2, 'b.d.e': [3], 'b.f': undefined };
  expect(nested(wire)).toEqual({ a: 1, b: { c: 2, d: { e: [3] } } });
  expect(wire).toEqual({ a: 1, 'b.c': 2, 'b.d.e': [3], 'b.f': undefined });
});
