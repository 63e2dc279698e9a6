// The configuration as commands load it, from the environment of this process; and where the gateway of a configuration is.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import type { PriceList } from '../../config/prices/price-list.ts';
import { loadPriceList } from '../../config/prices/read-price-list.ts';
import type { Config } from '../../config/schema.ts';
import { type Providers, providers, providersWith } from '../../vendors/index.ts';
import { CommandError, EXIT } from './output.ts';

export const providerNames = providers.map((provider) => provider.name);

/**
 * Throws ConfigError with a sentence for each fault.
 *
 * @param onNote receives hints on a configuration that is valid
 */
export function loadSettings(
  env: Readonly<Record<string, string | undefined>> = process.env,
  onNote: (sentence: string) => void = () => {},
): Config {
  return loadConfig(env, { providers: providerNames, catalogue: providers, onNote });
}

/** The providers of a gateway with this configuration. */
export const loadProviders = (config = loadSettings()): Providers => providersWith(config.custom, config.localModels);

/** The prices in force. Throws ConfigError with one sentence where the file is another by now. */
export function loadPrices(config: Config): PriceList {
  return loadPriceList([...loadProviders(config).values()], config.billing);
}

/** In the data directory: where its gateway listened last. */
const ADDRESS_FILE = 'address';

/** The base URL that is meant, without a slash at its end. Throws a CommandError. */
export function gatewayUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && ['http:', 'https:'].includes(url.protocol) && url.host !== '')
    return text.replace(/\/+$/, '');
  const host = text.replace(/^[a-z]+:\/\//i, '');
  const example = URL.canParse(`http://${host}`) ? `http://${host}` : 'http://127.0.0.1:8080';
  throw new CommandError(`--url takes an address with http:// or https://, such as ${example}.`, EXIT.usage);
}

/** For commands on the same data directory. It is not written where this user may not write. */
export function recordAddress({ data: { directory } }: Config, url: string): void {
  try {
    writeFileSync(join(directory, ADDRESS_FILE), `${url}\n`);
  } catch {}
}

/** Where people reach the gateway: the configured address, else the last one that it listened on, else the one that it would. */
export function publicUrlOf({ accounts, data, server }: Config): string {
  if (accounts.publicUrl !== undefined) return accounts.publicUrl;
  try {
    const address = readFileSync(join(data.directory, ADDRESS_FILE), 'utf8').trim();
    if (URL.canParse(address)) return address;
  } catch {}
  return `${server.tlsCertFile === undefined ? 'http' : 'https'}://localhost:${server.port}`;
}
