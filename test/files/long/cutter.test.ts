// Parts as they are written: which samples each has, whatever pieces they came in, and what is left open afterwards.
import { describe, expect, it } from 'vitest';
import { type CutPart, cutParts } from '../../../src/files/long/cutter.ts';
import { type CutRules, rulesOf } from '../../../src/files/long/plan.ts';
import { RATE, talk } from '../../fakes/audio/talking.ts';
import { MemoryFiles } from './memory-files.ts';

const RULES = rulesOf({ bytesMax: null, secondsMax: 21 }, RATE) as CutRules;

async function* inPieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  // The memory of a piece is used again, as that of a decoder is.
  const piece = new Uint8Array(new Int16Array(length).buffer);
  for (let at = 0; at < bytes.length; at += piece.length) {
    const next = bytes.subarray(at, at + piece.length);
    piece.set(next);
    yield piece.subarray(0, next.length);
    piece.fill(0);
  }
}

async function bytesOf({ file }: CutPart): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of file.read()) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function partsOf(bytes: Buffer, pieceSamples: number, samples?: number) {
  const files = new MemoryFiles();
  const parts: (Pick<CutPart, 'start' | 'end' | 'overlap'> & { bytes: Buffer })[] = [];
  const options = { sampleRate: RATE, rules: RULES, samples, openFile: () => files.open() };
  for await (const part of cutParts(inPieces(bytes, pieceSamples), options)) {
    parts.push({ start: part.start, end: part.end, overlap: part.overlap, bytes: await bytesOf(part) });
    expect(part.index).toBe(parts.length - 1);
    await part.close();
  }
  expect(files.opened).toBe(0);
  return { parts, most: files.most };
}

describe('a stream that is cut', () => {
  const withPauses = talk(150, (word) => word % 4 === 3);
  const without = talk(150);

  it.each([
    ['with pauses', withPauses, 0],
    ['without a pause', without, RULES.overlap],
  ])('%s is all there, in parts that do not depend on its pieces', async (_, { bytes, samples }, overlap) => {
    const { parts } = await partsOf(bytes, 1_000);
    expect(parts.length).toBeGreaterThan(5);
    for (const part of parts) expect(part.bytes.equals(bytes.subarray(2 * part.start, 2 * part.end))).toBe(true);
    expect([parts[0]?.start, parts.at(-1)?.end]).toEqual([0, samples.length]);
    for (const [index, { start }] of parts.slice(1).entries()) {
      expect((parts[index]?.end ?? 0) - start).toBe(overlap);
      expect(parts[index]?.overlap).toBe(overlap);
    }
    for (const pieceSamples of [97, 8_191, 1_000_000]) {
      const others = (await partsOf(bytes, pieceSamples)).parts;
      expect(others.map(({ start, end }) => [start, end])).toEqual(parts.map(({ start, end }) => [start, end]));
      expect(others.every((other, index) => other.bytes.equals(parts[index]?.bytes ?? Buffer.alloc(0)))).toBe(true);
    }
  });

  it('is cut in the middle of pauses', async () => {
    const { parts } = await partsOf(withPauses.bytes, 4_000, withPauses.samples.length);
    for (const { end } of parts.slice(0, -1)) {
      const around = withPauses.samples.subarray(end - 0.2 * RATE, end + 0.2 * RATE);
      expect(around.every((sample) => sample === 0)).toBe(true);
    }
  });

  it('has two files open at most, when each part is closed before the next', async () => {
    expect((await partsOf(without.bytes, 4_000)).most).toBe(2);
  });

  it.each([
    [0, []],
    [1, [RATE]],
    [RATE / 2, [RATE]],
    [3 * RATE, [3 * RATE]],
    [RULES.longest, [RULES.longest]],
  ])('of %d samples has parts of %j, the shortest filled up with silence', async (samples, lengths) => {
    const bytes = without.bytes.subarray(0, 2 * samples);
    const { parts } = await partsOf(bytes, 999);
    expect(parts.map((part) => part.bytes.length / 2)).toEqual(lengths);
    if (samples > 0) expect(parts.at(-1)?.end).toBe(samples);
  });

  it('closes its file when its reader stops, or the disk is full', async () => {
    const files = new MemoryFiles();
    const options = { sampleRate: RATE, rules: RULES, samples: undefined, openFile: () => files.open() };
    for await (const part of cutParts(inPieces(without.bytes, 1_000), options)) {
      await part.close();
      break;
    }
    expect(files.opened).toBe(0);
    files.written = 0;
    files.bytesMax = 2 * RULES.longest + 5_000;
    const parts: CutPart[] = [];
    const cutting = (async () => {
      for await (const part of cutParts(inPieces(without.bytes, 1_000), options)) parts.push(part);
    })();
    await expect(cutting).rejects.toThrow('The disk is full.');
    for (const part of parts) await part.close();
    expect(files.opened).toBe(0);
  });
});
