// What a client has sent, on its way to the node of its session: in its order, in pieces, and no faster than that node takes it.
// Nodes share the bytes that may be under way between them: without the bound one large message took them all.
import { LARGE_BYTES } from '../../pace/large-messages.ts';
import { PIECE_BYTES, type ToSession, type Unnumbered } from './relay-words.ts';

/** What may be under way, and not said to be taken. */
const UNDER_WAY_BYTES_MAX = 1024 * 1024;

interface Message {
  data: Uint8Array;
  isBinary: boolean;
  /** Where the next piece begins. */
  at: number;
}

export class HandingOn {
  readonly #send: (message: Unnumbered<ToSession>, bytes: Uint8Array) => void;
  readonly #waiting: Message[] = [];
  #waitingBytes = 0;
  #underWayBytes = 0;

  constructor(send: (message: Unnumbered<ToSession>, bytes: Uint8Array) => void) {
    this.#send = send;
  }

  /** What is not taken. */
  get bytes(): number {
    return this.#waitingBytes + this.#underWayBytes;
  }

  /** Something has not left yet. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** @param data the door's again after the call, but of a message over 1 MiB */
  add(data: Uint8Array, isBinary: boolean): void {
    const message = { data, isBinary, at: 0 };
    this.#waiting.push(message);
    this.#waitingBytes += data.byteLength;
    this.#handOn();
    if (this.isWaiting && data.byteLength <= LARGE_BYTES) message.data = new Uint8Array(data);
  }

  /** The session has taken so many bytes. */
  taken(bytes: number): void {
    this.#underWayBytes -= bytes;
    this.#handOn();
  }

  #handOn(): void {
    while (this.#underWayBytes < UNDER_WAY_BYTES_MAX) {
      const message = this.#waiting[0];
      if (message === undefined) return;
      const { data, at, isBinary } = message;
      const piece = data.subarray(at, at + PIECE_BYTES);
      message.at += piece.byteLength;
      const isLast = message.at === data.byteLength;
      if (isLast) this.#waiting.shift();
      this.#waitingBytes -= piece.byteLength;
      this.#underWayBytes += piece.byteLength;
      this.#send(isBinary ? { type: 'relay.audio' } : { type: 'relay.text', isLast }, piece);
    }
  }
}
