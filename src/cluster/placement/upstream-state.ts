// What a node that holds connections to providers says of that in its heartbeats, and what of it is believed.

export type ShortOf = 'time' | 'memory' | 'legs';

export interface UpstreamState {
  /** Providers that it knows: a customer's own key can be used there. */
  providers: readonly string[];
  /** Those that it has the service's credential for, and those that need none. */
  credentials: readonly string[];
  /** Those that it could not reach of late. */
  failing: readonly string[];
  /** What it has too little of for more legs. */
  shortOf: ShortOf | null;
}

const NAMES_MAX = 64;
const NAME = /^[a-z0-9-]{1,32}$/;
const SHORT: readonly unknown[] = ['time', 'memory', 'legs', null];

const areNames = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= NAMES_MAX &&
  value.every((name) => typeof name === 'string' && NAME.test(name));

/** Undefined when it is none: the node is one of an earlier version, and is believed to be able to do everything. */
export function readUpstreamState(value: unknown): UpstreamState | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { providers, credentials, failing, shortOf } = value as Partial<Record<keyof UpstreamState, unknown>>;
  if (!areNames(providers) || !areNames(credentials) || !areNames(failing) || !SHORT.includes(shortOf))
    return undefined;
  return { providers, credentials, failing, shortOf: shortOf as ShortOf | null };
}
