// The legs of a session as its watchers are shown them: the last few, and what became of each.

/** `state`: `connecting`, `streaming`, or why it was lost. */
export interface LegRecord {
  readonly model: string;
  readonly state: string;
  /** Its provider has said that it is simulated. */
  readonly simulated?: true;
}

const LEGS_MAX = 16;

export class LegHistory {
  readonly #legs: { model: string; state: string; simulated?: true }[] = [];

  opened(model: string): void {
    this.#legs.push({ model, state: 'connecting' });
    if (this.#legs.length > LEGS_MAX) this.#legs.shift();
  }

  /** What the latest leg is doing, or why it was lost. */
  became(state: string): void {
    const leg = this.#legs.at(-1);
    if (leg !== undefined) leg.state = state;
  }

  simulated(): void {
    const leg = this.#legs.at(-1);
    if (leg !== undefined) leg.simulated = true;
  }

  get all(): readonly LegRecord[] {
    return this.#legs;
  }
}
