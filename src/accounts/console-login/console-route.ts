// What stands before every endpoint of the console: the request came from the console's own page, its cookie opens a session,
// whatever it changes is within the organisation's limit and not suspended, and where more is wanted, the address is verified and the password was given lately. What an endpoint does is its own business.

import type { Static, TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { faultOf, listOf, type ValueFault } from '../../api/accepted.ts';
import { type ApiError, apiError, printable } from '../../api/errors.ts';
import { readJson } from '../../http/json-body.ts';
import type { Route, RouteContext, RouteHandler } from '../../http/router.ts';
import type { Reply, ServerRequest } from '../../http/server.ts';
import type { Actor } from '../../store/audit-log.ts';
import { StoreError } from '../../store/store-error.ts';
import type { ClientLimit } from '../people/attempt-limits.ts';
import type { CurrentSession, Logins, Peer } from '../people/logins.ts';
import { changesNothing, type Reach, readCookie, requireConsoleRequest } from './reach.ts';
import { type Endpoint, mayAsk, requireRole } from './roles.ts';

/** A call by a person who is logged in. Rows are always requested with `organisationId` of this session. */
export interface ConsoleContext extends RouteContext {
  readonly current: CurrentSession;
  readonly organisationId: string;
  /** For the audit log. */
  readonly by: Actor;
  readonly peer: Peer;
  /** Whether the same cookie would still do, a while later: for answers that take long. Does not keep the login alive. */
  isStillAllowed(): Promise<boolean>;
}

export interface ConsoleRouteOptions {
  /** The caller has verified their e-mail address. */
  verified?: boolean;
  /** The caller has given the password within the last ten minutes. */
  confirmed?: boolean;
  /** Also for a suspended organisation, and past the limit of changes. */
  always?: boolean;
}

/**
 * Makes a route of the console: `consoleRoute('POST keys', handler, { verified: true, confirmed: true })`. The handler is called
 * only for requests of the console's own page, with a good cookie, by somebody whose role is enough.
 */
export type ConsoleRoute = (
  endpoint: Endpoint,
  handler: (context: ConsoleContext) => Promise<Reply>,
  options?: ConsoleRouteOptions,
) => Route;

/** @param changes of an organisation: requests that are not only for reading */
export function createConsoleRoute(logins: Logins, reach: Reach, changes: ClientLimit): ConsoleRoute {
  return (endpoint, handler, { verified = false, confirmed = false, always = false } = {}) => {
    const handle = guarded(async (context) => {
      const { request } = context;
      const current = await currentSession(logins, request, reach);
      if (current === undefined) throw apiError('login_required', 'You are not logged in. Log in.');
      if (!always && !changesNothing(request)) {
        changes.take(current.organisationId);
        if (current.isSuspended) throw suspended();
      }
      requireRole(endpoint, current.role);
      if (verified && current.person.state !== 'verified') throw notVerified();
      if (confirmed && !current.isConfirmed) {
        throw apiError('password_required', 'Give the password once more: POST /console/api/confirm, then try again.');
      }
      const {
        person: { id },
        organisationId,
      } = current;
      const peer = peerOf(request);
      const isStillAllowed = async () => {
        const now = await logins.stillAt(current);
        return now !== undefined && mayAsk(endpoint, now.role);
      };
      const by = { type: 'person', id, address: peer.client } as const;
      return handler({ ...context, current, organisationId, peer, by, isStillAllowed });
    });
    const [method = '', path] = endpoint.split(' ');
    return { method, path: `/console/api/${path}`, handle };
  };
}

/** The same for a caller who is not logged in. */
export function openRoute(handler: (context: RouteContext) => Promise<Reply>): RouteHandler {
  return guarded(handler);
}

function guarded(handler: RouteHandler): RouteHandler {
  return async (context) => {
    requireConsoleRequest(context.request);
    try {
      return await handler(context);
    } catch (error) {
      throw error instanceof StoreError ? apiErrorOfStore(error) : error;
    }
  };
}

/** What the cookie of a request opens. */
export async function currentSession(
  logins: Logins,
  request: ServerRequest,
  reach: Reach,
): Promise<CurrentSession | undefined> {
  const cookie = readCookie(request, reach);
  return cookie === undefined ? undefined : logins.find(cookie);
}

export function peerOf({ remoteAddress, headers }: ServerRequest): Peer {
  return { client: remoteAddress, userAgent: (headers.get('user-agent') ?? '').replace(/[^\x20-\x7e]/g, '?') };
}

function suspended(): ApiError {
  return apiError(
    'account_suspended',
    'This organisation is suspended and cannot be changed. Ask the operator of the service.',
  );
}

function notVerified(): ApiError {
  return apiError('email_not_verified', 'The e-mail address is not verified yet. Open the link that was mailed to it.');
}

export function apiErrorOfStore({ reason, message }: StoreError): ApiError {
  if (reason === 'not_found') return apiError('not_found', message);
  if (reason === 'invalid' || reason === 'conflict') return apiError('invalid_request', message);
  return apiError('overloaded', 'The database cannot take this right now. Try again in a moment.', {
    retryAfterSeconds: 2,
  });
}

// The body of a request to the console, checked against its schema: closed, without coercion, and refused by the member's name.
/** Of people's forms: an address and two passwords. */
export const FORM_BYTES_MAX = 4096;
/** Of a key's settings: two lists of a hundred, and aliases. */
export const SETTINGS_BYTES_MAX = 65_536;

/** Throws an ApiError that names the member at fault and never shows a value. No body is an empty one. */
export async function readBody<Schema extends TObject>(
  request: ServerRequest,
  schema: Schema,
  bytesMax: number = FORM_BYTES_MAX,
): Promise<Static<Schema>> {
  const body = (await readJson(request, bytesMax)) ?? {};
  if (Value.Check(schema, body)) return body;
  throw apiErrorOfBody(schema, body);
}

function apiErrorOfBody(schema: TObject, body: unknown): ApiError {
  const known = Object.keys(schema.properties);
  const takes = known.length === 0 ? 'it takes none' : `it takes ${listOf(known)}`;
  const { kind, path, accepts } = faultOf(schema, body) as ValueFault;
  const param = printable(path.join('.'));
  if (param === '') return apiError('invalid_request', `The body is not a JSON object; ${takes}.`);
  if (kind === 'unknown') {
    const others = path.length === 1 ? takes : `there are ${accepts}`;
    return apiError('invalid_request', `\`${param}\` is not a member of this body; ${others}.`, { param });
  }
  if (kind === 'missing') return apiError('invalid_request', `\`${param}\` is missing. Send ${accepts}.`, { param });
  return apiError('invalid_request', `\`${param}\` must be ${accepts}.`, { param });
}
