// What a file can hold where nobody can tell: no less than the thinnest audio of its kind.
import { expect, it } from 'vitest';
import { secondsAtMost } from '../../../src/audio/scan.ts';

it.each<[string, string | undefined, number, number]>([
  // 72 bytes of MPEG 2.5 at 8 kHz hold 576 samples.
  ['MP3 at 8 kbit/s', 'MP3', 72_000, 72],
  // Two bytes of packet and one of lacing hold 120 ms.
  ['Opus of silence in Ogg', 'Ogg', 3_000, 120],
  ['Opus of silence in WebM, laced', 'WebM or Matroska', 2_000, 120],
  ['Opus of silence in MP4', 'MP4', 2_000, 120],
  ['unknown audio', undefined, 1_000, 1],
])('%s does not hold more than it is held for', (_, container, bytes, seconds) => {
  expect(secondsAtMost(container, bytes)).toBeGreaterThanOrEqual(seconds);
});
