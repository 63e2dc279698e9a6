// What codecs say most often, in short.
import type { Heard, LegFailure, TurnBoundary, Utterance } from '../../../machines/events.ts';
import { providerWords } from './refusals.ts';

export const failed = (failure: LegFailure): Extract<Heard, { type: 'failed' }> => ({ type: 'failed', failure });

type TurnEnded = Extract<Heard, { type: 'turn.ended' }>;

interface PartialDetails {
  /** What the provider thinks of the end of the turn, where it says so with these words. */
  boundary?: TurnBoundary | undefined;
  endConfidence?: number | undefined;
  /** The number of words at the beginning of the text that will not change any more. */
  settledWords?: number | undefined;
}

export const partial = (
  turn: string | number,
  utterance: Utterance,
  { boundary, endConfidence, settledWords }: PartialDetails = {},
): Heard => {
  const heard: Heard = { type: 'partial', turnId: String(turn), utterance };
  if (boundary !== undefined) heard.boundary = boundary;
  if (endConfidence !== undefined) heard.endConfidence = endConfidence;
  if (settledWords !== undefined) heard.settledWords = settledWords;
  return heard;
};

/** The end of a turn that no formatted version follows; without an utterance it is the joined pieces. */
export const ended = (turn: string | number, utterance?: Utterance, endConfidence?: number): TurnEnded => {
  const heard: TurnEnded = { type: 'turn.ended', turnId: String(turn), formattedFollows: false };
  if (utterance !== undefined) heard.utterance = utterance;
  if (endConfidence !== undefined) heard.endConfidence = endConfidence;
  return heard;
};

/** Kinds of warnings; beyond so many none is told. */
const KINDS_MAX = 16;

/** What a provider warns of, each kind told once. */
export class Warnings {
  readonly #told = new Set<string>();

  /** @param words the provider's, behind the gateway's own */
  once(code: string, message: string, words?: string): Heard[] {
    if (this.#told.has(code) || this.#told.size >= KINDS_MAX) return [];
    this.#told.add(code);
    return [{ type: 'warned', code, message: words === undefined ? message : `${message}: ${providerWords(words)}` }];
  }

  /** A settled text came with a number that cannot be right: the text is kept anyway. */
  estimated(title: string, member: string): Heard[] {
    const message = `${title} sent a final with a \`${member}\` that cannot be right. Its text is kept; its place is estimated.`;
    return this.once('place_estimated', message);
  }
}
