// How much sound may be decoded for a socket: a few bytes may be long. Beyond it nothing is read where a server can let the client wait.
import { TokenBucket } from './token-bucket.ts';

/** Milliseconds of it in a second, and at once: a recorded file may be sent far faster than it sounds. */
export const SOUND_MS_PER_SECOND = 60_000;
export const SOUND_BURST_MS = 60_000;
/** How soon it is looked again whether less waits to be decoded. */
export const BEHIND_MS = 20;

export class DecodedSound {
  readonly #now: () => number;
  /** None of a socket whose audio needs no decoding. */
  #bucket: TokenBucket | undefined;
  /** More waits to be decoded than should. */
  isBehind = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** So much sound was decoded of what came. */
  decoded(ms: number): void {
    const nowMs = this.#now();
    this.#bucket ??= new TokenBucket(SOUND_MS_PER_SECOND, SOUND_BURST_MS, nowMs);
    this.#bucket.take(ms, nowMs);
  }

  /** For how many milliseconds nothing more should be read. */
  owedMs(nowMs: number): number {
    const owedMs = this.#bucket?.take(0, nowMs) ?? 0;
    return this.isBehind ? Math.max(owedMs, BEHIND_MS) : owedMs;
  }
}
