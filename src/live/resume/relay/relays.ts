// Sessions of other nodes: joins a client's socket with the node that has the session.
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../../machines/clock.ts';
import { apiError } from '../../../api/errors.ts';
import { type Address, type Bus, type BusBody, BusError } from '../../../cluster/bus/bus.ts';
import type { SocketPaces } from '../../pace/socket-pace.ts';
import { DRAINING_WORDS, tellInTurn } from '../../session/host.ts';
import type { OpenSockets } from '../../socket/open-sockets.ts';
import type { WaitingWork } from '../../socket/socket-work.ts';
import type { InFlightChunks } from './client-end.ts';
import { ClientEnd, type ClientEndOptions } from './client-end.ts';
import type { NotJoined, RelayAnswer } from './relay-link.ts';
import { type RelayedHandlers, SessionEnd } from './session-end.ts';

const ANSWER_MS = 2_000;
/** Beside the pings of a session: what may lie between two of them. */
const LATE_MS = 5_000;
const UNREACHABLE = 'The node that has this cannot be reached just now, and may have it still. Try again in a moment.';

export interface RelaysOptions {
  bus: Bus;
  clock: Clock;
  settings: { pingMs: number; pongMs: number; drainMs: number };
  sockets: OpenSockets;
  /** What the messages of all sockets hold of memory. */
  waiting: WaitingWork;
  /** Of all clients of other nodes' sessions. */
  parts: InFlightChunks;
  /** A client was sent away, since more of its messages wait than are kept. */
  onRelayDrop(): void;
  /** Whether a node is one of the cluster, as far as this one has heard. */
  isNodeThere(node: string): boolean;
}

/** What other nodes ask of this one. */
export interface RelayService<Ask extends BusBody> {
  name: string;
  shape: TSchema;
  /** What takes the messages of the client's socket. */
  find(ask: Ask): RelayedHandlers | NotJoined;
}

/** Whose socket it is. */
export interface RelayedClient {
  organisationId: string;
  paces: SocketPaces;
}

export class Relays<Ask extends BusBody & { relay: string }> {
  readonly #options: RelaysOptions;
  readonly #service: RelayService<Ask>;
  readonly #ends = new Set<ClientEnd>();
  #count = 0;
  #isDraining = false;
  #whenGone = () => {};

  constructor(options: RelaysOptions, service: RelayService<Ask>) {
    this.#options = options;
    this.#service = service;
    options.bus.serve(service.name, (body) => this.#answer(body));
  }

  /**
   * What takes the messages of the client's socket; `gone` as well where that node is. Rejects with an ApiError where it cannot be asked
   * just now, since it may have the session still, and where this node is shut down.
   */
  async join(
    node: string,
    ask: Omit<Ask, 'relay'>,
    { organisationId, paces }: RelayedClient,
  ): Promise<ClientEnd | NotJoined> {
    const { bus } = this.#options;
    if (node === bus.node) return 'gone';
    if (this.#isDraining) throw apiError('node_draining', DRAINING_WORDS);
    const end = this.#openEnd(organisationId, (exceeded) => paces.open(organisationId, exceeded));
    const body = { ...ask, relay: end.address } as unknown as Ask;
    try {
      const answer = (await bus.requestOf(node, this.#service.name, end.address, body, ANSWER_MS)) as RelayAnswer;
      if (answer.type === 'relay.found') return end.meet(answer.relay as Address);
      end.dispose();
      return answer.why;
    } catch (error) {
      end.dispose();
      if (!(error instanceof BusError)) throw error;
      if (this.#mayHaveIt(node, error)) throw apiError('overloaded', UNREACHABLE, { retryAfterSeconds: 1 });
      return 'gone';
    }
  }

  /**
   * The node is shut down: clients of other nodes' sessions are told in turn to continue elsewhere, and none comes any more. Resolves when
   * all have left.
   */
  async drain(): Promise<void> {
    const { clock, settings } = this.#options;
    this.#isDraining = true;
    if (this.#ends.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenGone = resolve;
      tellInTurn([...this.#ends], settings.drainMs, clock, (end) => end.leave());
    });
  }

  #openEnd(organisationId: string, openPace: ClientEndOptions['openPace']): ClientEnd {
    const { bus, clock, settings, sockets, waiting, parts, onRelayDrop: onDrop } = this.#options;
    const { pingMs, pongMs } = settings;
    const silenceMs = pingMs + pongMs + LATE_MS;
    const over = (end: ClientEnd) => {
      this.#ends.delete(end);
      if (this.#ends.size === 0) this.#whenGone();
    };
    const end = new ClientEnd({
      ...{ organisationId, bus, clock, pongMs, silenceMs, openPace, sockets, waiting, parts, onDrop, over },
      actorId: this.#actorId('client'),
    });
    this.#ends.add(end);
    return end;
  }

  #mayHaveIt(node: string, { reason }: BusError): boolean {
    return reason === 'disconnected' || (reason === 'timeout' && this.#options.isNodeThere(node));
  }

  #answer(body: BusBody): RelayAnswer {
    if (!Value.Check(this.#service.shape, body)) return { type: 'relay.no', why: 'gone' };
    const ask = body as Ask;
    const handlers = this.#service.find(ask);
    if (typeof handlers === 'string') return { type: 'relay.no', why: handlers };
    const { bus, clock } = this.#options;
    const end = new SessionEnd({
      bus,
      clock,
      actorId: this.#actorId('session'),
      client: ask.relay as Address,
      handlers,
    });
    return { type: 'relay.found', relay: end.address };
  }

  #actorId(end: string): string {
    this.#count++;
    return `relay.${this.#service.name}.${end}.${this.#count}`;
  }
}
