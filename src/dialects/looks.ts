// What a client waits for although nothing may come of it: no provider says that there is nothing to say.
import type { Step } from './dialect.ts';

export const LOOK_MS = 500;
/** After so many looks without a word there is nothing to say. */
export const LOOKS_MAX = 10;

export interface Awaited {
  /** Whether anything is waited for. */
  readonly waits: boolean;
  /** Time has passed. Gives what is said now. */
  look(): readonly string[];
}

/** Looks at it again and again, as long as it waits. */
export class Looks {
  readonly #awaited: Awaited;
  #isLooking = false;

  constructor(awaited: Awaited) {
    this.#awaited = awaited;
  }

  *begin(): Iterable<Step> {
    if (!this.#isLooking) yield* this.#later();
  }

  *#later(): Iterable<Step> {
    this.#isLooking = this.#awaited.waits;
    if (this.#isLooking) yield { type: 'later', afterMs: LOOK_MS, steps: () => this.#look() };
  }

  *#look(): Iterable<Step> {
    for (const text of this.#awaited.look()) yield { type: 'say', text };
    yield* this.#later();
  }
}
