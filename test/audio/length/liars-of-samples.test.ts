// Files of samples, AMR and WMA that say less of themselves than is in them.
import { describe, expect, it } from 'vitest';
import { measured } from '../../fakes/audio/measured.ts';
import { honestFiles } from './honest/made.ts';

const honest = new Map(honestFiles().map(({ name, bytes }) => [name, bytes]));

/** The file with other bytes after a mark. */
function patched(name: string, mark: string, offset: number, bytes: readonly number[]): Buffer {
  const copy = Buffer.from(honest.get(name)!);
  const at = copy.indexOf(mark, 0, 'latin1');
  expect(at).toBeGreaterThanOrEqual(0);
  copy.set(bytes, at + mark.length + offset);
  return copy;
}

const ASF_FILE_PROPERTIES = '\xa1\xdc\xab\x8c\x47\xa9\xcf\x11\x8e\xe4\x00\xc0\x0c\x20\x53\x65';

describe('a file that says less of its length than is in it is charged in full', () => {
  it.each<[string, Buffer]>([
    ['AIFF, in the size of its samples', patched('s16be.aiff', 'SSND', 0, [0, 0, 0, 16])],
    ['AIFF, in the number of its samples', patched('s16be.aiff', 'COMM', 6, [0, 0, 0, 1])],
    ['AU, in the size of its samples', patched('s16be.au', '.snd', 4, [0, 0, 0, 16])],
    ['CAF, in the size of its samples', patched('s16le.caf', 'data', 0, [0, 0, 0, 0, 0, 0, 0, 16])],
    ['RIFX, in the size of its samples', patched('rifx.wav', 'data', 0, [0, 0, 0, 16])],
    ['Wave64, in the size of its samples', patched('s16le.w64', 'data', 12, [40, 0, 0, 0, 0, 0, 0, 0])],
    ['WMA, in its duration', patched('wma2-16000.wma', ASF_FILE_PROPERTIES, 8 + 40, [0, 0, 0, 0, 0, 0, 0, 0])],
    ['CAF of ALAC, with bytes after its samples', Buffer.concat([honest.get('alac.caf')!, Buffer.alloc(100)])],
    ['AMR, twice', Buffer.concat([honest.get('narrow.amr')!, honest.get('narrow.amr')!.subarray(6)])],
  ])('%s', (_, bytes) => {
    expect(measured(bytes)?.seconds ?? 0).toBeGreaterThanOrEqual(0.99);
  });
});

it('measures Wave64 without a length of its samples to its end', () => {
  expect(measured(patched('s16le.w64', 'data', 12, Array(8).fill(0xff)))?.seconds).toBeCloseTo(1);
});
