// Places of a process of which one organisation has half at most.

export class SharedPlaces {
  readonly #max: number;
  readonly #perOrganisation: number;
  readonly #taken = new Map<string, number>();
  #count = 0;

  constructor(max: number) {
    this.#max = max;
    this.#perOrganisation = Math.ceil(max / 2);
  }

  /** False where there is none. */
  take(organisationId: string): boolean {
    const own = this.#taken.get(organisationId) ?? 0;
    if (this.#count >= this.#max || own >= this.#perOrganisation) return false;
    this.#count++;
    this.#taken.set(organisationId, own + 1);
    return true;
  }

  giveBack(organisationId: string): void {
    const left = (this.#taken.get(organisationId) ?? 0) - 1;
    if (left > 0) this.#taken.set(organisationId, left);
    else this.#taken.delete(organisationId);
    this.#count--;
  }
}
