// The legs of a session as its watchers are shown them: the last few, and what became of each.

/** `state`: `connecting`, `streaming`, why it was lost, or `closed` once the session is over. */
export interface LegRecord {
  readonly model: string;
  readonly state: string;
  /** Its provider has said that it is simulated. */
  readonly simulated?: true;
}

const LEGS_MAX = 16;
const UNDER_WAY: ReadonlySet<string> = new Set(['connecting', 'streaming', 'suspended']);

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

  /** Of a session that is over. */
  get atEnd(): LegRecord[] {
    return this.#legs.map((leg) => (UNDER_WAY.has(leg.state) ? { ...leg, state: 'closed' } : { ...leg }));
  }
}
