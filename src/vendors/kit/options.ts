// The option table of a provider: what `provider_params` may hold, which models honour it in which mode, and what it is called
// on the wire. Ranges that depend on each other are the provider's to check: it refuses a request that breaks them.
import {
  type SchemaOptions,
  type Static,
  type TBoolean,
  type TInteger,
  type TNumber,
  type TObject,
  type TProperties,
  type TSchema,
  type TString,
  Type,
} from '@sinclair/typebox';
import type { Mode } from '../../api/models.ts';
import type { Serves } from './vocabulary/conversions.ts';

/** A part of the catalogue, by the parts of slugs behind the slash; true for all models. */
type Models = true | readonly string[];

export interface OptionRow<Schema extends TSchema = TSchema> {
  schema: Schema;
  /** The schema of models that take less, or more. */
  other?: { models: readonly string[]; schema: TSchema };
  /** Models that honour it in live sessions, and for files. An option that no model honours costs money for what cannot be shown. */
  live?: Models;
  batch?: Models;
  /** What it is called on the wire (see `nested`), in both modes or in each; its own name when absent. False: the codec writes it. */
  wire?: Wire | Readonly<Partial<Record<Mode, Wire>>>;
  /** The member of the request that it serves, which has one name for all vendors; or several, and how. */
  common?: Serves;
  /** It speaks of a whole file, and means nothing for one utterance of a live session. */
  wholeFile?: true;
}

type Wire = string | false;
export type OptionRows = Readonly<Record<string, OptionRow>>;
type Params<Rows extends OptionRows> = { [Name in keyof Rows]?: Static<Rows[Name]['schema']> };
type Given = Readonly<Record<string, unknown>>;

export interface OptionTable<Rows extends OptionRows> {
  rows: Rows;
  /** The table as members of its provider. */
  members: { options: OptionTable<Rows>['schema']; honours: OptionTable<Rows>['honours']; optionRows: Rows };
  /** The schema of `provider_params`: everything that the provider knows. The same object for models that take the same. */
  schema(model: string): TObject;
  honours(option: string, model: string, mode: Mode): boolean;
  /** Those that the model honours in the mode, by their own names. */
  honoured(params: Given, model: string, mode: Mode): Params<Rows>;
  /** The same by their names on the wire, without those that the codec writes. */
  wire(params: Given, model: string, mode: Mode): Record<string, unknown>;
}

type Place = Pick<OptionRow, Mode>;

/** Rows of options that the same models honour in the same modes. */
export const honouredBy =
  (place: Place) =>
  <Schema extends TSchema>(schema: Schema, more: Omit<OptionRow, 'schema' | Mode> = {}): OptionRow<Schema> => ({
    schema,
    ...place,
    ...more,
  });

export function optionTable<const Rows extends OptionRows>(rows: Rows): OptionTable<Rows> {
  const schemas = new Map<string, TObject>();
  const varied = Object.entries<OptionRow>(rows).filter(([, row]) => row.other !== undefined);
  const rowOf = (option: string): OptionRow | undefined => (Object.hasOwn(rows, option) ? rows[option] : undefined);

  const honours = (option: string, model: string, mode: Mode): boolean => {
    const models = rowOf(option)?.[mode];
    return models === true || models?.includes(model) === true;
  };
  const given = (params: Given, model: string, mode: Mode): [string, unknown][] =>
    Object.entries(params).filter(([option, value]) => value !== undefined && honours(option, model, mode));

  const schema = (model: string): TObject => {
    const others = varied.filter(([, { other }]) => other?.models.includes(model)).map(([name]) => name);
    const key = others.join();
    const found = schemas.get(key) ?? schemaOf(rows, others);
    schemas.set(key, found);
    return found;
  };

  return {
    rows,
    members: { options: schema, honours, optionRows: rows },
    schema,
    honours,

    honoured: (params, model, mode) => Object.fromEntries(given(params, model, mode)) as Params<Rows>,

    wire: (params, model, mode) =>
      Object.fromEntries(
        given(params, model, mode).flatMap(([option, value]) => {
          const { wire } = rowOf(option) as OptionRow;
          const name = typeof wire === 'object' ? wire[mode] : wire;
          return name === false ? [] : [[name ?? option, value]];
        }),
      ),
  };
}

function schemaOf(rows: OptionRows, others: readonly string[]): TObject {
  const members = Object.entries(rows).map(([name, { schema, other }]) => {
    return [name, Type.Optional(others.includes(name) ? (other as { schema: TSchema }).schema : schema)];
  });
  return exactly(Object.fromEntries(members));
}

/** Members whose names have dots, as members of the objects that these name: `a.b` is the member `b` of `a`. */
export function nested(members: Given): Record<string, unknown> {
  const whole: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) {
    const path = name.split('.');
    const last = path.pop() as string;
    let place = whole;
    for (const part of path) {
      place[part] = { ...(place[part] as object | undefined) };
      place = place[part] as Record<string, unknown>;
    }
    place[last] = value;
  }
  return whole;
}

// Short forms of the schemas that options have.

export const flag = (description: string): TBoolean => Type.Boolean({ description });

export const integer = (minimum: number, maximum: number, description: string): TInteger =>
  Type.Integer({ minimum, maximum, description });

export const number = (minimum: number, maximum: number, description: string): TNumber =>
  Type.Number({ minimum, maximum, description });

export const fraction = (description: string): TNumber => number(0, 1, description);

export const text = (maxLength: number, description: string): TString => Type.String({ maxLength, description });

export const oneOf = <const Value extends string>(values: readonly Value[], description: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { description },
  );

/** An object with these members and no others. */
export const exactly = <Properties extends TProperties>(properties: Properties, more: SchemaOptions = {}) =>
  Type.Object(properties, { ...more, additionalProperties: false });

/** A list of texts that are not empty. */
export const texts = (maxItems: number, description: string, { minItems, maxLength = 128 }: ListBounds = {}) =>
  Type.Array(Type.String({ minLength: 1, maxLength }), {
    ...(minItems === undefined ? {} : { minItems }),
    maxItems,
    description,
  });

/** As OpenAI's files have it, and those that follow them. */
export const timestampGranularities = Type.Array(Type.Union([Type.Literal('word'), Type.Literal('segment')]), {
  minItems: 1,
  maxItems: 2,
  description: 'Times that are asked for; those of segments always are.',
});

interface ListBounds {
  minItems?: number;
  maxLength?: number;
}
