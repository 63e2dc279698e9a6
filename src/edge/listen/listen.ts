// `GET /v1/listen`: who asks and for what, how a refusal reaches a client that cannot read HTTP answers, and the socket's
// callbacks for one session. What happens inside a session is not decided here.
import type { Clock } from '../../../machines/clock.ts';
import { Refusal, refuse } from '../../api/errors.ts';
import type { Authenticator } from '../../auth/authenticate.ts';
import type { KeyLimits } from '../../auth/limits.ts';
import { requireModels } from '../../auth/permissions.ts';
import type { PriceList } from '../../billing/price-list.ts';
import { type ChainDependencies, type ChainMember, type Degradation, resolveChain } from '../../failover/chain.ts';
import type { Meter } from '../../ledger/meter.ts';
import { pricedMembers } from '../../ledger/priced.ts';
import type { Reservations } from '../../ledger/reservations.ts';
import type { SessionHost } from '../../session/host.ts';
import type { LiveSession } from '../../session/session.ts';
import { newSessionId } from '../../session/session-id.ts';
import type { SessionOpening } from '../../session/session-opening.ts';
import type { DoorRequest, DoorSocket, SocketHandlers, SocketPace, UpgradeAnswer, WholeReply } from '../door.ts';
import { readSocketCredential } from '../http/credentials.ts';
import { parseQuery } from '../http/query.ts';
import type { Excess, PaceSettings, SocketPaces } from '../pace/socket-pace.ts';
import { decodeClientMessage } from './client-message.ts';
import { SocketKeepalive } from './keepalive.ts';
import { readListenQuery } from './query.ts';

/** Counts sockets, so that a node that stops can wait until its last events have reached the clients. */
export class OpenSockets {
  #count = 0;
  readonly #waiting: (() => void)[] = [];

  opened(): void {
    this.#count++;
  }

  closed(): void {
    this.#count--;
    if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when every socket has closed, or after the time given. */
  async gone(clock: Clock, timeoutMs: number): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, timeoutMs);
      this.#waiting.push(() => {
        clock.clearTimeout(timer);
        resolve();
      });
    });
  }
}

export interface ListenDependencies extends ChainDependencies {
  node: string;
  clock: Clock;
  wallNow(): Date;
  authenticator: Authenticator;
  limits: KeyLimits;
  sessions: SessionHost;
  prices: PriceList;
  reservations: Reservations;
  settings: { pingMs: number; pongMs: number; binaryFrameBytesMax: number; textFrameBytesMax: number } & PaceSettings;
  /** How fast clients may send. */
  paces: SocketPaces;
  /** The refusal as an HTTP answer. */
  reply(refusal: Refusal, requestId: string): WholeReply;
  onRefused(refusal: Refusal): void;
  /** The sockets that are open. */
  sockets: OpenSockets;
  /** Logs what should not have happened, and says what the client may know of it. */
  onFault(requestId: string, error: unknown): Refusal;
}

/** Answers an upgrade to `/v1/listen`. Never rejects. */
export async function answerListen(
  request: DoorRequest,
  requestId: string,
  dependencies: ListenDependencies,
): Promise<UpgradeAnswer> {
  const { authenticator, limits, sessions } = dependencies;
  const offer = readSocketCredential({
    authorization: request.headers.get('authorization'),
    protocols: request.headers.get('sec-websocket-protocol'),
    query: request.query,
  });
  const protocol = offer.protocol === undefined ? {} : { protocol: offer.protocol };
  let headers: Record<string, string> = { 'X-Request-Id': requestId };
  try {
    const query = parseQuery(request.query);
    const caller = await authenticator.socket(offer.credential, request.remoteAddress, request.headers.get('origin'));
    headers = { ...headers, ...limits.takeRequest(caller.key) };
    sessions.admit();
    const listen = readListenQuery(query);
    const { members, warnings } = await resolveChain(
      {
        ...listen,
        mode: 'live',
        organisationId: caller.organisationId,
        interimResults: listen.interimResults && query.has('interim_results'),
      },
      dependencies,
    );
    requireModels(
      caller,
      members.map(({ slug }) => slug),
    );
    const now = dependencies.wallNow();
    const opening = {
      sessionId: newSessionId(dependencies.node, now),
      requestId,
      organisationId: caller.organisationId,
      keyId: caller.keyId,
      request: listen,
      chain: members,
      warnings: offer.method === 'query' ? [credentialInUrl, ...warnings] : warnings,
    };
    const release = await limits.takeSession(caller.key);
    try {
      const meter = await openMeter(opening, now, dependencies);
      return { ...acceptSession({ ...opening, meter, release }, dependencies), headers, ...protocol };
    } catch (error) {
      release();
      throw error;
    }
  } catch (error) {
    const refusal = (error instanceof Refusal ? error : dependencies.onFault(requestId, error)).withHeaders(headers);
    dependencies.onRefused(refusal);
    if (!offer.tellOnSocket) return { refuse: dependencies.reply(refusal, requestId) };
    return { ...acceptToRefuse(refusal, requestId, dependencies), headers, ...protocol };
  }
}

const credentialInUrl: Degradation = {
  code: 'credential_in_url',
  message:
    'The credential came in the URL, and URLs are logged. Send it in the Authorization header or the `bearer` subprotocol.',
  param: 'api_key',
};

/** What the session may spend; throws a Refusal when that is nothing. */
function openMeter(
  { sessionId, organisationId, keyId, chain }: Omit<SessionOpening, 'meter' | 'release'>,
  openedAt: Date,
  { reservations, prices }: Pick<ListenDependencies, 'reservations' | 'prices'>,
): Promise<Meter> {
  const model = (chain[0] as ChainMember).slug;
  const head = { id: sessionId, organisationId, keyId, mode: 'live' as const, model, openedAt: openedAt.toISOString() };
  return reservations.open(head, pricedMembers(chain, 'live', prices));
}

/** What an accepted handshake is answered with. */
type Accepted = { accept: SocketHandlers; pace: SocketPace };

/** One session on one socket. */
function acceptSession(opening: SessionOpening, dependencies: ListenDependencies): Accepted {
  const { sessions, settings, clock, paces } = dependencies;
  let session: LiveSession | undefined;
  let keepalive: SocketKeepalive | undefined;
  let isOpen = false;
  const pace = paces.open(opening.organisationId, (excess) =>
    session?.abort('rate_limit_exceeded', excessWords(excess, settings)),
  );
  const accept: SocketHandlers = {
    open(socket) {
      isOpen = true;
      dependencies.sockets.opened();
      keepalive = new SocketKeepalive(clock, settings, {
        ping: () => socket.ping(),
        isDeaf: () => socket.heldBack,
        dead: () => socket.terminate(),
      });
      session = sessions.open(opening, socket);
      // The key was good when the handshake was judged, and may have been revoked since.
      if (dependencies.authenticator.isRevoked(opening.keyId)) sessions.revoke(opening.keyId);
    },
    message(_, data, isBinary) {
      keepalive?.heard();
      if (session === undefined) return;
      const limit = isBinary ? settings.binaryFrameBytesMax : settings.textFrameBytesMax;
      if (data.byteLength > limit) {
        session.abort(
          'message_too_big',
          `A ${isBinary ? 'binary' : 'text'} frame has ${data.byteLength} bytes; at most ${limit} are taken. Send smaller frames.`,
        );
        return;
      }
      if (isBinary) {
        session.audio(data);
        return;
      }
      const decoded = decodeClientMessage(data);
      if ('message' in decoded) session.control(decoded.message);
      else session.misunderstood(decoded.fault, decoded.param);
    },
    pong() {
      keepalive?.heard();
    },
    drained() {
      session?.drained();
    },
    closed() {
      pace.release();
      if (isOpen) dependencies.sockets.closed();
      keepalive?.stop();
      if (session !== undefined) {
        session.gone();
        return;
      }
      opening.release();
      opening.meter.abandon(dependencies.wallNow());
    },
  };
  return { accept, pace };
}

const excessWords = (excess: Excess, settings: PaceSettings): string =>
  excess === 'messages'
    ? `More than ${settings.socketMessagesPerSecondMax} text frames and pings a second came on this socket, or more than ${settings.organisationMessagesPerSecondMax} on all of the organisation’s. One keepalive in several seconds is enough.`
    : `More than ${settings.socketFramesPerSecondMax} tiny frames a second came on this socket, or more than ${settings.organisationFramesPerSecondMax} on all of the organisation’s. Send larger frames: 20 ms of audio each, or more.`;

/** Ignores what a refused client still sends; the bytes of all of them count together. */
const REFUSED = '';

/** A browser cannot read a refused handshake: so the refusal is sent as an event, and the socket closed in the same tick. */
function acceptToRefuse(refusal: Refusal, requestId: string, dependencies: ListenDependencies): Accepted {
  const pace = dependencies.paces.open(REFUSED, () => {});
  const accept: SocketHandlers = {
    open(socket: DoorSocket) {
      const at = dependencies.wallNow();
      const sessionId = newSessionId(dependencies.node, at);
      socket.send(
        JSON.stringify({
          type: 'error',
          session_id: sessionId,
          seq: 1,
          at: at.toISOString(),
          error: refusal.body(requestId),
        }),
      );
      socket.close(refusal.closeCode, refusal.code);
    },
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
  return { refuse: dependencies.reply(refuse('not_found', 'WebSockets are served on /v1/listen only.'), requestId) };
}
