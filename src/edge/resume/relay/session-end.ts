// The end of a relay on the node that has the session: the session takes it for its client's socket.
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../../machines/clock.ts';
import type { Address, Bus, BusBody } from '../../../bus/bus.ts';
import type { DoorSocket, SocketHandlers, SocketSend } from '../../door.ts';
import { RelayLink } from './relay-link.ts';
import { type ToClient, ToSession, type Unnumbered } from './relay-words.ts';

/** Taken bytes are told of in sums. */
const TAKEN_BYTES = 64 * 1024;
const BROKEN = 1006;
/** How long the client's socket may take to open. */
const OPEN_MS = 10_000;

export interface SessionEndOptions {
  bus: Bus;
  clock: Clock;
  actorId: string;
  /** The other end. */
  client: Address;
  handlers: SocketHandlers;
}

export class SessionEnd implements DoorSocket {
  readonly watchesSilence = false;
  readonly heldBack = false;
  closed = false;
  bufferedBytes = 0;
  readonly #handlers: SocketHandlers;
  readonly #link: RelayLink;
  readonly #clock: Clock;
  readonly #unopened: unknown;
  #takenBytes = 0;

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

  send(text: string): SocketSend {
    if (this.closed) return 'gone';
    this.bufferedBytes += text.length;
    this.#tell({ type: 'relay.say', text });
    return 'queued';
  }

  ping(): void {
    this.#tell({ type: 'relay.ping' });
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
    if (body.type === 'relay.open') {
      this.#clock.clearTimeout(this.#unopened);
      this.#handlers.open(this);
    } else if (body.type === 'relay.audio') this.#audio(bytes);
    else if (body.type === 'relay.text') this.#handlers.message(this, Buffer.from(body.text), false);
    else if (body.type === 'relay.pong') this.#handlers.pong(this);
    else if (body.type === 'relay.closed') this.#over(body.code, '');
    else this.#left(body.count);
  }

  #audio(bytes: Uint8Array): void {
    this.#handlers.message(this, bytes, true);
    this.#takenBytes += bytes.byteLength;
    if (this.#takenBytes < TAKEN_BYTES) return;
    this.#tell({ type: 'relay.taken', count: this.#takenBytes });
    this.#takenBytes = 0;
  }

  #left(count: number): void {
    this.bufferedBytes = Math.max(0, this.bufferedBytes - count);
    if (this.bufferedBytes === 0) this.#handlers.drained(this);
  }

  /** Never from inside a call: its callers are in the middle of something. */
  #over(code: number, reason: string): void {
    if (this.closed) return;
    this.closed = true;
    this.bufferedBytes = 0;
    this.#link.close();
    this.#clock.clearTimeout(this.#unopened);
    queueMicrotask(() => this.#handlers.closed(this, code, reason));
  }
}
