// How browsers reach this gateway, and what follows from it: who is alone with it on this very machine, and whether a browser
// keeps the cookie of a login. What is done with that is decided by the cookie, the login and the outbox.
import { isIPv4 } from 'node:net';
import { type Refusal, refuse } from '../../api/errors.ts';
import type { DoorRequest } from '../../http/door.ts';

export interface Reach {
  /** Whether the door speaks TLS itself. */
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
  { remoteAddress, headers }: Pick<DoorRequest, 'remoteAddress' | 'headers'>,
): boolean {
  return isPrivate && !isForwarded(headers) && isLoopbackAddress(remoteAddress) && isLoopbackHost(headers);
}

/** Why a login would be in vain; undefined where the browser keeps a `Secure` cookie, or needs none. */
export function refusalOfLogin(reach: Reach, { headers }: DoorRequest): Refusal | undefined {
  // Browsers take their own machine for safe. What a header claims opens nothing: the cookie is `Secure` all the same.
  if (reach.tls || reach.publicUrlIsHttps || isLoopbackHost(headers) || cameOverHttps(headers)) return undefined;
  return refuse(
    'invalid_request',
    'A login over plain http would send the password in the open, and the browser would not keep the cookie: use https, or ' +
      'http://localhost on the machine itself. A proxy that speaks https says so with `X-Forwarded-Proto: https`, or ' +
      'VOXGATE_PUBLIC_URL does.',
  );
}

function isForwarded(headers: DoorRequest['headers']): boolean {
  return [...headers.keys()].some(
    (name) => name === 'forwarded' || name === 'via' || name === 'x-real-ip' || name.startsWith('x-forwarded-'),
  );
}

function cameOverHttps(headers: DoorRequest['headers']): boolean {
  return headers.get('x-forwarded-proto')?.split(',', 1)[0]?.trim().toLowerCase() === 'https';
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}

function isLoopbackHost(headers: DoorRequest['headers']): boolean {
  const url = `http://${headers.get('host') ?? ''}`;
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || isLoopbackAddress(hostname);
}
