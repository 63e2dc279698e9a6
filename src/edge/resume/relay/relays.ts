// Sessions of other nodes: finds the node that has the session, and joins it with the client's socket.
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../../machines/clock.ts';
import { type Address, type Bus, type BusBody, BusError } from '../../../bus/bus.ts';
import type { DoorSocket } from '../../door.ts';
import type { OpenSockets } from '../../listen/open-sockets.ts';
import type { Excess, SocketPaces } from '../../pace/socket-pace.ts';
import type { ResumableSessions } from '../resumable-sessions.ts';
import { type ResumeWish, unsaid } from '../resume-wish.ts';
import { ClientEnd } from './client-end.ts';
import { RESUME_SESSION, type ResumeAnswer, ResumeAsk } from './relay-words.ts';
import { SessionEnd } from './session-end.ts';

const ANSWER_MS = 2_000;
/** Beside the pings of a session: what may lie between two of them. */
const LATE_MS = 5_000;

export interface RelaysOptions {
  bus: Bus;
  clock: Clock;
  settings: { pingMs: number; pongMs: number };
  resumables: ResumableSessions;
  sockets: OpenSockets;
}

export class Relays {
  readonly #options: RelaysOptions;
  #count = 0;

  constructor(options: RelaysOptions) {
    this.#options = options;
    options.bus.serve(RESUME_SESSION, (body) => this.#answer(body));
  }

  /**
   * What takes the messages of the client's socket; undefined where no node has the session. Rejects with a Refusal.
   *
   * @param exceeded the client has sent more than is borne: tells it so, and closes its socket
   */
  async find(
    { token, sessionId, node, after }: ResumeWish,
    { organisationId, keyId }: { organisationId: string; keyId: string },
    paces: SocketPaces,
    exceeded: (socket: DoorSocket, excess: Excess) => void,
  ): Promise<ClientEnd | undefined> {
    const { bus, clock, settings, sockets } = this.#options;
    if (node === bus.node) return undefined;
    const silenceMs = settings.pingMs + settings.pongMs + LATE_MS;
    const actorId = this.#actorId('client');
    const openPace = (on: (excess: Excess) => void) => paces.open(organisationId, on);
    const end = new ClientEnd({ bus, actorId, clock, silenceMs, openPace, exceeded, sockets });
    const who = { token, sessionId, organisationId, keyId, after };
    const ask: ResumeAsk = { type: 'resume.ask', ...who, relay: end.address };
    try {
      const answer = (await bus.requestOf(node, RESUME_SESSION, end.address, ask, ANSWER_MS)) as ResumeAnswer;
      if (answer.type === 'resume.found') return end.meet(answer.relay as Address);
      if (answer.type === 'resume.unsaid') throw unsaid(after);
    } catch (error) {
      end.dispose();
      if (error instanceof BusError) return undefined;
      throw error;
    }
    end.dispose();
    return undefined;
  }

  #answer(body: BusBody): ResumeAnswer {
    if (!Value.Check(ResumeAsk, body)) return { type: 'resume.gone' };
    const { bus, clock, resumables } = this.#options;
    const found = resumables.find(body);
    if (found === 'unsaid') return { type: 'resume.unsaid' };
    if (found === undefined) return { type: 'resume.gone' };
    const handlers = resumables.next(found, body.after);
    const end = new SessionEnd({
      bus,
      clock,
      actorId: this.#actorId('session'),
      client: body.relay as Address,
      handlers,
    });
    return { type: 'resume.found', relay: end.address };
  }

  #actorId(end: string): string {
    this.#count++;
    return `relay.${end}.${this.#count}`;
  }
}
