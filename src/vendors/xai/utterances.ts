// What xAI's transcripts come to. An utterance is locked chunk by chunk, and said again as a whole at its end, with other punctuation:
// so chunks are interims, and the end is the final. Where an end says less than that, the chunks before it stand in front of it.
import type { Utterance, Word } from '../../../machines/events.ts';
import { ended, failed, partial } from '../kit/heard.ts';
import { fractionIn, type JsonObject, listIn, objectIn, textIn, timeIn } from '../kit/json.ts';
import type { LegClock } from '../kit/leg-clock.ts';
import type { Step } from '../kit/provider.ts';
import { finalMissing, joinUtterances } from '../kit/turn-text.ts';
import { meanConfidence, oneSpeaker, Speakers, textOf, utteranceOf } from '../kit/words.ts';
import { wordsIn } from './api.ts';

/** What was heard, and whether it was said where. */
interface Told {
  utterance: Utterance;
  isPlaced: boolean;
}

/** Times on the wire have two decimals. */
const ROUNDING_SECONDS = 0.02;
/** Sums of such times are exact to much less than that. */
const SUM_SECONDS = 1e-6;
/** Chunks that are known one by one; beyond that they are joined. */
const CHUNKS_MAX = 64;
const ENDED_MAX = 8;

const lettersOf = ({ text }: Utterance): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
/** Whether a text begins as another does: what is written again is not the same to the last letter. */
const restates = (text: string, before: string): boolean =>
  text.startsWith(before.slice(0, Math.ceil(before.length / 2)));

export class Utterances {
  readonly #clock: LegClock;
  readonly #speakers = new Speakers();
  #turn = 0;
  /** Locked chunks of the open utterance. */
  #chunks: Utterance[] = [];
  #unsettled = false;
  /** The last ends with words, as they were told, the newest first; and up to where utterances have ended. */
  readonly #ended: Utterance[] = [];
  #settledSeconds = 0;

  constructor(clock: LegClock) {
    this.#clock = clock;
  }

  get turn(): number {
    return this.#turn;
  }

  /** Words were heard that are no final yet. */
  get open(): boolean {
    return this.#unsettled || this.#chunks.length > 0;
  }

  /** A `transcript.partial`. */
  heard(message: JsonObject): Step[] {
    const told = this.#toldIn(message);
    if (told === undefined) return [];
    const { text, end } = told.utterance;
    const isEnd = message.speech_final === true;
    const isFinal = isEnd || message.is_final === true;
    const isPast = told.isPlaced && end <= this.#settledSeconds;
    if (isPast && (text === '' ? this.#chunks.length === 0 : !isEnd)) return [];
    if (text === '' && !isFinal) return [];
    const fresh = this.#unsaid(told);
    if (fresh === undefined) return [];
    if (fresh === 'unclear') {
      this.#unsettled = true;
      return isFinal ? [failed(finalMissing)] : [];
    }
    // An end that comes late, of an utterance that is not the open one.
    if (isPast && text !== '') return [this.#final(fresh)];
    const parts = this.#withChunks(fresh, told.isPlaced);
    const whole = joinUtterances(parts);
    if (isEnd || whole.text === '') {
      const known = fresh === told.utterance ? whole : told.utterance;
      return this.#end(whole, fractionIn(message.end_of_turn_confidence), known);
    }
    this.#unsettled = !isFinal;
    if (isFinal) this.#chunks = parts.length > CHUNKS_MAX ? [whole] : parts;
    return [partial(this.#turn, whole)];
  }

  /** Ends the utterance with what is locked of it; words behind that are of the next. */
  endLocked(): Step[] {
    const isOpen = this.#unsettled;
    const steps = this.#chunks.length === 0 ? [] : this.#end(joinUtterances(this.#chunks));
    this.#unsettled = isOpen;
    return steps;
  }

  /** A `transcript.done`: the rest, nothing, or everything once more. */
  rest({ text, words: listed }: JsonObject): Step[] {
    const told = this.#toldIn({ text, words: listed });
    const { words } = told?.utterance ?? {};
    const fresh =
      told && (words === undefined ? this.#unsaid(told) : this.#behind(told.utterance, this.#settledSeconds));
    if (fresh === 'unclear') return [failed(finalMissing)];
    if (fresh === undefined || fresh.text === '') return this.endLocked();
    return this.#end(joinUtterances(this.#withChunks(fresh, words !== undefined)));
  }

  #toldIn({ text: said, words: listed, start, duration, language }: JsonObject): Told | undefined {
    const text = textIn(said)?.trim();
    if (text === undefined) return undefined;
    const [from, seconds] = [timeIn(start), timeIn(duration)];
    const words = this.#wordsIn(listIn(listed), from, seconds);
    const begins = from === undefined ? words?.[0]?.start : this.#clock.legSeconds(from);
    const at = begins ?? this.#chunks.at(-1)?.end ?? this.#settledSeconds;
    const isWhole = from !== undefined && seconds !== undefined;
    const until = isWhole ? this.#clock.legSeconds(from + seconds) : words?.at(-1)?.end;
    const utterance = utteranceOf(text, at, Math.max(at, until ?? this.#clock.legSeconds(this.#clock.sentSeconds)), {
      confidence: meanConfidence(words ?? []),
      language: textIn(language) || undefined,
      speaker: oneSpeaker(words),
      words,
    });
    return { utterance, isPlaced: begins !== undefined };
  }

  /** Times that cannot count from the beginning of the session count from that of the transcript. */
  #wordsIn(listed: readonly unknown[], from: number | undefined, seconds: number | undefined): Word[] | undefined {
    const first = timeIn(objectIn(listed[0]).start) ?? 0;
    const last = timeIn(objectIn(listed.at(-1)).end) ?? 0;
    const isOwn = from !== undefined && first < from - ROUNDING_SECONDS && last <= (seconds ?? 0) + ROUNDING_SECONDS;
    return wordsIn(listed, (at) => this.#clock.legSeconds(isOwn ? from + at : at), this.#speakers);
  }

  /** What of it the last ends have not said; undefined for nothing. */
  #unsaid({ utterance, isPlaced }: Told): Utterance | 'unclear' | undefined {
    const { text, start, end, words } = utterance;
    if (text === '') return utterance;
    const said = lettersOf(utterance);
    for (const last of this.#ended.slice(0, isPlaced ? ENDED_MAX : 1)) {
      if (isPlaced && (start >= last.end - ROUNDING_SECONDS || end <= last.start + ROUNDING_SECONDS)) continue;
      const before = lettersOf(last);
      const isWithin = start >= last.start - ROUNDING_SECONDS && end <= last.end + ROUNDING_SECONDS;
      if ((isWithin || !isPlaced) && before.includes(said)) return undefined;
      const isAgain = isPlaced ? start < (last.start + last.end) / 2 && restates(said, before) : said.includes(before);
      if (!isAgain) continue;
      if (isPlaced ? said === before : said.endsWith(before)) return undefined;
      return words === undefined ? 'unclear' : this.#behind(utterance, last.end);
    }
    return utterance;
  }

  /** The words that reach beyond a time, or begin there, however short; undefined where there are none. */
  #behind(utterance: Utterance, seconds: number): Utterance | undefined {
    const all = utterance.words ?? [];
    const words = all.filter(
      ({ start, end }) => end > seconds + ROUNDING_SECONDS || (start > seconds - SUM_SECONDS && end > start),
    );
    const start = words[0]?.start;
    if (start === undefined || words.length === all.length) return start === undefined ? undefined : utterance;
    return { ...utterance, text: textOf(words), start, words };
  }

  /** The parts of the open utterance: its chunks up to there, unless these words say them again, and the words. */
  #withChunks(utterance: Utterance, isPlaced: boolean): Utterance[] {
    if (utterance.text === '' && this.#chunks.length > 0) return this.#chunks;
    const before = this.#chunks.filter(({ start }) => !isPlaced || start < utterance.start - ROUNDING_SECONDS);
    const said = joinUtterances(before);
    const isBehind = isPlaced && utterance.start >= (this.#chunks.at(-1)?.end ?? 0) - ROUNDING_SECONDS;
    if (before.length === 0 || isBehind || !restates(lettersOf(utterance), lettersOf(said)))
      return [...before, utterance];
    return [{ ...utterance, start: said.start }];
  }

  #end(utterance: Utterance, endConfidence?: number, known = utterance): Step[] {
    this.#chunks = [];
    this.#unsettled = false;
    this.#settledSeconds = Math.max(this.#settledSeconds, utterance.end);
    return [this.#final(utterance, endConfidence, known)];
  }

  #final(utterance: Utterance, endConfidence?: number, known = utterance): Step {
    if (known.text !== '') this.#ended.unshift(known);
    if (this.#ended.length > ENDED_MAX) this.#ended.pop();
    return ended(this.#turn++, utterance, endConfidence);
  }
}
