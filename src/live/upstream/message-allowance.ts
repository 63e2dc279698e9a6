// How many messages a provider may send on one leg: many for the audio it is sent, some while it is sent none. One that goes on
// without end is work for the whole process, and costs other sessions their places.

const BURST = 4_000;
/** Several times what any provider says of a second of audio. */
const PER_AUDIO_SECOND = 200;
const PER_SECOND = 50;

export class MessageAllowance {
  readonly #bytesPerSecond: number;
  #left = BURST;
  #atMs: number;

  /** @param sampleRate of the leg; encodings of one byte a sample are allowed half as much */
  constructor(sampleRate: number, nowMs: number) {
    this.#bytesPerSecond = 2 * sampleRate;
    this.#atMs = nowMs;
  }

  /** So many bytes of audio were sent: what is said of them may come much later, and all at once. */
  sent(bytes: number): void {
    this.#left += (PER_AUDIO_SECOND * bytes) / this.#bytesPerSecond;
  }

  /** Counts a message, and says whether it is within what is allowed. */
  take(nowMs: number): boolean {
    // What nobody sent for is not saved up.
    if (this.#left < BURST) this.#left = Math.min(BURST, this.#left + ((nowMs - this.#atMs) * PER_SECOND) / 1000);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
