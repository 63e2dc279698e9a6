// The configuration as commands load it: from this process's environment, with the names of the providers it has.
import type { PriceList } from '../../billing/price-list.ts';
import { loadConfig } from '../../config/load.ts';
import { loadPriceList } from '../../config/prices.ts';
import type { Config } from '../../config/schema.ts';
import { providers } from '../../providers/index.ts';

export const providerNames = providers.map((provider) => provider.name);

/** Throws ConfigError with one sentence. */
export function loadSettings(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  return loadConfig(env, { providers: providerNames });
}

/** The prices in force. Throws ConfigError with one sentence. */
export function loadPrices(config: Config): PriceList {
  return loadPriceList(providers, config.billing);
}
