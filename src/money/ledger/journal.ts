// A node's usage journal: what each open session has used, appended to one file and synced every few seconds, so that a
// process that is killed loses no more than that. Settled sessions are crossed out; who reads it again is recovery.ts.
import { mkdir, open, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as afterOthers } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { Clock } from '../../../machines/clock.ts';
import { billedMsOf } from '../../config/prices/price.ts';
import { type ProcessIdentity, thisProcess } from '../../runtime/process-identity.ts';
import type { LedgerPrice, Redactions, SessionEnd, SessionHead, UsageLine } from '../store/calls.ts';
import type { Meter } from './meter.ts';

export const JOURNAL_SUFFIX = '.journal';

/** Sessions written at a stretch, before others get their turn of the event loop. */
const AT_ONCE_MAX = 100;
/** A file past this size is begun again with what is still open. */
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

/** What the journal writes down: the latest of each session, requested when it is due. */
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

// What stands in a usage journal, line by line: a checksum, then JSON. A line that was not written whole is told by its
// checksum, and what follows it is not believed.
export type JournalRecord =
  | { type: 'begun'; version: 1; process: ProcessIdentity }
  /** All that is known of a session's usage; it takes the place of what was known before. */
  | { type: 'used'; head: SessionHead; at: string; audioMs: number; lines: UsageLine[]; redactions?: Redactions }
  /** The session has ended, and the ledger does not know yet. */
  | { type: 'ended'; head: SessionHead; end: SessionEnd }
  /** The ledger knows. */
  | { type: 'settled'; sessionId: string };

export function lineOf(record: JournalRecord): string {
  const json = JSON.stringify(record, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  return `${checksum(json)} ${json}\n`;
}

/** The records of a journal, up to the first line that was not written whole. */
export function recordsOf(text: string): { records: JournalRecord[]; torn: boolean } {
  const records: JournalRecord[] = [];
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const record = end === -1 ? undefined : recordOf(text.slice(at, end));
    if (record === undefined) return { records, torn: true };
    records.push(record);
    at = end + 1;
  }
  return { records, torn: false };
}

/**
 * The records of a file whose lines stand each for itself, as in a history: lines that were not written whole are left out and
 * counted. Empty ones only keep others apart.
 */
export function readableRecordsOf(text: string): { records: JournalRecord[]; unreadable: number } {
  const records: JournalRecord[] = [];
  let unreadable = 0;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const record = recordOf(line);
    if (record === undefined) unreadable++;
    else records.push(record);
  }
  return { records, unreadable };
}

function recordOf(line: string): JournalRecord | undefined {
  const json = line.slice(9);
  if (line[8] !== ' ' || line.slice(0, 8) !== checksum(json)) return undefined;
  const record = JSON.parse(json) as JournalRecord;
  if (record.type === 'used') return { ...record, lines: record.lines.map(readLine) };
  if (record.type === 'ended') return { ...record, end: { ...record.end, lines: record.end.lines.map(readLine) } };
  return record;
}

function readLine(line: UsageLine): UsageLine {
  const { unit, microUsd, minimumMicroUsd }: LedgerPrice = line.price;
  return { ...line, price: { unit, microUsd: BigInt(microUsd), minimumMicroUsd: BigInt(minimumMicroUsd) } };
}

const checksum = (json: string): string => crc32(json).toString(16).padStart(8, '0');

// What the journal writes of a session: while it is open its usage, when that has grown; then its end, until the ledger knows.
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
    return { type: 'used', head, at: this.#wallNow().toISOString(), ...snapshot };
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
