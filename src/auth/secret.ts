// The node's secret, which signs client tokens: from the configuration, or from a file that is made once and kept private.
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
import { join } from 'node:path';

const FILE_NAME = 'secret';
const SECRET_LENGTH_MIN = 32;
const RANDOM_BYTES = 32;
const OTHERS = 0o077;

/** A secret that cannot be used. The message is one sentence for the operator and never shows it. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/**
 * The secret that was configured, or the one in `<directory>/secret`. The file is made with mode 0600 when missing; when two
 * processes start at once, both get the one secret.
 *
 * @throws SecretError when others may read the file, when it is too short, or when it can be neither read nor made
 */
export function loadSecret(configured: string | undefined, directory: string): Uint8Array {
  if (configured !== undefined) return Buffer.from(configured);
  const file = join(directory, FILE_NAME);
  try {
    return readSecret(file) ?? makeSecret(directory, file);
  } catch (error) {
    if (error instanceof SecretError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : 'error';
    throw new SecretError(
      `The secret ${JSON.stringify(file)} can be neither read nor made (${code}): give this user the right to, or set VOXGATE_SECRET.`,
    );
  }
}

/** Undefined when there is no file. */
function readSecret(file: string): Uint8Array | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    // Windows has no such modes; every file there seems to be open to others.
    if (process.platform !== 'win32' && (fstatSync(descriptor).mode & OTHERS) !== 0) {
      throw new SecretError(
        `The secret ${JSON.stringify(file)} can be read by other users: run \`chmod 600\` on it, or delete it to get a new one.`,
      );
    }
    const text = readFileSync(descriptor, 'utf8').trim();
    if (text.length >= SECRET_LENGTH_MIN) return Buffer.from(text);
    throw new SecretError(
      `The secret ${JSON.stringify(file)} has fewer than ${SECRET_LENGTH_MIN} characters: delete it to get a new one; client tokens in use end with it.`,
    );
  } finally {
    closeSync(descriptor);
  }
}

/** Written aside and linked into place, so that nobody ever reads half a secret and the first of two processes wins. */
function makeSecret(directory: string, file: string): Uint8Array {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, `${randomBytes(RANDOM_BYTES).toString('base64url')}\n`);
    fsyncSync(descriptor);
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    closeSync(descriptor);
    unlinkSync(draft);
  }
  const secret = readSecret(file);
  if (secret === undefined)
    throw new SecretError(`The secret ${JSON.stringify(file)} vanished while it was made: start again.`);
  return secret;
}
