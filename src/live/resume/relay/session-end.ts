// The end of a relay on the node that has the session: the session takes it for its client's socket.
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../../machines/clock.ts';
import type { Address, Bus, BusBody } from '../../../cluster/bus/bus.ts';
import type { ServerSocket, SocketHandlers, SocketSend } from '../../../http/server.ts';
import type { Excess } from '../../pace/socket-pace.ts';
import { RelayLink, type ToClient, ToSession, type Unnumbered } from './relay-link.ts';

/** Taken bytes are told of in sums. */
const TAKEN_BYTES = 64 * 1024;
const BROKEN = 1006;
/** How long the client's socket may take to open. */
const OPEN_MS = 10_000;
/** What may be on its way to the client's socket before it counts as unread: events of some seconds. */
const UNDER_WAY_MAX = 1024 * 1024;
/** No text is larger; one that is was refused when it was announced. */
const TEXT_BYTES_MAX = 1024 * 1024;

/** What takes the messages of a socket of another node. */
export interface RelayedHandlers extends SocketHandlers {
  /** A part of a large binary message, which is the handler's. `taken` is to be called when it has been taken. */
  part(socket: ServerSocket, data: Uint8Array, taken: () => void): void;
  /** The client has sent more than is borne. */
  exceeded(socket: ServerSocket, excess: Excess): void;
}

export interface SessionEndOptions {
  bus: Bus;
  clock: Clock;
  actorId: string;
  /** The other end. */
  client: Address;
  handlers: RelayedHandlers;
}

export class SessionEnd implements ServerSocket {
  readonly heldBack = false;
  closed = false;
  messageBytesMax: number | undefined;
  readonly #handlers: RelayedHandlers;
  readonly #link: RelayLink;
  readonly #clock: Clock;
  readonly #unopened: unknown;
  /** The other node has answered since the last ping. */
  #isThere = false;
  #takenBytes = 0;
  /** Characters that the client's socket is not known to have. */
  #underWay = 0;
  /** Bytes that have not left the client's socket, as far as is known. */
  #unread = 0;
  /** Of a text that is not whole. */
  #text: Uint8Array[] = [];
  #textBytes = 0;

  constructor({ bus, clock, actorId, client, handlers }: SessionEndOptions) {
    this.#handlers = handlers;
    this.#clock = clock;
    this.#unopened = clock.setTimeout(() => this.terminate(), OPEN_MS);
    const received = (body: BusBody, bytes: Uint8Array) => this.#receive(body, bytes);
    this.#link = new RelayLink(bus, actorId, { received, broken: () => this.#over(BROKEN, '') }, client);
  }

  get address(): Address {
    return this.#link.address;
  }

  /** The other node does, for as long as it is there itself. */
  get watchesSilence(): boolean {
    return this.#isThere;
  }

  get bufferedBytes(): number {
    return this.closed ? 0 : this.#unread + Math.max(0, this.#underWay - UNDER_WAY_MAX);
  }

  send(text: string): SocketSend {
    if (this.closed) return 'gone';
    this.#underWay += text.length;
    this.#tell({ type: 'relay.say', text });
    return 'queued';
  }

  ping(text = ''): void {
    this.#isThere = false;
    this.#tell({ type: 'relay.ping', text });
  }

  close(code: number, reason: string): void {
    if (this.closed) return;
    this.#tell({ type: 'relay.close', code, reason });
    this.#over(code, reason);
  }

  terminate(): void {
    if (this.closed) return;
    this.#tell({ type: 'relay.cut' });
    this.#over(BROKEN, '');
  }

  #tell(message: Unnumbered<ToClient>): void {
    this.#link.send(message);
  }

  #receive(body: BusBody, bytes: Uint8Array): void {
    if (!Value.Check(ToSession, body)) {
      this.terminate();
      return;
    }
    const handlers = this.#handlers;
    if (body.type === 'relay.audio' || body.type === 'relay.text') {
      handlers.message(this, bytes, body.type === 'relay.audio');
      this.#taken(bytes);
    } else if (body.type === 'relay.part') {
      if (body.isBinary) this.#audioPart(bytes);
      else this.#gather(bytes, body.isLast);
    } else if (body.type === 'relay.sent') this.#left(body.count, body.unread);
    else if (body.type === 'relay.here') this.#isThere = true;
    else if (body.type === 'relay.pong') handlers.pong(this, body.text);
    else if (body.type === 'relay.arriving') handlers.arriving?.(this, body.bytes, body.isBinary);
    else if (body.type === 'relay.excess') handlers.exceeded(this, body.excess);
    else if (body.type === 'relay.closed') this.#over(body.code, '');
    else {
      this.#clock.clearTimeout(this.#unopened);
      this.messageBytesMax = body.messageBytesMax;
      handlers.open(this);
    }
  }

  #taken({ byteLength }: Uint8Array): void {
    this.#takenBytes += byteLength;
    if (this.#takenBytes < TAKEN_BYTES) return;
    this.#tell({ type: 'relay.taken', count: this.#takenBytes });
    this.#takenBytes = 0;
  }

  /** In its turn among the sockets, as a large message of this node's own is taken. */
  #audioPart(bytes: Uint8Array): void {
    this.#handlers.part(this, new Uint8Array(bytes), () => this.#partTaken(bytes.byteLength));
  }

  #partTaken(count: number): void {
    this.#tell({ type: 'relay.part_taken', count });
  }

  #gather(bytes: Uint8Array, isLast: boolean): void {
    this.#textBytes += bytes.byteLength;
    const isWithin = this.#textBytes <= TEXT_BYTES_MAX;
    if (isWithin) this.#text.push(new Uint8Array(bytes));
    this.#partTaken(bytes.byteLength);
    if (!isLast) return;
    const text = Buffer.concat(this.#text);
    this.#text = [];
    this.#textBytes = 0;
    if (isWithin) this.#handlers.message(this, text, false);
  }

  #left(count: number, unread: number): void {
    this.#underWay = Math.max(0, this.#underWay - count);
    this.#unread = unread;
    if (this.bufferedBytes === 0) this.#handlers.drained(this);
  }

  /** Never from inside a call: its callers are in the middle of something. */
  #over(code: number, reason: string): void {
    if (this.closed) return;
    this.closed = true;
    this.#link.close();
    this.#clock.clearTimeout(this.#unopened);
    queueMicrotask(() => this.#handlers.closed(this, code, reason));
  }
}
