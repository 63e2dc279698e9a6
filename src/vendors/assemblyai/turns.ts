// Reads the `Turn` messages of a session: words, their place and their speakers, and which turns they end.
import type { Heard, Utterance, Word } from '../../../machines/events.ts';
import { ended, failed, partial, type Warnings } from '../kit/heard.ts';
import { countIn, fractionIn, type JsonObject, listIn, objectIn, textIn } from '../kit/json.ts';
import { finalMissing } from '../kit/turn-text.ts';
import { EndedTurns } from '../kit/turns/ended-turns.ts';
import { meanConfidence, type Speakers, textOf, utteranceOf } from '../kit/words.ts';
import { areSettled, languageOf, newSpeakers, settledCount, wordsOf } from './api.ts';
import type { LiveTraits } from './models.ts';

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

/** Universal-Streaming leaves the last words out of `transcript`; Universal-3 closes what continues with an em dash. */
export function interim(turns: Turns, message: TurnMessage, words: Word[]): Utterance {
  if (turns.traits.partials === 'words')
    return heardOf(turns, message, words, words.length === 0 ? message.transcript : textOf(words));
  const shown = words.map((word) => ({ ...word, word: undashed(word.word) })).filter(({ word }) => word !== '');
  return heardOf(turns, message, shown, undashed(message.transcript || textOf(words)));
}

const undashed = (text: string): string => text.replace(/\s*\u2014\s*$/, '');

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

/**
 * Reads one `Turn`.
 *
 * @param sentSeconds audio sent so far: nothing was heard beyond it
 */
export function readTurn(turns: Turns, json: JsonObject, sentSeconds: number): Heard[] {
  const message = turnMessage(turns, json);
  if (message === undefined) return [];
  const { turn_order, end_of_turn } = message;
  const warned = countIn(json.turn_order) === undefined ? turns.warnings.estimated('AssemblyAI', 'turn_order') : [];
  if (turn_order === turns.awaitedOrder && end_of_turn) return formatted(turns, message, sentSeconds);
  if (turn_order === turns.overtaken && end_of_turn) return late(turns, message, sentSeconds);
  if (turn_order < turns.order || (turn_order === turns.order && turns.over)) return stray(turns, message, sentSeconds);

  const isNext = turn_order > turns.order;
  const wasOvertaken = turns.overtaken !== undefined;
  const heard = isNext && !wasOvertaken ? supersede(turns) : [];
  // A later final would cover the words of the overtaken turn, which has none: all of it is heard again.
  if (turns.overtaken !== undefined && (end_of_turn || (isNext && wasOvertaken))) return [failed(finalMissing)];
  turns.order = turn_order;
  turns.over = end_of_turn;
  const words = wordsHeard(turns, message, sentSeconds);
  if (!end_of_turn) {
    turns.open = { message, words };
    const settledWords = settledCount(message.words);
    const details = settledWords > 0 ? { settledWords } : {};
    return [...heard, partial(turn_order, interim(turns, message, words), details)];
  }
  turns.open = undefined;
  const utterance = heardOf(turns, message, words, message.transcript || textOf(words));
  const formattedFollows = turns.formats && !message.turn_is_formatted && utterance.text !== '';
  turns.awaitedOrder = formattedFollows ? turn_order : undefined;
  turns.revised = undefined;
  turns.ended.note(turn_order, utterance);
  const end = ended(turn_order, utterance, message.end_of_turn_confidence);
  return [...heard, { ...end, formattedFollows }, ...warned];
}

/** The end of a turn said again: its formatted version, unless it is the same once more, or has lost its words. */
function formatted(turns: Turns, message: TurnMessage, sentSeconds: number): Heard[] {
  if (!message.turn_is_formatted || message.transcript === '') return [];
  turns.awaitedOrder = undefined;
  const words = wordsHeard(turns, revised(turns, message), sentSeconds);
  const utterance = heardOf(turns, message, words, message.transcript);
  return [{ type: 'turn.formatted', turnId: String(message.turn_order), utterance }];
}

/** The end of a turn that a later one has overtaken, and that has not ended yet. */
function late(turns: Turns, message: TurnMessage, sentSeconds: number): Heard[] {
  turns.overtaken = undefined;
  const utterance = wholeOf(turns, message, sentSeconds);
  turns.ended.note(message.turn_order, utterance);
  return [ended(message.turn_order, utterance)];
}

/** The end of a turn whose order has fallen: another turn, unless it is one said again. */
function stray(turns: Turns, message: TurnMessage, sentSeconds: number): Heard[] {
  if (!message.end_of_turn) return [];
  const utterance = wholeOf(turns, message, sentSeconds);
  const turnId = turns.ended.strayOf(message.turn_order, utterance);
  return turnId === undefined
    ? []
    : [ended(turnId, utterance), ...turns.warnings.estimated('AssemblyAI', 'turn_order')];
}

/**
 * Speakers that AssemblyAI has settled behind the end of a turn. A final is given once: one that still waits for its formatted
 * version gets them, and of all others the client is told that they stay as they are.
 */
export function readRevision(turns: Turns, { revisions }: JsonObject): Heard[] {
  const told = listIn(revisions).map(objectIn);
  turns.revised = told.find(({ turn_order }) => turn_order === turns.awaitedOrder) ?? turns.revised;
  return told.every(({ turn_order }) => turn_order === turns.awaitedOrder)
    ? []
    : turns.warnings.once(
        'speakers_revised',
        'AssemblyAI has settled speakers of turns that have their final. Finals do not change: words that had no speaker stay without one.',
      );
}

/**
 * A later turn has begun, which proves that the open one is over. Words that were all settled are its final; for others the
 * end is waited for, as long as no later turn ends.
 */
function supersede(turns: Turns): Heard[] {
  const { open } = turns;
  turns.open = undefined;
  if (open === undefined) return [];
  const { message, words } = open;
  if (words.length > 0 && areSettled(message.words)) {
    const utterance = heardOf(turns, message, words, textOf(words));
    turns.ended.note(message.turn_order, utterance);
    return [ended(message.turn_order, utterance)];
  }
  turns.overtaken ??= words.length === 0 && message.transcript === '' ? undefined : message.turn_order;
  return [];
}
