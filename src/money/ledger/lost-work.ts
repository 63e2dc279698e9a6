// When live sessions of a node that is gone are given up, at the node that has the database: after long enough that neither the
// node nor its journal is likely to come back. What is billed of them then, and what if it does come back, is the store's.
import type { Clock } from '../../../machines/clock.ts';
import type { LedgerStore } from '../store/calls.ts';
import { LEASE_MS } from './meter.ts';

/** The store closes so many at a time. */
const AT_ONCE = 1_000;
const SESSIONS_AGAIN_MS = 10_000;
/** Nodes that are waited for at a time; past it one that goes is found when the accounts are opened the next time. */
const NODES_MAX = 1_000;

export interface LostSessionsOptions {
  store: Pick<LedgerStore, 'openNodes' | 'closeLost'>;
  clock: Clock;
  wallNow(): Date;
  /** How long a node has to come back; longer than a session continues without the ledger, and than any hold of it lasts. */
  graceMs: number;
  /** By its incarnation. A node that starts again is another one. */
  isThere(node: string): boolean;
  onClosed(node: string, sessions: number): void;
  onFault(error: unknown): void;
}

export class LostSessions {
  readonly #options: LostSessionsOptions;
  readonly #timers = new Map<string, unknown>();
  #closed = false;

  constructor(options: LostSessionsOptions) {
    this.#options = options;
  }

  /** Nodes that are waited for. */
  get size(): number {
    return this.#timers.size;
  }

  /** Asks the ledger for sessions of nodes that were lost while no node watched. Never rejects. */
  async look(): Promise<void> {
    const { store, isThere, onFault } = this.#options;
    try {
      for (const node of await store.openNodes()) if (!isThere(node)) this.gone(node);
    } catch (error) {
      onFault(error);
      this.#later('', SESSIONS_AGAIN_MS, () => void this.look());
    }
  }

  /** The node cannot be reached any more. */
  gone(node: string): void {
    if (this.#timers.has(node) || this.#timers.size >= NODES_MAX) return;
    const goneAt = this.#options.wallNow().toISOString();
    this.#later(node, Math.max(this.#options.graceMs, 2 * LEASE_MS), () => void this.#giveUp(node, goneAt));
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers.values()) this.#options.clock.clearTimeout(timer);
    this.#timers.clear();
  }

  #later(name: string, afterMs: number, then: () => void): void {
    if (this.#closed) return;
    const timer = this.#options.clock.setTimeout(() => {
      this.#timers.delete(name);
      then();
    }, afterMs);
    this.#timers.set(name, timer);
  }

  async #giveUp(node: string, goneAt: string): Promise<void> {
    const { store, isThere, onClosed, onFault } = this.#options;
    // It came back. When it goes again, that is told again.
    if (isThere(node)) return;
    try {
      let sessions = 0;
      for (let count = AT_ONCE; count === AT_ONCE && !this.#closed; sessions += count) {
        count = await store.closeLost(node, goneAt);
      }
      if (sessions > 0) onClosed(node, sessions);
    } catch (error) {
      onFault(error);
      this.#later(node, SESSIONS_AGAIN_MS, () => void this.#giveUp(node, goneAt));
    }
  }
}

// When files are given up whose process was killed: the ledger closes those that hold nothing any more. One that somebody works on
// renews its hold, so it is never without one for long.

const FILES_AGAIN_MS = 60_000;
/** Sessions younger than so many others are looked at: all that may be open at a start, and as many as come between two looks. */
const AMONG = { start: 200_000, later: 10_000 } as const;

export interface LostFilesOptions {
  store: Pick<LedgerStore, 'closeLostFiles'>;
  clock: Clock;
  /** Epoch milliseconds. */
  wallNowMs(): number;
  /** How long a file that holds nothing may come back to its hold: while the ledger does not answer, none is renewed. */
  graceMs: number;
  onClosed(files: number): void;
  onFault(error: unknown): void;
}

export class LostFiles {
  readonly #options: LostFilesOptions;
  #timer: unknown;
  #among: number = AMONG.start;
  #isClosed = false;

  constructor(options: LostFilesOptions) {
    this.#options = options;
    void this.#look();
  }

  close(): void {
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { store, clock, wallNowMs, graceMs, onClosed, onFault } = this.#options;
    try {
      const files = await closeLostFiles(store, wallNowMs() - Math.max(graceMs, 2 * LEASE_MS), this.#among);
      if (files > 0) onClosed(files);
      this.#among = AMONG.later;
    } catch (error) {
      onFault(error);
    }
    if (!this.#isClosed) this.#timer = clock.setTimeout(() => void this.#look(), FILES_AGAIN_MS);
  }
}

/** Closes files that hold nothing since then, and says how many. */
export async function closeLostFiles(
  store: LostFilesOptions['store'],
  untilMs: number,
  among: number = AMONG.start,
): Promise<number> {
  let files = 0;
  for (let count = AT_ONCE; count === AT_ONCE; files += count) count = await store.closeLostFiles(untilMs, among);
  return files;
}
