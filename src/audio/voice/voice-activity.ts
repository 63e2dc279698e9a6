// Whether a window of audio is louder than its surroundings are by themselves: the threshold follows the noise. Made for
// audio that is to be cut; what it takes for speech by mistake costs a request, what it misses is lost, so it errs upwards.
import { powerOf, WINDOW_MS } from './window-power.ts';

/** The quietest window of this time is taken for the noise: speech has a gap between two words sooner. */
const MEMORY_MS = 4_000;
const BLOCK_MS = 500;
/** What the noise is taken for until the first of that time has passed. */
const NOISE_DBFS = -60;
/** How far speech stands out. */
const MARGIN_DB = 9;
/** What is louder is speech, whatever the noise; what is quieter is none. */
const LOUDEST_DBFS = -32;
const QUIETEST_DBFS = -57;

const BLOCKS = MEMORY_MS / BLOCK_MS;
const BLOCK_WINDOWS = BLOCK_MS / WINDOW_MS;
const MARGIN = 10 ** (MARGIN_DB / 10);
const LOUDEST = powerOf(LOUDEST_DBFS);
const QUIETEST = powerOf(QUIETEST_DBFS);

export class VoiceActivity {
  /** Power of the quietest window of each block, the oldest at `#next`. */
  readonly #quietest = new Float64Array(BLOCKS).fill(powerOf(NOISE_DBFS));
  #next = 0;
  #windows = 0;
  #current = Number.POSITIVE_INFINITY;
  #noise = powerOf(NOISE_DBFS);

  /** The next window, by its power. Returns whether it is speech. */
  hears(power: number): boolean {
    const threshold = Math.min(LOUDEST, Math.max(QUIETEST, this.#noise * MARGIN));
    this.#learn(power);
    return power >= threshold;
  }

  #learn(power: number): void {
    this.#current = Math.min(this.#current, power);
    this.#noise = Math.min(this.#noise, power);
    this.#windows++;
    if (this.#windows < BLOCK_WINDOWS) return;
    this.#quietest[this.#next] = this.#current;
    this.#next = (this.#next + 1) % BLOCKS;
    this.#windows = 0;
    this.#current = Number.POSITIVE_INFINITY;
    this.#noise = this.#quietest.reduce((least, each) => Math.min(least, each));
  }
}
