// Interleaved audio comes apart the same way wherever it is cut.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChannelSplit } from '../../src/audio/channel-split.ts';

const cases = fc.record({
  channels: fc.integer({ min: 2, max: 8 }),
  sampleBytes: fc.constantFrom(1, 2),
  bytes: fc.uint8Array({ maxLength: 400 }),
  cuts: fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 }),
});

function splitUp(split: ChannelSplit, chunks: readonly Uint8Array[], channels: number): number[][] {
  const heard = Array.from({ length: channels }, (): number[] => []);
  for (const chunk of chunks) split.take(chunk, (channel, bytes) => heard[channel]?.push(...bytes));
  return heard;
}

test('puts each sample into its channel once, in order, at any split', () => {
  fc.assert(
    fc.property(cases, ({ channels, sampleBytes, bytes, cuts }) => {
      const chunks: Uint8Array[] = [];
      let at = 0;
      for (const length of cuts) {
        chunks.push(bytes.subarray(at, at + length));
        at += length;
      }
      chunks.push(bytes.subarray(at));
      const split = new ChannelSplit(channels, sampleBytes);
      const frames = Math.floor(bytes.length / (channels * sampleBytes));
      const expected = Array.from({ length: channels }, (_, channel) =>
        Array.from({ length: frames }, (_, frame) => {
          const from = (frame * channels + channel) * sampleBytes;
          return [...bytes.subarray(from, from + sampleBytes)];
        }).flat(),
      );
      expect(splitUp(split, chunks, channels)).toEqual(expected);
      expect(split.restBytes).toBe(bytes.length - frames * channels * sampleBytes);
    }),
  );
});

test('passes a large chunk on in parts, so that its target stays small', () => {
  const split = new ChannelSplit(2, 2);
  const given: number[] = [];
  split.take(new Uint8Array(1_000_000), (_, bytes) => given.push(bytes.length));
  expect(Math.max(...given)).toBeLessThanOrEqual(65_536);
  expect(given.reduce((sum, bytes) => sum + bytes, 0)).toBe(1_000_000);
});
