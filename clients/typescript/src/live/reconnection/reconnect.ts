// Whether, and when, a live session that broke is opened again: by the range of the close code, with full jitter, within a
// number of attempts and a time. Pure but for the dice; the waiting is done by live-link.ts.
import { BACKOFF_MS, jitterMs } from '../../http/backoff.ts';
import { integerOf, refuseUnknown } from '../../settings.ts';

export interface ReconnectOptions {
  /** Attempts without progress: from 0 to 1,000; 200 when absent, so that the time decides. */
  attemptsMax?: number;
  /** Time without progress, in milliseconds: from 0 to 3,600,000; 120,000 when absent: longer than a node takes to drain. */
  totalMs?: number;
  /**
   * Audio that is kept to be sent again, in seconds: from 0 to 600; 60 when absent. `send` and `pipe` wait before more than that
   * is without its final; where none comes, as in a long silence, they go on at the pace of speech. 0: nothing is kept.
   */
  replaySecondsMax?: number;
}

/** The options of `reconnect`: false is no attempt at all. */
export function reconnectOf(options: ReconnectOptions | false | undefined): Required<ReconnectOptions> {
  if (options === false) return { attemptsMax: 0, totalMs: 0, replaySecondsMax: 0 };
  const { attemptsMax, totalMs, replaySecondsMax } = options ?? {};
  refuseUnknown('reconnect', options ?? {}, ['attemptsMax', 'totalMs', 'replaySecondsMax']);
  return {
    attemptsMax: integerOf('reconnect.attemptsMax', attemptsMax, 200, 0, 1_000),
    totalMs: integerOf('reconnect.totalMs', totalMs, 120_000, 0, 3_600_000),
    replaySecondsMax: integerOf('reconnect.replaySecondsMax', replaySecondsMax, 60, 0, 600),
  };
}

export type Advice = 'stop' | 'back_off' | 'at_once';

/** Closes without a word of the gateway: the network, or a proxy that restarts. */
const LOST_CODES = [1000, 1001, 1005, 1006, 1012, 1013, 1014, 1015];

/** Whether nobody ended the session that the connection had. */
export const isLost = (closeCode: number): boolean => LOST_CODES.includes(closeCode);

/** What a close code tells a client to do. */
export function adviceOf(closeCode: number): Advice {
  if (closeCode >= 4200 && closeCode <= 4299) return 'at_once';
  if (closeCode >= 4100 && closeCode <= 4199) return 'back_off';
  return isLost(closeCode) ? 'back_off' : 'stop';
}

/** Counts the attempts since there was progress. */
export class Retries {
  readonly #options: Required<ReconnectOptions>;
  readonly #random: () => number;
  #attempts = 0;
  #sinceMs: number | undefined;

  constructor(options: Required<ReconnectOptions>, random: () => number = Math.random) {
    this.#options = options;
    this.#random = random;
  }

  get attempts(): number {
    return this.#attempts;
  }

  /** Milliseconds to wait before the next attempt; undefined where there is to be none. */
  next(advice: Advice, nowMs: number): number | undefined {
    if (advice === 'stop' || this.#attempts >= this.#options.attemptsMax) return undefined;
    this.#sinceMs ??= nowMs;
    // A node that drains is left at once; that there is no other shows in the second attempt.
    const waitMs = advice === 'at_once' && this.#attempts === 0 ? 0 : this.#jitterMs();
    if (nowMs + waitMs - this.#sinceMs > this.#options.totalMs) return undefined;
    this.#attempts++;
    return waitMs;
  }

  /** Half of the longest wait is its least: else bad luck would spend the attempts in a moment. */
  #jitterMs(): number {
    const isLongest = BACKOFF_MS.first * 2 ** this.#attempts >= BACKOFF_MS.max;
    const drawnMs = jitterMs(this.#attempts, this.#random);
    return isLongest ? (BACKOFF_MS.max + drawnMs) / 2 : drawnMs;
  }

  /** There was progress: the count begins anew. */
  reset(): void {
    this.#attempts = 0;
    this.#sinceMs = undefined;
  }
}
