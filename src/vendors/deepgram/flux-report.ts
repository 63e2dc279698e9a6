// What one `TurnInfo` of Flux says, whatever of its numbers can be read.
import type { Heard, Utterance } from '../../../machines/events.ts';
import type { Warnings } from '../kit/heard.ts';
import { countIn, fractionIn, type JsonObject, textIn, timeIn } from '../kit/json.ts';
import type { LegClock } from '../kit/leg-clock.ts';
import { meanConfidence } from '../kit/words.ts';
import { heardOf, languageOf, wordsIn } from './api.ts';

/** What of a leg's state a report is read by. */
export interface HeardSoFar {
  clock: LegClock;
  /** The turn that is open, and whether words of it were heard. */
  open: { index: number; hasWords: boolean } | undefined;
  endedIndex: number;
  /** Up to here, on the provider's clock, silence was told or a turn has ended. */
  quietSeconds: number;
  /** Up to here all was heard, on the provider's clock. */
  heardSeconds: number;
  warnings: Warnings;
}

/** One report about a turn; `end` is on the provider's clock. `warned`: of what was estimated. */
export interface Report {
  index: number;
  text: string;
  end: number;
  utterance: Utterance;
  /** How sure the provider is that the turn is over. */
  endConfidence: number | undefined;
  warned: Heard[];
}

/** A final is read in any case: numbers that it has not are those of the turn that is open, and of what was heard so far. */
export function reportOf(state: HeardSoFar, message: JsonObject): Report | undefined {
  const { clock } = state;
  const text = textIn(message.transcript);
  const told = {
    turn_index: countIn(message.turn_index),
    audio_window_start: timeIn(message.audio_window_start),
    audio_window_end: timeIn(message.audio_window_end),
  };
  const [missing] = Object.entries(told).find(([, value]) => value === undefined) ?? [];
  const isFinal = message.event === 'EndOfTurn' && text !== '';
  if (text === undefined || (missing !== undefined && !isFinal)) return undefined;
  const index = told.turn_index ?? state.open?.index ?? state.endedIndex + 1;
  const start = told.audio_window_start ?? state.quietSeconds;
  const spoken = state.heardSeconds > start ? state.heardSeconds : clock.sentSeconds;
  const end = clock.heardSeconds(told.audio_window_end ?? spoken);
  const place = (seconds: number) => clock.legSeconds(seconds);
  const words = wordsIn(message.words, place);
  const utterance = heardOf(text, { start: place(Math.min(start, end)), end: place(end) }, words, {
    // The provider gives one for each word, and none for the text.
    confidence: words && meanConfidence(words),
    language: languageOf(message),
  });
  const warned = missing === undefined ? [] : state.warnings.estimated('Deepgram', missing);
  const endConfidence = fractionIn(message.end_of_turn_confidence);
  return { index, text, end, utterance, endConfidence, warned };
}
