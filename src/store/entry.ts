// The inputs of an operation in addition to its arguments and the rows. Calls that share a commit are one entry with one time. Copies
// of a database that apply the same entries must end up with the same rows and give the same answers. So an operation does not read
// a clock, draw at random, or remember anything in memory that decides what it writes, and it selects some of the rows by a total
// order only. Ids and keys are drawn before the call is queued (node/store/draw.ts).

/** The stored part of a key. */
export interface KeyTrace {
  /** SHA-256 of the whole text. */
  hash: Uint8Array;
  /** The first 11 characters and the last 4. */
  display: string;
}

/** Values drawn for one call. The text of a new key is not among them: only the caller gets it. */
export interface Drawn {
  /** UUIDs. */
  ids: readonly string[];
  key?: KeyTrace;
}

const NOTHING: Drawn = { ids: [] };

/** The time of the current entry, and what was drawn for its current call. */
export class EntryContext {
  #nowMs = 0;
  #nowText = '';
  #drawn = NOTHING;
  #taken = 0;

  /** Starts an entry. @param nowMs wall-clock milliseconds */
  begin(nowMs: number): void {
    if (nowMs !== this.#nowMs) this.#nowText = '';
    this.#nowMs = nowMs;
  }

  readonly beginCall = (drawn = NOTHING): void => {
    this.#drawn = drawn;
    this.#taken = 0;
  };

  readonly nowMs = (): number => this.#nowMs;

  readonly nowText = (): string => {
    if (this.#nowText === '') this.#nowText = new Date(this.#nowMs).toISOString();
    return this.#nowText;
  };

  /** The next id drawn for the call, such as `org_…`. */
  readonly newId = (prefix: string): string => {
    const id = this.#drawn.ids[this.#taken++];
    if (id === undefined) throw new Error('an operation takes more ids than are drawn for it');
    return `${prefix}_${id}`;
  };

  /** The key drawn for the call. */
  readonly newKey = (): KeyTrace => {
    if (this.#drawn.key === undefined) throw new Error('an operation takes a key, and none is drawn for it');
    return this.#drawn.key;
  };
}
