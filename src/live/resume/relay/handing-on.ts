// What a client has sent, on its way to the node of its session: in its order, what is large in parts, and no faster than that node
// takes it.

import { LARGE_BYTES } from '../../../http/server.ts';
import type { WaitingWork } from '../../socket/socket-work.ts';
import type { PartsUnderWay } from './parts-under-way.ts';
import { PART_BYTES, type ToSession, type Unnumbered } from './relay-words.ts';

/** What may be under way of one client, and not said to be taken. */
const UNDER_WAY_BYTES_MAX = 256 * 1024;

interface Message {
  data: Uint8Array;
  isBinary: boolean;
  /** Where the next part begins. */
  at: number;
  /** The last part has left. */
  gone(): void;
}

export interface HandingOnOptions {
  send(message: Unnumbered<ToSession>, bytes: Uint8Array): void;
  /** What the messages of all sockets hold of memory. */
  waiting: Pick<WaitingWork, 'count'>;
  organisationId: string;
  parts: PartsUnderWay;
}

export class HandingOn {
  readonly #options: HandingOnOptions;
  readonly #messages: Message[] = [];
  #waitingBytes = 0;
  #underWayBytes = 0;
  #partBytes = 0;

  constructor(options: HandingOnOptions) {
    this.#options = options;
  }

  get organisationId(): string {
    return this.#options.organisationId;
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
   * @param data the server's again after the call, but of a message over 1 MiB
   */
  add(data: Uint8Array, isBinary: boolean, gone: () => void): boolean {
    const message = { data, isBinary, at: 0, gone };
    this.#messages.push(message);
    this.#waitingBytes += data.byteLength;
    const { waiting, organisationId } = this.#options;
    const hasRoom = waiting.count(data.byteLength, organisationId);
    this.goOn();
    if (!this.isWaiting) return true;
    if (data.byteLength <= LARGE_BYTES) message.data = new Uint8Array(data);
    return hasRoom;
  }

  /** The session has taken so many bytes of whole messages. */
  taken(bytes: number): void {
    this.#underWayBytes -= bytes;
    this.goOn();
  }

  /** The session has taken so many bytes of parts. */
  partTaken(bytes: number): void {
    this.#underWayBytes -= bytes;
    this.#partBytes -= bytes;
    this.goOn();
    this.#options.parts.giveBack(bytes, this);
  }

  /** Nothing more is handed on. */
  clear(): void {
    const { waiting, parts, organisationId } = this.#options;
    waiting.count(-this.#waitingBytes, organisationId);
    this.#waitingBytes = 0;
    this.#messages.length = 0;
    parts.leave(this);
    parts.giveBack(this.#partBytes, this);
    this.#partBytes = 0;
  }

  /** Hands on what may be under way. */
  goOn(): void {
    while (this.#underWayBytes < UNDER_WAY_BYTES_MAX) {
      const message = this.#messages[0];
      if (message === undefined || !this.#next(message)) return;
    }
  }

  /** Whether it could be handed on. */
  #next(message: Message): boolean {
    const { send, waiting, parts, organisationId } = this.#options;
    const { data, at, isBinary } = message;
    const isWhole = data.byteLength <= PART_BYTES;
    const bytes = isWhole ? data : data.subarray(at, at + PART_BYTES);
    const { byteLength } = bytes;
    if (!isWhole && !parts.take(byteLength, this)) return false;
    message.at += byteLength;
    const isLast = message.at === data.byteLength;
    if (isLast) this.#messages.shift();
    this.#waitingBytes -= byteLength;
    this.#underWayBytes += byteLength;
    if (!isWhole) this.#partBytes += byteLength;
    waiting.count(-byteLength, organisationId);
    if (isWhole) send({ type: isBinary ? 'relay.audio' : 'relay.text' }, bytes);
    else send({ type: 'relay.part', isBinary, isLast }, bytes);
    if (isLast) message.gone();
    return true;
  }
}
