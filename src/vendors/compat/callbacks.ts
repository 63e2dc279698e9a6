// Reads the addresses that clients want to be told of the end of a job, in the same way for all dialects. Whether an address may be
// reached is decided elsewhere.
import { randomBytes } from 'node:crypto';
import { shownAddress } from '../../api/audio-source.ts';
import type { JsonObject } from '../kit/json.ts';
import type { JobCallback } from './jobs.ts';
import { badRequest } from './params.ts';

/** A token, as RFC 9110 has it. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,2048}$/;
/** They are the connection's, or say what is sent. */
const RESERVED: readonly string[] = [
  ...['connection', 'content-encoding', 'content-length', 'content-type', 'expect', 'host', 'keep-alive'],
  ...['proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'user-agent'],
];

const isNothing = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Undefined where the client names none. Throws an ApiError. */
export function callbackAt(
  url: unknown,
  param: string,
  more: Partial<Pick<JobCallback, 'method' | 'headers' | 'contents'>> = {},
): JobCallback | undefined {
  if (isNothing(url)) return undefined;
  if (typeof url !== 'string')
    throw badRequest(param, `\`${param}\` has to be a URL, such as https://example.com/hook.`);
  return { method: 'POST', headers: [], ...more, url, param };
}

/** POST unless the client wants the other one. Throws an ApiError. */
export function callbackMethod(value: unknown, param: string): JobCallback['method'] {
  if (isNothing(value)) return 'POST';
  const method = typeof value === 'string' ? value.toUpperCase() : '';
  if (method === 'POST' || method === 'PUT') return method;
  throw badRequest(param, `\`${param}\` is POST or PUT.`);
}

/**
 * The header that a receiver knows the gateway by; none where the client names none. Throws an ApiError.
 *
 * @param params what the client calls its name and its value
 */
export function authHeader(
  name: unknown,
  value: unknown,
  params: readonly [name: string, value: string],
): JobCallback['headers'] {
  if (isNothing(name) && isNothing(value)) return [];
  return [checkedHeader(isNothing(name) ? '' : name, isNothing(value) ? '' : value, params)];
}

/** Throws an ApiError. */
export function checkedHeader(
  name: unknown,
  value: unknown,
  [nameParam, valueParam]: readonly [name: string, value: string],
): [string, string] {
  if (typeof name !== 'string' || !HEADER_NAME.test(name))
    throw badRequest(nameParam, `\`${nameParam}\` is missing, or is not the name of a header, such as X-Secret.`);
  if (RESERVED.includes(name.toLowerCase()))
    throw badRequest(nameParam, `\`${nameParam}\` is a header that the gateway sets. Name another, such as X-Secret.`);
  if (typeof value !== 'string' || value === '' || !HEADER_VALUE.test(value))
    throw badRequest(
      valueParam,
      `\`${valueParam}\` is missing, or is not the value of a header: up to 2048 characters of one line.`,
    );
  return [name, value];
}

/** What is shown again of a configuration: an address without what may be secret. */
export const withShownUrl = (config: JsonObject, name: string): JsonObject =>
  typeof config[name] === 'string' ? { ...config, [name]: shownAddress(config[name]) } : config;

/** Of a job. */
export const callbacksOf = (callback: JobCallback | undefined): { callbacks?: readonly JobCallback[] } =>
  callback === undefined ? {} : { callbacks: [callback] };

/** A post of JSON to a callback. */
export const jsonPost = ({ url, method, headers }: JobCallback, value: unknown) => ({
  ...{ url, method },
  headers: { ...Object.fromEntries(headers), 'Content-Type': 'application/json' },
  body: JSON.stringify(value),
});

/** Several parts as one body, `multipart/form-data`. */
export function wholeForm(parts: readonly { disposition: string; type: string; body: string }[]): {
  contentType: string;
  bytes: Uint8Array;
} {
  // Of no content: it has 144 random bits.
  const boundary = randomBytes(18).toString('hex');
  const texts = parts.map(
    ({ disposition, type, body }) =>
      `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`,
  );
  const bytes = Buffer.from(`${texts.join('')}--${boundary}--\r\n`);
  return { contentType: `multipart/form-data; boundary=${boundary}`, bytes };
}
