// Sessions of other nodes: joins a client's socket with the node that has the session.
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../../machines/clock.ts';
import { refuse } from '../../../api/errors.ts';
import { type Address, type Bus, type BusBody, BusError } from '../../../bus/bus.ts';
import type { DoorSocket, SocketHandlers } from '../../door.ts';
import type { OpenSockets } from '../../listen/open-sockets.ts';
import type { Excess, SocketPaces } from '../../pace/socket-pace.ts';
import { ClientEnd } from './client-end.ts';
import type { NotJoined, RelayAnswer } from './relay-words.ts';
import { SessionEnd } from './session-end.ts';

const ANSWER_MS = 2_000;
/** Beside the pings of a session: what may lie between two of them. */
const LATE_MS = 5_000;
const UNREACHABLE = 'The node that has this cannot be reached just now, and may have it still. Try again in a moment.';

export interface RelaysOptions {
  bus: Bus;
  clock: Clock;
  settings: { pingMs: number; pongMs: number };
  sockets: OpenSockets;
  /** Whether a node is one of the cluster, as far as this one has heard. */
  isNodeThere(node: string): boolean;
}

/** What other nodes ask of this one. */
export interface RelayService<Ask extends BusBody> {
  name: string;
  shape: TSchema;
  /** What takes the messages of the client's socket. */
  find(ask: Ask): SocketHandlers | NotJoined;
}

/** Whose socket it is, and what becomes of a client that sends too much. */
export interface RelayedClient {
  organisationId: string;
  paces: SocketPaces;
  /** Tells it so, and closes its socket. */
  exceeded(socket: DoorSocket, excess: Excess): void;
}

export class Relays<Ask extends BusBody & { relay: string }> {
  readonly #options: RelaysOptions;
  readonly #service: RelayService<Ask>;
  #count = 0;

  constructor(options: RelaysOptions, service: RelayService<Ask>) {
    this.#options = options;
    this.#service = service;
    options.bus.serve(service.name, (body) => this.#answer(body));
  }

  /**
   * What takes the messages of the client's socket; `gone` as well where that node is. Rejects with a Refusal where it cannot be asked
   * just now: it may have the session still.
   */
  async join(
    node: string,
    ask: Omit<Ask, 'relay'>,
    { organisationId, paces, exceeded }: RelayedClient,
  ): Promise<ClientEnd | NotJoined> {
    const { bus, clock, settings, sockets } = this.#options;
    if (node === bus.node) return 'gone';
    const silenceMs = settings.pingMs + settings.pongMs + LATE_MS;
    const actorId = this.#actorId('client');
    const openPace = (on: (excess: Excess) => void) => paces.open(organisationId, on);
    const end = new ClientEnd({ bus, actorId, clock, silenceMs, openPace, exceeded, sockets });
    const body = { ...ask, relay: end.address } as unknown as Ask;
    try {
      const answer = (await bus.requestOf(node, this.#service.name, end.address, body, ANSWER_MS)) as RelayAnswer;
      if (answer.type === 'relay.found') return end.meet(answer.relay as Address);
      end.dispose();
      return answer.why;
    } catch (error) {
      end.dispose();
      if (!(error instanceof BusError)) throw error;
      if (this.#mayHaveIt(node, error)) throw refuse('overloaded', UNREACHABLE, { retryAfterSeconds: 1 });
      return 'gone';
    }
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
