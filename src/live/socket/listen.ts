// `GET /v1/listen`: who asks and for what, and how a refusal reaches a client that cannot read HTTP answers.
import type { Caller } from '../../accounts/auth/permissions.ts';
import { ApiError, apiError } from '../../api/errors.ts';
import { readSocketCredential } from '../../http/credentials.ts';
import { parseQuery } from '../../http/query.ts';
import type { ServerRequest, ServerSocket, SocketHandlers, SocketPace, UpgradeAnswer } from '../../http/server.ts';
import type { Degradation } from '../failover/chain.ts';
import type { SocketPaces } from '../pace/socket-pace.ts';
import { gone, type ResumeRequest, readResumeRequest, unsaid } from '../resume/resume-request.ts';
import type { SessionOpening } from '../session/session-opening.ts';
import { openingOf } from './admission.ts';
import { readStartRequest } from './client-message.ts';
import type { ListenDependencies } from './listen-dependencies.ts';
import type { ProtocolAdapter } from './protocol-session.ts';
import { refuseOnSocket } from './refuse-on-socket.ts';
import { SessionSocket } from './session-socket.ts';

/** Answers an upgrade to `/v1/listen`. Never rejects. */
export async function answerListen(
  request: ServerRequest,
  requestId: string,
  dependencies: ListenDependencies,
): Promise<UpgradeAnswer> {
  const offer = readSocketCredential({
    authorization: request.headers.get('authorization'),
    protocols: request.headers.get('sec-websocket-protocol'),
    query: request.query,
  });
  const protocol = offer.protocol === undefined ? {} : { protocol: offer.protocol };
  const headers: Record<string, string> = { 'X-Request-Id': requestId };
  try {
    const query = parseQuery(request.query, 'replace');
    if (offer.method === 'query') {
      takeFromUrl('api_key', dependencies);
    }
    const resume = readResumeRequest(query);
    const caller = await callerOf(request, headers, offer.credential, dependencies);
    if (resume !== undefined) {
      const resumed = await resumedSocket(resume, caller, dependencies);
      if (resumed !== undefined) return { ...resumed, headers, ...protocol };
      if (resume.anew === undefined) throw gone();
    }
    const { socket } = await openSocket(request, requestId, caller, dependencies, () => ({
      ...readStartRequest(resume?.anew ?? query),
      warnings: offer.method === 'query' ? [credentialInUrl] : [],
      ...(resume === undefined ? {} : { continues: { sessionId: resume.sessionId, seconds: resume.heardSeconds } }),
    }));
    return { accept: socket, pace: socket.pace, headers, ...protocol };
  } catch (error) {
    const refusal = (error instanceof ApiError ? error : dependencies.onFault(requestId, error)).withHeaders(headers);
    dependencies.onRefused(refusal);
    if (!offer.tellOnSocket) return { refuse: dependencies.reply(refusal, requestId) };
    const tell = (socket: ServerSocket) => refuseOnSocket(socket, refusal, requestId, dependencies);
    return { ...acceptToRefuse(tell, dependencies), headers, ...protocol };
  }
}

/** What is asked for so far, in words of the query. */
export interface Asked {
  parameters: Map<string, string>;
  /** A message is to say the rest. */
  waits: boolean;
  warnings?: readonly Degradation[];
  protocolAdapter?: ProtocolAdapter;
  continues?: SessionOpening['continues'];
}

/**
 * Judges who asks, and counts the request. Rejects with an ApiError.
 *
 * @param headers gathers what the answer to the handshake says, also where it is refused
 */
export async function callerOf(
  request: ServerRequest,
  headers: Record<string, string>,
  credential: string | undefined,
  { authenticator, limits }: Pick<ListenDependencies, 'authenticator' | 'limits'>,
): Promise<Caller> {
  const caller = await authenticator.socket(credential, request.remoteAddress, request.headers.get('origin'));
  Object.assign(headers, limits.takeRequest(caller.key));
  return caller;
}

/** Makes the socket of who asks. Rejects with an ApiError. */
export async function openSocket(
  request: ServerRequest,
  requestId: string,
  caller: Caller,
  dependencies: ListenDependencies,
  read: () => Asked,
): Promise<{ socket: SessionSocket; warnings: readonly Degradation[] }> {
  const { limits, sessions } = dependencies;
  sessions.admit();
  const { parameters, waits, warnings = [], protocolAdapter, continues } = read();
  const traceparent = request.headers.get('traceparent') ?? undefined;
  const asking = { requestId, traceparent, caller, warnings, continues };
  // Who waits takes a place as well: connections that never start are bounded by it.
  const opening = waits
    ? { parameters, asking: { ...asking, release: await limits.takeSession(caller.key) } }
    : await openingOf(parameters, asking, dependencies);
  const degradations = 'chain' in opening ? (opening.chain[0]?.degradations ?? []) : [];
  return {
    socket: new SessionSocket(opening, dependencies, protocolAdapter),
    warnings: [...('warnings' in opening ? opening.warnings : []), ...degradations],
  };
}

const credentialInUrl: Degradation = {
  code: 'credential_in_url',
  message:
    'The credential came in the URL, and URLs are logged. Send it in the Authorization header or the `bearer` subprotocol.',
  param: 'api_key',
};

const NOT_IN_URL =
  'This gateway takes no credential in a URL, since URLs are logged. Send it in the Authorization header, or in the subprotocols `bearer` and the credential.';

/** A credential came in the URL. Throws an ApiError where none is taken there. */
export function takeFromUrl(
  param: string,
  { settings, onQueryCredential }: Pick<ListenDependencies, 'settings' | 'onQueryCredential'>,
): void {
  onQueryCredential();
  if (settings.queryCredentials === 'off') throw apiError('missing_credential', NOT_IN_URL, { param });
}

/** A browser cannot read a refused handshake: so the refusal is told on the socket, which is closed in the same tick. */
export function acceptToRefuse(
  tell: (socket: ServerSocket) => void,
  { paces }: Pick<ListenDependencies, 'paces'>,
): { accept: SocketHandlers; pace: SocketPace } {
  const pace = paces.refused();
  const accept: SocketHandlers = {
    open: tell,
    message() {},
    pong() {},
    drained() {},
    closed() {
      pace.release();
    },
  };
  return { accept, pace };
}

/** The 404 of an upgrade anywhere else. */
export function answerOtherUpgrade(requestId: string, dependencies: Pick<ListenDependencies, 'reply'>): UpgradeAnswer {
  return {
    refuse: dependencies.reply(
      apiError('not_found', 'WebSockets are served on /v1/listen, and for other vendors’ clients below /compat.'),
      requestId,
    ),
  };
}

/**
 * What takes the messages of the new socket; undefined where the session is gone, or can no longer be continued. Rejects with an
 * ApiError.
 */
async function resumedSocket(
  resume: ResumeRequest,
  { organisationId, keyId }: Caller,
  { resumables, relays, paces }: ListenDependencies,
): Promise<{ accept: SocketHandlers; pace: SocketPace } | undefined> {
  const found = resumables.find({ ...resume, organisationId, keyId });
  if (found === 'unsaid') throw unsaid(resume.after);
  if (found !== undefined) {
    const accept = resumables.next(found, resume.after);
    return found.line.isEnded ? withoutPace(accept, paces) : { accept, pace: found.resuming.pace };
  }
  const { node, token, sessionId, after } = resume;
  const ask = { type: 'resume.ask' as const, token, sessionId, organisationId, keyId, after };
  const end = await relays.join(node, ask, { organisationId, paces });
  if (end === 'unsaid') throw unsaid(after);
  return typeof end === 'string' ? undefined : { accept: end, pace: end.pace };
}

/** Of a session that has ended: it has given its pace back, and its client has nothing to send. */
function withoutPace(accept: SocketHandlers, paces: SocketPaces): { accept: SocketHandlers; pace: SocketPace } {
  const pace = paces.refused();
  const closed: SocketHandlers['closed'] = (...closing) => {
    pace.release();
    accept.closed(...closing);
  };
  return { accept: { ...accept, closed }, pace };
}
