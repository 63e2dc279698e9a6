// Objects and lists that come member by member, as client libraries write them into forms: whatever can be said so is what was
// meant, and what cannot is refused.
import { Type } from '@sinclair/typebox';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/api/errors.ts';
import { joinMembers } from '../../../src/files/routes/form.ts';
import type { Field } from '../../../src/http/multipart/form-fields.ts';

const SCHEMA = Type.Object({
  keyterm: Type.Array(Type.String()),
  smart: Type.Boolean(),
  threshold: Type.Number(),
  count: Type.Integer(),
  name: Type.String(),
  inner: Type.Object({ deep: Type.Union([Type.Literal('a'), Type.Number()]), flag: Type.Optional(Type.Boolean()) }),
  either: Type.Union([Type.Boolean(), Type.Array(Type.String())]),
});

const join = (fields: readonly Field[]) =>
  joinMembers(fields, (field) => (field === 'provider_params' ? SCHEMA : undefined));
const joined = (fields: readonly Field[], name: string) =>
  JSON.parse(new Map(join(fields)).get(name) ?? 'null') as unknown;

/** As the client libraries write a value into a form. */
function written(name: string, value: unknown): Field[] {
  if (Array.isArray(value)) return value.flatMap((each) => written(`${name}[]`, each));
  if (typeof value !== 'object' || value === null) return [[name, String(value)]];
  return Object.entries(value).flatMap(([member, each]) => written(`${name}[${member}]`, each));
}

function apiErrorOf(fields: readonly Field[]): ApiError {
  try {
    join(fields);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('The fields were not refused.');
}

describe('members of a field', () => {
  it('form its value, typed by the schema', () => {
    const params = fc.record(
      {
        keyterm: fc.array(fc.string(), { minLength: 1, maxLength: 4 }),
        smart: fc.boolean(),
        threshold: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
        count: fc.integer(),
        // What looks like another type stays a text where the schema says so.
        name: fc.oneof(fc.string(), fc.constantFrom('911', 'true', 'null', '1e3', '[]')),
        inner: fc.record({ deep: fc.oneof(fc.constant('a'), fc.integer()) }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(params, (value) => {
        fc.pre(Object.keys(value).length > 0);
        expect(joined(written('provider_params', value), 'provider_params')).toEqual(value);
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  it.each(['true', 'True', 'yes', 'on', '1', 'TRUE'])('turn true by the word %s', (word) => {
    const fields: Field[] = ['smart', 'either', 'inner][flag'].map((name) => [`provider_params[${name}]`, word]);
    expect(joined(fields, 'provider_params')).toEqual({ smart: true, either: true, inner: { flag: true } });
  });

  it.each(['false', 'False', 'no', 'off', '0'])('turn false by the word %s, and stay in texts and lists', (word) => {
    const fields: Field[] = [
      ['provider_params[smart]', word],
      ['provider_params[name]', word],
      ['provider_params[either][]', word],
    ];
    expect(joined(fields, 'provider_params')).toEqual({ smart: false, name: word, either: [word] });
  });

  it('stay text where a word is not a boolean, for the route to refuse', () =>
    expect(joined([['provider_params[smart]', 'maybe']], 'provider_params')).toEqual({ smart: 'maybe' }));

  it('form a list where the names say so, in order', () => {
    expect(
      joined(
        [
          ['fallbacks[]', 'a/b'],
          ['model', 'x/y'],
          ['fallbacks[]', 'c/d'],
        ],
        'fallbacks',
      ),
    ).toEqual(['a/b', 'c/d']);
  });

  it('leave every other field as it is, where it is', () => {
    const others: Field[] = [
      ['model', 'x/y'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
      ['provider_params', '{}'],
      ['known[a]', '1'],
      ['', ''],
    ];
    expect(join(others)).toBe(others);
    expect(join([...others.slice(0, 3), ['fallbacks[]', 'a/b']]).slice(0, 3)).toEqual(others.slice(0, 3));
  });

  it('stay as they came when they do not fit the schema', () => {
    expect(
      joined(
        [
          ['provider_params[threshold]', 'two'],
          ['provider_params[other]', '3'],
        ],
        'provider_params',
      ),
    ).toEqual({
      threshold: 'two',
      other: '3',
    });
  });

  it.each<[string, Field[], string]>([
    ['an object in a list', [['fallbacks[][model]', 'a/b']], 'invalid_request'],
    ['a list in a list', [['provider_params[keyterm][][]', 'a']], 'invalid_request'],
    [
      'a text and an object',
      [
        ['provider_params[a]', '1'],
        ['provider_params[a][b]', '2'],
      ],
      'invalid_request',
    ],
    [
      'an object and a list',
      [
        ['provider_params[a][b]', '1'],
        ['provider_params[a][]', '2'],
      ],
      'invalid_request',
    ],
    [
      'a list and an object',
      [
        ['provider_params[a][]', '1'],
        ['provider_params[a][b]', '2'],
      ],
      'invalid_request',
    ],
    [
      'a text twice',
      [
        ['provider_params[a]', '1'],
        ['provider_params[a]', '2'],
      ],
      'invalid_request',
    ],
    ['no end', [['provider_params[a', '1']], 'invalid_request'],
    ['something behind its end', [['provider_params[a]b', '1']], 'invalid_request'],
    ['brackets in brackets', [['provider_params[[a]]', '1']], 'invalid_request'],
    ['too many members', [[`provider_params${'[a]'.repeat(9)}`, '1']], 'invalid_request'],
    [
      'the whole as well',
      [
        ['provider_params', '{}'],
        ['provider_params[a]', '1'],
      ],
      'duplicate_parameter',
    ],
  ])('fail as %s', (_, fields, code) => {
    const { code: refused, extras, message } = apiErrorOf(fields);
    expect([refused, extras.param]).toEqual([code, fields[0]?.[0].replace(/\[.*/, '')]);
    expect(message).toMatch(/\.$/);
  });

  it('change nothing that is not theirs: no name reaches a prototype', () => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString'];
    for (const name of names) {
      const fields: Field[] = [[`provider_params[${name}][polluted]`, 'yes']];
      expect(new Map(join(fields)).get('provider_params')).toBe(`{"${name}":{"polluted":"yes"}}`);
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('get read or refused for any names and values', () => {
    const name = fc
      .constantFrom('provider_params', 'fallbacks')
      .chain((field) =>
        fc.string({ unit: fc.constantFrom('[', ']', 'a', 'b', '.', '"'), maxLength: 12 }).map((rest) => field + rest),
      );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string()), { maxLength: 8 }), (fields) => {
        try {
          for (const [, value] of join(fields)) expect(typeof value).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
        }
      }),
      { seed: 11, numRuns: 2_000 },
    );
  });
});
