// What the statuses of gRPC are called, and what each is in the words of HTTP and of closes, in which codecs and simulators speak.
import type { ProviderRefusal } from '../endpoints.ts';

/** Name and HTTP status by code (google/rpc/code.proto). */
const STATUSES = [
  ['OK', 200],
  ['CANCELLED', 499],
  ['UNKNOWN', 500],
  ['INVALID_ARGUMENT', 400],
  ['DEADLINE_EXCEEDED', 504],
  ['NOT_FOUND', 404],
  ['ALREADY_EXISTS', 409],
  ['PERMISSION_DENIED', 403],
  ['RESOURCE_EXHAUSTED', 429],
  ['FAILED_PRECONDITION', 400],
  ['ABORTED', 409],
  ['OUT_OF_RANGE', 400],
  ['UNIMPLEMENTED', 501],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DATA_LOSS', 500],
  ['UNAUTHENTICATED', 401],
] as const;

/** The close code of a call that ended in order; others are 4000 and the status. */
const CLOSED_IN_ORDER = 1000;
const CLOSE_BASE = 4000;
const UNKNOWN = 2;
const INTERNAL = 13;

export interface GrpcStatus {
  code: number;
  details: string;
}

export const statusName = (code: number): string => (STATUSES[code] ?? STATUSES[UNKNOWN])[0];

/** A call that was answered with nothing but a status. */
export function refusalOf({ code, details }: GrpcStatus, headers: ProviderRefusal['headers'] = {}): ProviderRefusal {
  const [name, status] = STATUSES[code] ?? STATUSES[UNKNOWN];
  return { status, headers, body: JSON.stringify({ error: { code: status, status: name, message: details } }) };
}

/** The end of a call that was answered before. */
export const closeOf = ({ code, details }: GrpcStatus): { code: number; reason: string } =>
  code === 0
    ? { code: CLOSED_IN_ORDER, reason: '' }
    : { code: CLOSE_BASE + code, reason: `${statusName(code)}: ${details}` };

/** The name in front of the reason of such a close. */
export const statusIn = (reason: string): string | undefined =>
  STATUSES.find(([name]) => reason.startsWith(`${name}:`))?.[0];

/** The status that a close comes to; another code than those above is a fault of the server. */
export function statusOfClose(code = CLOSED_IN_ORDER, reason = ''): GrpcStatus {
  if (code === CLOSED_IN_ORDER) return { code: 0, details: '' };
  const known = code > CLOSE_BASE && code < CLOSE_BASE + STATUSES.length ? code - CLOSE_BASE : INTERNAL;
  return { code: known, details: reason.replace(`${statusName(known)}: `, '') };
}

/** The status of an HTTP answer: the one its body names, or one that means the same. */
export function statusOfHttp(status: number, name: unknown, details: string): GrpcStatus {
  const named = STATUSES.findIndex(([known]) => known === name);
  const alike = STATUSES.findIndex(([, http]) => http === status);
  return { code: [named, alike].find((code) => code > 0) ?? INTERNAL, details };
}
