// Sessions of other nodes: joins a client's socket with the node that has the session.
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../../machines/clock.ts';
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

export interface RelaysOptions {
  bus: Bus;
  clock: Clock;
  settings: { pingMs: number; pongMs: number };
  sockets: OpenSockets;
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

  /** What takes the messages of the client's socket; `gone` as well where that node cannot be asked. */
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
      if (error instanceof BusError) return 'gone';
      throw error;
    }
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
