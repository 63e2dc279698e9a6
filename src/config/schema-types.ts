// The kinds of settings: numbers with a range, choices, texts that may be absent, and the formats that texts are checked by.
import { isIP } from 'node:net';
import { FormatRegistry, type TSchema, Type } from '@sinclair/typebox';
import { ceilingsIn } from '../api/spend-ceilings.ts';
import { parseNetworks } from '../runtime/network-addresses.ts';

const HOST_NAME = /^[0-9A-Za-z]([0-9A-Za-z.-]{0,251}[0-9A-Za-z])?$/;
const PUBLIC_URL = /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/;
const SMTP_URL = /^smtps?:\/\/\S+$/;
const BASE_URL = /^(https?|wss?):\/\/[^\s/?#@]+(\/[^\s?#]*)?$/;

FormatRegistry.Set('host', (text) => isIP(text) !== 0 || HOST_NAME.test(text));
FormatRegistry.Set('spend-ceilings', (text) => ceilingsIn(text) !== undefined);
FormatRegistry.Set('networks', (text) => parseNetworks(text) !== undefined);
// Credentials belong in the credential's own variable; a query or fragment would end up in the middle of longer URLs.
FormatRegistry.Set('base-url', (text) => BASE_URL.test(text) && URL.canParse(text));
FormatRegistry.Set('public-url', (text) => PUBLIC_URL.test(text) && URL.canParse(text));
FormatRegistry.Set('smtp-url', (text) => SMTP_URL.test(text) && URL.canParse(text) && new URL(text).hostname !== '');

export function integer(env: string, minimum: number, maximum: number, value: number, description: string) {
  return Type.Integer({ minimum, maximum, default: value, env, description });
}

export function choice<const Name extends string>(
  env: string,
  names: readonly Name[],
  value: NoInfer<Name>,
  description: string,
) {
  const literals = names.map((name) => Type.Literal(name));
  return Type.Unsafe<Name>(
    Type.Union(literals, { default: value, env, description, accepts: `one of ${names.join(', ')}` }),
  );
}

interface OptionalTextWords {
  env: string;
  description: string;
  accepts: string;
  secret?: true;
  /** False where a refused value may carry a secret although a good one does not. */
  quotable?: false;
}

/** A text that may be absent. */
export function optionalText(schema: TSchema & { static: string }, words: OptionalTextWords) {
  return Type.Union([schema, Type.Undefined()], words);
}
