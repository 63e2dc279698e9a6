// `POST /v1/tokens`: body and answer.
import { type Static, Type } from '@sinclair/typebox';
import { Replacements } from './replacements.ts';
import { MAX_SECONDS, USD_FORM } from './request-limits.ts';
import { SLUG_LENGTH_MAX } from './slug.ts';
import { Tags } from './tags.ts';
import { LANGUAGE_TAG } from './vocabulary.ts';

/** A slug, or all models of a provider. */
const MODEL_PATTERN = '^[a-z0-9][a-z0-9-]{0,31}/(\\*|[A-Za-z0-9][A-Za-z0-9._:-]{0,95})$';

export const TOKEN_PREFIX = 'st_';
export const TOKEN_TTL_SECONDS = { min: 10, max: 300, default: 60 } as const;

/** Of the replacement rules of a token, as JSON: the token is sent in a header. */
export const TOKEN_REPLACEMENTS_BYTES_MAX = 512;

/** Of models and of languages. */
export const TOKEN_LIST_MAX = 10;

export const TokenRequest = Type.Object(
  {
    ttl_seconds: Type.Optional(
      Type.Integer({
        minimum: TOKEN_TTL_SECONDS.min,
        maximum: TOKEN_TTL_SECONDS.max,
        default: TOKEN_TTL_SECONDS.default,
        description: 'Seconds for which the token opens sessions. A session that is open goes on.',
      }),
    ),
    models: Type.Optional(
      Type.Array(Type.String({ pattern: MODEL_PATTERN, maxLength: SLUG_LENGTH_MAX }), {
        minItems: 1,
        maxItems: TOKEN_LIST_MAX,
        description:
          'Models that the token may use, of those of the key: slugs, or `<provider>/*`. Fallbacks count too.',
        examples: [['deepgram/*']],
      }),
    ),
    max_seconds: Type.Optional(
      Type.Integer({
        minimum: MAX_SECONDS.min,
        maximum: MAX_SECONDS.max,
        description: 'The longest duration of each session, in seconds. A longer file is refused.',
      }),
    ),
    max_cost: Type.Optional(
      Type.Union([Type.String({ pattern: USD_FORM }), Type.Number({ minimum: 0 })], {
        description: 'The most that each session or file may be charged: USD, decimal.',
        examples: ['0.25'],
      }),
    ),
    languages: Type.Optional(
      Type.Array(Type.String({ pattern: `^${LANGUAGE_TAG}$` }), {
        minItems: 1,
        maxItems: TOKEN_LIST_MAX,
        description:
          'Languages that the token may request: BCP-47 tags; `en` includes `en-US`. The request then has to name its `language`, and `auto` is refused.',
        examples: [['en', 'fr-CA']],
      }),
    ),
    single_use: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'True: the token opens one session or uploads one file, on any node. Resuming that session is not another use.',
      }),
    ),
    tags: Type.Optional(
      Type.Unsafe<Tags>({
        ...Tags,
        description: `Tags of all that is done with the token, which its holder cannot change. ${Tags.description} Together they have up to 512 bytes as JSON.`,
      }),
    ),
    replace: Type.Optional({
      ...Replacements,
      description: `Replacement rules of all that is done with the token: \`from:to\` or objects. They come after those of the request and before those of the API key. Together they have up to ${TOKEN_REPLACEMENTS_BYTES_MAX} bytes as JSON.`,
    }),
  },
  { additionalProperties: false },
);
export type TokenRequest = Static<typeof TokenRequest>;

export const TokenResponse = Type.Object({
  token: Type.String({ pattern: `^${TOKEN_PREFIX}`, description: 'Opens `/v1/listen`, and nothing else.' }),
  expires_at: Type.String({ description: 'When it stops being accepted for a handshake: ISO 8601 UTC.' }),
  ttl_seconds: Type.Integer({ description: 'Seconds from now to `expires_at`.' }),
});
export type TokenResponse = Static<typeof TokenResponse>;
