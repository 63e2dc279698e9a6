// What AssemblyAI's `Turn` messages come to: interims, one end for each turn, and the formatted final where one follows. How
// long a formatted final is waited for is data of live.ts; what is delivered when is the session's.
import type { Heard, Utterance, Word } from '../../../machines/events.ts';
import { ended, failed, partial } from '../kit/heard.ts';
import { countIn, type Members, textIn } from '../kit/json.ts';
import { meanConfidence, type Speakers, textOf, utteranceOf } from '../kit/words.ts';
import { finalMissing } from '../turn-text.ts';
import { languageOf } from './languages.ts';
import type { LiveTraits } from './models.ts';
import { areSettled, newSpeakers, wordsOf } from './words.ts';

/** The turns of one leg. Orders only rise, so the highest one seen says of each message whether it comes too late. */
export interface Turns {
  readonly partials: LiveTraits['partials'];
  /** `format_turns` was sent: an unformatted end may be followed by a formatted one. */
  readonly formats: boolean;
  readonly speakers: Speakers;
  /** The highest `turn_order` seen, and whether it has ended. */
  order: number;
  over: boolean;
  /** What was last heard of the turn that has not ended. */
  open: { message: TurnMessage; words: Word[] } | undefined;
  /** A turn with unsettled words that a later one has overtaken: its end is still to come. */
  overtaken: number | undefined;
  /** The ended turn whose formatted final has not come. */
  awaitedOrder: number | undefined;
  /** Seconds up to which words were heard. */
  heardUntil: number;
}

interface TurnMessage {
  turn_order: number;
  end_of_turn: boolean;
  turn_is_formatted: boolean;
  transcript: string;
  words: unknown;
  speaker_label: unknown;
  language_code: unknown;
}

export function newTurns(partials: LiveTraits['partials'], formats: boolean): Turns {
  return {
    partials,
    formats,
    speakers: newSpeakers(),
    order: -1,
    over: true,
    open: undefined,
    overtaken: undefined,
    awaitedOrder: undefined,
    heardUntil: 0,
  };
}

/**
 * Reads one `Turn`.
 *
 * @param sentSeconds audio sent so far: nothing was heard beyond it
 */
export function readTurn(turns: Turns, json: Members, sentSeconds: number): Heard[] {
  const message = turnMessage(json);
  if (message === undefined) return [];
  const { turn_order, end_of_turn } = message;
  if (turn_order === turns.awaitedOrder && end_of_turn) return formatted(turns, message, sentSeconds);
  if (turn_order === turns.overtaken && end_of_turn) return late(turns, message, sentSeconds);
  if (turn_order < turns.order || (turn_order === turns.order && turns.over)) return [];

  const isNext = turn_order > turns.order;
  const wasOvertaken = turns.overtaken !== undefined;
  const heard = isNext && !wasOvertaken ? supersede(turns) : [];
  // A later final would cover the words of the overtaken turn, which has none: all of it is heard again.
  if (turns.overtaken !== undefined && (end_of_turn || (isNext && wasOvertaken))) return [failed(finalMissing)];
  turns.order = turn_order;
  turns.over = end_of_turn;
  const words = wordsOf(message.words, turns.speakers, sentSeconds);
  for (const { end } of words) turns.heardUntil = Math.max(turns.heardUntil, end);
  if (!end_of_turn) {
    turns.open = { message, words };
    return [...heard, partial(turn_order, interim(turns, message, words))];
  }
  turns.open = undefined;
  const utterance = heardOf(turns, message, words, message.transcript || textOf(words));
  const formattedFollows = turns.formats && !message.turn_is_formatted && utterance.text !== '';
  turns.awaitedOrder = formattedFollows ? turn_order : undefined;
  return [...heard, { type: 'turn.ended', turnId: String(turn_order), utterance, formattedFollows }];
}

/** The end of a turn said again: its formatted version, unless it is the same once more, or has lost its words. */
function formatted(turns: Turns, message: TurnMessage, sentSeconds: number): Heard[] {
  if (!message.turn_is_formatted || message.transcript === '') return [];
  turns.awaitedOrder = undefined;
  const words = wordsOf(message.words, turns.speakers, sentSeconds);
  const utterance = heardOf(turns, message, words, message.transcript);
  return [{ type: 'turn.formatted', turnId: String(message.turn_order), utterance }];
}

/** The end of a turn that a later one has overtaken, and that has not ended yet. */
function late(turns: Turns, message: TurnMessage, sentSeconds: number): Heard[] {
  turns.overtaken = undefined;
  const words = wordsOf(message.words, turns.speakers, sentSeconds);
  const utterance = heardOf(turns, message, words, message.transcript || textOf(words));
  return [ended(message.turn_order, utterance)];
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
    return [ended(message.turn_order, utterance)];
  }
  turns.overtaken ??= words.length === 0 && message.transcript === '' ? undefined : message.turn_order;
  return [];
}

/** Universal-Streaming leaves the last words out of `transcript`; Universal-3 closes what goes on with an em dash. */
function interim(turns: Turns, message: TurnMessage, words: Word[]): Utterance {
  if (turns.partials === 'words')
    return heardOf(turns, message, words, words.length === 0 ? message.transcript : textOf(words));
  const shown = words.map((word) => ({ ...word, word: undashed(word.word) })).filter(({ word }) => word !== '');
  return heardOf(turns, message, shown, undashed(message.transcript || textOf(words)));
}

const undashed = (text: string): string => text.replace(/\s*—\s*$/, '');

function heardOf(turns: Turns, message: TurnMessage, words: Word[], text: string): Utterance {
  // A turn without words says nothing of where it was: all that is known is what was heard before.
  const start = words[0]?.start ?? turns.heardUntil;
  return utteranceOf(text, start, Math.max(start, words.at(-1)?.end ?? turns.heardUntil), {
    confidence: meanConfidence(words),
    speaker: turns.speakers.numberOf(message.speaker_label),
    language: languageOf(message.language_code),
    words,
  });
}

function turnMessage(json: Members): TurnMessage | undefined {
  const { end_of_turn, turn_is_formatted, transcript, words, speaker_label, language_code } = json;
  const turn_order = countIn(json.turn_order);
  if (turn_order === undefined || typeof end_of_turn !== 'boolean') return undefined;
  return {
    turn_order,
    end_of_turn,
    turn_is_formatted: turn_is_formatted === true,
    transcript: textIn(transcript)?.trim() ?? '',
    words,
    speaker_label,
    language_code,
  };
}
