// Whether a provider takes what it is sent: asks for a pause when much waits unsent, and notices one that reads no more.
import type { UpstreamDependencies } from './dependencies.ts';
import type { Wire } from './wire.ts';

const PRESSURE_BYTES = { high: 262_144, max: 1_048_576 };
/** Nothing taken of what waits for so long: the provider does not read any more. It may read slowly. */
const CLOGGED_MS = 5_000;

export class Pressure {
  readonly #wire: Wire;
  readonly #dependencies: Pick<UpstreamDependencies, 'clock' | 'pressureBytes'>;
  readonly #calls: { changed(high: boolean): void; clogged(): void };
  #isHigh = false;
  #timer: unknown;
  #stopped = false;

  constructor(
    wire: Wire,
    dependencies: Pick<UpstreamDependencies, 'clock' | 'pressureBytes'>,
    calls: { changed(high: boolean): void; clogged(): void },
  ) {
    this.#wire = wire;
    this.#dependencies = dependencies;
    this.#calls = calls;
  }

  /** Something was sent. */
  look(): void {
    const { high, max } = this.#dependencies.pressureBytes ?? PRESSURE_BYTES;
    const { bufferedBytes } = this.#wire;
    if (bufferedBytes > max) this.#calls.clogged();
    else if (!this.#isHigh && bufferedBytes > high) {
      this.#isHigh = true;
      this.#watch(bufferedBytes);
      this.#calls.changed(true);
    }
  }

  /** What waited is sent. */
  relieve(): void {
    if (!this.#isHigh || this.#stopped) return;
    this.#isHigh = false;
    this.#dependencies.clock.clearTimeout(this.#timer);
    this.#calls.changed(false);
  }

  stop(): void {
    this.#stopped = true;
    this.#dependencies.clock.clearTimeout(this.#timer);
  }

  #watch(before: number): void {
    this.#timer = this.#dependencies.clock.setTimeout(() => {
      if (this.#wire.bufferedBytes >= before) this.#calls.clogged();
      else this.#watch(this.#wire.bufferedBytes);
    }, CLOGGED_MS);
  }
}
