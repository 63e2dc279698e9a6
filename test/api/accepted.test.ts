// What is said of wrong values: of every schema of the interface and every option of every model, in words for people.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TSchema, Type, TypeGuard } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import { acceptedBy, faultOf } from '../../src/api/accepted.ts';
import { modelOf } from '../../src/api/slug.ts';
import { providers } from '../../src/vendors/index.ts';

const API = join(import.meta.dirname, '../../src/api');
const WRONG: readonly unknown[] = [
  ...[null, true, '', 'nonsense', '\u0000', -1, 0.5, 1e12, [], [[]], [null], {}, { nonsense: 1 }, 'x'.repeat(10_000)],
];
/** How the schema library speaks, and what a sentence must not end in. */
const NOT_FOR_PEOPLE = /Expected|Unexpected|union|undefined|another value|\^|\\d/;

/** The schema with all that are in it. */
function* within(schema: TSchema): Iterable<TSchema> {
  yield schema;
  if (TypeGuard.IsObject(schema)) for (const member of Object.values(schema.properties)) yield* within(member);
  if (TypeGuard.IsArray(schema)) yield* within(schema.items);
  if (TypeGuard.IsUnion(schema)) for (const each of schema.anyOf) yield* within(each as TSchema);
}

async function schemasOfApi(): Promise<[string, TSchema][]> {
  const files = readdirSync(API, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const modules = await Promise.all(files.map((name) => import(join(API, name)) as Promise<Record<string, unknown>>));
  return modules.flatMap((module, at) =>
    Object.entries(module).flatMap(([name, value]): [string, TSchema][] =>
      TypeGuard.IsSchema(value) ? [[`${files[at]} ${name}`, value]] : [],
    ),
  );
}

const schemasOfOptions = (): [string, TSchema][] =>
  providers.flatMap(({ models, options }) => models.map(({ id }): [string, TSchema] => [id, options(modelOf(id))]));

/** Each member in turn with each wrong value, beside nothing. */
function* wronged(schema: TSchema): Iterable<unknown> {
  yield* WRONG;
  if (!TypeGuard.IsObject(schema)) return;
  for (const name of Object.keys(schema.properties)) for (const value of WRONG) yield { [name]: value };
}

describe('the errors of a value', () => {
  it('get a description in plain words, for every schema and every option', async () => {
    const all = [...(await schemasOfApi()), ...schemasOfOptions()];
    expect(all.length).toBeGreaterThan(150);
    const problems = new Set<string>();
    for (const [name, schema] of all) {
      for (const value of wronged(schema)) {
        const fault = faultOf(schema, value);
        if ((fault === undefined) !== Value.Check(schema, value)) problems.add(`${name} is judged otherwise`);
        if (fault !== undefined && NOT_FOR_PEOPLE.test(fault.accepts))
          problems.add(`${name} ${fault.path.join('.')}: ${fault.accepts}`);
      }
      for (const each of within(schema))
        if (NOT_FOR_PEOPLE.test(acceptedBy(each))) problems.add(`${name}: ${acceptedBy(each)}`);
    }
    expect([...problems]).toEqual([]);
  });

  const Shape = Type.Object(
    {
      kind: Type.Union([Type.Literal('low'), Type.Literal('high')]),
      rate: Type.Optional(Type.Integer({ minimum: 8_000, maximum: 48_000 })),
      terms: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 5 }), { maxItems: 2 })),
      odd: Type.Optional(Type.Union([Type.Boolean(), Type.Object({ level: Type.Number({ minimum: 0 }) })])),
      code: Type.Optional(Type.String({ pattern: '^[a-z]{2}$', examples: ['en', 'fr'] })),
    },
    { additionalProperties: false },
  );

  it.each<[unknown, string, string, string]>([
    [{}, 'missing', 'kind', '"low" or "high"'],
    [{ kind: 'mid' }, 'invalid', 'kind', '"low" or "high"'],
    [{ kind: 'low', rate: 7 }, 'invalid', 'rate', 'a whole number from 8000 to 48000'],
    [{ kind: 'low', loud: 1 }, 'unknown', 'loud', '`kind`, `rate`, `terms`, `odd` and `code`'],
    [{ kind: 'low', terms: 'a' }, 'invalid', 'terms', 'a list of at most 2 items, each a text of 1 to 5 characters'],
    [{ kind: 'low', terms: ['a', 7] }, 'invalid', 'terms.1', 'a text of 1 to 5 characters'],
    [{ kind: 'low', odd: 7 }, 'invalid', 'odd', 'true or false or an object with `level`'],
    [{ kind: 'low', odd: { level: -1 } }, 'invalid', 'odd.level', 'a number, 0 or more'],
    [{ kind: 'low', code: 'eng' }, 'invalid', 'code', 'a text such as "en" or "fr"'],
    ['text', 'invalid', '', 'an object with `kind`, `rate`, `terms`, `odd` and `code`'],
  ])('%j is %s at "%s"', (value, kind, path, accepts) => {
    const fault = faultOf(Shape, value);
    expect([fault?.kind, fault?.path.join('.'), fault?.accepts]).toEqual([kind, path, accepts]);
  });
});
