// The tables of μ-law and A-law against the standard's formulas, and rounding to samples.
import { describe, expect, test } from 'vitest';
import { alawSample, decode, mulawSample, type SampleMemory, toSample } from '../../src/audio/pcm.ts';

function memory(samples: number): SampleMemory {
  const array = new Int16Array(samples);
  return { samples: array, bytes: new Uint8Array(array.buffer) };
}

/** G.711 as its tables state it: 14-bit μ-law and 13-bit A-law values, of sign, segment and step. */
const g711 = {
  mulaw: (byte: number) => {
    const [segment, step] = [(~byte >> 4) & 7, ~byte & 15];
    return (byte & 0x80 ? 1 : -1) * ((2 * step + 33) * 2 ** segment - 33) * 4;
  },
  alaw: (byte: number) => {
    const [segment, step] = [((byte ^ 0x55) >> 4) & 7, (byte ^ 0x55) & 15];
    return (byte & 0x80 ? 1 : -1) * (segment === 0 ? 2 * step + 1 : (2 * step + 33) * 2 ** (segment - 1)) * 8;
  },
};

describe('G.711', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);

  test.each(['mulaw', 'alaw'] as const)('decodes every byte of %s to the standard’s value', (encoding) => {
    const target = memory(256);
    decode(encoding, bytes, 0, 256, target, 0);
    expect([...target.samples]).toEqual([...bytes].map((byte) => g711[encoding](byte) + 0));
  });

  test('matches the published ends of both scales', () => {
    expect([0x00, 0x80, 0x7e, 0xfe].map(mulawSample)).toEqual([-32124, 32124, -8, 8]);
    expect([0x2a, 0xaa, 0x55, 0xd5].map(alawSample)).toEqual([-32256, 32256, -8, 8]);
    expect(mulawSample(0xff)).toBe(0);
  });
});

test('linear16 is copied from any byte offset, odd ones included', () => {
  const wire = Uint8Array.from([99, 99, 99, 0x34, 0x12, 0xff, 0xff, 99]);
  for (const odd of [wire.subarray(1), wire.slice().subarray(1)]) {
    const target = memory(3);
    decode('linear16', odd, 2, 2, target, 1);
    expect([...target.samples]).toEqual([0, 0x1234, -1]);
  }
});

test('rounds a sample to the nearest 16-bit value, and NaN to silence', () => {
  expect([1.4, -1.6, 40_000, -40_000, Number.NaN, Number.POSITIVE_INFINITY].map(toSample)).toEqual([
    1, -2, 32767, -32768, 0, 32767,
  ]);
});
