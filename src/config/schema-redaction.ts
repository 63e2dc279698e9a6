// The part of the declaration that names the service which finds names and addresses in texts.
import { FormatRegistry, Type } from '@sinclair/typebox';
import { integer, optionalText } from './schema-types.ts';

const LANGUAGES = /^[a-z]{2,3}( *, *[a-z]{2,3})*$/;

FormatRegistry.Set('language-codes', (text) => LANGUAGES.test(text));

export const Redaction = Type.Object({
  serviceUrl: optionalText(Type.String({ format: 'public-url', maxLength: 2048 }), {
    env: 'VOXGATE_REDACTION_URL',
    accepts: 'an http or https URL such as `http://presidio:3000`, without a query',
    description:
      'Service that finds names and addresses: it answers `POST /analyze` as Presidio does. It receives the text of all requests that redact them. See [Redaction](../guides/redaction.md).',
    quotable: false,
  }),
  timeoutMs: integer(
    'VOXGATE_REDACTION_TIMEOUT_MS',
    50,
    10_000,
    2_000,
    'How long a final of a live session waits for that service. Without an answer its text is left out.',
  ),
  languages: Type.String({
    format: 'language-codes',
    default: 'en',
    env: 'VOXGATE_REDACTION_LANGUAGES',
    accepts: 'codes of languages such as `en, de`, separated by commas',
    description: 'Languages that the service has models for. The first is used for all others.',
  }),
});
