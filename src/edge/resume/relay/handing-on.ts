// What a client has sent, on its way to the node of its session: in its order, in pieces, and no faster than that node takes it.
// Nodes share the bytes that may be under way between them: without the bound one large message took them all.
import type { WaitingWork } from '../../listen/socket-work.ts';
import { LARGE_BYTES } from '../../pace/large-messages.ts';
import { PIECE_BYTES, type ToSession, type Unnumbered } from './relay-words.ts';

/** What may be under way, and not said to be taken. */
const UNDER_WAY_BYTES_MAX = 256 * 1024;

interface Message {
  data: Uint8Array;
  isBinary: boolean;
  /** Where the next piece begins. */
  at: number;
  /** The last piece has left. */
  gone(): void;
}

export interface HandingOnOptions {
  send(message: Unnumbered<ToSession>, bytes: Uint8Array): void;
  /** What the messages of all sockets hold of memory. */
  waiting: Pick<WaitingWork, 'count'>;
}

export class HandingOn {
  readonly #options: HandingOnOptions;
  readonly #messages: Message[] = [];
  #waitingBytes = 0;
  #underWayBytes = 0;

  constructor(options: HandingOnOptions) {
    this.#options = options;
  }

  /** What is not taken. */
  get bytes(): number {
    return this.#waitingBytes + this.#underWayBytes;
  }

  /** Something has not left yet. */
  get isWaiting(): boolean {
    return this.#messages.length > 0;
  }

  /**
   * Whether there was room for what has to wait.
   *
   * @param data the door's again after the call, but of a message over 1 MiB
   */
  add(data: Uint8Array, isBinary: boolean, gone: () => void): boolean {
    const message = { data, isBinary, at: 0, gone };
    this.#messages.push(message);
    this.#waitingBytes += data.byteLength;
    const hasRoom = this.#options.waiting.count(data.byteLength);
    this.#handOn();
    if (!this.isWaiting) return true;
    if (data.byteLength <= LARGE_BYTES) message.data = new Uint8Array(data);
    return hasRoom;
  }

  /** The session has taken so many bytes. */
  taken(bytes: number): void {
    this.#underWayBytes -= bytes;
    this.#handOn();
  }

  /** Nothing more is handed on. */
  clear(): void {
    this.#options.waiting.count(-this.#waitingBytes);
    this.#waitingBytes = 0;
    this.#messages.length = 0;
  }

  #handOn(): void {
    const { send, waiting } = this.#options;
    while (this.#underWayBytes < UNDER_WAY_BYTES_MAX) {
      const message = this.#messages[0];
      if (message === undefined) return;
      const { data, at, isBinary } = message;
      const piece = data.subarray(at, at + PIECE_BYTES);
      message.at += piece.byteLength;
      const isLast = message.at === data.byteLength;
      if (isLast) this.#messages.shift();
      this.#waitingBytes -= piece.byteLength;
      this.#underWayBytes += piece.byteLength;
      waiting.count(-piece.byteLength);
      send(isBinary ? { type: 'relay.audio' } : { type: 'relay.text', isLast }, piece);
      if (isLast) message.gone();
    }
  }
}
