// The price list of a node: the providers' catalogue, the operator's prices file and margin. A list that cannot be used becomes one
// sentence for the operator.
import { readFileSync } from 'node:fs';
import { type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { AddOn } from '../../api/models.ts';
import { ConfigError } from '../config-error.ts';
import type { Config } from '../schema.ts';
import { createPriceList, type PricedCard, type PriceList, PriceListError, type PriceOverrides } from './price-list.ts';

/**
 * @param readFile gives a file's text or throws
 * @throws ConfigError
 */
export function loadPriceList(
  providers: readonly { models: readonly PricedCard[] }[],
  { pricesFile, marginPercent }: Pick<Config['billing'], 'pricesFile' | 'marginPercent'>,
  readFile = (path: string) => readFileSync(path, 'utf8'),
): PriceList {
  const catalogue = explained('The catalogue of this build cannot be used', () =>
    createPriceList(providers, {}, marginPercent),
  );
  if (pricesFile === undefined) return catalogue;
  const named = `VOXGATE_PRICES_FILE (billing.pricesFile) names ${JSON.stringify(pricesFile)}, which`;
  let text: string;
  try {
    text = readFile(pricesFile);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
    throw new ConfigError(`${named} cannot be read (${code}); it is the path of a readable JSON file.`);
  }
  return explained(`${named} cannot be used`, () =>
    createPriceList(providers, readPriceOverrides(text), marginPercent),
  );
}

function explained(what: string, work: () => PriceList): PriceList {
  try {
    return work();
  } catch (error) {
    if (error instanceof PriceListError) throw new ConfigError(`${what}: ${error.message}`);
    throw error;
  }
}

const PriceOverride = Type.Object({
  unit: Type.Union([Type.Literal('minute'), Type.Literal('session')], { accepts: '"minute" or "session"' }),
  amount: Type.String({ accepts: 'a decimal text in USD such as "0.0043"' }),
  minimum: Type.Optional(Type.String({ accepts: 'a decimal text in USD such as "0.01"' })),
  free: Type.Optional(Type.Boolean({ accepts: 'true or false' })),
  add_ons: Type.Optional(Type.Array(AddOn, { accepts: 'a list of add-ons as in GET /v1/models, or [] for none' })),
});

const EXAMPLE = '{"deepgram/nova-3": {"live": {"unit": "minute", "amount": "0.006"}, "batch": null}}';
const SHOWN_LENGTH_MAX = 60;

/**
 * Reads the text of a prices file.
 *
 * @throws PriceListError
 */
export function readPriceOverrides(text: string): PriceOverrides {
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new PriceListError(`it is no valid JSON; wanted is an object such as ${EXAMPLE}.`);
  }
  if (!isRecord(content)) throw new PriceListError(`it holds no JSON object; wanted is one such as ${EXAMPLE}.`);
  for (const [slug, modes] of Object.entries(content)) {
    if (!isRecord(modes)) {
      throw new PriceListError(`${shown(slug)} is ${shown(modes)}; it is an object with the members batch and live.`);
    }
    for (const [mode, price] of Object.entries(modes)) checkPrice(price, mode, shown(slug));
  }
  return content as PriceOverrides;
}

function checkPrice(price: unknown, mode: string, slug: string): void {
  if (mode !== 'batch' && mode !== 'live') {
    throw new PriceListError(`${shown(mode)} of ${slug} is not known; a model has the members batch and live.`);
  }
  if (price === null) return;
  const properties: Readonly<Record<string, TSchema>> = PriceOverride.properties;
  const required: readonly string[] = PriceOverride.required ?? [];
  const names = Object.keys(properties);
  if (!isRecord(price)) {
    throw new PriceListError(`${mode} of ${slug} is ${shown(price)}; it is null, or an object of ${names.join(', ')}.`);
  }
  for (const name of Object.keys(price)) {
    if (names.includes(name)) continue;
    throw new PriceListError(`${shown(name)} in ${mode} of ${slug} is not known; known are ${names.join(', ')}.`);
  }
  for (const [name, schema] of Object.entries(properties)) {
    const value = price[name];
    if (value === undefined ? !required.includes(name) : Value.Check(schema, value)) continue;
    const problem = value === undefined ? 'is missing' : `is ${shown(value)}`;
    throw new PriceListError(`${name} in ${mode} of ${slug} ${problem}; it is ${schema.accepts}.`);
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= SHOWN_LENGTH_MAX ? text : `${text.slice(0, SHOWN_LENGTH_MAX)}…`;
}
