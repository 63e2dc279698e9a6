// What AssemblyAI's `Turn` messages come to: interims, one end for each turn, and the formatted final where one follows. How
// long a formatted final is waited for is data of live.ts; what is delivered when is the session's.
import type { Heard } from '../../../machines/events.ts';
import { ended, failed, partial } from '../kit/heard.ts';
import { countIn, type JsonObject, listIn, objectIn } from '../kit/json.ts';
import { textOf } from '../kit/words.ts';
import { finalMissing } from '../turn-text.ts';
import {
  heardOf,
  interim,
  revised,
  type TurnMessage,
  type Turns,
  turnMessage,
  wholeOf,
  wordsHeard,
} from './turn-message.ts';
import { areSettled, settledCount } from './words.ts';

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
