// A node's usage journal: what each open session has used, appended to one file and synced every few seconds, so that a
// process that is killed loses no more than that. Settled sessions are crossed out; who reads it again is recovery.ts.
import { mkdir, open, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as afterOthers } from 'node:timers/promises';
import type { Clock } from '../../../machines/clock.ts';
import { thisProcess } from '../../runtime/process-identity.ts';
import { type JournalRecord, lineOf } from './journal-records.ts';

export const JOURNAL_SUFFIX = '.journal';

/** Sessions written at a stretch, before others get their turn of the event loop. */
const AT_ONCE_MAX = 100;
/** A file past this size is begun anew with what is still open. */
const FILE_BYTES_MAX = 8_388_608;

export interface JournalOptions {
  /** Made for this user alone when missing. */
  directory: string;
  /** Name of this node's file: its incarnation. */
  node: string;
  clock: Clock;
  syncMs: number;
  /** The journal could not be written: usage is kept in memory and written at the next try. */
  onFault(error: unknown): void;
}

/** What the journal writes down: the latest of each session, asked for when it is due. */
export interface JournalEntry {
  readonly id: string;
  /** Undefined when there is nothing new. `whole`: also when there is nothing new. */
  record(whole: boolean): JournalRecord | undefined;
}

export class Journal {
  readonly #options: JournalOptions;
  readonly #entries = new Map<string, JournalEntry>();
  /** Of those, the ones that stand in the file. */
  readonly #written = new Set<string>();
  #crossedOut: string[] = [];
  /** Whether the file is this node's own, with nothing half written in it. */
  #begun = false;
  #bytes = 0;
  #timer: unknown;
  #writing: Promise<void> | undefined;
  #closed = false;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** Sessions that are written down and not crossed out. */
  get size(): number {
    return this.#entries.size;
  }

  get entries(): Iterable<JournalEntry> {
    return this.#entries.values();
  }

  /** Writes the entry from the next sync on, until it is crossed out. */
  keep(entry: JournalEntry): void {
    this.#entries.set(entry.id, entry);
    this.#arm();
  }

  /** The ledger knows of it. */
  crossOut(id: string): void {
    if (!this.#entries.delete(id)) return;
    // What never reached the file need not be crossed out there.
    if (this.#written.delete(id)) this.#crossedOut.push(id);
    if (this.#entries.size > 0) return;
    // Nothing is open: nothing is waited for.
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#crossedOut.length > 0 && !this.#closed) void this.sync();
  }

  /** Makes the file, so that others on the same directory see that this process works. Never rejects. */
  async begin(): Promise<void> {
    if (!this.#begun && !this.#closed) await this.sync();
  }

  /** Writes what is new and has it on the disk. Never rejects. */
  async sync(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
      // Crossed out while the others were written: no timer waits for it.
      if (this.#crossedOut.length > 0 && this.#entries.size === 0 && !this.#closed) void this.sync();
    });
    await this.#writing;
  }

  /** The last sync. The file goes when nothing is open in it. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.clock.clearTimeout(this.#timer);
    await this.#writing;
    if (this.#entries.size > 0) await this.sync();
    if (this.#entries.size === 0 && this.#begun) await rm(this.#path, { force: true });
  }

  get #path(): string {
    return join(this.#options.directory, `${this.#options.node}${JOURNAL_SUFFIX}`);
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#closed) return;
    const { clock, syncMs } = this.#options;
    this.#timer = clock.setTimeout(() => {
      this.#timer = undefined;
      void this.sync().then(() => {
        if (this.#entries.size > 0) this.#arm();
      });
    }, syncMs);
  }

  async #write(): Promise<void> {
    try {
      if (!this.#begun || this.#bytes > FILE_BYTES_MAX) await this.#begin();
      else await this.#append(this.#path, '', false);
    } catch (error) {
      this.#options.onFault(error);
    }
  }

  /** A new file with all that is open, in the place of the old one. */
  async #begin(): Promise<void> {
    const draft = `${this.#path}.new`;
    await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
    await rm(draft, { force: true });
    this.#bytes = 0;
    this.#crossedOut = [];
    this.#written.clear();
    await this.#append(draft, lineOf({ type: 'begun', version: 1, process: thisProcess() }), true);
    await rename(draft, this.#path);
    this.#begun = true;
  }

  async #append(path: string, head: string, whole: boolean): Promise<void> {
    const crossedOut = this.#crossedOut.splice(0);
    let text = head + crossedOut.map((sessionId) => lineOf({ type: 'settled', sessionId })).join('');
    let count = 0;
    for (const entry of [...this.#entries.values()]) {
      const record = entry.record(whole);
      if (record !== undefined) {
        text += lineOf(record);
        this.#written.add(entry.id);
      }
      if (++count % AT_ONCE_MAX === 0) await afterOthers();
    }
    if (text === '') {
      // Other processes see from its age whether it is still written.
      const now = new Date();
      await utimes(path, now, now);
      return;
    }
    // Until it is on the disk: half a line may stand at the end, and what comes after it would not be read.
    this.#begun = false;
    const file = await open(path, 'a', 0o600);
    try {
      await file.appendFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
    this.#begun = path === this.#path;
    this.#bytes += Buffer.byteLength(text);
  }
}
