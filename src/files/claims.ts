// Checks the numbers of a provider's result: impossible ones are left out, times lie within the file, and the length is the file's
// where that is known: a provider can neither make it longer than the file can hold nor shorter than it is.
import type { Utterance } from '../../machines/events.ts';
import type { BatchResult, ModelCard } from '../vendors/kit/provider.ts';
import { lasting } from '../vendors/kit/words.ts';
import { BYTES_PER_SECOND_MAX } from './money/length.ts';

/** A result whose numbers are possible. */
export interface CredibleResult extends BatchResult {
  /** Audio seconds of the file, of one channel. */
  seconds: number;
  /** What the provider said of the length, where that was more than the file can hold. */
  claimedSeconds?: number;
  /** Of a file that was cut: the model gave no times, and those of its parts stand for them. */
  isUntimed?: true;
}

/** How much audio a file holds. */
export interface HeldAudio {
  /** As far as the file tells. */
  seconds?: number | undefined;
  /** The least that it holds, where that is less. */
  secondsMin?: number | undefined;
  /** The most that it can hold, where that is known. */
  secondsMax?: number | undefined;
  /** What a file that cannot be measured says of itself. */
  statedSeconds?: number | undefined;
}

/** Longer than any recording is. */
const SECONDS_MAX = 360_000;
/** Nobody says more in a second. */
const CHARACTERS_PER_SECOND_MAX = 25;
/** Providers round to whole seconds, and their last words may end after the file does. */
const ROUNDING_SECONDS = 1;

/**
 * Whether the model told when anything was said. Where it did not, there is one utterance without words that lasts as long as
 * the file.
 */
export function hasTimes({
  utterances,
  seconds,
  isUntimed,
  member,
}: Pick<CredibleResult, 'utterances' | 'seconds' | 'isUntimed'> & { member: { card: ModelCard } }): boolean {
  if (isUntimed) return false;
  const [only, ...others] = utterances;
  if (only === undefined || others.length > 0 || (only.words ?? []).length > 0) return true;
  if (member.card.capabilities.segment_timestamps === false) return false;
  return only.end > only.start && (only.start > 0 || only.end < seconds - 0.001);
}

export function credible(result: BatchResult, held: HeldAudio): CredibleResult {
  const most = Math.min(held.secondsMax ?? SECONDS_MAX, SECONDS_MAX);
  const said = claimOf(result);
  const placed = (fileSeconds: number) =>
    result.utterances.map((each) => within(lasting(each, said ?? 0, fileSeconds), most + ROUNDING_SECONDS));
  const endSeconds = endOf(placed(0));
  const known = lengthOf(said === undefined ? undefined : Math.min(said, most), held, endSeconds);
  const seconds = Math.min(known ?? Math.max(endSeconds, estimate(result, held)), most);
  const kept: CredibleResult = { ...result, seconds, utterances: placed(seconds) };
  if (known === undefined) return warned(kept, UNKNOWN);
  if (said === undefined || Math.abs(said - seconds) <= ROUNDING_SECONDS) return kept;
  const claimedSeconds = Math.min(said, Number.MAX_SAFE_INTEGER / 1000);
  const bounded = warned(kept, boundedWarning(claimedSeconds, seconds));
  return said > most + ROUNDING_SECONDS ? { ...bounded, claimedSeconds } : bounded;
}

/** Whether the length is open until the file is measured: the claim contradicts the words, the bytes or the header of the file. */
export function isContradicted(result: BatchResult, bytes: number, fileSeconds: number | undefined): boolean {
  const claim = claimOf(result);
  if (fileSeconds !== undefined) return claim !== undefined && claim > fileSeconds + ROUNDING_SECONDS;
  const endSeconds = endOf(result.utterances.map((each) => lasting(each, claim ?? 0, 0)));
  return !isClaimOf(claim, endSeconds) || claim < bytes / BYTES_PER_SECOND_MAX;
}

function claimOf({ seconds }: BatchResult): number | undefined {
  return typeof seconds === 'number' && seconds >= 0 ? seconds : undefined;
}

/** Not zero, and not far before the last word. */
const isClaimOf = (claim: number | undefined, endSeconds: number): claim is number =>
  claim !== undefined && claim > 0 && claim >= endSeconds - Math.min(ROUNDING_SECONDS, endSeconds / 2);

/** The length of the file, or the claim where the file leaves that open; undefined where neither agrees with the words. */
function lengthOf(
  said: number | undefined,
  { seconds, secondsMin = seconds }: HeldAudio,
  endSeconds: number,
): number | undefined {
  const claim = isClaimOf(said, endSeconds) ? said : undefined;
  // A header that says less than was heard is not believed.
  if (seconds === undefined || endSeconds > seconds + ROUNDING_SECONDS) return claim;
  if (claim === undefined) return seconds;
  return claim > seconds + ROUNDING_SECONDS ? claim : Math.max(secondsMin ?? 0, Math.min(claim, seconds));
}

/** Where neither the provider nor the samples tell: by what the file says of itself, and by how much was said. */
function estimate({ utterances }: BatchResult, { seconds, statedSeconds = 0 }: HeldAudio): number {
  if (seconds !== undefined) return 0;
  const characters = utterances.reduce((sum, { text }) => sum + text.length, 0);
  return Math.max(statedSeconds, characters / CHARACTERS_PER_SECOND_MAX);
}

const endOf = (utterances: readonly Utterance[]): number =>
  utterances.reduce((latest, { end }) => Math.max(latest, end), 0);

type Warning = BatchResult['warnings'][number];

const warned = (result: CredibleResult, warning: Warning): CredibleResult => ({
  ...result,
  warnings: [...result.warnings, warning],
});

const UNKNOWN: Warning = {
  code: 'duration_unknown',
  message:
    'The provider reports no duration and the file cannot be measured. The duration here is what the header of the file says, or what the words take.',
};

const boundedWarning = (claimed: number, seconds: number): Warning => ({
  code: 'duration_bounded',
  message: `The provider reports a duration of ${Math.round(claimed)} s; the file holds ${Math.ceil(seconds)} s, and that is the duration here.`,
});

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
