// Where the first API key is shown: on a terminal, once; else in a file that its owner alone reads, since what a service says is
// kept in logs.
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const FILE = 'first-key';

/** The words about it; none without a key. The key itself is in them only for a terminal. */
export function firstKeyLines(key: string | undefined, directory: string, isTerminal: boolean): string[] {
  if (key === undefined) return [];
  if (isTerminal) return [`  Your first API key, shown only this once: ${key}`];
  const path = resolve(join(directory, FILE));
  try {
    // Of a directory that was emptied but for it.
    rmSync(path, { force: true });
    writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx' });
    return [`  Your first API key is in ${path}: take it, and delete the file.`];
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return [`  Your first API key could not be written to ${path} (${code}). Make one: voxgate keys create`];
  }
}
