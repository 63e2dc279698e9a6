// How loud audio is, and what brings it to the loudness that the models and the voice detection were made for.

/** Root mean square that speech is brought to, and the most that is amplified for it (hiss stays hiss). */
const LOUDNESS = 0.1;
const GAIN_MAX = 100;

/** The root mean square of a frame. */
export function loudnessOf(frame: Float32Array): number {
  return Math.sqrt(frame.reduce((sum, sample) => sum + sample * sample, 0) / frame.length);
}

/** What samples are multiplied by, where the loudest frame is this loud. */
export const gainOf = (loudest: number): number => Math.min(GAIN_MAX, LOUDNESS / loudest);

/** Whether levelled audio is so loud that a voice is heard: vowels are, breath and the hiss of a line are not. */
export const isVoiced = (levelled: number): boolean => levelled >= LOUDNESS / 6;
