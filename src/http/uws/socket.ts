// One WebSocket of uWebSockets.js: ties the library's handle to the socket that the host sees.

import { CLOSE_ANSWER_MS, GuardedSocket } from '../guarded-socket.ts';
import type { Acceptance } from '../reply.ts';
import { type HttpServerOptions, LARGE_BYTES } from '../server.ts';
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

/** The library counts silence in steps of this, and none shorter than two of them. */
const SILENCE_SECONDS_STEP = 4;
/**
 * The longest silence that the library can watch for. Keep-alive is the host's, and much shorter; this one frees what is
 * left of a connection whose client never answers the close.
 */
const SILENCE_SECONDS_MAX = 960;
/** The silence that the library is to end, in seconds; undefined where it cannot watch for one so short, and the host has to. */
export function watchedSeconds({ silenceMs = 0 }: Pick<HttpServerOptions, 'silenceMs'>): number | undefined {
  const seconds = Math.ceil(silenceMs / 1000 / SILENCE_SECONDS_STEP) * SILENCE_SECONDS_STEP;
  return silenceMs < 2 * SILENCE_SECONDS_STEP * 1000 || seconds > SILENCE_SECONDS_MAX ? undefined : seconds;
}

/** What the library is set to. */
export const silenceSeconds = (options: Pick<HttpServerOptions, 'silenceMs'>): number =>
  watchedSeconds(options) ?? SILENCE_SECONDS_MAX;
