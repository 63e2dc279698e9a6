// The WebSockets of other vendors' clients: the handshake in their words, and the session of `/v1/listen` behind it. A client may send
// its key in a message instead: until that is judged the socket is nobody's, and holds little; then it is the socket of a session, and
// what came meanwhile comes first.
import { type Caller, residencyRulesOf } from '../accounts/auth/permissions.ts';
import { ApiError, apiError } from '../api/errors.ts';
import type { OutgoingEvent } from '../api/listen-events.ts';
import { strictest } from '../api/residency-rule.ts';
import { warningHeader } from '../files/routes/answer.ts';
import type { ServerRequest, ServerSocket, SocketHandlers, SocketPace, UpgradeAnswer } from '../http/server.ts';
import type { OpenPace } from '../live/pace/socket-pace.ts';
import { AskedChanges } from '../live/socket/asked-changes.ts';
import { type Asked, acceptToRefuse, callerOf, openSocket, takeFromUrl } from '../live/socket/listen.ts';
import type { ListenDependencies } from '../live/socket/listen-dependencies.ts';
import type { LatePlace } from '../live/socket/open-sockets.ts';
import { endWith, excessWords } from '../live/socket/refuse-on-socket.ts';
import type { SessionSocket } from '../live/socket/session-socket.ts';
import { MESSAGE_BYTES } from '../live/socket/socket-work.ts';
import type {
  ClientRequest,
  Conversation,
  DeferredAuthEndpoint,
  Dialect,
  LiveEndpoint,
} from '../vendors/compat/dialect.ts';
import type { KeptSessions, SessionRecord } from './jobs/kept-sessions.ts';
import { inOwnNames, parametersFor, unmetOf } from './parameters.ts';

export interface VendorLiveDependencies extends ListenDependencies {
  /** What clients of other vendors may request after their sessions. */
  keptSessions: KeptSessions;
}

/** Answers an upgrade. Never rejects. */
export async function answerDialect(
  dialect: Dialect,
  path: string,
  request: ServerRequest,
  requestId: string,
  dependencies: VendorLiveDependencies,
): Promise<UpgradeAnswer> {
  const headers: Record<string, string> = { 'X-Request-Id': requestId };
  const nowMs = () => dependencies.clock.now();
  const handshake = { query: new URLSearchParams(request.query), headers: request.headers, requestId, nowMs };
  const endpoint = Object.hasOwn(dialect.live, path) ? dialect.live[path] : undefined;
  const { credential, protocol, param, prove } = dialect.credential(handshake);
  // Clients that offer any fail where none is answered, also those that are let in to be refused.
  const chosen = protocol === undefined ? {} : { protocol };
  try {
    if (endpoint === undefined) throw apiError('not_found', notServed(dialect));
    if (param !== undefined) takeFromUrl(param, dependencies);
    prove?.(dependencies.wallNow());
    const open = async (answered: Record<string, string>, said: string | undefined) => {
      const caller = await callerOf(request, answered, said, dependencies);
      const read = () => askedBy(dialect, endpoint.open(handshake), caller, requestId, dependencies);
      return openSocket(request, requestId, caller, dependencies, read);
    };
    if (credential === undefined && isLate(endpoint)) {
      dependencies.sessions.admit();
      const { remoteAddress } = request;
      const judge = async (said: string | undefined) => (await open({}, said)).socket;
      const late = new LateSocket({ endpoint, requestId, remoteAddress, judge }, dependencies);
      return { accept: late, pace: late.pace, headers };
    }
    const { socket, warnings } = await open(headers, credential);
    return {
      accept: socket,
      pace: socket.pace,
      headers: { ...headers, ...warningHeader(inOwnNames(warnings)) },
      ...chosen,
    };
  } catch (error) {
    const refusal = error instanceof ApiError ? error : dependencies.onFault(requestId, error);
    dependencies.onRefused(refusal);
    const ending = endpoint?.refused?.(refusal, handshake);
    if (ending !== undefined)
      return { ...acceptToRefuse((socket) => endWith(socket, ending), dependencies), headers, ...chosen };
    const told = dialect.refusal(refusal, requestId);
    return {
      refuse: { ...told, headers: { ...dependencies.reply(refusal, requestId).headers, ...headers, ...told.headers } },
    };
  }
}

const isLate = (endpoint: LiveEndpoint | DeferredAuthEndpoint): endpoint is DeferredAuthEndpoint => 'late' in endpoint;

function askedBy(
  dialect: Dialect,
  conversation: Conversation,
  caller: Caller,
  requestId: string,
  { calls, keptSessions, onRefused }: Pick<VendorLiveDependencies, 'calls' | 'keptSessions' | 'onRefused'>,
): Asked {
  const { key } = caller;
  const { request: clientRequest } = conversation;
  let call = clientRequest?.call;
  const read = (asked: ClientRequest) => parametersFor(dialect, asked, key);
  const parts = { conversation, onRefused, parametersOf: read };
  const recording = recordingOf(dialect, conversation, caller, keptSessions);
  const changes = new AskedChanges(recording === undefined ? parts : { ...parts, onEvent: recording.onEvent });
  const parametersOf = (asked: ClientRequest) => {
    call = asked.call;
    if (asked.refused !== undefined) throw asked.refused;
    const parameters = read(asked);
    changes.begin(parameters);
    return parameters;
  };
  return {
    parameters: clientRequest === undefined ? new Map() : parametersOf(clientRequest),
    waits: clientRequest === undefined,
    warnings: clientRequest === undefined ? [] : unmetOf(dialect, clientRequest, key),
    protocolAdapter: {
      conversation,
      changes,
      ...(recording === undefined ? {} : { left: recording.left }),
      asked: (late) => ({ parameters: parametersOf(late), warnings: unmetOf(dialect, late, key) }),
      carrierEnd: (opening, socket) => call && calls.open(call, opening, socket, conversation),
      refused: (refusal) => call && calls.refused(call, refusal, requestId),
    },
  };
}

/** Keeps what a client may request later, from the moment its session has begun; undefined where nothing may be kept. */
function recordingOf(
  dialect: Dialect,
  { name, request: clientRequest }: Conversation,
  caller: Caller,
  kept: KeptSessions,
) {
  if (name === undefined || clientRequest === undefined) return undefined;
  const isKept =
    clientRequest.parameters.get('retention') !== 'none' && strictest(residencyRulesOf(caller)).retention !== 'none';
  if (!isKept) return undefined;
  const { organisationId, keyId } = caller;
  let record: SessionRecord | undefined;
  return {
    onEvent: (event: OutgoingEvent) => {
      if (event.type === 'session_started')
        record = kept.record({ organisationId, keyId, dialect: dialect.name }, name);
      record?.take(event);
    },
    left: () => record?.end(),
  };
}

const notServed = ({ title, live }: Dialect): string =>
  `There is no such WebSocket for clients of ${title}; served are ${Object.keys(live).join(', ')}.`;

/** Of texts that come before the key and with it. */
const UNNAMED_BYTES_MAX = 64 * 1024;
/** Of these and of what comes while the key is judged. */
const JUDGED_BYTES_MAX = 1024 * 1024;

/** Whatever is not UTF-8 becomes text that says nothing. */
const UTF8 = new TextDecoder();

interface LateAsking {
  endpoint: DeferredAuthEndpoint;
  requestId: string;
  remoteAddress: string;
  /** Judges the credential. Rejects with an ApiError. */
  judge(credential: string | undefined): Promise<SessionSocket>;
}

class LateSocket implements SocketHandlers {
  readonly pace: LatePace;
  readonly #asking: LateAsking;
  readonly #dependencies: ListenDependencies;
  /** Among the sockets without a key. */
  readonly #place: LatePlace;
  #state: 'waiting' | 'judging' | 'over' = 'waiting';
  #socket: ServerSocket | undefined;
  #refusal: ApiError | undefined;
  #session: SessionSocket | undefined;
  #held: { data: Uint8Array; isBinary: boolean }[] = [];
  #heldBytes = 0;
  #timer: unknown;

  /** Throws an ApiError where too many sockets wait already. */
  constructor(asking: LateAsking, dependencies: ListenDependencies) {
    this.#asking = asking;
    this.#dependencies = dependencies;
    this.#place = dependencies.late.enter(asking.remoteAddress, () => this.#refuse(crowded()));
    const { paces, settings } = dependencies;
    this.pace = new LatePace(
      paces.refused((excess) => this.#refuse(apiError('rate_limit_exceeded', excessWords(excess, settings)))),
    );
  }

  open(socket: ServerSocket): void {
    const { clock, settings } = this.#dependencies;
    const { handshakeTimeoutMs } = settings;
    this.#socket = socket;
    if (this.#refusal !== undefined) {
      endWith(socket, this.#asking.endpoint.refused(this.#refusal));
      return;
    }
    const words = `No credential came within ${handshakeTimeoutMs / 1000} s. Send it in the first message.`;
    this.#timer = clock.setTimeout(() => this.#refuse(apiError('request_timeout', words)), handshakeTimeoutMs);
  }

  message(socket: ServerSocket, data: Uint8Array, isBinary: boolean): void {
    if (this.#session !== undefined) this.#session.message(socket, data, isBinary);
    else if (this.#state === 'judging') this.#hold(data, isBinary, JUDGED_BYTES_MAX);
    else if (this.#state === 'waiting') this.#read(data, isBinary);
  }

  arriving(socket: ServerSocket, bytes: number, isBinary: boolean): void {
    if (this.#session !== undefined) this.#session.arriving(socket, bytes, isBinary);
    else if (this.#state !== 'over') this.#refuse(tooMuch(this.#bytesMax));
  }

  pong(socket: ServerSocket, text: string): void {
    this.#session?.pong(socket, text);
  }

  drained(): void {
    this.#session?.drained();
  }

  closed(socket: ServerSocket, code: number): void {
    this.#finish();
    this.pace.release();
    this.#session?.closed(socket, code);
  }

  get #bytesMax(): number {
    return this.#state === 'waiting' ? UNNAMED_BYTES_MAX : JUDGED_BYTES_MAX;
  }

  #read(data: Uint8Array, isBinary: boolean): void {
    if (isBinary) {
      this.#refuse(
        apiError('missing_credential', 'Audio came before the credential. Send that first, in a text message.'),
      );
      return;
    }
    if (!this.#hold(data, isBinary, UNNAMED_BYTES_MAX)) return;
    const said = this.#saidIn(UTF8.decode(data));
    if (said === undefined) return;
    this.#state = 'judging';
    this.#place.said();
    this.#dependencies.clock.clearTimeout(this.#timer);
    void this.#judge(said.credential);
  }

  /** Whatever is said: what its protocol cannot make anything of says no key. */
  #saidIn(text: string): ReturnType<DeferredAuthEndpoint['late']> {
    try {
      return this.#asking.endpoint.late(text);
    } catch {
      return undefined;
    }
  }

  /** Keeps a message until there is a session for it. False: it is refused. */
  #hold(data: Uint8Array, isBinary: boolean, bytesMax: number): boolean {
    const bytes = data.byteLength + MESSAGE_BYTES;
    if (this.#heldBytes + bytes > bytesMax) this.#refuse(tooMuch(bytesMax));
    else if (!this.#dependencies.late.hold(bytes)) this.#refuse(apiError('overloaded', FULL, { retryAfterSeconds: 1 }));
    else {
      this.#heldBytes += bytes;
      // The server lends its bytes for the time of the call.
      this.#held.push({ data: new Uint8Array(data), isBinary });
      return true;
    }
    return false;
  }

  async #judge(credential: string | undefined): Promise<void> {
    const socket = this.#socket as ServerSocket;
    let session: SessionSocket;
    try {
      session = await this.#asking.judge(credential);
    } catch (error) {
      this.#refuse(error instanceof ApiError ? error : this.#dependencies.onFault(this.#asking.requestId, error));
      return;
    }
    if (this.#state === 'over') {
      session.closed(socket, GONE);
      return;
    }
    try {
      this.#begin(session, socket);
    } catch (error) {
      const { code, closeCode } = this.#dependencies.onFault(this.#asking.requestId, error);
      socket.close(closeCode, code);
    }
  }

  #begin(session: SessionSocket, socket: ServerSocket): void {
    const held = this.#held;
    this.#session = session;
    this.pace.become(session.pace);
    session.open(socket);
    this.#finish();
    for (const { data, isBinary } of held) session.message(socket, data, isBinary);
  }

  #refuse(refusal: ApiError): void {
    if (this.#state === 'over') return;
    this.#finish();
    this.#dependencies.onRefused(refusal);
    this.#refusal = refusal;
    if (this.#socket !== undefined) endWith(this.#socket, this.#asking.endpoint.refused(refusal));
  }

  /** It is somebody's, or refused, or gone. */
  #finish(): void {
    this.#state = 'over';
    this.#dependencies.clock.clearTimeout(this.#timer);
    this.#dependencies.late.giveBack(this.#heldBytes);
    this.#heldBytes = 0;
    this.#held = [];
    this.#place.leave();
  }
}

const GONE = 1006;

const tooMuch = (bytesMax: number): ApiError =>
  apiError(
    'message_too_big',
    `More than ${bytesMax / 1024} KiB came before the credential was checked, with 1 KiB counted for each message. Send the credential first, and audio at the pace of speech.`,
  );

const crowded = (): ApiError =>
  apiError('overloaded', 'Too many sockets have said no credential yet. Send it as soon as the socket is open.', {
    retryAfterSeconds: 1,
  });

const FULL = 'Too much audio waits for credentials to be checked. Try again in a moment.';

/** The pace of a socket that is nobody's at first, and somebody's later. */
class LatePace implements SocketPace {
  #pace: OpenPace;
  #isSomebodys = false;
  /** The server has asked how large its messages may be, when nobody had a place to give. */
  #isSmall = false;

  /** @param pace of all sockets that are nobody's */
  constructor(pace: OpenPace) {
    this.#pace = pace;
  }

  /** From now on it is this one, which is released by whoever made it. */
  become(pace: OpenPace): void {
    this.release();
    this.#isSomebodys = true;
    this.#pace = pace;
    if (this.#isSmall) pace.staySmall();
  }

  take(bytes: number, isAudio: boolean, canWait: boolean): number {
    return this.#pace.take(bytes, isAudio, canWait);
  }

  fragments(count: number): number {
    return this.#pace.fragments(count);
  }

  owedMs(): number {
    return this.#pace.owedMs();
  }

  exceeded(): void {
    this.#pace.exceeded();
  }

  enter(granted: () => void): boolean {
    return this.#pace.enter(granted);
  }

  leave(): void {
    this.#pace.leave();
  }

  mayBeLarge(): boolean {
    this.#isSmall = true;
    return this.#pace.mayBeLarge();
  }

  /** It has closed, or is somebody's; nothing where it was released already. */
  release(): void {
    if (!this.#isSomebodys) this.#pace.release();
    this.#isSomebodys = true;
  }
}
