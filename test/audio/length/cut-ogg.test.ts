// Ogg files that are cut off inside a page: decoders drop that page, because its checksum is missing, and so does the bill.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { measured } from '../../fakes/audio/measured.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/audio/formats');

function pagesOf(file: Buffer): number[] {
  const pages: number[] = [];
  for (let at = file.indexOf('OggS'); at !== -1; at = file.indexOf('OggS', at + 1)) pages.push(at);
  return [...pages, file.length];
}

it.each(['opus.ogg', 'vorbis.ogg', 'flac.ogg'])('%s holds the pages that are whole', (name) => {
  const file = readFileSync(join(FOLDER, name));
  const pages = pagesOf(file);
  let cuts = 0;
  for (const [index, from] of pages.slice(0, -1).entries()) {
    const end = pages[index + 1]!;
    const whole = measured(file.subarray(0, from));
    // Nothing in front of it can be decoded.
    if (whole === undefined) continue;
    for (const cut of [Math.ceil((from + end) / 2), end - 1]) {
      const audio = measured(file.subarray(0, cut));
      expect(audio?.seconds).toBeCloseTo(whole.seconds, 3);
      expect(audio?.isDamaged).toBe(true);
      // A decoder that keeps what is there is no surprise.
      expect(audio?.secondsMax).toBeGreaterThanOrEqual(audio!.seconds);
      expect(audio?.secondsMax).toBeLessThanOrEqual(measured(file.subarray(0, end))!.seconds + 0.001);
      cuts++;
    }
  }
  expect(cuts).toBeGreaterThanOrEqual(2);
  expect(measured(file)?.isDamaged).toBe(false);
});

it('charges for a file whose only page with sound is truncated', () => {
  const file = readFileSync(join(FOLDER, 'opus.ogg'));
  const [, , sound = 0, next = 0] = pagesOf(file);
  const audio = measured(file.subarray(0, Math.floor((sound + next) / 2)));
  expect(audio?.seconds).toBeGreaterThan(0);
  expect(audio?.seconds).toBe(audio?.secondsMax);
});
