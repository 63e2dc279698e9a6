// Whether the finals of a session tell of every sample once: by the numbers that were heard, not by the positions claimed.

/** Providers tell times in milliseconds. */
const TOLERANCE_SECONDS = 0.002;

interface Final {
  text: string;
  end: number;
  turn: number;
}

/** A last piece so short that these make no turn of it: OpenAI takes no commit of less, Flux none without an update. */
const TAIL_SECONDS = 0.1;
const TAILLESS = /^openai\/|\/flux/;

/**
 * What is wrong with the finals, one sentence each.
 *
 * @param models those that may have heard the end
 */
export function gapsIn(
  finals: readonly Final[],
  samples: number,
  sampleRate: number,
  models: readonly string[],
): string[] {
  const problems: string[] = [];
  let next = 0;
  let afterSilence = false;
  for (const { text, turn, end } of finals) {
    for (const range of text.split(' ').filter((each) => each !== '')) {
      // Silence that a leg puts in, to fill a frame or a pause, is none of the session's. It reads as sample 0, again and again.
      const isSilence = range.startsWith('s') || (range === '0-1' && (next & 0xffff) !== 0);
      if (!isSilence) {
        const [from, to] = range.split('-').map(Number) as [number, number];
        // The first sample of the silence was taken for a sample 0 that was still to come.
        if (afterSilence && (next & 0xffff) === 1 && (from & 0xffff) === 0) next--;
        if ((from & 0xffff) !== (next & 0xffff))
          problems.push(`turn ${turn} goes on at ${from}, not at ${next & 0xffff}`);
        next += to - from;
      }
      afterSilence = isSilence || range === '0-1';
    }
    if (text !== '' && Math.abs(end - next / sampleRate) > TOLERANCE_SECONDS)
      problems.push(`turn ${turn} ends at ${end} s, and was heard to ${next / sampleRate} s`);
  }
  const tailSamplesMax = models.some((model) => TAILLESS.test(model)) ? TAIL_SECONDS * sampleRate : 0;
  if (next > samples || samples - next > tailSamplesMax)
    problems.push(`the finals tell of ${next} samples of ${samples}`);
  return problems;
}
