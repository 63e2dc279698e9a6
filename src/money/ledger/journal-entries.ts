// What the journal writes of a session: while it is open its usage, when that has grown; then its end, until the ledger knows.
import { billedMsOf } from '../../config/prices/price.ts';
import type { SessionEnd, SessionHead } from '../store/calls.ts';
import type { JournalEntry } from './journal.ts';
import type { JournalRecord } from './journal-records.ts';
import type { Meter } from './meter.ts';

/** An open session in the journal: its usage when it has grown. */
export class LiveEntry implements JournalEntry {
  readonly id: string;
  readonly #meter: Meter;
  readonly #wallNow: () => Date;
  #writtenMs = -1;

  constructor(meter: Meter, wallNow: () => Date) {
    this.id = meter.head.id;
    this.#meter = meter;
    this.#wallNow = wallNow;
  }

  record(whole: boolean): JournalRecord | undefined {
    const { snapshot, head } = this.#meter;
    // What was sent may grow for long after it was received, and a connection is open without audio.
    const billedMs = snapshot?.lines.reduce((sum, line) => sum + billedMsOf(line), 0);
    if (snapshot === undefined || (billedMs === this.#writtenMs && !whole)) return undefined;
    this.#writtenMs = billedMs ?? 0;
    const { audioMs, lines } = snapshot;
    return { type: 'used', head, at: this.#wallNow().toISOString(), audioMs, lines };
  }
}

/** A session that the ledger does not know the end of. */
export class EndedEntry implements JournalEntry {
  readonly id: string;
  readonly #head: SessionHead;
  readonly #end: SessionEnd;
  #written = false;

  constructor(head: SessionHead, end: SessionEnd) {
    this.id = head.id;
    this.#head = head;
    this.#end = end;
  }

  record(whole: boolean): JournalRecord | undefined {
    if (this.#written && !whole) return undefined;
    this.#written = true;
    return { type: 'ended', head: this.#head, end: this.#end };
  }
}
