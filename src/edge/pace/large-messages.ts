// How many large messages a process gathers at a time: each is held whole until its last byte has come. The others wait unread, in
// the order in which they began, and one organisation has half of the places at most.

/** Messages up to this size are gathered without asking. */
export const LARGE_BYTES = 1024 * 1024;

interface Waiting {
  organisationId: string;
  granted(): void;
}

export class LargeMessages {
  readonly #max: number;
  readonly #perOrganisation: number;
  readonly #gathered = new Map<string, number>();
  #count = 0;
  #waiting: Waiting[] = [];

  constructor(max: number) {
    this.#max = max;
    this.#perOrganisation = Math.ceil(max / 2);
  }

  /** Whether the message has a place at once; where it has none, `granted` is called as soon as it has. */
  enter(waiting: Waiting): boolean {
    if (this.#hasPlace(waiting.organisationId)) {
      this.#take(waiting.organisationId);
      return true;
    }
    this.#waiting.push(waiting);
    return false;
  }

  /** Gives up a place, or the wait for one. */
  leave(waiting: Waiting): void {
    const at = this.#waiting.indexOf(waiting);
    if (at >= 0) {
      this.#waiting.splice(at, 1);
      return;
    }
    const { organisationId } = waiting;
    const left = (this.#gathered.get(organisationId) ?? 0) - 1;
    if (left > 0) this.#gathered.set(organisationId, left);
    else this.#gathered.delete(organisationId);
    this.#count--;
    const next = this.#waiting.find((other) => this.#hasPlace(other.organisationId));
    if (next === undefined) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#take(next.organisationId);
    next.granted();
  }

  #hasPlace(organisationId: string): boolean {
    return this.#count < this.#max && (this.#gathered.get(organisationId) ?? 0) < this.#perOrganisation;
  }

  #take(organisationId: string): void {
    this.#count++;
    this.#gathered.set(organisationId, (this.#gathered.get(organisationId) ?? 0) + 1);
  }
}
