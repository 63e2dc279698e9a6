// Backups in a directory. A file is written under a name that begins with a dot, and gets its name when it is complete.
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../runtime/error-code.ts';
import { BackupError } from '../backup-error.ts';
import { readCopyName } from '../copy-name.ts';
import type { BackupPlace, StoredFile } from './place.ts';

const UNFINISHED = /^\.(.+)\.partial$/;
/** A process that was killed left it behind: no backup takes as long. */
const UNFINISHED_MS_MAX = 24 * 3600 * 1000;

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this user is used up',
  EACCES: 'this user may not use it',
  EPERM: 'this user may not use it',
  EROFS: 'it is mounted for reading only',
  ENOENT: 'it is missing',
  ENOTDIR: 'it is not a directory',
};

const ROOM = new Set(['ENOSPC', 'EDQUOT']);

export class DirectoryPlace implements BackupPlace {
  readonly title: string;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    this.title = path;
  }

  async list(start: string): Promise<StoredFile[]> {
    return this.#explained('list', async () => {
      const names = (await this.#names()).filter((name) => name.startsWith(start));
      return Promise.all(names.map(async (name) => ({ name, byteLength: (await stat(join(this.#path, name))).size })));
    });
  }

  async write(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const path = join(this.#path, name);
    const draft = join(this.#path, `.${name}.partial`);
    await this.#explained('write to', async () => {
      await this.#make();
      await this.#removeUnfinished();
      const file = await open(draft, 'wx', 0o600);
      try {
        for await (const part of bytes) await file.writeFile(part);
        await file.sync();
      } catch (error) {
        await file.close();
        await rm(draft, { force: true });
        throw error;
      }
      await file.close();
      await rename(draft, path);
      await syncDirectory(this.#path);
    });
  }

  async *read(name: string): AsyncGenerator<Uint8Array> {
    try {
      yield* createReadStream(join(this.#path, name));
    } catch (error) {
      throw this.#explain('read from', error);
    }
  }

  async remove(name: string): Promise<void> {
    await this.#explained('remove from', () => rm(join(this.#path, name), { force: true }));
  }

  /** None before the first backup. */
  async #names(): Promise<string[]> {
    try {
      return await readdir(this.#path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  /** Only the last folder is made: with a volume that is not mounted, the one above is usually missing as well. */
  async #make(): Promise<void> {
    try {
      await mkdir(this.#path, { mode: 0o700 });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }

  async #removeUnfinished(): Promise<void> {
    for (const name of await readdir(this.#path)) {
      const [, of = ''] = UNFINISHED.exec(name) ?? [];
      if (readCopyName(of) === undefined) continue;
      const path = join(this.#path, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
      if (Date.now() - mtimeMs > UNFINISHED_MS_MAX) await rm(path, { force: true });
    }
  }

  async #explained<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw this.#explain(what, error);
    }
  }

  #explain(what: string, error: unknown): unknown {
    if (error instanceof BackupError || !(error instanceof Error && 'syscall' in error)) return error;
    const code = codeOf(error);
    const advice = ROOM.has(code)
      ? 'free some space'
      : 'name in VOXGATE_BACKUP a directory that this user may write, below one that exists';
    return new BackupError(
      `Cannot ${what} the backup directory ${JSON.stringify(this.#path)}: ${WORDS[code] ?? 'the system refused'} (${code}); ${advice}.`,
    );
  }
}

async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path === '' ? dirname(path) : path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
