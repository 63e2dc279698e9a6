// AAC in MP4 files, cut as it is: every unit is in a part, each part is a file that decoders take, and plays what the whole file plays there.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { m4aHeader } from '../../../src/audio/containers/mp4-writer.ts';
import type { PartLimits } from '../../../src/files/long/plan.ts';
import { type ReadAt, type UnitPart, type Units, unitFile, unitParts, unitsOf } from '../../../src/files/long/units.ts';
import { honestFiles } from '../../audio/length/honest/made.ts';
import { longM4a } from '../../fakes/audio/long-m4a.ts';
import { measured } from '../../fakes/audio/measured.ts';
import { drawn } from '../../fakes/drawn.ts';
import { programOf } from '../../fakes/processes/programs.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { answer } from '../../live/upstream/http-batch-fixture.ts';
import { kept, longRig } from './long-rig.ts';

const readerOf =
  (bytes: Buffer): ReadAt =>
  async (position, length) =>
    bytes.subarray(position, position + length);

async function bytesOf(units: Units, part: UnitPart, bytes: Buffer): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const file = unitFile(units, part, readerOf(bytes));
  for await (const piece of file.read()) pieces.push(piece);
  const all = Buffer.concat(pieces);
  expect(all.length).toBe(file.bytes);
  return all;
}

/** The samples of a file, and of nothing else in it. */
async function samplesOf(bytes: Buffer): Promise<Buffer> {
  const { positions, sizes } = (await unitsOf(readerOf(bytes), bytes.length)) as Units;
  return Buffer.concat([...positions].map((at, unit) => bytes.subarray(at, at + (sizes[unit] as number))));
}

describe('the parts of a track', () => {
  const tracks = fc.record({
    sizes: fc
      .array(fc.integer({ min: 2, max: 800 }), { minLength: 1, maxLength: 6_000 })
      .map((all) => Uint32Array.from(all)),
    bytesMax: fc.option(fc.integer({ min: 20_000, max: 2_000_000 })),
    secondsMax: fc.option(fc.integer({ min: 5, max: 200 })),
  });
  const unit = { seconds: 0.05, description: new Uint8Array(100) };

  it('have every unit once, or twice where they overlap, within the limits', () => {
    fc.assert(
      fc.property(tracks, ({ sizes, bytesMax, secondsMax }) => {
        const limits: PartLimits = { bytesMax, secondsMax };
        const parts = unitParts({ ...unit, sizes }, limits);
        if (parts === undefined) return;
        expect([parts[0]?.from, parts.at(-1)?.to, parts.at(-1)?.overlap]).toEqual([0, sizes.length, 0]);
        for (const [index, { from, to }] of parts.entries()) {
          const before = parts[index - 1];
          if (before !== undefined) expect([before.to - from, before.overlap]).toEqual([60, 60]);
          expect((to - from) * unit.seconds).toBeLessThan(secondsMax ?? Number.POSITIVE_INFINITY);
          const header = m4aHeader({ ...unit, timescale: 20_480, sampleTicks: 1_024, sizes: sizes.subarray(from, to) });
          const bytes = sizes.subarray(from, to).reduce((sum, each) => sum + each, header.length);
          expect(bytes).toBeLessThanOrEqual(bytesMax ?? Number.POSITIVE_INFINITY);
        }
      }),
      { numRuns: drawn(300), seed: 394 },
    );
  });

  it('are about equally long, and none where a model takes too little', () => {
    const sizes = new Uint32Array(6_000).fill(100);
    const parts = unitParts({ ...unit, sizes }, { bytesMax: null, secondsMax: 101 }) ?? [];
    const lengths = parts.map(({ from, to }) => to - from);
    expect([lengths.length, Math.max(...lengths) - Math.min(...lengths) < 10]).toEqual([4, true]);
    expect(unitParts({ ...unit, sizes }, { bytesMax: null, secondsMax: 10 })).toBeUndefined();
    expect(unitParts({ ...unit, sizes }, { bytesMax: 10_000, secondsMax: null })).toBeUndefined();
  });
});

describe('files of AAC that people send', () => {
  const honest = honestFiles().filter(({ name }) => /\.(m4a|mp4|mov|3gp)$/.test(name));

  it('have their units, also in fragments and next to pictures, and stay as long in a separate file', async () => {
    const found: string[] = [];
    for (const { name, bytes } of honest) {
      const units = await unitsOf(readerOf(bytes), bytes.length);
      if (units === undefined) continue;
      found.push(name);
      const all = await bytesOf(units, { from: 0, to: units.sizes.length, overlap: 0 }, bytes);
      const [whole, part] = [measured(bytes), measured(all)];
      expect([name, part?.isDamaged, part?.channels]).toEqual([name, false, whole?.channels]);
      const spareSeconds = 4 * units.seconds + units.leadSeconds;
      expect(Math.abs((part?.seconds ?? 0) - (whole?.seconds ?? 0)), name).toBeLessThan(spareSeconds + 0.01);
      expect((await samplesOf(all)).equals(await samplesOf(bytes)), name).toBe(true);
    }
    expect(found.length).toBeGreaterThan(40);
  });

  it('are not cut where their tables are a trap: bytes that are in many units, or a box for every eight bytes', async () => {
    const { bytes } = await longM4a(400_000);
    const sizesAt = bytes.indexOf('stsz') + 16;
    // Every unit is as long as most of the file.
    const large = Buffer.from(bytes);
    for (let unit = 0; unit < 100; unit++) large.writeUInt32BE(300_000, sizesAt + 4 * unit);
    expect(await unitsOf(readerOf(large), large.length)).toBeUndefined();
    const box = Buffer.from([0, 0, 0, 8, ...Buffer.from('free')]);
    const boxes = Buffer.concat([...new Array<Buffer>(600_000).fill(box), bytes]);
    expect(await unitsOf(readerOf(boxes), boxes.length)).toBeUndefined();
  });

  it('survive any damage: what is cut is within the file', async () => {
    const { bytes } = await longM4a(200_000);
    const head = bytes.indexOf('mdat');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(head), fc.nat(255)), { minLength: 1, maxLength: 8 }), async (edits) => {
        const damaged = Buffer.from(bytes);
        for (const [at, byte] of edits) damaged[at] = byte;
        const units = await unitsOf(readerOf(damaged), damaged.length);
        const parts = (units && unitParts(units, { bytesMax: 100_000, secondsMax: 60 })) ?? [];
        for (const part of parts) expect((await bytesOf(units as Units, part, damaged)).length).toBeLessThan(100_001);
      }),
      { numRuns: drawn(500), seed: 395 },
    );
  });

  it('are transcribed in parts, with all of their units', async () => {
    const { bytes: long, seconds, units, unitSeconds } = await longM4a(400_000);
    const { run, servers, files } = await longRig({ scripted: { one: { audio: { max_seconds: 16 } } } });
    servers.one.answers = [
      (response, { body }) => {
        const length = measured(body)?.seconds ?? 0;
        const words = [{ word: 'all', start: 0.1, end: length - 0.1 }];
        answer({ words, seconds: length })(response, { body } as never);
      },
    ];
    const file = { ...kept(long), seconds, readAt: readerOf(long) };
    const outcome = await run(file, 'one/file');
    expect(outcome).toMatchObject({ seconds, shares: [{ seconds: expect.closeTo(seconds, 3) }] });
    expect(outcome.warnings).toMatchObject([{ code: 'file_cut', message: expect.stringContaining('does not decode') }]);
    expect(servers.one.arrived.length).toBeGreaterThan(2);
    expect(files.most).toBe(0);
    const overlap = Math.ceil(3 / unitSeconds);
    const parts = await Promise.all(
      servers.one.arrived.map(async ({ body }) => (await unitsOf(readerOf(body), body.length))?.sizes.length ?? 0),
    );
    expect(parts.reduce((sum, count) => sum + count - overlap, overlap)).toBe(units);
  });

  it('are refused where they cannot be read at any place, or a model bills each channel', async () => {
    const [{ bytes }] = honest as [(typeof honest)[number]];
    const tooLarge = { audio: { max_file_bytes: bytes.length - 1 } };
    const { run } = await longRig({ scripted: { one: tooLarge, two: { ...tooLarge, billsChannels: 'always' } } });
    await expect(run(kept(bytes), 'one/file')).rejects.toMatchObject({ code: 'file_too_large' });
    await expect(run({ ...kept(bytes), readAt: readerOf(bytes) }, 'two/file')).rejects.toMatchObject({
      code: 'file_too_large',
    });
  });
});

const READING = 'test/fixtures/audio/reading.wav';
const FFMPEG = programOf('ffmpeg');
const ffmpeg = (...args: string[]): Buffer =>
  execFileSync(FFMPEG ?? '', ['-v', 'error', '-y', ...args], { maxBuffer: 64 * 1024 * 1024 });
const decoded = (path: string): Int16Array => {
  const bytes = ffmpeg('-ignore_editlist', '1', '-i', path, '-vn', '-f', 's16le', '-');
  return new Int16Array(new Uint8Array(bytes).buffer);
};

// The program may be missing outside the build.
describe.runIf(FFMPEG !== undefined)('a part', () => {
  const directory = temporaryDirectory();
  it.each([
    ['an M4A file', ['-c:a', 'aac', '-b:a', '64k'], 'a.m4a'],
    [
      'one in stereo, with its tables in front',
      ['-c:a', 'aac', '-ac', '2', '-ar', '44100', '-movflags', '+faststart'],
      'b.m4a',
    ],
    ['fragments', ['-c:a', 'aac', '-movflags', '+frag_keyframe+empty_moov', '-frag_duration', '2000000'], 'c.mp4'],
    [
      'a video',
      ['-f', 'lavfi', '-i', 'testsrc=size=64x64:rate=5', '-c:v', 'mpeg4', '-c:a', 'aac', '-shortest', '-t', '30'],
      'd.mp4',
    ],
  ])('of %s plays what the whole file plays there', async (_, options, name) => {
    const path = join(directory, name);
    // Noise that a decoder makes up would be another each time.
    ffmpeg('-stream_loop', '2', '-i', READING, ...options, '-aac_pns', '0', path);
    const bytes = readFileSync(path);
    const units = (await unitsOf(readerOf(bytes), bytes.length)) as Units;
    const parts = unitParts(units, { bytesMax: null, secondsMax: 13 }) ?? [];
    expect(parts.length).toBeGreaterThan(2);
    const whole = decoded(path);
    const perUnit = Math.round(whole.length / units.sizes.length);
    for (const part of parts) {
      const file = join(directory, `part-${name}`);
      writeFileSync(file, await bytesOf(units, part, bytes));
      const sound = decoded(file);
      expect(Math.abs(sound.length - (part.to - part.from) * perUnit)).toBeLessThan(3 * perUnit);
      // The first unit needs the one before it.
      const from = 2 * perUnit;
      const there = whole.subarray(part.from * perUnit + from, part.to * perUnit - perUnit);
      const difference = there.reduce(
        (most, sample, at) => Math.max(most, Math.abs(sample - (sound[from + at] ?? 0))),
        0,
      );
      expect(difference).toBeLessThan(16);
    }
  });
});
