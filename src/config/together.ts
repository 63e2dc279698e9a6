// What no single value can say: settings that go together, files that must be readable, and what a node among others needs.
// Single values are checked by the declaration.
import { ConfigError, codeOf, nameOf, shown } from './config-error.ts';
import type { Field } from './fields.ts';
import type { Config } from './schema.ts';
import { natsUrlsOf, ROLES, rolesOf } from './schema-cluster.ts';

/** Given both or neither. */
const PAIRS = [
  ['server.tlsCertFile', 'server.tlsKeyFile'],
  ['cluster.natsUser', 'cluster.natsPassword'],
  ['cluster.natsCertFile', 'cluster.natsKeyFile'],
] as const;

const FILES = [
  'server.tlsCertFile',
  'server.tlsKeyFile',
  'cluster.natsCredentialsFile',
  'cluster.natsCaFile',
  'cluster.natsCertFile',
  'cluster.natsKeyFile',
] as const;

/** Good only where the traffic never leaves the machine. */
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** @throws ConfigError */
export function checkTogether(config: Config, fields: readonly Field[], readFile: (path: string) => string): void {
  const names = new Map(fields.map((field) => [field.path.join('.'), field]));
  const field = (place: string): Field => names.get(place) as Field;
  const valueAt = (place: string): unknown => {
    const [section, member] = place.split('.') as [keyof Config, string];
    return (config[section] as Record<string, unknown>)[member];
  };
  for (const pair of PAIRS) {
    const [missing, ...others] = pair.filter((place) => valueAt(place) === undefined);
    const given = pair.find((place) => valueAt(place) !== undefined);
    if (missing === undefined || given === undefined || others.length > 0) continue;
    throw new ConfigError(
      `${nameOf(field(missing))} is missing beside ${nameOf(field(given))}; both are given or neither is.`,
    );
  }
  for (const place of FILES) {
    const path = valueAt(place);
    if (typeof path !== 'string') continue;
    try {
      readFile(path);
    } catch (error) {
      throw new ConfigError(
        `${nameOf(field(place))} is ${shown(path)}, which cannot be read (${codeOf(error)}); it is ${field(place).accepts}.`,
      );
    }
  }
  checkCluster(config, (place) => nameOf(field(place)));
}

function checkCluster({ cluster, data }: Config, name: (place: string) => string): void {
  const isWhole = rolesOf(cluster.roles)?.length === ROLES.length;
  if (cluster.nats === undefined) {
    if (isWhole) return;
    throw new ConfigError(
      `${name('cluster.roles')} is "${cluster.roles}" without ${name('cluster.nats')}; a node by itself has all roles.`,
    );
  }
  if (data.secret === undefined) {
    throw new ConfigError(
      `${name('data.secret')} is missing beside ${name('cluster.nats')}; it is the same text of 32 to 1024 characters on every node.`,
    );
  }
  if (cluster.natsMissing === 'alone' && !isWhole) {
    throw new ConfigError(
      `${name('cluster.natsMissing')} is "alone" where ${name('cluster.roles')} is "${cluster.roles}"; only a node with all roles can serve alone.`,
    );
  }
  const isFar = ({ hostname }: URL) => !LOOPBACK.has(hostname);
  const far =
    natsUrlsOf(cluster.nats)
      ?.map((url) => new URL(url))
      .filter(isFar) ?? [];
  const isKnown = cluster.natsUser ?? cluster.natsCredentialsFile ?? cluster.natsCertFile;
  if (far.length === 0 || (isKnown !== undefined && far.every(({ protocol }) => protocol === 'tls:'))) return;
  throw new ConfigError(
    `${name('cluster.nats')} leaves this machine, so its URLs begin with tls:// and it goes with ${name('cluster.natsUser')}, ${name('cluster.natsCredentialsFile')} or ${name('cluster.natsCertFile')}.`,
  );
}
