// How browsers reach this gateway, and what follows from it: who is alone with it on this very machine, and whether a browser
// keeps the cookie of a login. What is done with that is decided by the cookie, the login and the outbox.
import { isIPv4 } from 'node:net';
import { type ApiError, apiError } from '../../api/errors.ts';
import { refuseContentEncoding } from '../../http/multipart/parts.ts';
import type { ServerRequest } from '../../http/server.ts';

export interface Reach {
  /** Whether the server itself terminates TLS. */
  tls: boolean;
  /** Whether it is for clients on this machine only: it listens on loopback, has no public URL and trusts no proxy. */
  isPrivate: boolean;
  /** Whether people are told to come over https, which a proxy in front speaks then. */
  publicUrlIsHttps: boolean;
}

/**
 * Whether browser and gateway are alone on one machine. An address alone does not say so: a forwarder or a proxy on the same
 * machine comes from loopback as well.
 */
export function isPrivateRequest(
  { isPrivate }: Pick<Reach, 'isPrivate'>,
  { remoteAddress, headers }: Pick<ServerRequest, 'remoteAddress' | 'headers'>,
): boolean {
  return isPrivate && !isForwarded(headers) && isLoopbackAddress(remoteAddress) && isLoopbackHost(headers);
}

/** Why a login would be in vain; undefined where the browser keeps a `Secure` cookie, or needs none. */
export function apiErrorOfLogin(reach: Reach, { headers }: ServerRequest): ApiError | undefined {
  // Browsers treat their own machine as safe. A header's claim grants nothing: the cookie is `Secure` anyway.
  if (reach.tls || reach.publicUrlIsHttps || isLoopbackHost(headers) || cameOverHttps(headers)) return undefined;
  return apiError(
    'invalid_request',
    'A login over plain http would send the password in the open, and the browser would not keep the cookie: use https, or ' +
      'http://localhost on the machine itself. A proxy that speaks https says so with `X-Forwarded-Proto: https`, or ' +
      'VOXGATE_PUBLIC_URL does.',
  );
}

function isForwarded(headers: ServerRequest['headers']): boolean {
  return [...headers.keys()].some(
    (name) => name === 'forwarded' || name === 'via' || name === 'x-real-ip' || name.startsWith('x-forwarded-'),
  );
}

function cameOverHttps(headers: ServerRequest['headers']): boolean {
  return headers.get('x-forwarded-proto')?.split(',', 1)[0]?.trim().toLowerCase() === 'https';
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}

function isLoopbackHost(headers: ServerRequest['headers']): boolean {
  const url = `http://${headers.get('host') ?? ''}`;
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || isLoopbackAddress(hostname);
}

// The cookie of a console session: its name, its attributes, and how it is read. What its value opens is src/accounts/people' business.
const LIFE_SECONDS = 12 * 3600;

/**
 * Browsers keep a `__Host-` cookie only over TLS, and let no other host set it. Without TLS the bare name is used, and only
 * when browser and gateway are alone on one machine: elsewhere a cookie must not travel in the open.
 */
function nameOf(request: ServerRequest, reach: Reach): '__Host-sid' | 'sid' {
  return !reach.tls && isPrivateRequest(reach, request) ? 'sid' : '__Host-sid';
}

/** The value; undefined when there is none, or more than one. */
export function readCookie(request: ServerRequest, reach: Reach): string | undefined {
  const prefix = `${nameOf(request, reach)}=`;
  // uWebSockets.js joins repeated headers with a comma; values have neither.
  const pairs = (request.headers.get('cookie') ?? '').split(/[;,]/).map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(prefix)).map((pair) => pair.slice(prefix.length));
  return values.length === 1 ? values[0] : undefined;
}

export function setCookie(request: ServerRequest, reach: Reach, value: string): Record<string, string> {
  return cookieHeader(request, reach, value, LIFE_SECONDS);
}

export function clearCookie(request: ServerRequest, reach: Reach): Record<string, string> {
  return cookieHeader(request, reach, '', 0);
}

function cookieHeader(request: ServerRequest, reach: Reach, value: string, seconds: number): Record<string, string> {
  const name = nameOf(request, reach);
  const secure = name === 'sid' ? '' : '; Secure';
  return { 'Set-Cookie': `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}` };
}

// Whether a request was made by a page of this gateway: what stands between a person's cookie and every other page that the
// same browser has open.
/** Methods that change nothing. */
const SAFE_METHODS = new Set(['GET', 'HEAD']);

export function changesNothing({ method }: ServerRequest): boolean {
  return SAFE_METHODS.has(method);
}

/** Throws an ApiError `cross_site_request` for a request that another site's page, or no page at all, has made. */
export function requireSameOrigin({ headers }: ServerRequest): void {
  const site = headers.get('sec-fetch-site');
  // Older browsers do not say so; then the origin has to be this very host.
  if (site === undefined ? isOwnOrigin(headers.get('origin'), headers.get('host')) : site === 'same-origin') return;
  throw apiError(
    'cross_site_request',
    'Only pages of this gateway may do this: send `Sec-Fetch-Site: same-origin`, or an `Origin` that is the host itself.',
  );
}

/** The same for the JSON API, whose requests no form can make. Methods that change nothing pass. */
export function requireConsoleRequest(request: ServerRequest): void {
  if (changesNothing(request)) return;
  requireSameOrigin(request);
  const { headers } = request;
  if (!/^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '')) {
    throw apiError('unsupported_media_type', 'The console takes JSON: send `Content-Type: application/json`.');
  }
  refuseContentEncoding(headers);
  if (headers.get('x-requested-with') !== 'console') {
    throw apiError('cross_site_request', 'Requests to the console carry the header `X-Requested-With: console`.');
  }
}

function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined || !/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, origin: normal, host: named } = new URL(origin);
  const own = `${protocol}//${host}`;
  return normal === origin && URL.canParse(own) && new URL(own).host === named;
}
