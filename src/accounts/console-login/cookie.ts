// The cookie of a console session: its name, its attributes, and how it is read. What its value opens is src/accounts/people' business.
import type { DoorRequest } from '../../http/door.ts';
import { isPrivateRequest, type Reach } from './reach.ts';

const LIFE_SECONDS = 12 * 3600;

/**
 * Browsers keep a `__Host-` cookie only over TLS, and let no other host set it. Without TLS the bare name is used, and only
 * when browser and gateway are alone on one machine: elsewhere a cookie must not travel in the open.
 */
function nameOf(request: DoorRequest, reach: Reach): '__Host-sid' | 'sid' {
  return !reach.tls && isPrivateRequest(reach, request) ? 'sid' : '__Host-sid';
}

/** The value; undefined when there is none, or more than one. */
export function readCookie(request: DoorRequest, reach: Reach): string | undefined {
  const prefix = `${nameOf(request, reach)}=`;
  // The fast door joins repeated headers with a comma; values have neither.
  const pairs = (request.headers.get('cookie') ?? '').split(/[;,]/).map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(prefix)).map((pair) => pair.slice(prefix.length));
  return values.length === 1 ? values[0] : undefined;
}

export function setCookie(request: DoorRequest, reach: Reach, value: string): Record<string, string> {
  return cookieHeader(request, reach, value, LIFE_SECONDS);
}

export function clearCookie(request: DoorRequest, reach: Reach): Record<string, string> {
  return cookieHeader(request, reach, '', 0);
}

function cookieHeader(request: DoorRequest, reach: Reach, value: string, seconds: number): Record<string, string> {
  const name = nameOf(request, reach);
  const secure = name === 'sid' ? '' : '; Secure';
  return { 'Set-Cookie': `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}` };
}
