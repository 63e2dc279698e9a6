// What no single value can say: settings that go together, files that must be readable, and what a node among others needs.
// Single values are checked by the declaration.

import { createRequire } from 'node:module';
import { Value } from '@sinclair/typebox/value';
import { codeOf } from '../runtime/error-code.ts';
import { apiKeyForm, type CredentialForm } from '../vendors/kit/credentials.ts';
import { notPlace } from '../vendors/kit/places.ts';
import type { Provider } from '../vendors/kit/provider.ts';
import { nameOf, shown } from './config-error.ts';
import type { Field } from './fields.ts';
import type { Config } from './schema.ts';
import { backupLocationOf, isOnThisMachine } from './schema-backup.ts';
import { natsUrlsOf, ROLES, rolesOf } from './schema-cluster.ts';

/** Given both or neither. */
const PAIRS = [
  ['server.tlsCertFile', 'server.tlsKeyFile'],
  ['cluster.natsUser', 'cluster.natsPassword'],
  ['cluster.natsCertFile', 'cluster.natsKeyFile'],
  ['backup.accessKeyId', 'backup.secretAccessKey'],
  ['sources.accessKeyId', 'sources.secretAccessKey'],
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

/** What tells of a cluster whether its settings go together. */
const CLUSTER = [
  'data.secret',
  'cluster.nats',
  'cluster.roles',
  'cluster.natsMissing',
  'cluster.natsUser',
  'cluster.natsCredentialsFile',
  'cluster.natsCertFile',
] as const;

const BACKUP = [
  'backup.location',
  'backup.sealingKey',
  'backup.endpoint',
  'backup.accessKeyId',
  'backup.secretAccessKey',
] as const;

const SOURCES = ['sources.buckets', 'sources.accessKeyId', 'sources.secretAccessKey'] as const;

/**
 * A sentence for each fault.
 *
 * @param usable whether settings can be used on their own: those that cannot are told of already
 */
export function faultsTogether(
  config: Config,
  fields: readonly Field[],
  { readFile, usable }: { readFile: (path: string) => unknown; usable: (...places: string[]) => boolean },
): string[] {
  const names = new Map(fields.map((field) => [field.path.join('.'), field]));
  const field = (place: string): Field => names.get(place) as Field;
  const valueAt = (place: string): unknown => {
    const [section, member] = place.split('.') as [keyof Config, string];
    return (config[section] as Record<string, unknown>)[member];
  };
  return [
    ...PAIRS.filter((pair) => usable(...pair)).flatMap((pair) => {
      const [missing, ...others] = pair.filter((place) => valueAt(place) === undefined);
      const given = pair.find((place) => valueAt(place) !== undefined);
      if (missing === undefined || given === undefined || others.length > 0) return [];
      return `${nameOf(field(missing))} is missing beside ${nameOf(field(given))}; both are given or neither is.`;
    }),
    ...FILES.flatMap((place) => {
      const path = valueAt(place);
      if (typeof path !== 'string') return [];
      try {
        readFile(path);
        return [];
      } catch (error) {
        const { quotable, accepts } = field(place);
        const problem = quotable ? `is ${shown(path)}, which` : 'names a file that';
        return `${nameOf(field(place))} ${problem} cannot be read (${codeOf(error)}); it is ${accepts}.`;
      }
    }),
    ...(usable(...CLUSTER) ? clusterFaults(config, (place) => nameOf(field(place))) : []),
    ...(usable(...BACKUP) ? backupFaults(config, (place) => nameOf(field(place))) : []),
    ...(usable(...SOURCES) ? sourcesFaults(config, (place) => nameOf(field(place))) : []),
    ...(usable(...TRACING) ? tracingFaults(config.tracing, field) : []),
  ];
}

function backupFaults({ backup }: Config, name: (place: string) => string): string[] {
  const { location, sealingKey, endpoint, accessKeyId, secretAccessKey } = backup;
  if (location === undefined || backupLocationOf(location)?.kind !== 's3') return [];
  const faults: string[] = [];
  if (accessKeyId === undefined && secretAccessKey === undefined) {
    faults.push(
      `${name('backup.accessKeyId')} and ${name('backup.secretAccessKey')} are missing beside ${name('backup.location')}; a bucket needs both.`,
    );
  }
  if (endpoint?.startsWith('http:') && !isOnThisMachine(endpoint) && sealingKey === undefined) {
    faults.push(
      `${name('backup.endpoint')} is without TLS on another machine; it begins with https://, or ${name('backup.sealingKey')} encrypts the backups.`,
    );
  }
  return faults;
}

function sourcesFaults({ sources }: Config, name: (place: string) => string): string[] {
  const { buckets, accessKeyId, secretAccessKey } = sources;
  if (buckets === undefined || accessKeyId !== undefined || secretAccessKey !== undefined) return [];
  return [
    `${name('sources.accessKeyId')} and ${name('sources.secretAccessKey')} are missing beside ${name('sources.buckets')}; buckets need both.`,
  ];
}

function clusterFaults({ cluster, data }: Config, name: (place: string) => string): string[] {
  const isWhole = rolesOf(cluster.roles)?.length === ROLES.length;
  if (cluster.nats === undefined) {
    if (isWhole) return [];
    return [
      `${name('cluster.roles')} is "${cluster.roles}" without ${name('cluster.nats')}; a node by itself has all roles.`,
    ];
  }
  const faults: string[] = [];
  if (data.secret === undefined) {
    faults.push(
      `${name('data.secret')} is missing beside ${name('cluster.nats')}; it is the same text of 32 to 1024 characters on every node.`,
    );
  }
  if (cluster.natsMissing === 'alone' && !isWhole) {
    faults.push(
      `${name('cluster.natsMissing')} is "alone" where ${name('cluster.roles')} is "${cluster.roles}"; only a node with all roles can serve alone.`,
    );
  }
  const isFar = ({ hostname }: URL) => !LOOPBACK.has(hostname);
  const far =
    natsUrlsOf(cluster.nats)
      ?.map((url) => new URL(url))
      .filter(isFar) ?? [];
  const isKnown = cluster.natsUser ?? cluster.natsCredentialsFile ?? cluster.natsCertFile;
  if (far.length === 0 || (isKnown !== undefined && far.every(({ protocol }) => protocol === 'tls:'))) return faults;
  return [
    ...faults,
    `${name('cluster.nats')} leaves this machine, so its URLs begin with tls:// and it goes with ${name('cluster.natsUser')}, ${name('cluster.natsCredentialsFile')} or ${name('cluster.natsCertFile')}.`,
  ];
}

/** Of a provider, what says which regions it can be said to be in, and what its credential is. */
export type ConfigurableProvider = Pick<Provider, 'name' | 'endpoints' | 'credentialForm'>;

/** A sentence for each region that is none of the provider's endpoints, or no region at all. */
export function placeFaults(
  catalogue: readonly Partial<ConfigurableProvider>[],
  settings: Config['providers'],
  fields: readonly Field[],
): string[] {
  return catalogue.flatMap((provider) => {
    const { name = '' } = provider;
    const { url, region } = settings[name] ?? {};
    const known = region === undefined ? undefined : notPlace(provider, url, region);
    const field = fields.find(({ path }) => path.join('.') === `providers.${name}.region`);
    if (known === undefined || field === undefined) return [];
    const what = url === undefined && provider.endpoints !== undefined ? 'one of its endpoints' : 'a region';
    return `${nameOf(field)} is ${shown(region)}; it is ${what}: ${known.join(', ')}.`;
  });
}

/** A sentence for each credential that is not of its provider's form; what it holds is not shown. */
export function credentialFaults(
  catalogue: readonly Partial<ConfigurableProvider>[],
  settings: Config['providers'],
  fields: readonly Field[],
): string[] {
  return catalogue.flatMap(({ name = '', credentialForm = apiKeyForm }) => {
    const text = settings[name]?.apiKey;
    const field = fields.find(({ path }) => path.join('.') === `providers.${name}.apiKey`);
    if (text === undefined || field === undefined) return [];
    const members = Object.keys(credentialForm.properties);
    const isObject = members.length > 1 && text.startsWith('{');
    const fault = isObject ? faultOfMembers(credentialForm, text) : /\s/.test(text) ? 'has spaces' : undefined;
    if (fault === undefined) return [];
    const accepted = isObject ? `a key, or a JSON object of ${members.join(', ')}` : field.accepts;
    return `${nameOf(field)} ${fault}; it is ${accepted}.`;
  });
}

function faultOfMembers(form: CredentialForm, text: string): string | undefined {
  let members: unknown;
  try {
    members = JSON.parse(text);
  } catch {
    return 'is no JSON';
  }
  const fault = Value.Errors(form, members).First();
  if (fault === undefined) return undefined;
  const member = fault.path.slice(1);
  if (!Object.hasOwn(form.properties, member)) return 'has a member that is not known';
  return `has ${fault.value === undefined ? 'no' : 'a wrong'} ${member}`;
}

const TRACING = [
  'tracing.endpoint',
  'tracing.tracesEndpoint',
  'tracing.protocol',
  'tracing.sampler',
  'tracing.samplerArg',
] as const;

const SAMPLERS = /^(parentbased_)?(always_on|always_off|traceidratio)$/;
/** From 0 to 1. */
const SHARE = /^(0(\.\d+)?|1(\.0+)?|\.\d+)$/;

/** What sends traces is not installed with Voxgate: most gateways need none of its 20 MB. As `package.json` names it. */
export const TRACING_PACKAGES: Readonly<Record<string, string>> = {
  '@opentelemetry/core': '2.12.1',
  '@opentelemetry/exporter-trace-otlp-proto': '0.223.1',
  '@opentelemetry/resources': '2.12.1',
  '@opentelemetry/sdk-trace': '2.12.1',
};

const require = createRequire(import.meta.url);

function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Faults in settings of traces where traces are sent. Without a collector there are none: these variables may be there for other
 * programs, which know more values.
 */
export function tracingFaults(
  tracing: Config['tracing'],
  field: (place: string) => Field,
  has: (name: string) => boolean = isInstalled,
): string[] {
  const { endpoint, tracesEndpoint, protocol, sampler, samplerArg = '1' } = tracing;
  if (endpoint === undefined && tracesEndpoint === undefined) return [];
  const values = [
    ['tracing.protocol', protocol, protocol === 'http/protobuf'],
    ['tracing.sampler', sampler, SAMPLERS.test(sampler)],
    ['tracing.samplerArg', samplerArg, SHARE.test(samplerArg)],
  ] as const;
  const wrong = values.flatMap(([place, value, isGood]) =>
    isGood ? [] : `${nameOf(field(place))} is ${shown(value)}; it is ${field(place).accepts}.`,
  );
  return [...wrong, ...missingPackages(tracing, field, has)];
}

function missingPackages(
  { endpoint, disabled }: Config['tracing'],
  field: (place: string) => Field,
  has: (name: string) => boolean,
): string[] {
  if (disabled === 'true' || Object.keys(TRACING_PACKAGES).every(has)) return [];
  const place = endpoint === undefined ? 'tracing.tracesEndpoint' : 'tracing.endpoint';
  const packages = Object.entries(TRACING_PACKAGES).map(([name, version]) => `${name}@${version}`);
  return [
    `${nameOf(field(place))} is set, and the packages that send traces are not installed: run \`npm install --no-save ${packages.join(' ')}\`, or unset it.`,
  ];
}
