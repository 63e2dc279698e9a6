// WebSockets on `/v1/sessions/{id}/events`: what is heard of a telephone call, as its session's client would be told. `id` is the
// session's, the carrier's, or the label; any node answers.

import { requireScope } from '../../accounts/auth/permissions.ts';
import { Refusal, refuse } from '../../api/errors.ts';
import { readSocketCredential } from '../../http/credentials.ts';
import { knownQuery } from '../../http/query.ts';
import { decodeSegment } from '../../http/router.ts';
import type { ServerRequest, ServerSocket, UpgradeAnswer } from '../../http/server.ts';
import { FairQuota } from '../../runtime/limits/fair-quota.ts';
import { CallAsk, type NotJoined, WATCH_CALL } from '../resume/relay/relay-words.ts';
import { Relays, type RelaysOptions } from '../resume/relay/relays.ts';
import { LAST_SEQ, readNumber, unsaid } from '../resume/resume-wish.ts';
import { acceptToRefuse, takeFromUrl } from '../socket/listen.ts';
import type { ListenDependencies } from '../socket/listen-dependencies.ts';
import { refuseOnSocket } from '../socket/refuse-on-socket.ts';
import { CallPlaces } from './call-places.ts';
import { CallWatcher } from './call-watcher.ts';
import type { Calls } from './calls.ts';

/** Sockets that one node tells of calls. */
const WATCHERS_MAX = 1_024;
/** For the sockets of a node. */
export const watcherSeats = () => new FairQuota(WATCHERS_MAX);
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
  readonly #places: CallPlaces;

  constructor(calls: Calls, options: RelaysOptions, dependencies: ListenDependencies) {
    this.#calls = calls;
    this.#dependencies = dependencies;
    const find = (ask: CallAsk) => this.#watch(ask);
    this.#relays = new Relays<CallAsk>(options, { name: WATCH_CALL, shape: CallAsk, find });
    const has = (organisationId: string, name: string) => calls.find(organisationId, name) !== undefined;
    this.#places = new CallPlaces({ bus: options.bus, clock: options.clock, has });
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
      const refusal = (error instanceof Refusal ? error : this.#dependencies.onFault(requestId, error)).withHeaders(
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

function notJoined(why: NotJoined, after: number): Refusal {
  if (why === 'unsaid') return unsaid(after);
  if (why === 'full') return refuse('rate_limit_exceeded', FULL, { retryAfterSeconds: 5 });
  return refuse('not_found', NO_CALL, { param: 'id' });
}

const FULL = 'As many sockets hear this call, or calls of the organisation, as may. Close one, or try again shortly.';
const NO_CALL =
  'There is no such telephone call, or it ended some time ago. `id` is its session, its id at the carrier, or the `label` that it was begun with. Of other sessions the events are told on their own sockets; their steps are server-sent events at this address.';
