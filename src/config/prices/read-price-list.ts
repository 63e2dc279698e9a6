// The price list of a node: the providers' catalogue, the operator's prices file and margin. What a price must be is decided
// in billing/; here a list that cannot be used becomes one sentence for the operator.
import { readFileSync } from 'node:fs';
import { ConfigError } from '../config-error.ts';
import type { Config } from '../schema.ts';
import { createPriceList, type PricedCard, type PriceList, PriceListError } from './price-list.ts';
import { readPriceOverrides } from './price-overrides.ts';

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
