// The part of a heartbeat about connections to providers, and its checks when it is read.

export type ShortOf = 'time' | 'memory' | 'legs';

export interface UpstreamState {
  /** Providers that it knows: a customer's own key can be used there. */
  providers: readonly string[];
  /** Providers for which it has the service's credential, and those that need none. */
  credentials: readonly string[];
  /** Providers that it could not reach lately. */
  failing: readonly string[];
  /** The resource that it lacks for more legs. */
  shortOf: ShortOf | null;
}

const NAMES_MAX = 192;
/** A provider, or a model on an operator's own server. */
const NAME = /^[a-z0-9-]{1,32}(?:\/[\w.:-]{1,96})?$/;
const SHORT: readonly unknown[] = ['time', 'memory', 'legs', null];

const areNames = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= NAMES_MAX &&
  value.every((name) => typeof name === 'string' && NAME.test(name));

/** Undefined when it is absent or malformed: a node of an earlier version counts as able to open everything. */
export function readUpstreamState(value: unknown): UpstreamState | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { providers, credentials, failing, shortOf } = value as Partial<Record<keyof UpstreamState, unknown>>;
  if (!areNames(providers) || !areNames(credentials) || !areNames(failing) || !SHORT.includes(shortOf))
    return undefined;
  return { providers, credentials, failing, shortOf: shortOf as ShortOf | null };
}
