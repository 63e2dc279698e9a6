// Which route answers a request, and what every answer carries: request id, safe headers, refusals as the one error body.
// What a route does, and who may call it, is its own business.
import { ApiError, apiError, type ErrorCode } from '../api/errors.ts';
import { TRANSLATIONS_NOT_SERVED } from '../api/not-served.ts';
import { uuidv7 } from '../runtime/uuid.ts';
import { isInPieces, watched } from './reply.ts';
import { BodyTooLarge, type Reply, type ServerRequest, type WholeReply } from './server.ts';

export interface RouteContext {
  readonly request: ServerRequest;
  /** The decoded `:name` segments of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
}

export type RouteHandler = (context: RouteContext) => Promise<Reply>;

export interface Route {
  /** Upper case. HEAD is answered wherever GET is. */
  readonly method: string;
  /** Segments are literal, or `:name` for any one segment. A literal path wins over one with names. */
  readonly path: string;
  readonly handle: RouteHandler;
  /** How its refusals are answered, where not as the interface's own. */
  readonly refusal?: (refusal: ApiError, requestId: string) => WholeReply;
}

const TRANSLATIONS = '/v1/audio/translations';
const NOT_FOUND =
  'There is no such endpoint. Files are sent to /v1/audio/transcriptions, live audio to /v1/listen; GET /v1/models lists the models.';

const notFoundWords = (path: string): string => (path === TRANSLATIONS ? TRANSLATIONS_NOT_SERVED : NOT_FOUND);

export interface RouterOptions {
  /** What is said of a path that is none of these, where it is not that of the whole interface. */
  notFoundAt?(path: string): string | undefined;
  /** The page that a person gets in a browser, in place of the refusal `not_found`. */
  notFoundPage?(request: ServerRequest, refusal: ApiError): WholeReply;
  /** How refusals of a path that is none of these are answered, where not as the interface's own. */
  refusalAt?(path: string): Route['refusal'];
  newRequestId(): string;
  /** What should not have happened, for the log. The client is told `internal_error` and the id. */
  onFault(error: unknown, requestId: string): void;
  /**
   * Every answer: the route's path as it stands in the table (`other` for none of it), its status, its refusal if it is one. An
   * answer in pieces when it has ended; one that failed behind its head counts as the refusal that it would have been before.
   */
  onReply(route: string, status: number, refusal: ApiError | undefined): void;
}

/** The handlers of one path. */
interface Entry {
  readonly path: string;
  readonly segments: readonly string[];
  readonly methods: Map<string, RouteHandler>;
  readonly refusal: Route['refusal'];
}

interface Table {
  readonly literal: ReadonlyMap<string, Entry>;
  readonly named: readonly Entry[];
}

interface Match {
  readonly entry: Entry;
  readonly params: Record<string, string>;
}

const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const COMMON_NAMES: ReadonlySet<string> = new Set(Object.keys(COMMON_HEADERS).map((name) => name.toLowerCase()));

const CLIENT_LEFT = 'The client went away before it was answered. Send the request again.';

/** Timeout of an answer; then the client gets an error. */
const RETRY_SECONDS_MAX = 60;
/** Refusals that another attempt cannot change, though their status looks as if it could. */
const RETRY_IS_USELESS: ReadonlySet<ErrorCode> = new Set(['idempotency_conflict', 'upstream_account']);

/** `ServerHandlers.request` over a table of routes. Never rejects. */
export function createRouter(
  routes: readonly Route[],
  options: RouterOptions,
): (request: ServerRequest) => Promise<Reply> {
  const table = createTable(routes);
  return async (request) => {
    const requestId = options.newRequestId();
    let route = 'other';
    let inItsWords = options.refusalAt?.(request.path);
    const isOpen = isForPages(request.path);
    const toPage = isOpen ? readableBy(request) : {};
    const refused = (error: unknown): ApiError => {
      // When the client left, whatever broke because of it is no fault of ours; it is counted as what it is.
      const hasLeft = request.signal.aborted && !(error instanceof ApiError);
      const refusal = hasLeft ? apiError('request_timeout', CLIENT_LEFT) : toApiError(error);
      if (refusal.code === 'internal_error') options.onFault(error, requestId);
      options.onReply(route, refusal.status, refusal);
      return refusal;
    };
    const handled = (match: Match | undefined): Promise<Reply> => {
      if (match === undefined)
        throw apiError('not_found', options.notFoundAt?.(request.path) ?? notFoundWords(request.path));
      return handlerOf(match.entry, request.method)({ request, requestId, params: match.params });
    };
    try {
      const match = findEntry(table, request.path);
      route = match?.entry.path ?? route;
      if (match !== undefined) inItsWords = match.entry.refusal;
      const isPreflight = isOpen && request.method === 'OPTIONS';
      const answer = isPreflight ? preflight(request, match && methodsOf(match.entry)) : await handled(match);
      // Not spread: V8 gives every object that was made with a spread a hidden class of its own.
      const reply = Object.assign({}, answer, { headers: Object.assign({}, toPage, answer.headers) });
      const answered = () => options.onReply(route, reply.status, undefined);
      if (isInPieces(reply.body)) {
        const body = watched(reply.body, (failure) => (failure === undefined ? answered() : refused(failure.error)));
        return withCommonHeaders({ ...reply, body }, requestId);
      }
      answered();
      return withCommonHeaders(reply, requestId);
    } catch (error) {
      const refusal = refused(error);
      // A page that may not use the key reads nothing.
      const isForPage = refusal.code !== 'origin_not_allowed';
      const reply = errorReply(isForPage ? refusal.withHeaders(toPage) : refusal, requestId);
      if (options.notFoundPage !== undefined && isOfPage(refusal, route) && isForBrowser(request))
        return withCommonHeaders(options.notFoundPage(request, refusal), requestId);
      const told = inItsWords?.(refusal, requestId);
      return told === undefined ? reply : { ...told, headers: { ...reply.headers, ...told.headers } };
    }
  };
}

/** Whether a person may have asked for a page: at no route, or at one of the documents. */
const isOfPage = ({ code }: ApiError, route: string): boolean =>
  code === 'not_found' && (route === 'other' || route.startsWith('/docs/'));

/** A JSON answer. */
export function json(status: number, value: unknown, headers: Record<string, string> = {}): WholeReply {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(value),
  };
}

/** The refusal that a client may hear of for anything thrown: itself, or `internal_error` without a word of the cause. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof BodyTooLarge) return apiError('file_too_large', `${error.message} Send less.`);
  return apiError(
    'internal_error',
    'The gateway failed at this request. Try again; if it fails again, report the request id.',
  );
}

/** A refusal as the answer of a request. */
export function errorReply(refusal: ApiError, requestId: string): WholeReply {
  const { headers = {}, retryAfterSeconds } = refusal.extras;
  const retry =
    retryAfterSeconds === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))) };
  const challenge = refusal.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
  const again = isRetryUseless(refusal) ? { 'X-Should-Retry': 'false' } : {};
  const body = { error: refusal.body(requestId) };
  const reply = json(refusal.status, body, { ...challenge, ...retry, ...again, ...headers });
  return withCommonHeaders(reply, requestId);
}

/**
 * OpenAI's client libraries try again on their own after 408, 409, 429 and 5xx, and some wait as long as `Retry-After` says,
 * be it until midnight. They are told where that is of no use.
 */
function isRetryUseless({ code, extras: { retryAfterSeconds } }: ApiError): boolean {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds > RETRY_SECONDS_MAX;
  return RETRY_IS_USELESS.has(code);
}

/** What a reply says of itself wins over what every reply says. */
function withCommonHeaders<Answer extends Reply>(reply: Answer, requestId: string): Answer {
  const own = reply.headers ?? {};
  const headers = Object.assign({}, commonBeside(own), own);
  headers['X-Request-Id'] = requestId;
  return Object.assign({}, reply, { headers });
}

function commonBeside(own: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const said = Object.keys(own).filter((name) => COMMON_NAMES.has(name.toLowerCase()));
  if (said.length === 0) return COMMON_HEADERS;
  const names = new Set(said.map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(COMMON_HEADERS).filter(([name]) => !names.has(name.toLowerCase())));
}

function createTable(routes: readonly Route[]): Table {
  const entries = new Map<string, Entry>();
  for (const { method, path, handle, refusal } of routes) {
    const entry = entries.get(path) ?? { path, segments: path.split('/'), methods: new Map(), refusal };
    if (entry.methods.has(method)) throw new Error(`The route ${method} ${path} is given twice.`);
    entry.methods.set(method, handle);
    entries.set(path, entry);
  }
  const isNamed = ([path]: [string, Entry]) => path.includes('/:');
  return {
    literal: new Map([...entries].filter((entry) => !isNamed(entry))),
    named: [...entries].filter(isNamed).map(([, entry]) => entry),
  };
}

function handlerOf(entry: Entry, method: string): RouteHandler {
  const handle = entry.methods.get(method) ?? (method === 'HEAD' ? entry.methods.get('GET') : undefined);
  if (handle !== undefined) return handle;
  const allowed = methodsOf(entry);
  throw apiError('method_not_allowed', `This endpoint takes ${allowed}.`, { headers: { Allow: allowed } });
}

const methodsOf = ({ methods }: Entry): string =>
  [...methods.keys()].flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each])).join(', ');

function findEntry({ literal, named }: Table, path: string): Match | undefined {
  const entry = literal.get(path);
  if (entry !== undefined) return { entry, params: {} };
  const segments = path.split('/');
  for (const candidate of named) {
    const params = matchSegments(candidate.segments, segments);
    if (params !== undefined) return { entry: candidate, params };
  }
  return undefined;
}

/** The named segments, or undefined when the path is another. */
function matchSegments(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const actual = segments[index]!;
    if (!expected.startsWith(':')) {
      if (actual !== expected) return undefined;
      continue;
    }
    const value = decodeSegment(actual);
    if (value === undefined || value === '') return undefined;
    params[expected.slice(1)] = value;
  }
  return params;
}

export function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Browsers keep a permission no longer than this. */
const PERMISSION_SECONDS = 7_200;
const ORIGIN = /^[\x21-\x7e]{1,255}$/;
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~,\- ]{1,2048}$/;
/** For a browser that names none, or names them in a way that cannot be repeated. */
const USUAL_HEADERS = 'authorization, content-type, xi-api-key, x-gladia-key';
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** The interface itself, and that of other vendors' clients. The console is for its own pages alone. */
const isForPages = (path: string): boolean => path.startsWith('/v1/') || path.startsWith('/compat/');

/** What every answer says to the page that asked for it. Credentials of the browser itself, such as cookies, are never allowed. */
function readableBy({ headers }: Pick<ServerRequest, 'headers'>): Record<string, string> {
  const origin = headers.get('origin') ?? '';
  if (!ORIGIN.test(origin)) return { Vary: 'Origin' };
  return { Vary: 'Origin', 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': '*' };
}

/** The answer to what a browser asks before a request. It has no key, so that it is the same for every page. */
function preflight(request: ServerRequest, methods: string | undefined): WholeReply {
  const asked = request.headers.get('access-control-request-headers') ?? '';
  return {
    status: 204,
    headers: {
      ...readableBy(request),
      'Access-Control-Allow-Methods': methods ?? METHODS,
      'Access-Control-Allow-Headers': HEADER_NAMES.test(asked) ? asked : USUAL_HEADERS,
      'Access-Control-Max-Age': String(PERMISSION_SECONDS),
    },
  };
}

export const isForBrowser = ({ headers }: Pick<ServerRequest, 'headers'>): boolean =>
  headers.get('accept')?.includes('text/html') ?? false;

/** The id of a request that arrived at this wall time. */
export function newRequestId(timeMs: number, random?: Uint8Array): string {
  return `req_${uuidv7(timeMs, random)}`;
}
