// Blocks of AAC in access units: one each as a rule, and whatever else a file hides in them.
import { beforeAll, describe, expect, it } from 'vitest';
import { AccessUnits } from '../../../../src/audio/codecs/aac/access-units.ts';
import { aacConfig } from '../../../../src/audio/codecs/aac/config.ts';
import { honestFiles } from '../honest/made.ts';

const UNIT_SECONDS = 1024 / 16_000;
/** LC, 16 kHz, mono. */
const CONFIG = Uint8Array.of(0x14, 0x08);
const ADTS_HEAD_BYTES = 7;

/** Honest units: the bodies of ADTS frames. */
const units: Uint8Array[] = [];
beforeAll(() => {
  const adts = honestFiles().find(({ name }) => name === 'adts-16000.aac')!.bytes;
  for (let at = 0; at < adts.length; ) {
    const bytes = ((adts[at + 3]! & 3) << 11) | (adts[at + 4]! << 3) | (adts[at + 5]! >> 5);
    units.push(adts.subarray(at + ADTS_HEAD_BYTES, at + bytes));
    at += bytes;
  }
  expect(units.length).toBeGreaterThan(10);
});

function counted(all: readonly Uint8Array[], random = Math.random): AccessUnits {
  const count = new AccessUnits(aacConfig(CONFIG, 1, 16_000)!, random);
  for (const unit of all) {
    if (count.isChecked(unit.length)) count.unit(unit);
    else count.uncheckedUnit(unit.length);
  }
  return count;
}

describe('access units of AAC', () => {
  it('hold one block each', () => {
    const { seconds, secondsMax, isDamaged } = counted(units);
    expect([seconds, secondsMax, isDamaged]).toEqual([units.length * UNIT_SECONDS, units.length * UNIT_SECONDS, false]);
  });

  it('hold one block each with zeros at their end', () => {
    const padded = units.map((unit) => Buffer.concat([unit, Buffer.alloc(9)]));
    expect(counted(padded).seconds).toBe(units.length * UNIT_SECONDS);
  });

  it('hold as many blocks as lie in them, with frames of ADTS or without', () => {
    const adts = Buffer.from([0xff, 0xf1, 0x60, 0x40, 0x0c, 0x9f, 0xfc]);
    const [one, two, three] = units.slice(3);
    const unit = Buffer.concat([one!, two!, adts, three!]);
    expect(counted(units.map(() => unit)).seconds).toBeCloseTo(3 * units.length * UNIT_SECONDS);
  });

  it('hold what a random check finds, in a file of a day', () => {
    const pair = Buffer.concat([units[4]!, units[5]!]);
    const honest = Array<Uint8Array>(30_000).fill(units[3]!);
    const all = [...honest, ...Array<Uint8Array>(1_000).fill(pair)];
    let draw = 0;
    const count = counted(all, () => (draw++ % 100) / 100);
    // What was not checked counts as much as the worst unit that was.
    expect(count.seconds).toBeGreaterThanOrEqual(32_000 * UNIT_SECONDS);
    expect(counted(honest).seconds).toBeCloseTo(30_000 * UNIT_SECONDS);
  });

  it('count as one block each when damaged, and mark the file as damaged', () => {
    const all = Array.from({ length: 40 }, (_, index) => (index === 7 ? Buffer.alloc(90, 0x5a) : units[3]!));
    const { seconds, isDamaged } = counted(all);
    expect([seconds, isDamaged]).toEqual([40 * UNIT_SECONDS, true]);
  });

  it('count as the thinnest AAC when unreadable', () => {
    const { seconds, secondsMax } = counted(Array(40).fill(Buffer.alloc(500, 0x5a)));
    expect([seconds, secondsMax]).toEqual([40, 40]);
  });
});

describe('a configuration of AAC', () => {
  const bits = (text: string): Uint8Array => {
    const joined = text.replaceAll(' ', '').padEnd(64, '0');
    return Uint8Array.from({ length: 8 }, (_, index) => Number.parseInt(joined.slice(index * 8, index * 8 + 8), 2));
  };

  it.each<[string, Uint8Array, number, number]>([
    ['LC', bits('00010 0011 0010 0'), 1024 / 48_000, 2],
    ['LC of 960 samples', bits('00010 0011 0010 1'), 960 / 48_000, 2],
    ['LC of an explicit rate', bits(`00010 1111 ${(22_000).toString(2).padStart(24, '0')} 0001 0`), 1024 / 22_000, 1],
    ['HE-AAC', bits('00101 0110 0010 0011 00010 0'), 1024 / 24_000, 2],
    ['HE-AAC of 960 samples', bits('00101 0110 0010 0011 00010 1'), 960 / 24_000, 2],
    ['HE-AAC v2', bits('11101 0110 0001 0011 00010 0'), 1024 / 24_000, 1],
    ['low delay', bits('10111 0101 0001 0'), 512 / 32_000, 1],
    ['low delay of 480 samples', bits('10111 0101 0001 1'), 480 / 32_000, 1],
    ['enhanced low delay', bits('11111 000111 0101 0001 0'), 512 / 32_000, 1],
    ['USAC', bits('11111 001010 0011 0010 00011 001'), 1024 / 48_000, 2],
    ['USAC with SBR', bits('11111 001010 0011 0010 00011 011'), 2048 / 48_000, 2],
    ['none, for the rate of its track', new Uint8Array(0), 1024 / 16_000, 1],
    ['one that leaves the channels to the track', bits('00010 0011 0000 0'), 1024 / 48_000, 1],
    ['7.1 channels', bits('00010 0011 0111 0'), 1024 / 48_000, 8],
  ])('gives the length of a unit for %s', (_, config, seconds, channels) => {
    expect(aacConfig(config, 1, 16_000)).toMatchObject({ seconds, channels });
  });
});
