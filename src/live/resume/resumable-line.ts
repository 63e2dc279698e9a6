// The client's end of a session that outlives its socket: keeps what was sent until the client is known to have it, and says it
// again on the next socket.
import type { ServerSocket, SocketSend } from '../../http/server.ts';
import type { ClientLine } from '../session/outbox.ts';

/** What is kept of one session: some seconds of events, with words and their times. */
const KEPT_BYTES_MAX = 1024 * 1024;

const NUMBER = /^\d{1,15}$/;

/** Why a socket cannot continue where the client stopped to hear: what it has not had is kept no longer, or was never said. */
export type Gap = 'forgotten' | 'unsaid';

export interface ResumableLineOptions {
  sessionId: string;
  token: string;
  wallNow(): Date;
  /** Everything was said, and the close frame is known. */
  ended(): void;
}

export class ResumableLine implements ClientLine {
  #socket: ServerSocket | undefined;
  readonly #kept = new KeptTexts(KEPT_BYTES_MAX);
  #pingedAt = 0;
  #end: { code: number; reason: string } | undefined;
  readonly #options: ResumableLineOptions;

  constructor(socket: ServerSocket, options: ResumableLineOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  get sessionId(): string {
    return this.#options.sessionId;
  }

  get token(): string {
    return this.#options.token;
  }

  get hasSocket(): boolean {
    return this.#socket !== undefined;
  }

  /** What is kept, in bytes. */
  get keptBytes(): number {
    return this.#kept.bytes;
  }

  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Without a socket nothing more is to be sent for now: events wait where they are made, and interims become one. */
  get bufferedBytes(): number {
    const socket = this.#socket;
    return socket === undefined || socket.closed ? Number.POSITIVE_INFINITY : socket.bufferedBytes;
  }

  /** More than the session holds may be said while there is no socket: it is kept here, up to the bound. */
  get isKeeping(): boolean {
    return this.#socket?.closed ?? true;
  }

  send(text: string): SocketSend {
    this.#kept.add(text);
    // A socket that is gone is not an end of the session.
    return this.#socket?.send(text) === 'sent' ? 'sent' : 'queued';
  }

  close(code: number, reason: string): void {
    this.#end = { code, reason };
    this.#socket?.close(code, reason);
    this.#options.ended();
  }

  /** What was said up to now is the client's once it repeats this text: the number of the last event. */
  pinged(): string {
    this.#pingedAt = this.#kept.lastSeq;
    return `${this.#pingedAt}`;
  }

  /**
   * The client has answered a ping: messages come in their order, so that it has had what was said before that. An answer that nobody
   * asked for has no such text.
   */
  ponged(text: string): void {
    if (!NUMBER.test(text)) return;
    const until = Math.min(Number(text), this.#pingedAt);
    while (this.#kept.firstSeq <= until) this.#kept.forget();
  }

  /** The socket is gone. */
  detach(): void {
    this.#socket = undefined;
    this.#pingedAt = 0;
  }

  /** @param after number of the last event that the client has */
  gapAfter(after: number): Gap | undefined {
    if (after > this.#kept.lastSeq) return 'unsaid';
    return after < this.#kept.firstSeq - 1 ? 'forgotten' : undefined;
  }

  /** Continues, on this socket, with what came after that event. */
  attach(socket: ServerSocket, after: number, receivedBytes: number, frameBytesMax: number): void {
    this.#socket = socket;
    const { sessionId, wallNow } = this.#options;
    const resumed = { type: 'session_resumed', session_id: sessionId, seq: after, at: wallNow().toISOString() };
    const limits = { binary_frame_bytes: frameBytesMax };
    socket.send(JSON.stringify({ ...resumed, received_bytes: receivedBytes, next_seq: after + 1, limits }));
    for (const text of this.#kept.after(after)) socket.send(text);
    if (this.#end !== undefined) socket.close(this.#end.code, this.#end.reason);
  }
}

/** What was said of a session, by its numbers, within a bound: the oldest is released. */
export class KeptTexts {
  readonly #bytesMax: number;
  /** In their order; the last one has the number {@link lastSeq}. Those before `#from` are released. */
  #texts: string[] = [];
  #from = 0;
  #bytes = 0;
  #lastSeq = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** In characters. */
  get bytes(): number {
    return this.#bytes;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Of the oldest that is kept; one more than the last where none is. */
  get firstSeq(): number {
    return this.#lastSeq - (this.#texts.length - this.#from) + 1;
  }

  add(text: string): void {
    this.#lastSeq++;
    this.#texts.push(text);
    this.#bytes += text.length;
    while (this.#bytes > this.#bytesMax) this.forget();
  }

  forget(): void {
    this.#bytes -= (this.#texts[this.#from] as string).length;
    this.#texts[this.#from] = '';
    this.#from++;
    if (this.#from < 64 || this.#from * 2 < this.#texts.length) return;
    this.#texts = this.#texts.slice(this.#from);
    this.#from = 0;
  }

  /** Those behind that number that are kept. */
  after(seq: number): readonly string[] {
    return this.#texts.slice(this.#from + Math.max(0, seq + 1 - this.firstSeq));
  }
}
