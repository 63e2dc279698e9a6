// The fault `invented-text`: sentences for sounds without a voice, as Whisper invents them.
import type { EarMessage, HeardTurn } from '../kit/simulation.ts';
import { wordsOf } from '../kit/simulator/words.ts';

const TEXTS = ['Thank you.', 'Subtitles by the Amara.org community', 'Thank you for watching!'] as const;
const CONFIDENCE = 0.5;
/** A shorter pause of a file stays without a text. */
const PAUSE_SECONDS_MIN = 2;
/** Of the pause on each side of its text. */
const MARGIN_SECONDS = 0.5;
const TEXT_SECONDS_MAX = 2;

/** A turn without words, with some. @param count of those before it */
export function inventedFinal(
  { turn, start, end }: Extract<EarMessage, { type: 'no_match' }>,
  count: number,
): Extract<EarMessage, { type: 'final' }> {
  return { type: 'final', turn, ...inventedTurn(start, end, count) };
}

/** The turns of a file, with one in each pause; a file without any gets one for all of it. */
export function withInventedTurns(turns: readonly HeardTurn[], seconds: number): HeardTurn[] {
  if (turns.length === 0) return [inventedTurn(0, seconds, 0)];
  const all: HeardTurn[] = [];
  let count = 0;
  let end = 0;
  const pause = (until: number) => {
    if (until - end < PAUSE_SECONDS_MIN) return;
    const start = end + MARGIN_SECONDS;
    all.push(inventedTurn(start, Math.min(until - MARGIN_SECONDS, start + TEXT_SECONDS_MAX), count++));
  };
  for (const turn of turns) {
    pause(turn.start);
    all.push(turn);
    end = Math.max(end, turn.end);
  }
  pause(seconds);
  return all;
}

function inventedTurn(start: number, end: number, count: number): HeardTurn {
  const text = TEXTS[count % TEXTS.length] as string;
  return { text, start, end, words: wordsOf({ text, start, end }), confidence: CONFIDENCE };
}
