// One attempt: a POST over its own connection, to an address that is checked when it connects. Of the answer only the status counts.

import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { BlockList, LookupFunction } from 'node:net';
import { codeOf } from '../runtime/error-code.ts';
import { NotReachable, reachableLookup, requireReachable } from '../runtime/outbound/reachable.ts';
import { backgroundClock } from '../runtime/telemetry/clock.ts';
import { limitedSignal } from '../runtime/timeouts.ts';

const ATTEMPT_MS = 15_000;
const HEADER_BYTES_MAX = 8_192;
/** What is read of a body before its connection is dropped, and for how long. */
const BODY_BYTES_MAX = 4_096;
const BODY_MS = 1_000;

/** `error`: why there was no answer, such as `timeout` or `connection_refused`. */
export type PostOutcome = { status: number; error?: undefined } | { status?: undefined; error: string };

/** Of JSON, unless a header names another type. Never rejects. */
export type Post = (url: string, headers: Readonly<Record<string, string>>, body: string) => Promise<PostOutcome>;

/** What is sent in other shapes, by either method. */
export interface OutgoingRequest {
  method: 'POST' | 'PUT';
  /** A user name and a password in it are sent as `Authorization`. */
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
}

export interface PosterOptions {
  /** Private networks that may be reached. */
  networks: BlockList | undefined;
  /** 15 s when absent. */
  timeoutMs?: number;
}

export interface Poster {
  post: Post;
  /** Never rejects. */
  send(request: OutgoingRequest): Promise<PostOutcome>;
  /** Ends what is in progress. */
  close(): void;
}

export function openPoster({ networks, timeoutMs = ATTEMPT_MS }: PosterOptions): Poster {
  const closing = new AbortController();
  const lookups = { 'http:': reachableLookup(networks, false), 'https:': reachableLookup(networks, true) };
  const send: Poster['send'] = async ({ url: text, ...request }) => {
    const { signal, release } = limitedSignal(backgroundClock, timeoutMs, closing.signal);
    try {
      const url = new URL(text);
      requireReachable(url, networks);
      const lookup = lookups[url.protocol === 'https:' ? 'https:' : 'http:'];
      return { status: await statusOf(url, optionsOf(request, lookup, signal), request.body) };
    } catch (error) {
      return { error: nameOf(error, signal) };
    } finally {
      release();
    }
  };
  const post: Post = (url, headers, body) =>
    send({ method: 'POST', url, headers: { 'Content-Type': 'application/json', ...headers }, body });
  return { post, send, close: () => closing.abort() };
}

const optionsOf = (
  { method, headers, body }: Omit<OutgoingRequest, 'url'>,
  lookup: LookupFunction,
  signal: AbortSignal,
): RequestOptions => ({
  ...{ method, lookup, signal, maxHeaderSize: HEADER_BYTES_MAX },
  // A kept connection would be one that was checked earlier.
  agent: false,
  headers: {
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    'User-Agent': 'Voxgate-Webhooks',
  },
});

/** Redirects are answers like others. Resolves once nothing more of the connection is needed. */
function statusOf(url: URL, options: RequestOptions, body: string | Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, (response) => {
      void drained(response).then(() => resolve(response.statusCode ?? 0));
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Reads a short body to its end, so that an honest receiver can finish it, and drops the connection of any other. */
function drained(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(() => response.destroy(), BODY_MS);
    response
      .on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes > BODY_BYTES_MAX) response.destroy();
      })
      .on('error', () => {})
      .on('close', () => {
        clearTimeout(timer);
        resolve();
      });
  });
}

const NAMES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'unknown_host',
  EAI_AGAIN: 'unknown_host',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
};

/** Nothing of an error's text, which may repeat what the receiver sent. */
function nameOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof NotReachable) return 'address_not_allowed';
  if (signal.aborted) return 'timeout';
  const code = codeOf(error);
  if (code.startsWith('HPE_')) return NAMES[code] ?? 'invalid_answer';
  if (/CERT|^ERR_TLS|^ERR_SSL|^EPROTO$|UNABLE_TO_|SELF_SIGNED/.test(code)) return 'tls_failed';
  return NAMES[code] ?? 'connection_failed';
}
