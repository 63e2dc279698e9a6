// What the ledger has settled, kept for some days beside it: a ledger that is restored from a backup hears again of everything
// since. One file a day; written behind what happens, never waited for.
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionEnd, SessionHead } from '../../store/calls.ts';
import { lineOf } from '../journal.ts';

export const HISTORY_NAME = /^(\d{4}-\d\d-\d\d)\.settled$/;
const DAY_MS = 86_400_000;
/** Lines that wait, beside those that are being written; beyond it the oldest are left out, and that is told. */
const LINES_MAX = 10_000;

export interface HistoryOptions {
  /** Made for this user alone when missing. */
  directory: string;
  /** Files older than so many days are removed; 0 keeps nothing. */
  days: number;
  wallNow(): Date;
  onFault(error: unknown): void;
}

export class History {
  readonly #options: HistoryOptions;
  #lines: string[] = [];
  #writing: Promise<void> | undefined;
  #lastDay = '';
  #closed = false;
  /** The day's file, whose last line this process knows to be whole. */
  #file: { readonly path: string; readonly handle: FileHandle } | undefined;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  note(head: SessionHead, end: SessionEnd): void {
    if (this.#options.days === 0 || this.#closed) return;
    this.#lines.push(lineOf({ type: 'ended', head, end }));
    this.#bound();
    this.#writing ??= this.#write();
  }

  /** Resolves when everything is written, or could not be when it was tried once more. */
  async close(): Promise<void> {
    await this.#writing;
    if (this.#lines.length > 0) await this.#write();
    this.#closed = true;
    await this.#leave();
  }

  #bound(): void {
    const surplus = this.#lines.length - LINES_MAX;
    if (surplus <= 0) return;
    this.#lines.splice(0, surplus);
    this.#options.onFault(new Error(`The usage history is behind: it omitted ${surplus} settled sessions.`));
  }

  /** What fails is tried again with the next session, and when the history is closed. */
  async #write(): Promise<void> {
    try {
      // What is settled together is written together.
      await Promise.resolve();
      while (this.#lines.length > 0) {
        const day = this.#options.wallNow().toISOString().slice(0, 10);
        if (day !== this.#lastDay) await this.#begin(day);
        await this.#append(join(this.#options.directory, `${day}.settled`));
      }
    } catch (error) {
      this.#lastDay = '';
      await this.#leave();
      this.#options.onFault(error);
    } finally {
      this.#writing = undefined;
    }
  }

  async #begin(day: string): Promise<void> {
    const { directory, days } = this.#options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const oldest = new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10);
    for (const name of await readdir(directory)) {
      const [, of] = HISTORY_NAME.exec(name) ?? [];
      if (of !== undefined && of < oldest) await rm(join(directory, name), { force: true });
    }
    this.#lastDay = day;
  }

  async #append(path: string): Promise<void> {
    const lines = this.#lines.splice(0);
    try {
      // The day's file may have been moved, and lines written to it would be lost: open it again.
      const isKnown = this.#file?.path === path && (await this.#file.handle.stat()).nlink > 0;
      const { handle } = isKnown ? this.#file! : await this.#enter(path);
      // The last process may have been killed in the middle of a line.
      await handle.appendFile((isKnown ? '' : '\n') + lines.join(''));
      await handle.datasync();
    } catch (error) {
      // Some of them may be in the file already: there they are read once.
      this.#lines = lines.concat(this.#lines);
      this.#bound();
      throw error;
    }
  }

  async #enter(path: string): Promise<{ path: string; handle: FileHandle }> {
    await this.#leave();
    this.#file = { path, handle: await open(path, 'a', 0o600) };
    return this.#file;
  }

  async #leave(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close().catch(this.#options.onFault);
  }
}
