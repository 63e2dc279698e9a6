// The results of a streaming call, in the form that Google gave them and others took over: settled ones, each a turn of its own, and
// behind them what is not settled, in parts. They have no names but where they end and what they say.
import type { Heard, Utterance, Word } from '../../../../machines/events.ts';
import type { FailureTable } from '../failures.ts';
import { Warnings } from '../heard.ts';
import { LegClock } from '../leg-clock.ts';
import { HALF_CLOSE, type LiveCodec, type Step } from '../provider.ts';
import { TurnsFromPieces } from '../turns/turns-from-pieces.ts';
import { oneSpeaker, utteranceOf, wordOf } from '../words.ts';

/** One result as the service tells it. Times are its own seconds. */
export interface ToldResult {
  isFinal: boolean;
  text: string;
  end: number | undefined;
  words: readonly Word[];
  confidence?: number | undefined;
  language?: string | undefined;
}

/**
 * A result in its place.
 *
 * @param place takes a time of the service's to where it is in the audio
 * @param from where what was not told of before begins
 * @param until where it ends if nothing says so
 */
export function utteranceOfResult(
  { text, end, words, confidence, language }: ToldResult,
  place: (seconds: number) => number,
  from: number,
  until: number,
): Utterance {
  const told = Math.max(from, end === undefined ? until : place(end));
  const [first] = words;
  if (first === undefined || text === '') return utteranceOf(text, from, told, { confidence, language });
  const placed = words.map((each) =>
    wordOf(each.word, place(each.start), place(each.end), each.confidence, each.speaker),
  );
  const last = placed.reduce((most, word) => Math.max(most, word.end), told);
  return utteranceOf(text, place(first.start), last, {
    confidence,
    language,
    words: placed,
    speaker: oneSpeaker(placed),
  });
}

/** Of one call: what it was sent, and the turns that its results make. */
export class StreamedResults {
  readonly clock: LegClock;
  readonly turns = new TurnsFromPieces();
  readonly warnings = new Warnings();
  readonly #service: { title: string; endMember: string };
  readonly #pieceSeconds: number;
  /** Where the last final ends. */
  #settledSeconds = 0;

  /**
   * @param service its title, and what it calls the end of a result
   * @param pieceSeconds silence is sent in pieces of so much
   */
  constructor(sampleRate: number, service: { title: string; endMember: string }, pieceSeconds: number) {
    this.clock = new LegClock(sampleRate);
    this.#service = service;
    this.#pieceSeconds = pieceSeconds;
  }

  audio(frame: Uint8Array): Uint8Array {
    this.clock.audio(frame);
    return frame;
  }

  /** At least so many seconds of it. */
  silence(seconds = this.#pieceSeconds): Uint8Array[] {
    const pieces = Math.ceil(seconds / this.#pieceSeconds);
    return Array.from({ length: pieces }, () => this.clock.silence(this.#pieceSeconds));
  }

  hear(results: readonly ToldResult[]): Heard[] {
    const steps = results.filter(({ isFinal }) => isFinal).flatMap((result) => this.#settled(result));
    const parts = results.filter(({ isFinal, text }) => !isFinal && text !== '').map((result) => this.#placed(result));
    const last = parts.at(-1);
    if (last === undefined) return steps;
    const text = parts.map((part) => part.text).join(' ');
    return [...steps, this.turns.partial(utteranceOf(text, this.#settledSeconds, last.end))];
  }

  #placed(result: ToldResult): Utterance {
    const { clock } = this;
    const until = clock.legSeconds(clock.sentSeconds);
    return utteranceOfResult(result, (seconds) => clock.legSeconds(seconds), this.#settledSeconds, until);
  }

  #settled(result: ToldResult): Heard[] {
    const { end, text } = result;
    if (this.turns.isRepeated(`${end} ${text}`)) return [];
    const utterance = this.#placed(result);
    const isPast = text !== '' && (end === undefined || this.clock.legSeconds(end) < this.#settledSeconds);
    // Where words were shown, an end without words may have another behind it.
    if (text !== '' || !this.turns.open) this.#settledSeconds = Math.max(this.#settledSeconds, utterance.end);
    const { title, endMember } = this.#service;
    const warned = isPast ? this.warnings.estimated(title, endMember) : [];
    return [...warned, this.turns.piece(utterance), ...this.turns.end()];
  }
}

interface CallState {
  results: StreamedResults;
  /** Sent where a turn is to end: there is no message for that. */
  silenceSeconds: number;
  finishing: boolean;
}

/** What codecs of such calls have in common. A call says nothing before it hears speech. */
export const streamedCall = <State extends CallState>(failures: FailureTable) =>
  ({
    opened: () => [{ type: 'ready' }],
    audio: ({ results }, frame) => results.audio(frame),
    finalize: ({ results, silenceSeconds }) =>
      results.silence(silenceSeconds).map((frame): Step => ({ type: 'send', frame })),
    finish(state) {
      state.finishing = true;
      return [{ type: 'send', frame: HALF_CLOSE }];
    },
    keepAlive: ({ finishing, results }) => (finishing ? [] : results.silence()),
    refused: (refusal) => failures.ofRefusal(refusal),
    closed: ({ finishing, results }, code, reason) =>
      failures.heardOfClose(code, reason, { finishing, open: results.turns.open }),
  }) satisfies Partial<LiveCodec<State>>;
