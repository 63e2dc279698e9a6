// What one `Turn` message says, beside what was heard of its leg before: its words, their place and their speakers.
import type { Utterance, Word } from '../../../machines/events.ts';
import type { Warnings } from '../kit/heard.ts';
import { countIn, fractionIn, type JsonObject, listIn, objectIn, textIn } from '../kit/json.ts';
import { EndedTurns } from '../kit/turns/ended-turns.ts';
import { meanConfidence, type Speakers, textOf, utteranceOf } from '../kit/words.ts';
import { languageOf } from './languages.ts';
import type { LiveTraits } from './models.ts';
import { newSpeakers, wordsOf } from './words.ts';

/** The turns of one leg. Orders only rise, so the highest one seen says of each message whether it comes too late. */
export interface Turns {
  readonly traits: LiveTraits;
  /** `format_turns` was sent: an unformatted end may be followed by a formatted one. */
  readonly formats: boolean;
  readonly speakers: Speakers;
  readonly ended: EndedTurns;
  readonly warnings: Warnings;
  /** The highest `turn_order` seen, and whether it has ended. */
  order: number;
  over: boolean;
  /** What was last heard of the turn that has not ended. */
  open: { message: TurnMessage; words: Word[] } | undefined;
  /** A turn with unsettled words that a later one has overtaken: its end is still to come. */
  overtaken: number | undefined;
  /** The ended turn whose formatted final has not come. */
  awaitedOrder: number | undefined;
  /** The words of that turn as a `SpeakerRevision` has told them, where it came first. */
  revised: JsonObject | undefined;
  /** Seconds up to which words were heard. */
  heardUntil: number;
}

export interface TurnMessage {
  turn_order: number;
  end_of_turn: boolean;
  turn_is_formatted: boolean;
  transcript: string;
  words: unknown;
  speaker_label: unknown;
  language_code: unknown;
  end_of_turn_confidence: number | undefined;
}

export function newTurns(traits: LiveTraits, formats: boolean, warnings: Warnings): Turns {
  return {
    traits,
    formats,
    speakers: newSpeakers(),
    ended: new EndedTurns(),
    warnings,
    order: -1,
    over: true,
    open: undefined,
    overtaken: undefined,
    awaitedOrder: undefined,
    revised: undefined,
    heardUntil: 0,
  };
}

/** Universal-Streaming leaves the last words out of `transcript`; Universal-3 closes what goes on with an em dash. */
export function interim(turns: Turns, message: TurnMessage, words: Word[]): Utterance {
  if (turns.traits.partials === 'words')
    return heardOf(turns, message, words, words.length === 0 ? message.transcript : textOf(words));
  const shown = words.map((word) => ({ ...word, word: undashed(word.word) })).filter(({ word }) => word !== '');
  return heardOf(turns, message, shown, undashed(message.transcript || textOf(words)));
}

const undashed = (text: string): string => text.replace(/\s*—\s*$/, '');

export function heardOf(turns: Turns, message: TurnMessage, words: Word[], text: string): Utterance {
  // A turn without words says nothing of where it was: all that is known is what was heard before.
  const start = words[0]?.start ?? turns.heardUntil;
  return utteranceOf(text, start, Math.max(start, words.at(-1)?.end ?? turns.heardUntil), {
    confidence: meanConfidence(words),
    speaker: turns.speakers.numberOf(message.speaker_label),
    language: languageOf(message.language_code),
    words,
  });
}

/** An end without an order that can be read is that of the open turn, or of a next one. */
export function turnMessage({ order, over }: Turns, json: JsonObject): TurnMessage | undefined {
  const { end_of_turn, turn_is_formatted, transcript, words, speaker_label, language_code } = json;
  const hasWords = listIn(words).length > 0;
  // The end of a turn that says nothing of its words is none: the real one may still come.
  if (end_of_turn === true && textIn(transcript) === undefined && !hasWords) return undefined;
  const isFinal = end_of_turn === true && (transcript !== '' || hasWords);
  const turn_order = countIn(json.turn_order) ?? (isFinal ? order + (over ? 1 : 0) : undefined);
  if (turn_order === undefined || typeof end_of_turn !== 'boolean') return undefined;
  return {
    turn_order,
    end_of_turn,
    turn_is_formatted: turn_is_formatted === true,
    transcript: textIn(transcript)?.trim() ?? '',
    words,
    speaker_label,
    language_code,
    end_of_turn_confidence: fractionIn(json.end_of_turn_confidence),
  };
}

/** The words of a message; none where it speaks of silence. */
export function wordsHeard(turns: Turns, message: TurnMessage, sentSeconds: number): Word[] {
  const words = wordsOf(message.words, turns.speakers, sentSeconds);
  for (const { end } of words) turns.heardUntil = Math.max(turns.heardUntil, end);
  if (turns.traits.silence?.test(message.transcript || textOf(words)) !== true) return words;
  message.transcript = '';
  return [];
}

export function wholeOf(turns: Turns, message: TurnMessage, sentSeconds: number): Utterance {
  const words = wordsHeard(turns, message, sentSeconds);
  return heardOf(turns, message, words, message.transcript || textOf(words));
}

/** The message with the speakers that were settled meanwhile. */
export function revised(turns: Turns, message: TurnMessage): TurnMessage {
  const { words, speaker_label } = turns.revised ?? {};
  const labels = listIn(words).map((word) => objectIn(word).speaker);
  const spoken = listIn(message.words);
  if (labels.length !== spoken.length) return message;
  message.words = spoken.map((word, at) => ({ ...objectIn(word), speaker: labels[at] }));
  message.speaker_label = speaker_label ?? message.speaker_label;
  return message;
}
