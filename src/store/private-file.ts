// A secret in a file of its own: made once, for this user alone.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

const OTHERS = 0o077;

/** A secret that cannot be used. The message is one sentence for the operator and never shows it. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

export interface PrivateFile<Value> {
  path: string;
  /** How sentences call it: `The secret`. */
  what: string;
  /** The variable that may be set in its place. */
  variable: string;
  /** What can be done about a file that others may read, beside closing it; '' for nothing. */
  otherwise: string;
  /** A new text; undefined where none may be made: a file that is missing is an error then. */
  make: (() => string) | undefined;
  /** What the text says, or what is wrong with it, to be read after the name of the file. */
  read(text: string): { value: Value } | { fault: string };
}

/**
 * What the file holds. It is made with mode 0600 when missing; when two processes start at once, both get the one secret.
 *
 * @throws SecretError when others may read the file, when it holds nothing of use, or when it can be neither read nor made
 */
export function loadPrivateFile<Value>(file: PrivateFile<Value>): Value {
  try {
    const found = readExisting(file);
    if (found !== undefined) return found.value;
    if (file.make === undefined) throw new SecretError(`${named(file)} is missing: ${restore(file)}.`);
    return makeNew(file, file.make());
  } catch (error) {
    if (error instanceof SecretError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : 'error';
    throw new SecretError(
      `${named(file)} can be neither read nor made (${code}): give this user the right to, or set ${file.variable}.`,
    );
  }
}

/** Undefined when there is no file. */
function readExisting<Value>(file: PrivateFile<Value>): { value: Value } | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file.path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    // Windows has no such modes; every file there seems to be open to others.
    if (process.platform !== 'win32' && (fstatSync(descriptor).mode & OTHERS) !== 0) {
      throw new SecretError(`${named(file)} can be read by other users: run \`chmod 600\` on it${file.otherwise}.`);
    }
    const read = file.read(readFileSync(descriptor, 'utf8').trim());
    if ('value' in read) return read;
    throw new SecretError(`${named(file)} ${read.fault}`);
  } finally {
    closeSync(descriptor);
  }
}

/** Written aside and linked into place, so that no process reads half a secret, and the first of two processes wins. */
function makeNew<Value>(file: PrivateFile<Value>, text: string): Value {
  mkdirSync(dirname(file.path), { recursive: true, mode: 0o700 });
  const draft = `${file.path}.${randomBytes(6).toString('hex')}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, `${text}\n`);
    fsyncSync(descriptor);
    linkSync(draft, file.path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    closeSync(descriptor);
    unlinkSync(draft);
  }
  const made = readExisting(file);
  if (made === undefined) throw new SecretError(`${named(file)} vanished while it was made: start again.`);
  return made.value;
}

const named = ({ what, path }: PrivateFile<unknown>): string => `${what} ${JSON.stringify(path)}`;
const restore = ({ variable }: PrivateFile<unknown>): string => `restore it from a backup, or set ${variable}`;
