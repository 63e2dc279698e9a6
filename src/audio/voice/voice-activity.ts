// Whether a window of audio is louder than its surroundings are by themselves: the threshold follows the noise. Made for
// audio that is cut or left out; what it takes for speech by mistake costs little, what it misses is lost, so it errs upwards.
import { powerOf, WINDOW_MS } from './window-power.ts';

/** The quietest window of this time is taken for the noise: speech has a gap between two words sooner. */
const MEMORY_MS = 4_000;
const BLOCK_MS = 500;
/** What the noise is taken for until the first of that time has passed. */
const NOISE_DBFS = -60;

const BLOCKS = MEMORY_MS / BLOCK_MS;
const BLOCK_WINDOWS = BLOCK_MS / WINDOW_MS;

/** What stands out of the noise. */
export interface VoiceRules {
  /** How far speech stands out. */
  marginDb: number;
  /** What is louder is speech, whatever the noise; what is quieter is none. */
  loudestDbfs: number;
  quietestDbfs: number;
}

/** For audio that is cut into utterances. */
const UTTERANCES: VoiceRules = { marginDb: 9, loudestDbfs: -32, quietestDbfs: -57 };

export class VoiceActivity {
  readonly #margin: number;
  readonly #loudest: number;
  readonly #quietest: number;
  /** Power of the quietest window of each block, the oldest at `#next`. */
  readonly #blocks = new Float64Array(BLOCKS).fill(powerOf(NOISE_DBFS));
  #next = 0;
  #windows = 0;
  #current = Number.POSITIVE_INFINITY;
  #noise = powerOf(NOISE_DBFS);

  constructor({ marginDb, loudestDbfs, quietestDbfs }: VoiceRules = UTTERANCES) {
    this.#margin = 10 ** (marginDb / 10);
    this.#loudest = powerOf(loudestDbfs);
    this.#quietest = powerOf(quietestDbfs);
  }

  /** From this power on, the next window is speech. */
  get threshold(): number {
    return Math.min(this.#loudest, Math.max(this.#quietest, this.#noise * this.#margin));
  }

  /** The next window, by its power. Returns whether it is speech. */
  hears(power: number): boolean {
    const { threshold } = this;
    this.#learn(power);
    return power >= threshold;
  }

  #learn(power: number): void {
    this.#current = Math.min(this.#current, power);
    this.#noise = Math.min(this.#noise, power);
    this.#windows++;
    if (this.#windows < BLOCK_WINDOWS) return;
    this.#blocks[this.#next] = this.#current;
    this.#next = (this.#next + 1) % BLOCKS;
    this.#windows = 0;
    this.#current = Number.POSITIVE_INFINITY;
    this.#noise = this.#blocks.reduce((least, each) => Math.min(least, each));
  }
}
