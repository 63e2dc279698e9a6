// The sockets of this node: all that are open, and those whose client has sent no credential yet.
import type { Clock } from '../../../machines/clock.ts';
import { WaitingHandshakes } from '../../accounts/auth/handshake-limits.ts';
import { ApiError } from '../../api/errors.ts';

/** Counts sockets, so that a node that stops can wait until its last events have reached the clients. */
export class OpenSockets {
  #count = 0;
  readonly #waiting: (() => void)[] = [];

  opened(): void {
    this.#count++;
  }

  closed(): void {
    this.#count--;
    if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when every socket has closed, or after the time given. */
  async gone(clock: Clock, timeoutMs: number): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, timeoutMs);
      this.#waiting.push(() => {
        clock.clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** What all of them hold of messages while their credentials are judged. */
const HELD_BYTES_MAX = 32 * 1024 * 1024;

/** A socket among those that have said no credential. */
export interface LatePlace {
  /** It has said one: it gives way to nobody any more. */
  said(): void;
  /** It takes no place any more. Does no harm the second time. */
  leave(): void;
}

/** How many sockets may be open that have said no credential yet, and what they may hold together. */
export class UnauthenticatedSockets {
  readonly #handshakes: WaitingHandshakes;
  readonly #bytesMax: number;
  #bytes = 0;
  /** What makes those leave that have said nothing yet, the oldest first. */
  readonly #silent = new Set<() => void>();

  constructor(settings: { handshakesMax: number; handshakesPerAddressMax: number }, bytesMax: number = HELD_BYTES_MAX) {
    const { handshakesMax, handshakesPerAddressMax: perAddressMax } = settings;
    this.#handshakes = new WaitingHandshakes({ handshakesMax, perAddressMax, credentials: 'to be said' });
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#handshakes.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Counts a socket until it leaves. Where all places are taken, the oldest that has said nothing gives way: clients in earnest say
   * their credential at once. Throws an ApiError `overloaded` or `rate_limit_exceeded`.
   *
   * @param giveWay makes the socket leave
   */
  enter(address: string, giveWay: () => void): LatePlace {
    const free = this.#enter(address);
    this.#silent.add(giveWay);
    return {
      said: () => this.#silent.delete(giveWay),
      leave: () => {
        this.#silent.delete(giveWay);
        free();
      },
    };
  }

  #enter(address: string): () => void {
    try {
      return this.#handshakes.enter(address);
    } catch (error) {
      const [oldest] = this.#silent;
      if (!(error instanceof ApiError) || error.code !== 'overloaded' || oldest === undefined) throw error;
      oldest();
      return this.#handshakes.enter(address);
    }
  }

  /** Whether so many bytes more may be held; then they are, until they are given back. */
  hold(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes;
  }
}
