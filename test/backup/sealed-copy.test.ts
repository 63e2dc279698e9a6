// The encrypted form of backups: what was sealed opens, and nothing else does.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { opened, type SealingKey, sealed, sealingKeyOf } from '../../src/backup/sealed-copy.ts';

const KEY = sealingKeyOf(randomBytes(32).toString('base64'));
const MADE_MS = Date.UTC(2026, 11, 31, 18);
const CHUNK = 64 * 1024;
const HEADER = 52;

async function* inPieces(bytes: Uint8Array, size = 10_007): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
}

const sealedOf = (bytes: Uint8Array, key = KEY) => all(sealed(inPieces(bytes), key, MADE_MS));
const openedOf = (bytes: Uint8Array, keys: readonly SealingKey[] = [KEY], madeAtMs = MADE_MS) =>
  all(opened(inPieces(bytes), keys, madeAtMs));

test.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 300_000])('opens what was sealed: %i bytes', async (size) => {
  const bytes = randomBytes(size);
  const copy = await sealedOf(bytes);
  expect(copy.length).toBe(HEADER + size + 16 * Math.max(1, Math.ceil(size / CHUNK)));
  expect((await openedOf(copy)).equals(bytes)).toBe(true);
});

test('opens what was sealed with the previous key', async () => {
  const current = sealingKeyOf(randomBytes(32).toString('base64'));
  expect(String(await openedOf(await sealedOf(Buffer.from('text')), [current, KEY]))).toBe('text');
});

test('seals the same content differently each time', async () => {
  const bytes = randomBytes(1000);
  expect((await sealedOf(bytes)).equals(await sealedOf(bytes))).toBe(false);
});

test('names the key that is missing, and the keys that are set', async () => {
  const other = sealingKeyOf(randomBytes(32).toString('base64'));
  const copy = await sealedOf(Buffer.from('text'));
  await expect(openedOf(copy, [other])).rejects.toThrow(
    `with the key ${KEY.id}, and those that are set are ${other.id}`,
  );
  await expect(openedOf(copy, [])).rejects.toThrow('none is set');
});

test('refuses another key with the same name', async () => {
  const forged = { ...sealingKeyOf(randomBytes(32).toString('base64')), id: KEY.id };
  await expect(openedOf(await sealedOf(Buffer.from('text')), [forged])).rejects.toThrow('was changed or is cut');
});

test('refuses a copy that was cut at any length', async () => {
  const copy = await sealedOf(randomBytes(2 * CHUNK + 500));
  const lengths = [
    0,
    1,
    HEADER - 1,
    HEADER,
    HEADER + 1,
    HEADER + CHUNK,
    HEADER + CHUNK + 16,
    copy.length - 516,
    copy.length - 1,
  ];
  for (const length of lengths) await expect(openedOf(copy.subarray(0, length))).rejects.toThrow(/cut/);
});

test('refuses a copy with one changed bit, wherever it is', async () => {
  const copy = await sealedOf(randomBytes(2 * CHUNK + 500));
  for (const at of [0, 9, 15, 30, HEADER, HEADER + CHUNK, HEADER + CHUNK + 16, copy.length - 1]) {
    const edited = Buffer.from(copy);
    edited[at] = (edited[at] as number) ^ 1;
    await expect(openedOf(edited)).rejects.toThrow(/changed|cut|damaged|key/);
  }
});

test('refuses chunks that were swapped, left out or added', async () => {
  const copy = await sealedOf(randomBytes(3 * CHUNK));
  const [one, two, three] = [0, 1, 2].map((number) => {
    const at = HEADER + number * (CHUNK + 16);
    return copy.subarray(at, at + CHUNK + 16);
  }) as [Buffer, Buffer, Buffer];
  const header = copy.subarray(0, HEADER);
  for (const chunks of [
    [two, one, three],
    [one, three],
    [one, two, three, three],
    [one, two],
  ]) {
    await expect(openedOf(Buffer.concat([header, ...chunks]))).rejects.toThrow(/changed/);
  }
});

test('refuses the header of another copy', async () => {
  const [one, two] = [await sealedOf(randomBytes(500)), await sealedOf(randomBytes(500))];
  await expect(openedOf(Buffer.concat([one.subarray(0, HEADER), two.subarray(HEADER)]))).rejects.toThrow(/changed/);
});

test('refuses a copy whose name says another time', async () => {
  await expect(openedOf(await sealedOf(Buffer.from('text')), [KEY], MADE_MS + 1)).rejects.toThrow('renamed');
});
