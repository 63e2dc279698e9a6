// The configuration as commands load it: from this process's environment, with the names of the providers it has.

import { loadConfig } from '../../config/load.ts';
import type { PriceList } from '../../config/prices/price-list.ts';
import { loadPriceList } from '../../config/prices/read-price-list.ts';
import type { Config } from '../../config/schema.ts';
import { type Providers, providers, providersWith } from '../../vendors/index.ts';

export const providerNames = providers.map((provider) => provider.name);

/**
 * Throws ConfigError with a sentence for each fault.
 *
 * @param onNote hears what the operator may want to know of a configuration that can be used
 */
export function loadSettings(
  env: Readonly<Record<string, string | undefined>> = process.env,
  onNote: (sentence: string) => void = () => {},
): Config {
  return loadConfig(env, { providers: providerNames, catalogue: providers, onNote });
}

/** The providers of a gateway with this configuration. */
export const loadProviders = (config = loadSettings()): Providers => providersWith(config.custom);

/** The prices in force. Throws ConfigError with one sentence where the file is another by now. */
export function loadPrices(config: Config): PriceList {
  return loadPriceList([...loadProviders(config).values()], config.billing);
}
