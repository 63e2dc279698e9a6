// The section `custom` of the configuration file: servers of the operator's own, and the models on them. What the file says of them is
// declared, checked and read here; keys come from the environment or from files.

import { type Static, type TSchema, Type, TypeGuard } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { Capabilities } from '../api/models.ts';
import { NamedRegion, Retention } from '../api/processing.ts';
import { REGIONS } from '../api/residency-rule.ts';
import { CUSTOM } from '../api/slug.ts';
import { codeOf } from '../runtime/error-code.ts';
import { type CustomModel, slugOf } from '../vendors/custom/model.ts';
import { cardLike, SHAPES, type Shape } from '../vendors/custom/shapes.ts';
import type { ModelCard } from '../vendors/kit/provider.ts';
import { shown, suggestion } from './config-error.ts';

const optional = Type.Optional;
const PRICE = '^(?:free|(?!0+(?:\\.0+)?$)\\d{1,5}(?:\\.\\d{1,6})?)$';
const price = (of: string) =>
  Type.String({
    pattern: PRICE,
    accepts: 'USD for a minute as a text such as "0.002", or "free"',
    description: `What a minute of ${of} costs customers. A model has the modes that have a price.`,
  });
const text = (maxLength: number, description: string, more: { quotable?: false } = {}) =>
  Type.String({ minLength: 1, maxLength, accepts: `a text of 1 to ${maxLength} characters`, description, ...more });
const integer = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, accepts: `an integer from ${minimum} to ${maximum}`, description });

const CustomModelEntry = Type.Object({
  name: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$',
    accepts:
      'a text of 1 to 64 letters, digits, dots, colons, hyphens and underscores that begins with a letter or digit',
    description: 'The name that clients use after `custom/`.',
  }),
  model: optional(text(256, 'The server’s name for the model. The same as `name` when absent.')),
  like: optional(
    text(
      96,
      `The provider’s model whose protocol, options and defaults it has. When absent: ${Object.entries(SHAPES)
        .map(([shape, { like }]) => `\`${like}\` for ${shape}`)
        .join(', ')}.`,
    ),
  ),
  batch: optional(price('a file')),
  live: optional(price('a live session')),
  languages: optional(
    Type.Array(Type.String({ pattern: '^(?:\\*|[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)$' }), {
      minItems: 1,
      maxItems: 256,
      accepts: 'a list of languages such as ["en", "pt-BR"], or ["*"]',
      description: 'Supported languages; those of `like` when absent.',
    }),
  ),
  capabilities: optional(
    Type.Partial(Capabilities, {
      additionalProperties: false,
      accepts: `an object of flags: ${Object.keys(Capabilities.properties).join(', ')}`,
      description: 'Capabilities that differ from those of `like`.',
    }),
  ),
  sampleRates: optional(
    Type.Array(Type.Integer({ minimum: 8_000, maximum: 48_000 }), {
      minItems: 1,
      maxItems: 16,
      accepts: 'a list of rates from 8000 to 48000 Hz such as [16000]',
      description:
        'Sample rates of live sessions. For a model that only takes files: any rates, 16000 when absent. For others: a subset of the rates of `like`, all when absent.',
    }),
  ),
  fileBytesMax: optional(integer(1, 2 ** 40, 'Largest file; only the gateway’s limit when absent.')),
  fileSecondsMax: optional(integer(1, 1_000_000, 'Longest file; none when absent.')),
  title: optional(text(64, 'Display name; the slug when absent.')),
  description: optional(text(512, 'A short description.')),
});

const shapes = Object.keys(SHAPES);

const CustomServer = Type.Object({
  shape: Type.Unsafe<string>(
    Type.Union(
      shapes.map((shape) => Type.Literal(shape)),
      { accepts: `one of ${shapes.join(', ')}`, description: 'The protocol that the server speaks.' },
    ),
  ),
  url: Type.String({
    format: 'base-url',
    maxLength: 2048,
    accepts: 'an http, https, ws or wss URL without user name, query or fragment',
    description: 'Base URL of the server.',
    quotable: false,
  }),
  region: optional(
    Type.Unsafe<NamedRegion>({
      ...NamedRegion,
      accepts: `one of ${REGIONS.join(', ')}`,
      description: 'Where it processes audio; `self` is your own machine. Unknown when absent.',
    }),
  ),
  retention: optional(
    Type.Unsafe<Retention>({
      ...Retention,
      accepts: 'one of none, kept, unknown',
      description: 'Whether it keeps audio or text after the answer. Unknown when absent.',
    }),
  ),
  apiKeyVariable: optional(
    Type.String({
      pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$',
      accepts: 'the name of a variable of the environment',
      description: 'The variable with the server’s key.',
      quotable: false,
    }),
  ),
  apiKeyFile: optional(text(4096, 'The file with the key.', { quotable: false })),
  models: Type.Array(CustomModelEntry, {
    minItems: 1,
    accepts: 'a list of at least one model',
    description: 'The models of the server.',
  }),
});

/** Over all servers: a node tells the others of each. */
const CUSTOM_MODELS_MAX = 64;

const Custom = Type.Array(CustomServer, { accepts: 'a list of servers' });
type CustomServer = Static<typeof CustomServer>;

/** Every member, for the reference. */
export function customMembers(): { place: string; accepts: string; description: string }[] {
  const membersOf = (place: string, properties: Readonly<Record<string, TSchema>>) =>
    Object.entries(properties).map(([name, { accepts, description }]) => ({
      place: `${place}.${name}`,
      accepts: String(accepts),
      description: String(description),
    }));
  const own = membersOf(`${CUSTOM}[]`, CustomServer.properties);
  return [...own, ...membersOf(`${CUSTOM}[].models[]`, CustomModelEntry.properties)];
}

interface Sources {
  env: Readonly<Record<string, string | undefined>>;
  /** Gives a file's text or throws. */
  readFile(path: string): string;
}

type Entry = CustomServer['models'][number];

const KEY = /^[!-~]{1,4096}$/;
/** As variables are named by habit: anything else may be the key itself, written at the wrong place, and is not quoted. */
const VARIABLE_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;
const KEY_WORDS = 'a text of 1 to 4096 printable ASCII characters without spaces';

/**
 * The models, or a sentence for each fault.
 *
 * @param section what the file has as `custom`
 */
export function readCustomModels(section: unknown, sources: Sources): { models: CustomModel[]; faults: string[] } {
  if (section === undefined) return { models: [], faults: [] };
  const faults = faultsIn(Custom, section, CUSTOM);
  const servers: unknown[] = Array.isArray(section) ? section : [];
  const models = servers.flatMap((server, index) => {
    const place = `${CUSTOM}[${index}]`;
    if (!isServer(server, place)) return [];
    const credential = credentialOf(server, place, sources, faults);
    const shape = SHAPES[server.shape] as Shape;
    return server.models.map((entry, at) => {
      faults.push(...entryFaults(entry, shape, server.shape, `${place}.models[${at}]`));
      return modelOf(server, entry, shape, credential);
    });
  });
  faults.push(...listFaults(models));
  return { models, faults };
}

const isServer = (server: unknown, place: string): server is CustomServer =>
  faultsIn(CustomServer, server, place).length === 0;

/** The variables that hold keys: they may be called as the operator likes. */
export const keyVariablesIn = (section: unknown): string[] =>
  (Array.isArray(section) ? section : []).flatMap(
    (server: Partial<CustomServer> | null) => server?.apiKeyVariable ?? [],
  );

function modelOf(
  { shape: name, models: _, apiKeyVariable: __, apiKeyFile: ___, ...server }: CustomServer,
  { model = undefined, like, ...entry }: Entry,
  shape: Shape,
  credential: string | undefined,
): CustomModel {
  return { ...server, ...entry, shape: name, credential, model: model ?? entry.name, like: like ?? shape.like };
}

function credentialOf(server: CustomServer, place: string, sources: Sources, faults: string[]): string | undefined {
  const { apiKeyVariable: variable, apiKeyFile: file } = server;
  if (variable !== undefined && file !== undefined) {
    faults.push(
      `${place} in the configuration file has apiKeyVariable and apiKeyFile; one of them says where the key is.`,
    );
    return undefined;
  }
  if (variable !== undefined) {
    const key = sources.env[variable] ?? '';
    if (KEY.test(key)) return key;
    const problem = key === '' ? 'which is not set' : 'whose value cannot be used';
    const named = VARIABLE_NAME.test(variable) ? `the variable ${variable}` : 'a variable';
    faults.push(
      `${place}.apiKeyVariable in the configuration file names ${named}, ${problem}; set it to the key of that server (${KEY_WORDS}), or leave the member out where the server asks for none.`,
    );
  }
  if (file === undefined) return undefined;
  const named = `${place}.apiKeyFile names a file that`;
  try {
    const key = sources.readFile(file).trim();
    if (KEY.test(key)) return key;
    faults.push(`${named} cannot be used; it holds ${KEY_WORDS}.`);
  } catch (error) {
    faults.push(`${named} cannot be read (${codeOf(error)}); it holds ${KEY_WORDS}.`);
  }
  return undefined;
}

/** What no member can say alone. */
function entryFaults(entry: Entry, shape: Shape, shapeName: string, place: string): string[] {
  const { like = shape.like } = entry;
  const { provider } = shape;
  const card = cardLike(shape, like);
  if (card === undefined) {
    const known = provider.models.map(({ id }) => id.slice(provider.name.length + 1)).join(', ');
    return [
      `${place}.like in the configuration file is ${shown(like)}; of the shape ${shapeName} it is one of ${known}.`,
    ];
  }
  const modes = modesLike(card, shape);
  const priced = (['batch', 'live'] as const).filter((mode) => entry[mode] !== undefined);
  if (priced.length === 0)
    return [
      `${place} has no price in the configuration file; ${modes.join(' or ')} says what a minute costs, or "free".`,
    ];
  const surplus = priced.filter((mode) => !modes.includes(mode));
  return [
    ...surplus.map((mode) => {
      const why = mode === 'live' ? ', whose live sessions are files at its price' : '';
      return `${place}.${mode} in the configuration file has a price; a model like ${like} has ${modes.join(' and ')} alone${why}.`;
    }),
    ...(priced.includes('live') && surplus.length === 0 ? rateFaults(entry, card, `${place}.sampleRates`) : []),
  ];
}

/** A protocol that says no rate takes audio at another one for faster or slower speech. */
function rateFaults({ sampleRates = [] }: Entry, { id, audio }: ModelCard, place: string): string[] {
  const others = sampleRates.filter((rate) => !audio.sample_rates.includes(rate));
  if (others.length === 0) return [];
  const like = id.slice(id.indexOf('/') + 1);
  return [
    `${place} in the configuration file has ${others.join(', ')}; live a model like ${like} takes ${audio.sample_rates.join(', ')}.`,
  ];
}

/** Modes that the shape has by its codecs; a live mode of files alone comes on its own. */
const modesLike = ({ modes }: ModelCard, { provider }: Shape): readonly string[] =>
  modes.filter((mode) => provider[mode] !== undefined);

function listFaults(models: readonly CustomModel[]): string[] {
  const names = models.map(({ name }) => name);
  const twice = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  return [
    ...[...twice].map(
      (name) => `The model ${slugOf({ name })} is in the configuration file twice; each has a name of its own.`,
    ),
    ...(models.length <= CUSTOM_MODELS_MAX
      ? []
      : [`${CUSTOM} in the configuration file has ${models.length} models; at most ${CUSTOM_MODELS_MAX} are taken.`]),
  ];
}

/**
 * A sentence for each fault of a value in the file.
 *
 * @param place of the value in the file, such as `custom[0].url`
 */
function faultsIn(schema: TSchema, value: unknown, place: string): string[] {
  if (TypeGuard.IsObject(schema)) return faultsInObject(schema.properties, schema.required ?? [], value, place);
  const items: TSchema | undefined = TypeGuard.IsArray(schema) ? schema.items : undefined;
  if (
    items !== undefined &&
    TypeGuard.IsObject(items) &&
    Array.isArray(value) &&
    value.length >= (schema.minItems ?? 0)
  )
    return value.flatMap((item, index) => faultsIn(items, item, `${place}[${index}]`));
  if (Value.Check(schema, value)) return [];
  const problem = schema.quotable === false ? 'cannot be used' : `is ${isNested(value) ? 'an object' : shown(value)}`;
  return [`${place} in the configuration file ${problem}; it is ${acceptedBy(schema)}.`];
}

/** Members of such may be keys, which are never shown. */
const isNested = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !(Array.isArray(value) && !value.some(isNested));

function faultsInObject(
  properties: Readonly<Record<string, TSchema>>,
  required: readonly string[],
  value: unknown,
  place: string,
): string[] {
  const names = Object.keys(properties);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${place} in the configuration file is no object; it is an object with the members ${names.join(', ')}.`];
  const given = value as Readonly<Record<string, unknown>>;
  const known = names.map((name) => `${place}.${name}`);
  const unknown = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => `${place}.${name}`);
  return [
    ...unknown.map(
      (name) => `${shown(name)} in the configuration file is not a member of Voxgate; ${suggestion(name, known)}.`,
    ),
    ...Object.entries(properties).flatMap(([name, schema]) => {
      if (given[name] !== undefined) return faultsIn(schema, given[name], `${place}.${name}`);
      if (!required.includes(name)) return [];
      return [`${place}.${name} is missing in the configuration file; it is ${acceptedBy(schema)}.`];
    }),
  ];
}

const acceptedBy = (schema: TSchema): string =>
  String(schema.accepts ?? (TypeGuard.IsBoolean(schema) ? 'true or false' : 'another value'));
