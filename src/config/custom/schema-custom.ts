// The section `custom` of the configuration file: servers of the operator's own, and the models on them. It has no variables.
// Declared here; custom-models.ts reads it.
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Capabilities } from '../../api/models.ts';
import { NamedRegion, Retention } from '../../api/processing.ts';
import { REGIONS } from '../../api/residency-rule.ts';
import { CUSTOM } from '../../api/slug.ts';
import { SHAPES } from '../../vendors/custom/shapes.ts';

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

export const CustomModelEntry = Type.Object({
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

export const CustomServer = Type.Object({
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
export const CUSTOM_MODELS_MAX = 64;

export const Custom = Type.Array(CustomServer, { accepts: 'a list of servers' });
export type CustomServer = Static<typeof CustomServer>;

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
