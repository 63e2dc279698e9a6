// TypeBox schemas as documents show them: plain JSON Schema 2020-12 in which every named schema is a reference to its one
// place. Which schemas have names is decided by named-schemas.ts.
import type { TSchema } from '@sinclair/typebox';

/** A JSON Schema, or another part of a document. */
export type Json = { readonly [member: string]: unknown };

const REFERENCE = '#/components/schemas/';
const SCALARS: readonly unknown[] = ['string', 'number', 'integer', 'boolean'];

/** Schemas by their names in `components`. */
export class SchemaBook {
  readonly #named: Readonly<Record<string, TSchema>>;
  readonly #names: Map<unknown, string>;

  /** @param aliases further schemas that are shown as a reference to the name */
  constructor(named: Readonly<Record<string, TSchema>>, aliases: Readonly<Record<string, TSchema>> = {}) {
    this.#named = named;
    const entries = [...Object.entries(named), ...Object.entries(aliases)];
    this.#names = new Map(entries.map(([name, schema]) => [identityOf(schema), name]));
  }

  /** A reference to a named schema. Throws for a name that there is none of. */
  reference(name: string): Json {
    if (this.#named[name] === undefined) throw new Error(`No schema has the name ${name}.`);
    return { $ref: `${REFERENCE}${name}` };
  }

  /** A schema in a place where it is used: a reference where it has a name, with what is said of it in this place. */
  use(schema: TSchema): Json {
    const name = this.#names.get(identityOf(schema));
    if (name === undefined) return this.#written(schema);
    const { description } = schema;
    const isNews = description !== undefined && description !== this.#named[name]?.description;
    return isNews ? { ...this.reference(name), description } : this.reference(name);
  }

  /** Every named schema, written out. */
  get components(): Record<string, Json> {
    return Object.fromEntries(Object.entries(this.#named).map(([name, schema]) => [name, this.#written(schema)]));
  }

  #written({ anyOf, properties, items, patternProperties, ...rest }: TSchema): Json {
    const own = Object.fromEntries(Object.entries(rest));
    if (anyOf !== undefined) return this.#union(anyOf as TSchema[], own);
    const use = (each: unknown) => this.use(each as TSchema);
    return {
      ...own,
      ...(properties === undefined ? {} : { properties: mapped(properties, use) }),
      ...(items === undefined ? {} : { items: use(items) }),
      ...(patternProperties === undefined ? {} : patterns(mapped(patternProperties, use))),
    };
  }

  /** As people write it: a list of texts, something or null, one of several objects by their `type`. */
  #union(anyOf: readonly TSchema[], own: Json): Json {
    const constants = anyOf.map((each) => each.const);
    if (constants.every((each) => typeof each === 'string')) return { type: 'string', enum: constants, ...own };
    const members = anyOf.map((each) => this.use(each));
    const [only, ...others] = members.filter(({ type }) => type !== 'null');
    if (only !== undefined && others.length === 0 && SCALARS.includes(only.type) && only.enum === undefined) {
      return { ...only, type: [only.type, 'null'], ...own };
    }
    const types = anyOf.map((each) => each.properties?.type?.const);
    if (!types.every((type) => typeof type === 'string')) return { anyOf: members, ...own };
    if (!members.every(({ $ref }) => $ref !== undefined)) return { oneOf: members, ...own };
    const mapping = Object.fromEntries(types.map((type, at) => [type, members[at]?.$ref]));
    return { oneOf: members, discriminator: { propertyName: 'type', mapping }, ...own };
  }
}

/** Optional members are copies of their schema, whose parts are the same. */
const identityOf = (schema: TSchema): unknown =>
  schema.properties ?? schema.anyOf ?? schema.patternProperties ?? schema;

/** What TypeBox makes of `Record<string, …>` is said as people write it. */
const patterns = (members: Json): Json =>
  members['^(.*)$'] === undefined ? { patternProperties: members } : { additionalProperties: members['^(.*)$'] };

const mapped = (members: Json, change: (value: unknown) => Json): Json =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)]));
