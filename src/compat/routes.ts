// Which dialect a request is for: by its path below `/compat/<name>`; by the first part of the host's name, for clients that can
// be given a host but no path; or by a path that is nobody else's. And how its HTTP endpoints become routes.
import type { Caller } from '../accounts/auth/permissions.ts';
import type { Route, RouteContext } from '../http/router.ts';
import type { Reply, ServerRequest } from '../http/server.ts';
import type { Dialect } from '../vendors/compat/dialect.ts';
import { dialects } from '../vendors/dialects.ts';

const BASE = '/compat/';

/** What answers a request of a caller. */
export type Handler = (context: RouteContext, caller: Caller) => Promise<Reply>;
/** Checks and counts the key of a request before its handler sees it. */
export type Keyed = (handler: Handler, credentialOf: (request: ServerRequest) => string | undefined) => Route['handle'];

/**
 * The routes of one kind of endpoint, of all dialects.
 *
 * @param endpointsOf by `GET /path`, or by the path of a POST
 */
export const dialectRoutes = <Endpoint>(
  endpointsOf: (dialect: Dialect) => Readonly<Record<string, Endpoint>> | undefined,
  handlerOf: (endpoint: Endpoint, dialect: Dialect) => Handler,
  keyed: Keyed,
): Route[] =>
  dialects.flatMap((dialect) =>
    Object.entries(endpointsOf(dialect) ?? {}).map(([place, endpoint]) => {
      const [path = '', method = 'POST'] = place.split(' ').reverse();
      const handle = keyed(handlerOf(endpoint, dialect), headerCredentialOf(dialect));
      return { method, path: pathOf(dialect, path), handle, refusal: dialect.refusal };
    }),
  );

/** The credential of a request over HTTP. None is taken from its URL, which is logged: whoever can send a body can send a header. */
export const headerCredentialOf =
  (dialect: Dialect) =>
  ({ query, headers }: Pick<ServerRequest, 'query' | 'headers'>): string | undefined => {
    const { credential, param } = dialect.credential({ query: new URLSearchParams(query), headers });
    return param === undefined ? credential : undefined;
  };

const pathOf = ({ name }: Dialect, path: string): string => `${BASE}${name}${path}`;

/** As the client named the gateway, which may be a balancer before several. */
export const addressOf = (
  dialect: Dialect,
  path: string,
  { headers, isTls = false }: ServerRequest,
  scheme: 'http' | 'ws',
): string => `${scheme}${isTls ? 's' : ''}://${headers.get('host') ?? 'localhost'}${pathOf(dialect, path)}`;

/** `deepgram.voice.example.com/v1/listen` is `/compat/deepgram/v1/listen`; what that endpoint does not serve is the gateway's own. */
export function withDialect(request: ServerRequest): ServerRequest {
  const { path } = request;
  if (path.startsWith(BASE)) return request;
  const host = request.headers.get('host') ?? '';
  const name = host.slice(0, Math.max(0, host.indexOf('.'))).toLowerCase();
  const isFor = ({ name: own, atRoot = [] }: Dialect) => own === name || atRoot.some((each) => fits(each, path));
  const dialect = dialects.find((each) => isFor(each) && serves(each, path));
  return dialect === undefined ? request : { ...request, path: pathOf(dialect, path) };
}

const serves = (
  {
    live,
    files,
    jsonFiles = {},
    calls = {},
    forms = {},
    jobs = {},
    sessions = {},
    tokens = {},
    notServed = {},
  }: Dialect,
  path: string,
): boolean =>
  Object.keys(notServed).some((pattern) => fits(pattern, path)) ||
  [live, files, jsonFiles, forms, calls].some((endpoints) => Object.hasOwn(endpoints, path)) ||
  [jobs, sessions, tokens]
    .flatMap((endpoints) => Object.keys(endpoints))
    .some((place) => fits(place.slice(place.indexOf('/')), path));

/** Whether a path is one of those that are written with `:id` in place of a segment. */
function fits(pattern: string, path: string): boolean {
  const named = pattern.indexOf(':');
  if (named < 0) return pattern === path;
  // Asked of every request: nearly all of them are for something else.
  if (!path.startsWith(pattern.slice(0, named))) return false;
  const segments = path.split('/');
  const expected = pattern.split('/');
  return (
    segments.length === expected.length && expected.every((each, at) => each.startsWith(':') || each === segments[at])
  );
}

/** What is said of a path below `/compat/<name>` that is not an endpoint. */
export function notServedAt(path: string): string | undefined {
  const dialect = dialectAt(path)?.dialect;
  if (dialect === undefined) return undefined;
  const { notServed = {} } = dialect;
  const own = path.slice(pathOf(dialect, '').length);
  const [, words] = Object.entries(notServed).find(([pattern]) => fits(pattern, own)) ?? [];
  if (words !== undefined) return words;
  const { title, live, files, jsonFiles, calls, forms, jobs = {}, sessions = {}, tokens = {} } = dialect;
  const places = [jobs, sessions, tokens]
    .flatMap((endpoints) => Object.keys(endpoints))
    .map((place) => place.slice(place.indexOf('/')));
  const paths = new Set([
    ...[live, files, jsonFiles, calls, forms].flatMap((endpoints) => Object.keys(endpoints ?? {})),
    ...places,
  ]);
  return `There is no such endpoint for clients of ${title}. Served are, below ${pathOf(dialect, '')}: ${[...paths].join(', ')}. GET /v1/models lists the models.`;
}

/** The dialect of a path, and the part of the path that is its own. */
export function dialectAt(path: string): { dialect: Dialect; path: string } | undefined {
  if (!path.startsWith(BASE)) return undefined;
  const end = path.indexOf('/', BASE.length);
  const dialect = dialects.find(({ name }) => name === path.slice(BASE.length, end));
  return dialect && { dialect, path: path.slice(end) };
}
