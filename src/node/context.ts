// What the parts of a node are put together with.
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../machines/clock.ts';
import type { Bus } from '../cluster/bus/bus.ts';
import type { Config } from '../config/schema.ts';
import type { Role } from '../config/schema-cluster.ts';
import type { Chart } from '../runtime/actors.ts';
import type { Logger } from '../runtime/telemetry/log.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';
import type { Tracing } from '../runtime/telemetry/tracing.ts';
import { slugOf } from '../vendors/custom/model.ts';
import { offeredOf, type Providers } from '../vendors/index.ts';
import { apiKeyForm, configuredAccess } from '../vendors/kit/credentials.ts';
import { saidPlace } from '../vendors/kit/places.ts';
import type { ProviderAccess } from '../vendors/kit/provider.ts';
import { isServed } from '../vendors/kit/served.ts';
import type { Store } from './store/store.ts';

export interface Assembly {
  config: Config;
  logger: Logger;
  clock: Clock;
  metrics: Metrics;
  /** Undefined where no collector is named. */
  tracing: Tracing | undefined;
  /** What this node does. */
  roles: ReadonlySet<Role>;
  bus: Bus;
  /** Those that this node knows, its operator's own servers among them. */
  providers: Providers;
  /** The chart of the node itself, once it runs. */
  nodeChart(): Chart | undefined;
  /** The database, here or on the node that keeps the accounts. */
  store: Store;
  /** Signs tokens, and what is derived from it seals. The same on every node. */
  secret: Uint8Array;
  /** Closed in the opposite order of opening. */
  defer(close: () => unknown): void;
}

/** What is there before the database is open. */
export type BeforeStore = Omit<Assembly, 'store'>;

/** Those that clients of this node may name. */
export const clientsProviders = ({ config, providers }: WithProviders): Providers =>
  offeredOf(providers, config.upstream.loopback);

type WithProviders = Pick<Assembly, 'config' | 'providers'>;

/** The service's own access to each provider: read out of the configuration once, since every request asks for it. */
export function serviceAccess(assembly: WithProviders): (provider: string) => ProviderAccess {
  const read = configuredAccesses(assembly);
  const known = new Map([...assembly.providers.keys()].map((name) => [name, read(name)] as const));
  return (name) => known.get(name) ?? read(name);
}

function configuredAccesses({ config, providers }: WithProviders): (provider: string) => ProviderAccess {
  const own = new Map(config.custom.map((model) => [slugOf(model), { ...model, apiKey: model.credential }] as const));
  return (name) => {
    const settings = own.get(name) ?? config.providers[name];
    const provider = providers.get(name);
    const access = configuredAccess(provider?.credentialForm ?? apiKeyForm, settings?.url, settings?.apiKey);
    const { fields, ...said } = saidPlace(provider, settings?.url, settings ?? {});
    return { ...access, ...said, ...(fields === undefined ? {} : { fields: { ...access.fields, ...fields } }) };
  };
}

/** Which providers this node can reach at the service's expense. */
export function servedProviders(assembly: WithProviders): ReadonlySet<string> {
  const access = serviceAccess(assembly);
  const served = [...assembly.providers].filter(([name, provider]) => isServed(provider, access(name)));
  return new Set(served.map(([name]) => name));
}

/** Where audio waits that memory has no room for. */
export const spoolDirectory = (config: Config): string => join(config.data.directory, 'spool');

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

/** Whether the node is for clients on this machine only: it listens on loopback, and no setting names a proxy. */
export const isPrivate = ({ server, accounts }: Config): boolean =>
  LOOPBACK.has(server.host) && server.trustedProxies === undefined && accounts.publicUrl === undefined;

/**
 * Whether a mail reaches anybody: over a server, or at the outbox of a gateway that is for this machine only. The node that keeps
 * the accounts sends them; of it the others know nothing.
 */
export const canMail = ({ config, roles }: Pick<Assembly, 'config' | 'roles'>): boolean =>
  !roles.has('accounts') || config.accounts.smtpUrl !== undefined || isPrivate(config);

/** Shown by every node of several: those that ask the accounts node, and that node itself. */
export const watchAccounts = (metrics: Metrics, isReachable: () => boolean): unknown =>
  metrics.watchGauge(
    'accounts_reachable',
    'Whether the accounts node answers: 1, or 0 while calls to it fail without being sent.',
    () => (isReachable() ? 1 : 0),
  );

/** Where a node can be reached from its own machine. */
export function ownUrl({ server: { host, tlsCertFile } }: Config, port: number): string {
  const named = host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host;
  return `${tlsCertFile === undefined ? 'http' : 'https'}://${named}:${port}`;
}

/** Where people find the console: as the operator says, on this node, or on another one that serves it and is known by now. */
export const consoleUrl = (
  { config, roles }: Pick<Assembly, 'config' | 'roles'>,
  own: string,
  others: readonly { url?: string | undefined }[] = [],
): string | undefined =>
  config.accounts.publicUrl ?? (roles.has('edge') ? own : others.find(({ url }) => url !== undefined)?.url);

/** How this node is called among others: by its operator, or by its incarnation. */
export const nodeId = ({ config, bus }: Pick<Assembly, 'config' | 'bus'>): string => config.cluster.nodeId ?? bus.node;

/** How metrics and logs call this node, over restarts: as its operator does, or as its machine is called. */
export const lastingName = ({ cluster }: Config): string => cluster.nodeId ?? hostname();

/** How this node's jobs are found again when it starts: nodes that share a bus or a database never have the same name. */
export const jobNodeName = (node: Pick<Assembly, 'config' | 'bus'>): string =>
  node.config.cluster.nats === undefined ? lastingName(node.config) : nodeId(node);

/** What messages between nodes are signed with. */
export const secretsOf = ({ secret, config }: Pick<Assembly, 'secret' | 'config'>) => ({
  secret,
  previousSecret: previousSecret(config),
});

/** What was signed and sealed before the secret was changed. */
export const previousSecret = ({ data }: Config): Uint8Array | undefined =>
  data.secretPrevious === undefined ? undefined : Buffer.from(data.secretPrevious);
