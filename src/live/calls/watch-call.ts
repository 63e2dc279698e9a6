// WebSockets on `/v1/sessions/{id}/events`: what is heard of a telephone call, as its session's client would be told. `id` is the
// session's, the carrier's, or the label; any node answers.

import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../machines/clock.ts';
import { requireScope } from '../../accounts/auth/permissions.ts';
import { ApiError, apiError } from '../../api/errors.ts';
import type { Address, Bus } from '../../cluster/bus/bus.ts';
import { CALL_WANTED } from '../../cluster/bus/subjects.ts';
import { readSocketCredential } from '../../http/credentials.ts';
import { knownQuery } from '../../http/query.ts';
import { decodeSegment } from '../../http/router.ts';
import type { ServerRequest, ServerSocket, SocketPace, UpgradeAnswer } from '../../http/server.ts';
import { Quota } from '../../runtime/limits/quota.ts';
import type { Excess } from '../pace/socket-pace.ts';
import { CallAsk, type NotJoined, WATCH_CALL } from '../resume/relay/relay-link.ts';
import { Relays, type RelaysOptions } from '../resume/relay/relays.ts';
import type { RelayedHandlers } from '../resume/relay/session-end.ts';
import { LAST_SEQ, readNumber, unsaid } from '../resume/resume-request.ts';
import { nodeOfSession } from '../session/session-opening.ts';
import { keepaliveOf, type SocketKeepalive } from '../socket/keepalive.ts';
import { acceptToRefuse, takeFromUrl } from '../socket/listen.ts';
import type { ListenDependencies } from '../socket/listen-dependencies.ts';
import { excessWords, refuseOnSocket } from '../socket/refuse-on-socket.ts';
import type { Call, Calls } from './calls.ts';

/** Sockets that one node tells of calls. */
const WATCHERS_MAX = 1_024;
/** For the sockets of a node. */
export const watcherSeats = () => new Quota(WATCHERS_MAX);
const PATH = /^\/v1\/sessions\/([^/]+)\/events$/;
const WHERE = '/v1/sessions/{id}/events';

/** The part of the path that names the call; undefined of another path. */
export function callOf(path: string): string | undefined {
  const segment = PATH.exec(path)?.[1];
  return segment && decodeSegment(segment);
}

export class CallWatching {
  readonly #calls: Calls;
  readonly #dependencies: ListenDependencies;
  readonly #seats = watcherSeats();
  readonly #relays: Relays<CallAsk>;
  readonly #places: CallLocations;

  constructor(calls: Calls, options: RelaysOptions, dependencies: ListenDependencies) {
    this.#calls = calls;
    this.#dependencies = dependencies;
    const find = (ask: CallAsk) => this.#watch(ask);
    this.#relays = new Relays<CallAsk>(options, { name: WATCH_CALL, shape: CallAsk, find });
    const has = (organisationId: string, name: string) => calls.find(organisationId, name) !== undefined;
    this.#places = new CallLocations({ bus: options.bus, clock: options.clock, has });
  }

  /** The node is shut down. Resolves when the clients that hear calls of other nodes have left. */
  drain(): Promise<void> {
    return this.#relays.drain();
  }

  /** Answers an upgrade. Never rejects. */
  async answer(name: string, request: ServerRequest, requestId: string): Promise<UpgradeAnswer> {
    const { headers: sent, query } = request;
    const [authorization, protocols] = [sent.get('authorization'), sent.get('sec-websocket-protocol')];
    const offer = readSocketCredential({ authorization, protocols, query });
    const protocol = offer.protocol === undefined ? {} : { protocol: offer.protocol };
    const headers: Record<string, string> = { 'X-Request-Id': requestId };
    try {
      if (offer.method === 'query') takeFromUrl('api_key', this.#dependencies);
      const accept = await this.#find(name, request, offer.credential, requestId, headers);
      return { accept, pace: accept.pace, headers, ...protocol };
    } catch (error) {
      const refusal = (error instanceof ApiError ? error : this.#dependencies.onFault(requestId, error)).withHeaders(
        headers,
      );
      this.#dependencies.onRefused(refusal);
      if (!offer.tellOnSocket) return { refuse: this.#dependencies.reply(refusal, requestId) };
      const tell = (socket: ServerSocket) => refuseOnSocket(socket, refusal, requestId, this.#dependencies);
      return { ...acceptToRefuse(tell, this.#dependencies), headers, ...protocol };
    }
  }

  async #find(
    name: string,
    { remoteAddress, headers: sent, query }: ServerRequest,
    credential: string | undefined,
    requestId: string,
    headers: Record<string, string>,
  ) {
    const { authenticator, limits, paces } = this.#dependencies;
    const caller = await authenticator.rest(credential, remoteAddress, sent.get('origin'));
    Object.assign(headers, limits.takeRequest(caller.key));
    requireScope(caller, 'listen');
    const last = knownQuery(query, WHERE, ['last_seq', 'api_key']).get('last_seq');
    const after = readNumber('last_seq', last ?? '0', /^\d{1,15}$/, LAST_SEQ);
    const { organisationId, keyId } = caller;
    const ask = { type: 'call.ask' as const, name, organisationId, keyId, requestId, after };
    const here = this.#watch(ask);
    if (typeof here !== 'string') return here;
    if (here !== 'gone') throw notJoined(here, after);
    const node = await this.#places.find(organisationId, name);
    if (node === undefined) throw notJoined('gone', after);
    const end = await this.#relays.join(node, ask, { organisationId, paces });
    if (typeof end === 'string') throw notJoined(end, after);
    return end;
  }

  #watch({ name, organisationId, keyId, requestId, after }: Omit<CallAsk, 'relay'>): CallWatcher | NotJoined {
    const call = this.#calls.find(organisationId, name);
    if (call === undefined) return 'gone';
    if (after > call.lastSeq) return 'unsaid';
    if (call.isFull || this.#seats.take(organisationId) !== undefined) return 'full';
    const { authenticator, paces } = this.#dependencies;
    const options = {
      ...{ call, after, requestId, pace: paces.refused() },
      isStillAllowed: () => authenticator.holds({ organisationId, keyId }, 'listen'),
      left: () => this.#seats.giveBack(organisationId),
    };
    return new CallWatcher(options, this.#dependencies);
  }
}

function notJoined(why: NotJoined, after: number): ApiError {
  if (why === 'unsaid') return unsaid(after);
  if (why === 'full') return apiError('rate_limit_exceeded', FULL, { retryAfterSeconds: 5 });
  return apiError('not_found', NO_CALL, { param: 'id' });
}

const FULL = 'As many sockets hear this call, or calls of the organisation, as may. Close one, or try again shortly.';
const NO_CALL =
  'There is no such telephone call, or it ended some time ago. `id` is its session, its id at the carrier, or the `label` that it was begun with. Of other sessions the events are told on their own sockets; their steps are server-sent events at this address.';

/** Characters that a client may leave unread; beyond that it is closed, and may come again. */
const UNREAD_BYTES_MAX = 4 * 1024 * 1024;
/** How often it is asked whether its key still opens this. */
const ALLOWED_MS = 15_000;

export interface WatcherOptions {
  call: Call;
  /** Number of the last event that the client has. */
  after: number;
  requestId: string;
  pace: SocketPace & { release(): void };
  isStillAllowed(): Promise<boolean>;
  /** Gives back its place. */
  left(): void;
}

/** One socket on which the events of a call are told. Its client has nothing to say. */
class CallWatcher implements RelayedHandlers {
  readonly pace: WatcherOptions['pace'];
  readonly #options: WatcherOptions;
  readonly #dependencies: ListenDependencies;
  #keepalive: SocketKeepalive | undefined;
  #detach: () => void = () => {};
  #timer: unknown;
  #isOpen = false;

  constructor(options: WatcherOptions, dependencies: ListenDependencies) {
    this.pace = options.pace;
    this.#options = options;
    this.#dependencies = dependencies;
  }

  open(socket: ServerSocket): void {
    const { clock, settings, sockets } = this.#dependencies;
    this.#isOpen = true;
    sockets.opened();
    this.#keepalive = keepaliveOf(socket, clock, settings, () => '');
    this.#ask(socket);
    const { call, after } = this.#options;
    this.#detach = call.attach(
      {
        say: (text) => {
          socket.send(text);
          if (socket.bufferedBytes > UNREAD_BYTES_MAX) this.#refuse(socket, 'slow_consumer', SLOW);
        },
        over: (code, reason) => socket.close(code, reason),
      },
      after,
    );
  }

  message(socket: ServerSocket): void {
    this.#refuse(socket, 'invalid_request', NOTHING_TAKEN);
  }

  arriving(socket: ServerSocket): void {
    this.message(socket);
  }

  part(socket: ServerSocket): void {
    this.message(socket);
  }

  exceeded(socket: ServerSocket, excess: Excess): void {
    this.#refuse(socket, 'rate_limit_exceeded', excessWords(excess, this.#dependencies.settings));
  }

  pong(): void {
    this.#keepalive?.heard();
  }

  drained(): void {}

  closed(): void {
    if (this.#isOpen) this.#dependencies.sockets.closed();
    this.#keepalive?.stop();
    this.#dependencies.clock.clearTimeout(this.#timer);
    this.#detach();
    this.pace.release();
    this.#options.left();
  }

  #refuse(socket: ServerSocket, code: Parameters<typeof apiError>[0], words: string): void {
    if (socket.closed) return;
    this.#detach();
    const refusal = apiError(code, words);
    this.#dependencies.onRefused(refusal);
    refuseOnSocket(socket, refusal, this.#options.requestId, this.#dependencies);
  }

  /** Who was shut out meanwhile hears no more. */
  #ask(socket: ServerSocket): void {
    this.#timer = this.#dependencies.clock.setTimeout(() => {
      this.#ask(socket);
      const { onFault } = this.#dependencies;
      this.#options
        .isStillAllowed()
        .then((isAllowed) => {
          if (!isAllowed) this.#refuse(socket, 'key_revoked', REVOKED);
        })
        .catch((error: unknown) => onFault(this.#options.requestId, error));
    }, ALLOWED_MS);
  }
}

const SLOW =
  'More than 4 MiB of events were left unread. Connect again with `last_seq`, the `seq` of the last event that you have had.';
const NOTHING_TAKEN =
  'Nothing is taken on this socket: it tells the events of a call. The call itself is ended by its carrier.';
const REVOKED = 'The key that this socket was opened with is good no longer.';

/** How long the nodes have to say that they have it. */
const ANSWER_MS = 500;

const Name = Type.String({ minLength: 1, maxLength: 200 });
const Wanted = Type.Object({ type: Type.Literal(CALL_WANTED), organisationId: Name, name: Name, asker: Name });
const Here = Type.Object({ type: Type.Literal('call.here'), node: Name });

export interface CallLocationsOptions {
  bus: Bus;
  clock: Clock;
  has(organisationId: string, name: string): boolean;
}

/** Which node has a call. Its session's id says so; by another name all nodes are asked. */
class CallLocations {
  readonly #options: CallLocationsOptions;
  #count = 0;

  constructor(options: CallLocationsOptions) {
    this.#options = options;
    const { bus, has } = options;
    bus.subscribe(CALL_WANTED, (body) => {
      if (!Value.Check(Wanted, body) || !has(body.organisationId, body.name)) return;
      const here: Static<typeof Here> = { type: 'call.here', node: bus.node };
      bus.send(body.asker as Address, bus.address('calls'), here);
    });
  }

  /** The node; undefined where none has it. */
  async find(organisationId: string, name: string): Promise<string | undefined> {
    const known = nodeOfSession(name);
    if (known !== undefined) return known;
    const { bus, clock } = this.#options;
    this.#count++;
    const actorId = `call.wanted.${this.#count}`;
    return new Promise((resolve) => {
      const found = (node?: string) => {
        detach();
        clock.clearTimeout(timer);
        resolve(node);
      };
      const timer = clock.setTimeout(() => found(), ANSWER_MS);
      const detach = bus.attach(actorId, ({ body }) => {
        if (Value.Check(Here, body)) found(body.node);
      });
      bus.publish(CALL_WANTED, { type: CALL_WANTED, organisationId, name, asker: bus.address(actorId) } as Static<
        typeof Wanted
      >);
    });
  }
}
