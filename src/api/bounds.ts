// Bounds and words of requests that work without the schemas, whose library is more than threads such as the ledger's need.

/** In addition to the first model of a chain. */
export const FALLBACKS_MAX = 8;

/** Names of a key's or an organisation's own, each for a chain of models. */
export const ALIASES_MAX = 50;
/** Of all of them together, as JSON. */
export const ALIASES_BYTES_MAX = 16_384;

/** Without a slash, so that a slug always means the model that it names. */
const ALIAS = /^[A-Za-z0-9][!-.0-~]{0,79}$/;

export const isAlias = (text: string): boolean => ALIAS.test(text);

/** How often a session may be configured: a client that wants more opens another one. */
export const CONFIGURATIONS_MAX = 100;

/** Addresses that are told of the end of one job, by the words of other vendors' clients. */
export const CALLBACKS_MAX = 3;

/** What matters more to a live session: that audio leaves at once, or what it costs. */
export const LATENCIES = ['low', 'balanced', 'throughput'] as const;
export type Latency = (typeof LATENCIES)[number];
export const SPEECH_GATES = ['off', 'mark', 'drop'] as const;
