// One WebSocket of uWebSockets.js: ties the library's handle to the socket that the host sees.
import type { Acceptance } from '../door-reply.ts';
import { CLOSE_ANSWER_MS, GuardedSocket } from '../guarded-socket.ts';
import { LARGE_BYTES } from '../large-messages.ts';
import type { UwsEvents, UwsHandle } from './library.ts';

/** The library copies the user data's properties onto its handle; this is the one. */
interface Owned {
  readonly owner: UwsSocket;
}

/** What the library says to itself when it cuts a message off. */
const CUT_OFF = 'Received too big message';
const TOO_BIG = 1009;

const ownerOf = (handle: UwsHandle): UwsSocket => (handle as UwsHandle & Owned).owner;

export class UwsSocket extends GuardedSocket {
  override readonly watchesSilence: boolean;
  #handle: UwsHandle | undefined;

  /** When the last close frame was sent, on the clock of `performance.now`; the library tells no more of a socket after it. */
  static lastEndedAt = Number.NEGATIVE_INFINITY;

  /** What the library calls, for every socket. */
  static readonly events: UwsEvents = {
    open: (handle) => {
      ownerOf(handle).#handle = handle;
    },
    message: (handle, message, isBinary) => {
      // The library takes its memory back when the call returns, and a large message is the handler's.
      const data = new Uint8Array(message.byteLength > LARGE_BYTES ? message.slice(0) : message);
      ownerOf(handle).received(data, isBinary);
    },
    drain: (handle) => ownerOf(handle).flushed(),
    ping: (handle, message) => void ownerOf(handle).pinged(message.byteLength),
    pong: (handle, message) => ownerOf(handle).ponged(new Uint8Array(message)),
    close: (handle, code, message) => ownerOf(handle).#closed(code, Buffer.from(message).toString()),
  };

  /** @param watchesSilence the library hears the bytes of a message before it tells of it, and nobody else does */
  constructor({ accept, pace }: Acceptance, onFault: (error: unknown) => void, watchesSilence: boolean) {
    super(accept, onFault, pace);
    this.watchesSilence = watchesSilence;
  }

  /** What to give to the library's `upgrade`. */
  get userData(): Owned {
    return { owner: this };
  }

  /**
   * Tells the host, after the upgrade was written. Not from the library's own `open`: that runs inside the cork of the
   * upgrade, and a close from there would leave the connection half shut.
   */
  start(): void {
    if (this.#handle !== undefined) this.opened();
  }

  #closed(code: number, reason: string): void {
    if (reason === CUT_OFF) this.ended(TOO_BIG, '');
    else this.ended(code, reason);
  }

  protected override write(text: string): boolean {
    const outcome = this.#handle?.send(text, false);
    // Past the limit of unread bytes. The message is lost, so the connection must be as well.
    if (outcome === 2) this.terminate();
    return outcome === 0 || outcome === 1;
  }

  protected override writePing(text: string): void {
    this.#handle?.ping(text);
  }

  protected override queuedBytes(): number {
    return this.#handle?.getBufferedAmount() ?? 0;
  }

  protected override end(code: number, reason: string): void {
    UwsSocket.lastEndedAt = performance.now();
    this.#handle?.end(code, reason);
    // The library waits for as long as the client goes on to send.
    setTimeout(() => this.#drop(), CLOSE_ANSWER_MS).unref();
  }

  /** Throws where the library has dropped it already. */
  #drop(): void {
    try {
      this.cut();
    } catch {}
  }

  protected override cut(): void {
    this.#handle?.close();
  }
}
