// Checks the numbers of a provider's result: impossible ones are left out, times lie within the file, and no more seconds are
// believed than the file can hold.
import type { Utterance } from '../../machines/events.ts';
import type { BatchResult } from '../providers/provider.ts';

/** A result whose numbers are possible. */
export interface CredibleResult extends BatchResult {
  /** What the provider said of the length, where that was more than the file can hold. */
  claimedSeconds?: number;
}

/** Longer than any recording is. */
const SECONDS_MAX = 360_000;
/** Providers round up to whole seconds, and their last words may end behind the file. */
const ROUNDING_SECONDS = 1;

/** @param secondsMax the most that the file can hold, where somebody knows */
export function credible(result: BatchResult, secondsMax = SECONDS_MAX): CredibleResult {
  const { utterances } = result;
  const said = typeof result.seconds === 'number' ? result.seconds : undefined;
  const most = Math.min(secondsMax, SECONDS_MAX);
  const seconds = said !== undefined && said >= 0 ? Math.min(said, most) : undefined;
  const kept = { ...result, seconds, utterances: utterances.map((each) => within(each, most + ROUNDING_SECONDS)) };
  if (said === undefined || !(said > most + ROUNDING_SECONDS)) return kept;
  const claimedSeconds = Math.min(said, Number.MAX_SAFE_INTEGER / 1000);
  const warning = {
    code: 'duration_bounded',
    message: `The provider says that the audio is ${Math.round(claimedSeconds)} s long; the file holds ${Math.ceil(most)} s at most, and is charged for no more.`,
  };
  return { ...kept, claimedSeconds, warnings: [...result.warnings, warning] };
}

/** The utterance and its words, between the beginning and the end of the file. */
function within(utterance: Utterance, endSeconds: number): Utterance {
  const { words, ...rest } = utterance;
  const placed = place(rest, endSeconds);
  return words === undefined ? placed : { ...placed, words: words.map((word) => place(word, endSeconds)) };
}

interface Timed {
  start: number;
  end: number;
  confidence?: number;
  speaker?: number;
}

function place<Said extends Timed>(said: Said, endSeconds: number): Said {
  const start = clamped(said.start, 0, endSeconds);
  const placed: Said = { ...said, start, end: clamped(said.end, start, endSeconds) };
  if (placed.confidence !== undefined && !(placed.confidence >= 0 && placed.confidence <= 1)) delete placed.confidence;
  if (placed.speaker !== undefined && !(Number.isSafeInteger(placed.speaker) && placed.speaker >= 0))
    delete placed.speaker;
  return placed;
}

/** NaN becomes `from`. */
const clamped = (value: number, from: number, to: number): number => (value > from ? Math.min(value, to) : from);
