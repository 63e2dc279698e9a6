// The inputs of an operation in addition to its arguments and the rows. Calls that share a commit are one entry with one time. Copies
// of a database that apply the same entries must end up with the same rows and give the same answers. So an operation does not read
// a clock, draw at random, or remember anything in memory that decides what it writes, and it selects some of the rows by a total
// order only.

/** The time of the current entry. */
export class EntryContext {
  #nowMs = 0;
  #nowText = '';

  /** Starts an entry. @param nowMs wall-clock milliseconds */
  begin(nowMs: number): void {
    if (nowMs !== this.#nowMs) this.#nowText = '';
    this.#nowMs = nowMs;
  }

  readonly nowMs = (): number => this.#nowMs;

  readonly nowText = (): string => {
    if (this.#nowText === '') this.#nowText = new Date(this.#nowMs).toISOString();
    return this.#nowText;
  };
}
