// What the sockets of both servers have in common: no call throws, a close goes out in order and within a bounded time,
// `closed` comes once and never from inside a call, and a handler that throws costs its own socket only.
import type { ServerSocket, SocketHandlers, SocketPace, SocketSend } from './server.ts';

/** How long a client may take to read what is queued once the close was requested; then it is dropped. */
const CLOSE_LINGER_MS = 10_000;
/**
 * What a client leaves unread past this costs it the connection. Hosts bound their sockets far below it, by `bufferedBytes`;
 * only one that does not, or the pongs of a client that pings and never reads, get here.
 */
export const UNREAD_BYTES_MAX = 16 * 1024 * 1024;
/** A close frame's reason has 123 bytes (RFC 6455, 5.5). */
const REASON_BYTES_MAX = 123;
/** How long a client may take to answer a close frame before its connection is cut. */
export const CLOSE_ANSWER_MS = 5_000;
const NO_CLOSE_FRAME = 1006;
/** The longest that nothing is read of a socket: well below what a client is given to answer a ping. */
const HELD_BACK_MS_MAX = 5_000;
/** Frames that a client may still have sent after it was refused; a client that sends more is cut off. */
const UNHEARD_FRAMES_MAX = 20_000;

const TEXT = new TextDecoder();

/** One WebSocket of any library: a server supplies the five moves and reports what happens. */
export abstract class GuardedSocket implements ServerSocket {
  readonly #handlers: SocketHandlers;
  readonly #onFault: (error: unknown) => void;
  #state: 'open' | 'closing' | 'closed' = 'open';
  #farewell = { code: NO_CLOSE_FRAME, reason: '' };
  #linger: NodeJS.Timeout | undefined;
  readonly #pace: SocketPace | undefined;
  #hold: NodeJS.Timeout | undefined;
  #isExceeded = false;
  #unheardFrames = 0;
  #isGathering = false;
  #waitsForPlace = false;

  constructor(handlers: SocketHandlers, onFault: (error: unknown) => void, pace?: SocketPace) {
    this.#handlers = handlers;
    this.#onFault = onFault;
    this.#pace = pace;
  }

  /** Hands a message to the library; false when the connection is past taking any. */
  protected abstract write(text: string): boolean;
  protected abstract writePing(text: string): void;
  /** Bytes that the library holds. */
  protected abstract queuedBytes(): number;
  /** Sends a close frame and gives the connection up. */
  protected abstract end(code: number, reason: string): void;
  /** Cuts the connection. */
  protected abstract cut(): void;
  /** Whether the library can stop to read. */
  protected readonly canWait: boolean = false;
  readonly watchesSilence: boolean = false;
  protected pauseReading(): void {}
  protected resumeReading(): void {}

  get closed(): boolean {
    return this.#state !== 'open';
  }

  get heldBack(): boolean {
    return this.#hold !== undefined || this.#waitsForPlace;
  }

  get bufferedBytes(): number {
    return this.#state === 'closed' ? 0 : (this.#attempt(() => this.queuedBytes()) ?? 0);
  }

  send(text: string): SocketSend {
    if (this.#state !== 'open') return 'gone';
    try {
      if (!this.write(text)) return 'gone';
      const queuedBytes = this.queuedBytes();
      if (queuedBytes === 0) return 'sent';
      if (queuedBytes <= UNREAD_BYTES_MAX) return 'queued';
    } catch {
      return 'gone';
    }
    this.terminate();
    return 'gone';
  }

  ping(text = ''): void {
    if (this.#state === 'open') this.#attempt(() => this.writePing(text));
  }

  close(code: number, reason: string): void {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.#farewell = { code: sendableCode(code), reason: truncateReason(reason) };
    this.#gathered();
    if (this.#waitsForPlace) this.#hasPlace();
    if (this.bufferedBytes === 0) this.#endNow();
    else this.#linger = setTimeout(() => this.terminate(), CLOSE_LINGER_MS).unref();
  }

  terminate(): void {
    if (this.#state === 'closed') return;
    this.#attempt(() => this.cut());
    this.ended(NO_CLOSE_FRAME, '');
  }

  /** The handshake is through. */
  protected opened(): void {
    this.#tell(() => this.#handlers.open(this));
  }

  protected received(data: Uint8Array, isBinary: boolean): void {
    // Without a closure: this is called for every frame.
    try {
      if (this.#listens(data.byteLength, isBinary)) this.#handlers.message(this, data, isBinary);
    } catch (error) {
      this.#fault(error);
    }
    this.#gathered();
  }

  protected ponged(data: Uint8Array): void {
    if (this.#listens(data.byteLength, false)) this.#tell(() => this.#handlers.pong(this, TEXT.decode(data)));
  }

  /** Whether the ping is to be answered. */
  protected pinged(bytes: number): boolean {
    return this.#listens(bytes, false);
  }

  /** So many pieces of messages came that were not told of. */
  protected fragmented(count: number): void {
    this.#holdBack(this.#pace?.fragments(count) ?? 0);
  }

  /** So many bytes of a large message are announced so far. */
  protected arriving(bytes: number, isBinary: boolean): void {
    if (this.#state !== 'open' || this.#isExceeded) return;
    this.#tell(() => this.#handlers.arriving?.(this, bytes, isBinary));
    if (this.#isGathering || this.closed) return;
    this.#isGathering = true;
    if (this.#pace?.enter(() => this.#hasPlace()) !== false) return;
    this.#waitsForPlace = true;
    this.#attempt(() => this.pauseReading());
  }

  #hasPlace(): void {
    this.#waitsForPlace = false;
    if (this.#hold === undefined) this.#attempt(() => this.resumeReading());
  }

  #gathered(): void {
    if (!this.#isGathering) return;
    this.#isGathering = false;
    this.#pace?.leave();
  }

  /** Something that was queued has left. */
  protected flushed(): void {
    if (this.bufferedBytes > 0) return;
    if (this.#state === 'closing') this.#endNow();
    else if (this.#state === 'open') this.#tell(() => this.#handlers.drained(this));
  }

  /** The connection is over; later reports of it are ignored. */
  protected ended(code: number, reason: string): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    clearTimeout(this.#linger);
    this.#gathered();
    // Not from inside `close` or `terminate`: their callers are in the middle of something.
    queueMicrotask(() => this.#tell(() => this.#handlers.closed(this, code, reason)));
  }

  /** Counts a frame, before anything is made of it, and says whether anything is to be. */
  #listens(bytes: number, isAudio: boolean): boolean {
    const waitMs = this.#pace?.take(bytes, isAudio, this.canWait) ?? 0;
    if (waitMs > 0) this.#holdBack(waitMs);
    if (this.#state === 'open' && !this.#isExceeded) {
      if (waitMs !== Number.POSITIVE_INFINITY) return true;
      this.#isExceeded = true;
      this.#tell(() => this.#pace?.exceeded());
    } else if (++this.#unheardFrames > UNHEARD_FRAMES_MAX) {
      this.#attempt(() => this.cut());
      this.ended(NO_CLOSE_FRAME, '');
    }
    return false;
  }

  #holdBack(waitMs: number): void {
    if (waitMs === 0 || !this.canWait || this.#hold !== undefined) return;
    this.#attempt(() => this.pauseReading());
    this.#hold = setTimeout(() => this.#readOn(HELD_BACK_MS_MAX - waitMs), Math.min(waitMs, HELD_BACK_MS_MAX)).unref();
  }

  /** What had been read when the reading stopped is owed as well. */
  #readOn(longestMs: number): void {
    const waitMs = this.#state === 'open' ? Math.min(this.#pace?.owedMs() ?? 0, longestMs) : 0;
    if (waitMs > 0) {
      this.#hold = setTimeout(() => this.#readOn(longestMs - waitMs), waitMs).unref();
      return;
    }
    this.#hold = undefined;
    if (!this.#waitsForPlace) this.#attempt(() => this.resumeReading());
  }

  #endNow(): void {
    const { code, reason } = this.#farewell;
    this.#attempt(() => this.end(code, reason));
    this.ended(code, reason);
  }

  /** Calls a handler. */
  #tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#fault(error);
    }
  }

  #fault(error: unknown): void {
    this.#onFault(error);
    this.close(1011, 'internal error');
  }

  /** Calls the library, whose handles throw once their connection is gone; that it is gone is reported by `ended`. */
  #attempt<T>(call: () => T): T | undefined {
    try {
      return call();
    } catch {
      return undefined;
    }
  }
}

/**
 * The socket of a client that left while its handshake was being answered: never opened, and reported as closed all the
 * same, so that whatever the host took for it is given back.
 */
export class UnopenedSocket extends GuardedSocket {
  protected override write(): boolean {
    return false;
  }
  protected override writePing(): void {}
  protected override queuedBytes(): number {
    return 0;
  }
  protected override end(): void {}
  protected override cut(): void {}
}

/** A code that may stand in a close frame (RFC 6455, 7.4); what may not becomes 1011. */
function sendableCode(code: number): number {
  const standard = code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code);
  return Number.isInteger(code) && (standard || (code >= 3000 && code <= 4999)) ? code : 1011;
}

/** The reason within its limit, cut between characters. */
export function truncateReason(reason: string): string {
  const bytes = new TextEncoder().encodeInto(reason, new Uint8Array(REASON_BYTES_MAX));
  return reason.slice(0, bytes.read);
}
