// What happens to one session whose connection is cut, drawn from one seed: who hears it, where and how it is cut, and how its
// client speaks. Played by cut-points.ts.
import type { Direction } from '../../../fakes/fault-proxy.ts';
import { type Random, seeded } from '../../../fakes/random.ts';
import { PROTOCOLS, providerOf, rateOf } from '../protocols.ts';

/** OpenAI takes no other rate, and numbers do not survive a conversion. */
export const RATE = 24_000;
/** One model of each way to speak that takes the rate and has one connection: a WebSocket that was asked for has two. */
export const MODELS = PROTOCOLS.filter(({ slug, isAsked }) => !isAsked && rateOf([slug]) === RATE).map(
  ({ slug }) => slug,
);
const DIRECTIONS: readonly Direction[] = ['toServer', 'toClient'];

/** No whole number of milliseconds, frames or turns: 2.3 s. */
export const SAMPLES = 55_223;
export const TURN_SECONDS = 0.5;
const SAMPLES_PER_MS = RATE / 1000;
const TURN_SAMPLES = TURN_SECONDS * RATE;
const WORD_SAMPLES = 0.1 * RATE;

/** `end`: closed. `hole`: swallows what follows, and resets a while later. `none`: nothing is cut. */
type How = 'reset' | 'end' | 'hole' | 'none';

export interface Cut {
  seed: number;
  from: string;
  to: string;
  direction: Direction;
  how: How;
  /** Where in what a whole session sends in this direction, from 0 up to 1. */
  share: number;
  /** Of a hole: milliseconds from when a whole session would have come so far to the reset. */
  holeMs: number;
  /** The client's chunks in samples, and the pause after each. */
  chunks: { samples: number; pauseMs: number }[];
  finalizeAfterChunk: number | undefined;
}

/** The seed says it all; pairs of first model and direction take turns, and for each the models of other providers. */
export function cutOf(seed: number): Cut {
  const random = seeded(seed);
  const from = MODELS[seed % MODELS.length] as string;
  const round = Math.floor(seed / MODELS.length);
  const others = MODELS.filter((model) => providerOf(model) !== providerOf(from));
  const to = others[Math.floor(round / DIRECTIONS.length) % others.length] as string;
  return {
    seed,
    from,
    to,
    direction: DIRECTIONS[round % DIRECTIONS.length] as Direction,
    how: random.pick(['reset', 'end', 'hole'] as const),
    share: random.next(),
    holeMs: random.integer(200, 1_200),
    ...speechOf(random, !(from.startsWith('assemblyai/') && to.includes('/flux'))),
  };
}

/** Nothing is cut: the session that says how long one is. */
export const uncut = (from: string): Cut => ({ ...cutOf(MODELS.indexOf(from)), how: 'none' });

/**
 * Faster than anybody speaks. The end of a turn is asked for at whole milliseconds alone, as others cannot be told exactly,
 * and where the last turn is not left so short that no provider hears a word in it.
 *
 * @param mayFinalize false where nobody can choose how much the last turn is left: AssemblyAI ends a turn with a frame, and
 *   Flux takes an end within 10 ms of the audio's, the precision of its times, for the last
 */
function speechOf(random: Random, mayFinalize: boolean): Pick<Cut, 'chunks' | 'finalizeAfterChunk'> {
  const grain = random.pick([1, SAMPLES_PER_MS]);
  const largest = Math.round((RATE * random.pick([0.02, 0.1, 0.4])) / grain);
  const speed = random.pick([2, 5, 50]);
  const chunks: Cut['chunks'] = [];
  const ends: number[] = [];
  for (let sent = 0; sent < SAMPLES; ) {
    const samples = Math.min(SAMPLES - sent, random.integer(1, largest) * grain);
    sent += samples;
    if (grain !== 1 && (SAMPLES - sent) % TURN_SAMPLES > WORD_SAMPLES) ends.push(chunks.length);
    chunks.push({ samples, pauseMs: (samples * 1000) / RATE / speed });
  }
  const finalizes = mayFinalize && ends.length > 0 && random.next() < 0.5;
  return { chunks, finalizeAfterChunk: finalizes ? random.pick(ends) : undefined };
}
