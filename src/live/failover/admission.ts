// Keeps a node from overloading a provider: it opens a limited number of connections to one model at a time, the others wait; and a
// limited number of legs are second attempts, so that a provider in trouble does not receive twice the requests.

/** Of the sessions of a node, how many may be trying the same model again at a time; and how many always may. */
const RETRY_SHARE = 0.2;
const RETRIES_MIN = 3;

/** A place that is held until it is given back. Giving back twice is harmless. */
export interface Ticket {
  release(): void;
}

interface Waiting {
  enter(): void;
  gone: boolean;
}

/** Connections in progress, by model. Who waits is a session each, so the node's limit of sessions bounds the queues. */
export class DialGate {
  readonly #dialsMax: number;
  readonly #busy = new Map<string, { dials: number; waiting: Waiting[] }>();

  /** @param dialsMax connections to one model that may be in progress, from dialling to ready */
  constructor(dialsMax: number) {
    this.#dialsMax = dialsMax;
  }

  /** Those that wait, over all models. */
  get waiting(): number {
    let sum = 0;
    for (const { waiting } of this.#busy.values()) sum += waiting.length;
    return sum;
  }

  /** Calls `dial` now, or when it is its turn; not at all once the ticket was given back. First come, first served. */
  enter(key: string, dial: () => void): Ticket {
    const line = this.#busy.get(key) ?? { dials: 0, waiting: [] };
    this.#busy.set(key, line);
    let inside = false;
    const entry: Waiting = {
      gone: false,
      enter: () => {
        inside = true;
        line.dials++;
        dial();
      },
    };
    if (line.dials < this.#dialsMax) entry.enter();
    else line.waiting.push(entry);
    return {
      release: () => {
        if (entry.gone) return;
        entry.gone = true;
        if (inside) line.dials--;
        else line.waiting.splice(line.waiting.indexOf(entry), 1);
        this.#advance(key, line);
      },
    };
  }

  #advance(key: string, line: { dials: number; waiting: Waiting[] }): void {
    if (line.dials < this.#dialsMax) line.waiting.shift()?.enter();
    if (line.dials === 0 && line.waiting.length === 0) this.#busy.delete(key);
  }
}

/** Second attempts at the same model that may be in progress. */
export class RetryBudget {
  readonly #sessions: () => number;
  #taken = 0;

  /** @param sessions how many sessions the node has now */
  constructor(sessions: () => number) {
    this.#sessions = sessions;
  }

  /** Whether there is room for another. */
  get hasRoom(): boolean {
    return this.#taken < Math.max(RETRIES_MIN, Math.floor(this.#sessions() * RETRY_SHARE));
  }

  take(): Ticket {
    this.#taken++;
    let held = true;
    return {
      release: () => {
        if (held) this.#taken--;
        held = false;
      },
    };
  }
}
