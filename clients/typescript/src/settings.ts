// What a client is made with: read once, checked, completed with defaults.
import { invalidOption } from './errors.ts';
import type { WebSocketConstructor } from './live/web-socket.ts';
import { environment, isBrowser } from './runtime.ts';

/** A token, with its end where that is known: the answer of `POST /v1/tokens` as it is. */
export interface TokenGrant {
  token: string;
  /** ISO 8601. */
  expires_at?: string;
  /** Seconds from now on; counts more than `expires_at`, which a wrong clock makes useless. */
  ttl_seconds?: number;
}

export interface VoxgateOptions {
  /** An API key, `sk_vox_…`. For servers only; `VOXGATE_KEY` of the environment when no credential is given. */
  apiKey?: string;
  /** A client token, `st_…`, that your server has minted: opens live sessions, in a browser or anywhere. */
  token?: string;
  /** Gives a fresh client token from your own server. Called for every connection, reconnections included. */
  getToken?: () => string | TokenGrant | Promise<string | TokenGrant>;
  /** Where the gateway is: `https://voxgate.example.com`. `http://127.0.0.1:8080` when absent. */
  baseUrl?: string;
  /** In place of the global `fetch`. */
  fetch?: typeof fetch;
  /** In place of the global `WebSocket`, or of `ws` in Node. */
  webSocket?: WebSocketConstructor;
  /** How long an HTTP request may take, in milliseconds: from 1 to 3,600,000; 600,000 when absent. */
  timeoutMs?: number;
  /** How often a failed HTTP request is sent again: from 0 to 10; 2 when absent. */
  retriesMax?: number;
  /** An API key in a web page can be read by everybody who opens it. True: you know that. */
  allowApiKeyInBrowser?: boolean;
}

export type Credential =
  | { kind: 'apiKey' | 'token'; secret: string }
  | { kind: 'getToken'; getToken: NonNullable<VoxgateOptions['getToken']> };

export interface Settings {
  credential: Credential;
  /** Without a slash at its end. */
  baseUrl: string;
  fetch: typeof fetch;
  webSocket: WebSocketConstructor | undefined;
  timeoutMs: number;
  retriesMax: number;
}

/** What stands for an absent one, the least and the most. */
export const TIMEOUT_MS = [600_000, 1, 3_600_000] as const;
export const RETRIES = [2, 0, 10] as const;

const KNOWN = [
  'apiKey',
  'token',
  'getToken',
  'baseUrl',
  'fetch',
  'webSocket',
  'timeoutMs',
  'retriesMax',
  'allowApiKeyInBrowser',
];

/** Throws an InvalidRequestError that names the option. */
export function readSettings(options: VoxgateOptions): Settings {
  refuseUnknown('Voxgate', options, KNOWN);
  return {
    credential: credentialOf(options),
    baseUrl: baseUrlOf(options.baseUrl),
    // A browser's fetch wants to be called as a function of its window.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    webSocket: options.webSocket,
    timeoutMs: integerOf('timeoutMs', options.timeoutMs, ...TIMEOUT_MS),
    retriesMax: integerOf('retriesMax', options.retriesMax, ...RETRIES),
  };
}

/** A mistyped option is never silent. */
export function refuseUnknown(what: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const camel = unknown.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
  const hint = known.includes(camel) ? `write \`${camel}\`` : `known are ${known.join(', ')}`;
  throw invalidOption(unknown, `\`${unknown}\` is not an option of ${what}; ${hint}.`);
}

/** The integer, or what stands for an absent one. */
export function integerOf(name: string, value: number | undefined, usual: number, min: number, max: number): number {
  if (value === undefined) return usual;
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalidOption(name, `\`${name}\` is ${value}; it is an integer from ${min} to ${max}.`);
}

function credentialOf({ apiKey, token, getToken, allowApiKeyInBrowser }: VoxgateOptions): Credential {
  const given = [apiKey, token, getToken].filter((each) => each !== undefined).length;
  if (given > 1) throw invalidOption('apiKey', 'Give one of `apiKey`, `token` and `getToken`, not several.');
  if (getToken !== undefined) return { kind: 'getToken', getToken };
  if (token !== undefined) return { kind: 'token', secret: secretOf('token', token) };
  const key = apiKey ?? environment('VOXGATE_KEY');
  if (key === undefined) {
    throw invalidOption('apiKey', 'Give `apiKey` on a server, and `token` or `getToken` in a browser.');
  }
  if (isBrowser() && !allowApiKeyInBrowser) {
    throw invalidOption(
      'apiKey',
      'An API key in a web page can be read by everybody who opens it. Mint client tokens on your server and give `getToken`.',
    );
  }
  return { kind: 'apiKey', secret: secretOf('apiKey', key) };
}

/** Credentials are one word: they have to fit into a header. The message never shows one. */
function secretOf(name: string, secret: string): string {
  if (/^[\w.~+/=-]+$/.test(secret)) return secret;
  throw invalidOption(name, `\`${name}\` is not a credential: it has characters that none has, or is empty.`);
}

function baseUrlOf(baseUrl = 'http://127.0.0.1:8080'): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw invalidOption('baseUrl', '`baseUrl` is not a URL, such as https://voxgate.example.com.');
  }
  if (!/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw invalidOption('baseUrl', '`baseUrl` is http or https, without a query, a fragment or a name and password.');
  }
  // OpenAI's clients are given the URL with `/v1`: both are understood.
  return url.href.replace(/\/+$/, '').replace(/\/v1$/, '');
}
