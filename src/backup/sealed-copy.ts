// The encrypted form of a backup: AES-256-GCM in chunks, so that a copy of any size is sealed and opened in little memory. A chunk that was
// changed, moved, left out or added does not open, and neither does a copy without its end.
//
//   magic (8)  id of the key (4)  time in ms (8)  salt (32)
//   chunks: 64 KiB, the last one of any length, each with its tag (16)
//
// The key of a copy is derived from the operator's key, the salt and the header. A nonce is the number of the chunk and whether it is the last.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { BackupError } from './backup-error.ts';

const ALGORITHM = 'aes-256-gcm';
const PURPOSE = 'voxgate backup v1';
const MAGIC = Buffer.from('VOXGBAK1');
const ID_BYTES = 4;
const TIME_AT = MAGIC.length + ID_BYTES;
const SALT_AT = TIME_AT + 8;
const SALT_BYTES = 32;
const HEADER_BYTES = SALT_AT + SALT_BYTES;
const KEY_BYTES = 32;
const TAG_BYTES = 16;
const CHUNK_BYTES = 64 * 1024;
const SEALED_CHUNK_BYTES = CHUNK_BYTES + TAG_BYTES;

export interface SealingKey {
  /** Eight hexadecimal digits that name the key and do not reveal it. */
  id: string;
  bytes: Uint8Array;
}

/** @param text base64 of 32 bytes */
export function sealingKeyOf(text: string): SealingKey {
  const bytes = Buffer.from(text, 'base64');
  return {
    id: createHash('sha256')
      .update(bytes)
      .digest('hex')
      .slice(0, 2 * ID_BYTES),
    bytes,
  };
}

/** Turns the bytes of a copy into their sealed form. */
export async function* sealed(
  plain: AsyncIterable<Uint8Array>,
  key: SealingKey,
  madeAtMs: number,
): AsyncGenerator<Buffer> {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(madeAtMs));
  const header = Buffer.concat([MAGIC, Buffer.from(key.id, 'hex'), time, randomBytes(SALT_BYTES)]);
  yield header;
  const copyKey = copyKeyOf(key, header);
  let number = 0;
  for await (const { bytes, isLast } of inChunks(plain, CHUNK_BYTES)) {
    const cipher = createCipheriv(ALGORITHM, copyKey, nonceOf(number++, isLast), { authTagLength: TAG_BYTES });
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }
}

/**
 * The reverse. Throws BackupError when the copy was sealed with none of the keys, was changed, is cut, or is of another time.
 *
 * @param keys of which one may have sealed it
 * @param madeAtMs what its name says
 */
export async function* opened(
  bytes: AsyncIterable<Uint8Array>,
  keys: readonly SealingKey[],
  madeAtMs: number,
): AsyncGenerator<Buffer> {
  let header: Buffer | undefined;
  let copyKey: Uint8Array | undefined;
  let number = 0;
  for await (const chunk of inChunks(bytes, SEALED_CHUNK_BYTES, HEADER_BYTES)) {
    if (header === undefined) {
      header = chunk.bytes;
      copyKey = copyKeyOf(keyFor(header, keys), header);
      if (header.readBigUInt64BE(TIME_AT) !== BigInt(madeAtMs)) {
        throw new BackupError('The backup was renamed or changed: it contains another time than its name.');
      }
      continue;
    }
    yield openChunk(copyKey as Uint8Array, number++, chunk);
  }
  if (number === 0) throw new BackupError('The backup is cut: its end is missing.');
}

interface Chunk {
  bytes: Buffer;
  isLast: boolean;
}

function openChunk(copyKey: Uint8Array, number: number, { bytes, isLast }: Chunk): Buffer {
  if (bytes.length < TAG_BYTES) throw new BackupError('The backup is cut: its end is missing.');
  const text = bytes.subarray(0, -TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, copyKey, nonceOf(number, isLast), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(text), decipher.final()]);
  } catch {
    throw new BackupError(
      isLast
        ? 'The backup was changed or is cut: its end does not match its beginning.'
        : `The backup was changed: its bytes from ${HEADER_BYTES + number * SEALED_CHUNK_BYTES} on are not what was written.`,
    );
  }
}

function keyFor(header: Buffer, keys: readonly SealingKey[]): SealingKey {
  if (header.length < HEADER_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new BackupError('The backup does not begin as an encrypted backup does: it is damaged or cut.');
  }
  const id = header.subarray(MAGIC.length, TIME_AT).toString('hex');
  const key = keys.find((each) => each.id === id);
  if (key !== undefined) return key;
  const known = keys.length === 0 ? 'none is set' : `those that are set are ${keys.map((each) => each.id).join(', ')}`;
  throw new BackupError(
    `The backup is encrypted with the key ${id}, and ${known}: set VOXGATE_BACKUP_KEY or VOXGATE_BACKUP_KEY_PREVIOUS to it.`,
  );
}

const copyKeyOf = ({ bytes }: SealingKey, header: Buffer): Uint8Array =>
  new Uint8Array(
    hkdfSync(
      'sha256',
      bytes,
      header.subarray(SALT_AT),
      Buffer.concat([Buffer.from(PURPOSE), header.subarray(0, SALT_AT)]),
      KEY_BYTES,
    ),
  );

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(number), 3);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/**
 * Chunks of that size, after a first one of `firstSize`. The last chunk may be shorter; it is empty only if it is
 * the only one.
 */
async function* inChunks(source: AsyncIterable<Uint8Array>, size: number, firstSize = size): AsyncGenerator<Chunk> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let wanted = firstSize;
  for await (const part of source) {
    parts.push(part);
    length += part.length;
    // What follows shows whether a whole chunk is the last one.
    if (length <= wanted) continue;
    let bytes = Buffer.concat(parts);
    while (bytes.length > wanted) {
      yield { bytes: bytes.subarray(0, wanted), isLast: false };
      bytes = bytes.subarray(wanted);
      wanted = size;
    }
    parts = [bytes];
    length = bytes.length;
  }
  yield { bytes: Buffer.concat(parts), isLast: true };
}
