// Damaged and invented files by the thousand: each is measured or given up, in bounded time and memory, and the thread that does it
// is never lost.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { LengthMeter } from '../../src/files/measuring/length-meter.ts';
import { systemClock } from '../../src/runtime/telemetry/clock.ts';
import { honestFiles } from '../audio/length/honest/made.ts';
import { slowFiles } from '../fakes/audio/slow-files.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/audio/formats');
const RUNS = 30_000;
const MEMORY_BYTES_MAX = 300 * 1024 * 1024;
const files = [
  ...readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?!md$)/.test(name))
    .map((name) => readFileSync(join(FOLDER, name))),
  ...honestFiles().map(({ bytes }) => bytes),
];

const faults: unknown[] = [];
const meter = new LengthMeter({ clock: systemClock, onFault: (error) => faults.push(error) });
afterAll(() => meter.close());

const measure = (bytes: Uint8Array) =>
  meter.measure(
    { size: bytes.length, readAt: async (at, length) => bytes.subarray(at, at + length) },
    `org_${bytes.length % 7}`,
  );

it('thirty thousand mutated files neither crash nor hang the thread that measures them', async () => {
  const change = fc.tuple(
    fc.nat({ max: 4_000 }),
    fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), fc.nat({ max: 255 })),
  );
  const before = process.memoryUsage().rss;
  let measuredFiles = 0;
  const mutated = fc.record({
    file: fc.constantFrom(...files),
    other: fc.constantFrom(...files),
    changes: fc.array(change, { maxLength: 12 }),
    cut: fc.integer({ min: 1, max: 100 }),
  });
  await fc.assert(
    fc.asyncProperty(mutated, async ({ file, other, changes, cut }) => {
      // Sometimes cut off, and sometimes with the end of another behind it.
      const kept = cut <= 30 ? file.subarray(0, (file.length * cut) / 30) : file;
      const bytes = Buffer.concat([kept, cut % 10 === 0 ? other.subarray(other.length / 2) : Buffer.alloc(0)]);
      for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte;
      const audio = await measure(bytes);
      if (audio !== undefined) measuredFiles++;
      expect(audio === undefined || (Number.isFinite(audio.secondsMax) && audio.secondsMax > 0)).toBe(true);
    }),
    { numRuns: RUNS, seed: 12 },
  );
  expect(faults).toEqual([]);
  expect(measuredFiles).toBeGreaterThan(RUNS / 2);
  expect(process.memoryUsage().rss - before).toBeLessThan(MEMORY_BYTES_MAX);
}, 600_000);

it('files that are all work are measured or given up, and take the thread with them neither', async () => {
  await Promise.all(slowFiles(2_000_000).map(measure));
  expect(faults).toEqual([]);
}, 120_000);
