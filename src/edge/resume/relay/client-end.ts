// The end of a relay on the node that the client has reached: hands on what the client says to the node that has the session.
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../../machines/clock.ts';
import type { Address, Bus, BusBody } from '../../../bus/bus.ts';
import type { DoorSocket, SocketHandlers, SocketPace } from '../../door.ts';
import type { OpenSockets } from '../../listen/open-sockets.ts';
import type { Excess, OpenPace } from '../../pace/socket-pace.ts';
import { RelayLink } from './relay-link.ts';
import { PIECE_BYTES, ToClient, type ToSession, type Unnumbered } from './relay-words.ts';

/** Audio that may be under way; the client is not read while there is more. */
const UNDER_WAY_BYTES_MAX = 1024 * 1024;
/** How soon it is looked again, then. */
const FULL_MS = 20;
/** A door that cannot let a client wait cuts it off beyond it. */
const UNDER_WAY_BYTES_BEARABLE = 64 * 1024 * 1024;

export interface ClientEndOptions {
  bus: Bus;
  actorId: string;
  clock: Clock;
  /** The other node is gone when it says nothing for so long: it pings. */
  silenceMs: number;
  openPace(exceeded: (excess: Excess) => void): OpenPace;
  /** The client has sent more than is borne: tells it so, and closes its socket. */
  exceeded(socket: DoorSocket, excess: Excess): void;
  sockets: OpenSockets;
}

export class ClientEnd implements SocketHandlers {
  readonly pace: SocketPace;
  readonly #options: ClientEndOptions;
  readonly #link: RelayLink;
  readonly #own: OpenPace;
  #socket: DoorSocket | undefined;
  #underWayBytes = 0;
  #unsent = 0;
  #silence: unknown;

  constructor(options: ClientEndOptions) {
    this.#options = options;
    const received = (body: BusBody) => this.#receive(body);
    this.#link = new RelayLink(options.bus, options.actorId, { received, broken: () => this.#socket?.terminate() });
    this.#own = options.openPace((excess) => {
      if (this.#socket !== undefined) options.exceeded(this.#socket, excess);
    });
    this.pace = this.#paceOf(this.#own);
  }

  get address(): Address {
    return this.#link.address;
  }

  /** @param session the other end */
  meet(session: Address): this {
    this.#link.meet(session);
    return this;
  }

  /** There is nothing to hand on. */
  dispose(): void {
    this.#link.close();
    this.#options.clock.clearTimeout(this.#silence);
    this.#own.release();
  }

  open(socket: DoorSocket): void {
    this.#socket = socket;
    this.#options.sockets.opened();
    this.#heard();
    this.#tell({ type: 'relay.open' });
  }

  message(_: DoorSocket, data: Uint8Array, isBinary: boolean): void {
    if (!isBinary) {
      this.#tell({ type: 'relay.text', text: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString() });
      return;
    }
    this.#underWayBytes += data.byteLength;
    if (this.#underWayBytes > UNDER_WAY_BYTES_BEARABLE) {
      this.#socket?.terminate();
      return;
    }
    for (let at = 0; at < data.byteLength; at += PIECE_BYTES)
      this.#tell({ type: 'relay.audio' }, data.subarray(at, at + PIECE_BYTES));
  }

  pong(): void {
    this.#tell({ type: 'relay.pong' });
  }

  drained(): void {
    if (this.#unsent === 0) return;
    this.#tell({ type: 'relay.sent', count: this.#unsent });
    this.#unsent = 0;
  }

  closed(_: DoorSocket, code: number): void {
    if (this.#socket !== undefined) this.#options.sockets.closed();
    this.#tell({ type: 'relay.closed', code });
    this.dispose();
  }

  #tell(message: Unnumbered<ToSession>, bytes?: Uint8Array): void {
    this.#link.send(message, bytes);
  }

  #receive(body: BusBody): void {
    const socket = this.#socket;
    if (socket === undefined || !Value.Check(ToClient, body)) {
      socket?.terminate();
      return;
    }
    this.#heard();
    if (body.type === 'relay.say') {
      this.#unsent += body.text.length;
      if (socket.send(body.text) === 'sent') this.drained();
    } else if (body.type === 'relay.ping') socket.ping();
    else if (body.type === 'relay.taken') this.#underWayBytes -= body.count;
    else if (body.type === 'relay.close') socket.close(body.code, body.reason);
    else socket.terminate();
  }

  #heard(): void {
    const { clock, silenceMs } = this.#options;
    clock.clearTimeout(this.#silence);
    this.#silence = clock.setTimeout(() => this.#socket?.terminate(), silenceMs);
  }

  /** The client's own pace, and none at all while too much is under way. */
  #paceOf(pace: OpenPace): SocketPace {
    const room = (owedMs: number) => (this.#underWayBytes > UNDER_WAY_BYTES_MAX ? Math.max(owedMs, FULL_MS) : owedMs);
    return {
      take: (bytes, isAudio, canWait) => {
        const owedMs = pace.take(bytes, isAudio, canWait);
        return canWait ? room(owedMs) : owedMs;
      },
      fragments: (count) => pace.fragments(count),
      owedMs: () => room(pace.owedMs()),
      exceeded: () => pace.exceeded(),
      enter: (granted) => pace.enter(granted),
      leave: () => pace.leave(),
      mayBeLarge: () => pace.mayBeLarge(),
    };
  }
}
