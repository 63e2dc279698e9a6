// Which providers this node could not reach of late, for reasons that may be its own: it tells the others, and they have their
// legs elsewhere for a while. One dial that fails is chance.
import type { Clock } from '../../../../machines/clock.ts';

/** Dials in a row. */
const FAILURES_MIN = 2;
export const FAILING_MS = 30_000;

/** By provider: they are a closed set, and so is this. */
export class DialHealth {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #known = new Map<string, { failures: number; untilMs: number }>();

  /** @param onChange a provider could be reached before, and cannot now, or the other way round */
  constructor(clock: Clock, onChange: () => void = () => {}) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  failed(provider: string): void {
    const wasFailing = this.#isFailing(provider);
    const failures = (this.#known.get(provider)?.failures ?? 0) + 1;
    this.#known.set(provider, { failures, untilMs: this.#clock.now() + FAILING_MS });
    if (this.#isFailing(provider) !== wasFailing) this.#onChange();
  }

  worked(provider: string): void {
    const wasFailing = this.#isFailing(provider);
    this.#known.delete(provider);
    if (wasFailing) this.#onChange();
  }

  failing(): string[] {
    return [...this.#known.keys()].filter((provider) => this.#isFailing(provider));
  }

  #isFailing(provider: string): boolean {
    const { failures = 0, untilMs = 0 } = this.#known.get(provider) ?? {};
    return failures >= FAILURES_MIN && this.#clock.now() < untilMs;
  }
}
