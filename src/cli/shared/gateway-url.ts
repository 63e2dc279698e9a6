// Where a gateway is: the address that `--url` names, and that of the gateway that serves a data directory.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { CommandError, EXIT } from './output.ts';

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

/** Lets commands on the same data directory know where its gateway is. One that may not write there goes without. */
export function recordAddress({ data: { directory } }: Config, url: string): void {
  try {
    writeFileSync(join(directory, ADDRESS_FILE), `${url}\n`);
  } catch {}
}

/** Where people reach the gateway: as it is configured, else where it listened last, else where it would listen. */
export function publicUrlOf({ accounts, data, server }: Config): string {
  if (accounts.publicUrl !== undefined) return accounts.publicUrl;
  try {
    const address = readFileSync(join(data.directory, ADDRESS_FILE), 'utf8').trim();
    if (URL.canParse(address)) return address;
  } catch {}
  return `${server.tlsCertFile === undefined ? 'http' : 'https'}://localhost:${server.port}`;
}
