// Copies of a database in the place of the backups: stored and read back, listed, fetched, and removed when they are outdated. How a copy of
// the database is made and checked is in node/backup.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { codeOf } from '../runtime/error-code.ts';
import { BackupError } from './backup-error.ts';
import { type CopyName, copyNameOf, nameStart, readCopyName } from './copy-name.ts';
import type { BackupPlace } from './places/place.ts';
import { outdatedOf, type Retention } from './retention.ts';
import { opened, type SealingKey, sealed } from './sealed-copy.ts';

/** The database is mostly text; more effort saves little. */
const COMPRESSION = { level: 1 };
const READ_BYTES = 256 * 1024;
/** What compression and encryption add to content that cannot be compressed. */
const ADDED_PART = 1.01;
const ADDED_BYTES = 4096;

export interface StoredCopy extends CopyName {
  byteLength: number;
}

export interface Keys {
  /** Encrypts new copies; they are not encrypted without one. */
  current: SealingKey | undefined;
  /** May have encrypted older ones. */
  previous: SealingKey | undefined;
}

/** The copies in the place, the newest first. */
export async function listCopies(place: BackupPlace, ledger?: string): Promise<StoredCopy[]> {
  const files = await place.list(nameStart(ledger));
  const copies = files.flatMap(({ name, byteLength }) => {
    const read = readCopyName(name);
    return read === undefined ? [] : { ...read, byteLength };
  });
  return copies.sort((a, b) => b.madeAtMs - a.madeAtMs);
}

/**
 * Stores the file, then reads it back and compares the content. Rejects with BackupError, and leaves nothing behind, when the stored copy
 * could not be restored.
 */
export async function storeCopy(
  place: BackupPlace,
  { file, ledger, madeAtMs, keys }: { file: string; ledger: string; madeAtMs: number; keys: Keys },
): Promise<StoredCopy> {
  const copy = copyNameOf(ledger, madeAtMs, keys.current !== undefined);
  const { size } = await stat(file);
  const written = createHash('sha256');
  let byteLength = 0;
  const compressed = compressedOf(file, (part) => written.update(part));
  const bytes = keys.current === undefined ? compressed : sealed(compressed, keys.current, madeAtMs);
  const counted = tapped(bytes, (part) => {
    byteLength += part.length;
  });
  await place.write(copy.name, counted, Math.ceil(size * ADDED_PART) + ADDED_BYTES);
  try {
    const found = createHash('sha256');
    for await (const part of contentOf(place, copy, keys)) found.update(part);
    if (!found.digest().equals(written.digest())) {
      throw new BackupError(`${place.title} returned another backup than it was given.`);
    }
  } catch (error) {
    await place.remove(copy.name).catch(() => {});
    throw error;
  }
  return { ...copy, byteLength };
}

/** Writes the content of a copy into a new file. Rejects with BackupError, and leaves no file, when it is damaged or cut. */
export async function fetchCopy(place: BackupPlace, copy: CopyName, keys: Keys, file: string): Promise<void> {
  try {
    await pipeline(contentOf(place, copy, keys), createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    await rm(file, { force: true });
    if (error instanceof BackupError) throw error;
    throw new BackupError(`${file} cannot be written (${codeOf(error)}).`);
  }
}

/** Removes the outdated copies of that ledger, except `copy`, and resolves with their number. */
export async function removeOutdated(place: BackupPlace, copy: CopyName, retention: Retention): Promise<number> {
  const outdated = outdatedOf(await listCopies(place, copy.ledger), retention).filter(({ name }) => name !== copy.name);
  for (const { name } of outdated) await place.remove(name);
  return outdated.length;
}

async function* compressedOf(file: string, onPart: (part: Uint8Array) => void): AsyncGenerator<Buffer> {
  const source = createReadStream(file, { highWaterMark: READ_BYTES });
  const gzip = createGzip(COMPRESSION);
  const done = pipeline(source, (parts: AsyncIterable<Uint8Array>) => tapped(parts, onPart), gzip);
  done.catch(() => {});
  yield* gzip;
  await done;
}

/** The bytes of the database in a copy. */
async function* contentOf(place: BackupPlace, copy: CopyName, keys: Keys): AsyncGenerator<Buffer> {
  const all = [keys.current, keys.previous].filter((key) => key !== undefined);
  const stored = place.read(copy.name);
  const bytes = copy.isSealed ? opened(stored, all, copy.madeAtMs) : stored;
  const gunzip = createGunzip();
  let failure: unknown;
  const done = pipeline(bytes, gunzip).catch((error) => {
    failure = error;
  });
  try {
    yield* gunzip;
  } catch (error) {
    await done;
    throw damage(copy, failure ?? error);
  }
  await done;
  if (failure !== undefined) throw damage(copy, failure);
}

function damage({ name }: CopyName, error: unknown): BackupError {
  if (error instanceof BackupError) return error;
  const code = codeOf(error);
  if (code === 'Z_BUF_ERROR') return new BackupError(`The backup ${name} is cut: its end is missing.`);
  if (code.startsWith('Z_')) return new BackupError(`The backup ${name} is damaged (${code}).`);
  return new BackupError(`The backup ${name} cannot be read (${code}).`);
}

async function* tapped<Part extends Uint8Array>(
  source: AsyncIterable<Part>,
  onPart: (part: Part) => void,
): AsyncGenerator<Part> {
  for await (const part of source) {
    onPart(part);
    yield part;
  }
}
