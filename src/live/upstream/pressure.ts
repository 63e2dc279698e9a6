// Whether a provider takes what it is sent: by the bytes that wait unsent, and by the frames it has not confirmed, where it confirms
// them. Asks for a pause when much waits, and notices a provider that takes no more.
import type { LegFailure } from '../../../machines/events.ts';
import type { UpstreamDependencies } from './leg-connection.ts';
import { clogged, unconfirmed } from './leg-failures.ts';

const PRESSURE_BYTES = { high: 262_144, max: 1_048_576 };
/** Nothing taken of what waits for so long: the provider does not take any more. It may be slow. */
const CLOGGED_MS = 5_000;

/** What is looked at. */
interface Source {
  unsentBytes(): number;
  /** Undefined where the provider confirms nothing. */
  unconfirmedFrames: { now(): number; max: number } | undefined;
}

interface Calls {
  changed(high: boolean): void;
  clogged(failure: LegFailure): void;
}

/** One thing that may pile up. */
interface Measure {
  now(): number;
  /** Above `high` a pause is requested, which is over at `low`; above `max` it is too late for one. */
  low: number;
  high: number;
  max: number;
  failure: LegFailure;
  isHigh: boolean;
  timer: unknown;
}

export class Pressure {
  readonly #clock: UpstreamDependencies['clock'];
  readonly #calls: Calls;
  readonly #measures: readonly Measure[];
  #isHigh = false;
  #stopped = false;

  constructor(
    { unsentBytes, unconfirmedFrames }: Source,
    { clock, pressureBytes = PRESSURE_BYTES }: Pick<UpstreamDependencies, 'clock' | 'pressureBytes'>,
    calls: Calls,
  ) {
    this.#clock = clock;
    this.#calls = calls;
    const idle = { isHigh: false, timer: undefined };
    // The connection says when it is low.
    const unsent = { now: unsentBytes, low: -1, ...pressureBytes, failure: clogged, ...idle };
    this.#measures =
      unconfirmedFrames === undefined ? [unsent] : [unsent, { ...measureOf(unconfirmedFrames), ...idle }];
  }

  /** Something was sent, taken or confirmed. */
  look(): void {
    if (this.#stopped) return;
    let isHigh = false;
    for (const measure of this.#measures) {
      this.#judge(measure);
      isHigh ||= measure.isHigh;
    }
    if (isHigh === this.#isHigh || this.#stopped) return;
    this.#isHigh = isHigh;
    this.#calls.changed(isHigh);
  }

  /** What waited unsent is sent. */
  relieve(): void {
    const [unsent] = this.#measures;
    if (unsent !== undefined) this.#relieve(unsent);
    this.look();
  }

  stop(): void {
    this.#stopped = true;
    for (const { timer } of this.#measures) this.#clock.clearTimeout(timer);
  }

  #judge(measure: Measure): void {
    const amount = measure.now();
    if (amount > measure.max) this.#clogged(measure);
    else if (!measure.isHigh && amount > measure.high) {
      measure.isHigh = true;
      this.#watch(measure, amount);
    } else if (amount <= measure.low) this.#relieve(measure);
  }

  #relieve(measure: Measure): void {
    measure.isHigh = false;
    this.#clock.clearTimeout(measure.timer);
  }

  #watch(measure: Measure, before: number): void {
    measure.timer = this.#clock.setTimeout(() => {
      const amount = measure.now();
      if (amount >= before) this.#clogged(measure);
      else this.#watch(measure, amount);
    }, CLOGGED_MS);
  }

  #clogged({ failure }: Measure): void {
    this.stop();
    this.#calls.clogged(failure);
  }
}

/** The session may be on another node: what it sends before it is told of a pause is not held against the provider. */
const measureOf = ({ now, max }: NonNullable<Source['unconfirmedFrames']>) => ({
  now,
  low: Math.floor(max / 2),
  high: max,
  max: 2 * max,
  failure: unconfirmed,
});
