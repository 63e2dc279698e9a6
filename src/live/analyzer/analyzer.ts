// A service of the operator's that finds names and addresses in texts, over HTTP: how many calls there may be at once, how long each
// may take, and when the service is left alone. What it is asked, and how its answers are read, is in presidio.ts.
import type { Clock } from '../../../machines/clock.ts';
import type { AnalyzedText, TextAnalyzer } from '../../redaction/analyzer.ts';
import type { Match } from '../../redaction/match.ts';
import { limitedSignal } from '../../runtime/timeouts.ts';
import { exchange, isSuccess, plainContentOf } from '../upstream/http/exchange.ts';
import { HttpPools } from '../upstream/http/pools.ts';
import { LegFailed, poolFull } from '../upstream/leg-failures.ts';
import { analyzeRequest, matchesIn } from './presidio.ts';

/** Calls at a time, of all organisations. */
export const CALLS_MAX = 32;
/** Calls that wait for their turn. */
export const WAITING_MAX = 512;
/** Of both, what one organisation may have. */
const ORGANISATION_SHARE = 3 / 4;
/** Characters of one call. A longer text is analysed in parts. */
export const PART_CHARS_MAX = 8_192;
/** Characters that two parts share, so that no name is cut. */
export const OVERLAP_CHARS = 256;
/** Far more than the answer about one part. */
export const ANSWER_BYTES_MAX = 1_048_576;
/** Failures in a row after which the service is left alone, for how long at first, and at most. */
export const FAILURES_MAX = 5;
const REST_MS = 2_000;
const REST_MS_MAX = 30_000;

/** How a call ended: `resting`, the service was left alone; `busy`, too many calls waited. */
export type CallOutcome = 'answered' | 'failed' | 'timed_out' | 'resting' | 'busy';

export interface AnalyzerOptions {
  /** Of the service: `/analyze` follows. */
  url: string;
  /** How long an answer may take. */
  timeoutMs: number;
  /** Codes that the service knows. The first is used for texts in any other. */
  languages: readonly string[];
  clock: Clock;
  onCall?(outcome: CallOutcome): void;
}

export class Analyzer implements TextAnalyzer {
  readonly #options: AnalyzerOptions;
  readonly #url: string;
  readonly #pools = new HttpPools({
    ...{ connectionsMax: CALLS_MAX, waitingMax: WAITING_MAX, share: ORGANISATION_SHARE, originsMax: 1 },
  });
  #underWay = 0;
  #failures = 0;
  #restMs = REST_MS;
  /** Until then the service is left alone; after it one call tries it again. */
  #restsUntil: number | undefined;
  #isTrying = false;

  constructor(options: AnalyzerOptions) {
    this.#options = options;
    this.#url = `${options.url.replace(/\/+$/, '')}/analyze`;
  }

  /** Calls that have no answer yet. */
  get underWay(): number {
    return this.#underWay;
  }

  async close(): Promise<void> {
    await this.#pools.close();
  }

  async find(asked: AnalyzedText): Promise<Match[]> {
    const found: Match[] = [];
    for (const { from, text } of partsOf(asked.text)) {
      const matches = await this.#call({ ...asked, text });
      for (const match of matches) found.push({ ...match, from: match.from + from, to: match.to + from });
    }
    return found;
  }

  async #call(asked: AnalyzedText): Promise<Match[]> {
    const { clock, timeoutMs, onCall } = this.#options;
    if (this.#isResting()) {
      onCall?.('resting');
      throw new Error('The service is left alone for now.');
    }
    const isTrying = this.#restsUntil !== undefined;
    this.#isTrying ||= isTrying;
    const limit = limitedSignal(clock, asked.timeoutMs ?? timeoutMs, asked.signal);
    let outcome: CallOutcome = 'failed';
    this.#underWay++;
    try {
      const matches = await this.#ask(asked, limit.signal);
      outcome = 'answered';
      return matches;
    } catch (error) {
      if (error instanceof LegFailed && error.failure === poolFull) outcome = 'busy';
      else if (limit.isTimedOut) outcome = 'timed_out';
      throw error;
    } finally {
      limit.release();
      this.#underWay--;
      if (isTrying) this.#isTrying = false;
      // A session that has ended says nothing of the service.
      const isGivenUp = asked.signal.aborted && outcome === 'failed';
      if (!isGivenUp) {
        this.#note(outcome);
        onCall?.(outcome);
      }
    }
  }

  async #ask(
    { text, language, classes, organisationId, timeoutMs }: AnalyzedText,
    signal: AbortSignal,
  ): Promise<Match[]> {
    const { clock } = this.#options;
    const answerMs = timeoutMs ?? this.#options.timeoutMs;
    const content = plainContentOf({ kind: 'json', json: { ...analyzeRequest(text, this.#known(language), classes) } });
    const { status, body } = await exchange(
      {
        method: 'POST',
        url: this.#url,
        headers: {},
        organisationId,
        content,
        answerMs,
        answerBytesMax: ANSWER_BYTES_MAX,
      },
      signal,
      { pools: this.#pools, clock },
    );
    if (!isSuccess(status)) throw new Error(`The service answered with ${status}.`);
    return matchesIn(body, text, classes);
  }

  #known(language: string | undefined): string {
    const { languages } = this.#options;
    const base = language?.toLowerCase().split('-')[0] ?? '';
    return languages.includes(base) ? base : (languages[0] as string);
  }

  #isResting(): boolean {
    return this.#restsUntil !== undefined && (this.#isTrying || this.#options.clock.now() < this.#restsUntil);
  }

  #note(outcome: CallOutcome): void {
    if (outcome === 'answered') {
      this.#failures = 0;
      this.#restMs = REST_MS;
      this.#restsUntil = undefined;
    } else if (outcome !== 'busy') {
      this.#failures++;
      if (this.#failures < FAILURES_MAX) return;
      // Calls that were under way when it was left alone say nothing new.
      const now = this.#options.clock.now();
      if (this.#restsUntil !== undefined && now < this.#restsUntil) return;
      this.#restsUntil = now + this.#restMs;
      this.#restMs = Math.min(REST_MS_MAX, this.#restMs * 2);
    }
  }
}

/** The text in parts that share some of their ends, cut at white space where there is some. */
export function* partsOf(text: string): Generator<{ from: number; text: string }> {
  let from = 0;
  while (text.length - from > PART_CHARS_MAX) {
    const to = cutBefore(text, from + PART_CHARS_MAX, from + PART_CHARS_MAX - OVERLAP_CHARS);
    yield { from, text: text.slice(from, to) };
    from = cutBefore(text, to - OVERLAP_CHARS, to - 2 * OVERLAP_CHARS);
  }
  yield { from, text: text.slice(from) };
}

/** The last white space between two places; the later one where there is none. Never within a code point. */
function cutBefore(text: string, latest: number, earliest: number): number {
  for (let at = latest; at > earliest; at--) if (/\s/.test(text[at] as string)) return at;
  const code = text.charCodeAt(latest);
  return code >= 0xdc00 && code <= 0xdfff ? latest - 1 : latest;
}
