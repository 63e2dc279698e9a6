// How long a commit waits for words, in polls. After the last words that came there may be another turn, whose words are there soon;
// where nothing of it comes, the rest is silence.
import { POLL_MS, POLLS_MAX } from '../../compat/live.ts';

/** After how many polls a commit is given the words that are there, or none. */
export interface Patience {
  withWords: number;
  without: number;
}

const POLLS: Patience = { withWords: 2, without: POLLS_MAX };
/** There is hardly room for another turn in it, or for words that are late. */
export const QUIET_SECONDS = 0.4;
/** A client that is further ahead of the pace of speech when it commits is waited for accordingly. */
const LIVE_SECONDS = 1.5;
/** Words that come so long after they were spoken are those of a slow recogniser. */
const SLOW_SECONDS = 1.5;

/** Whether audio that is so far ahead of the pace of speech was sent faster than it was spoken. */
export const isSentFast = (aheadSeconds: number): boolean => aheadSeconds > LIVE_SECONDS;

/**
 * At the commit.
 *
 * @param unanswered seconds of audio without words
 * @param lag how long after they were spoken the last words came
 */
export function firstPatience(unanswered: number, isFast: boolean, lag: number): Patience {
  const more = isFast ? pollsOf(unanswered) : pollsForSlow(unanswered, lag);
  return { withWords: POLLS.withWords + more, without: POLLS.without + more };
}

interface Waiting {
  /** Where it ends. */
  until: number;
  unanswered: number;
  isFast: boolean;
  /** Of words before it. */
  lag: number;
  /** Polls since the commit. */
  age: number;
}

/** The last words that came. */
interface LastWords {
  end: number;
  lag: number;
  /** Speech was told of that begins after them. */
  isSpeechAfter: boolean;
}

/** After words that end before the commit. Of a client that sends fast, the rest is given twice its own length. */
export function patienceAfter(
  { until, unanswered, isFast, lag: lagBefore, age }: Waiting,
  { end, lag: lagNow, isSpeechAfter }: LastWords,
): number {
  const rest = until - end;
  const isSoon = Math.max(rest, unanswered) <= QUIET_SECONDS;
  // Words that come promptly after the commit were waiting for it, and so would others.
  const isPrompt = age === 0 && !isSpeechAfter;
  const lag = isPrompt ? lagBefore : Math.max(lagBefore, lagNow);
  return (isSoon ? 1 : POLLS.withWords) + (isFast ? pollsOf(2 * rest) : pollsForSlow(rest, lag));
}

/** Words of a slow recogniser for the rest of the audio come as late as those before them. */
const pollsForSlow = (rest: number, lag: number): number =>
  lag <= SLOW_SECONDS ? 0 : pollsOf(Math.max(0, Math.min(rest, lag) - 1));

const pollsOf = (seconds: number): number => Math.ceil((seconds * 1000) / POLL_MS);

/** A network that was held up brings as much audio at once. */
const HELD_UP_MS_MAX = 2_000;

export class SendingPace {
  readonly #nowMs: () => number;
  #aheadMs = 0;
  #atMs: number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#atMs = nowMs();
  }

  /** Seconds. */
  get ahead(): number {
    this.#pass();
    return Math.max(0, this.#aheadMs) / 1000;
  }

  sent(seconds: number): void {
    this.#pass();
    this.#aheadMs += seconds * 1000;
  }

  #pass(): void {
    const nowMs = this.#nowMs();
    this.#aheadMs = Math.max(-HELD_UP_MS_MAX, this.#aheadMs - (nowMs - this.#atMs));
    this.#atMs = nowMs;
  }
}
