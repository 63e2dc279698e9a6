// Where the first API key and the link of the first owner are shown: on a terminal, once; else in a file that its owner alone
// reads, since what a service says is kept in logs.
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** What a start has to show. */
export interface FirstSecrets {
  /** The first API key, where this start made the data directory. */
  key: string | undefined;
  /** The link that makes the first owner, where there is none. */
  ownerLink: string | undefined;
}

interface Words {
  file: string;
  /** Before the secret, on a terminal. */
  shown: string;
  name: string;
  /** What to do with the file. */
  next: string;
  /** What to do without it. */
  instead: string;
}

const KEY: Words = {
  file: 'first-key',
  shown: 'Your first API key, shown only this once',
  name: 'Your first API key',
  next: 'take it, and delete the file.',
  instead: 'Make one: voxgate keys create',
};

const OWNER_LINK: Words = {
  file: 'first-owner',
  shown: 'To become its owner, open this link; it works once, within 24 hours',
  name: 'The link that makes its owner',
  next: 'open it; it works once, within 24 hours.',
  instead: 'The next start tries again.',
};

/** The words about them; none where there is nothing to show. The secrets themselves are in them only for a terminal. */
export function firstSecretLines({ key, ownerLink }: FirstSecrets, directory: string, isTerminal: boolean): string[] {
  return [...linesOf(KEY, key, directory, isTerminal), ...linesOf(OWNER_LINK, ownerLink, directory, isTerminal)];
}

function linesOf(words: Words, secret: string | undefined, directory: string, isTerminal: boolean): string[] {
  if (secret === undefined) return [];
  if (isTerminal) return [`  ${words.shown}: ${secret}`];
  const path = resolve(join(directory, words.file));
  try {
    // Of a directory that was emptied but for it, or of the start before.
    rmSync(path, { force: true });
    writeFileSync(path, `${secret}\n`, { mode: 0o600, flag: 'wx' });
    return [`  ${words.name} is in ${path}: ${words.next}`];
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return [`  ${words.name} could not be written to ${path} (${code}). ${words.instead}`];
  }
}
