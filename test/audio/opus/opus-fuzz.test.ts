// Thousands of streams that were damaged at random: each is heard as far as it goes, or refused in words; nothing else comes of them,
// what is held stays within its bounds, and no decoder is left behind.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openDecoders, openOpusDecoder, PACKET_SAMPLES_MAX } from '../../../src/audio/codecs/opus-decoder.ts';
import { UnsupportedStream } from '../../../src/audio/streams/sound-stream.ts';
import { drawn } from '../../fakes/drawn.ts';
import { type Random, seeded } from '../../fakes/random.ts';
import { cut, hear, packetsOf, pagesOf, recording, sealed } from './opus-fixture.ts';

const STREAMS = drawn(1_000);
/** A page of Ogg with what was begun of a packet, or a block of WebM, and one message. */
const HELD_BYTES_MAX = 65_307 + 3_841 + 262_144 + 4_096;

const OGG = recording('opus.ogg');
const PAGES = pagesOf(OGG);
const WEBM = recording('opus-live.webm').subarray(0, 4_000);
const PACKETS = packetsOf(OGG).slice(0, 60);

/** Bytes changed, taken out, put in twice or cut off, at random places. */
function mutated(bytes: Uint8Array, random: Random): Buffer<ArrayBuffer> {
  let changed = Buffer.from(bytes);
  for (let change = random.integer(1, 8); change > 0; change--) {
    const at = random.integer(0, Math.max(0, changed.length - 1));
    const length = random.integer(1, 40);
    const kind = random.integer(0, 4);
    const end = Math.min(changed.length, at + length);
    if (kind === 0) changed[at] = random.integer(0, 255);
    else if (kind === 1) changed.fill(random.pick([0, 255, 0x80, 0x1f]), at, end);
    else if (kind === 2) changed = Buffer.concat([changed.subarray(0, at), changed.subarray(at + length)]);
    else if (kind === 3) changed = Buffer.concat([changed.subarray(0, at + length), changed.subarray(at)]);
    else changed = changed.subarray(0, random.integer(at, changed.length));
  }
  return changed;
}

const KINDS = {
  'webm-opus': (random: Random) => cut(mutated(WEBM, random), random, 1_000),
  // With checksums made right again for some, so that the damage comes further than to them.
  'ogg-opus': (random: Random) => {
    const pages = PAGES.slice(0, 4).map((page) => {
      if (random.integer(0, 2) === 0) return mutated(page, random);
      const changed = mutated(page, random);
      return changed.length < 27 ? changed : sealed(changed);
    });
    return cut(Buffer.concat(pages), random, 3_000);
  },
  opus: (random: Random) => PACKETS.map((packet) => (random.integer(0, 2) > 0 ? mutated(packet, random) : packet)),
} as const;

describe('damaged at random', () => {
  const printed = vi.spyOn(console, 'error');
  beforeAll(() => printed.mockClear());
  afterAll(() => {
    expect(printed).not.toHaveBeenCalled();
    expect(openDecoders()).toBe(0);
  });

  test.each(Object.keys(KINDS) as (keyof typeof KINDS)[])(
    'decodes or refuses %s, within its bounds',
    async (encoding) => {
      const decoder = await openOpusDecoder(8_000);
      let [heard, refused] = [0, 0];
      for (let seed = 1; seed <= STREAMS; seed++) {
        const { fault, samples, pieces, heldBytesMax } = await hear(
          encoding,
          KINDS[encoding](seeded(seed)),
          8_000,
          decoder,
        );
        if (fault === undefined) heard++;
        else refused++;
        expect(fault === undefined || fault instanceof UnsupportedStream, `seed ${seed}: ${fault}`).toBe(true);
        expect(heldBytesMax, `seed ${seed}`).toBeLessThanOrEqual(HELD_BYTES_MAX);
        expect(samples.length, `seed ${seed}`).toBeLessThanOrEqual((pieces * PACKET_SAMPLES_MAX) / 6);
        expect(
          samples.every((sample) => Number.isFinite(sample)),
          `seed ${seed}`,
        ).toBe(true);
      }
      decoder.free();
      expect([heard > 0, heard + refused]).toEqual([true, STREAMS]);
    },
  );

  test('decodes noise as packets as noise, or skips it', async () => {
    const random = seeded(7);
    const decoder = await openOpusDecoder(8_000);
    for (let stream = 0; stream < 200; stream++) {
      const messages = Array.from({ length: 40 }, () =>
        Uint8Array.from({ length: random.integer(1, 300) }, () => random.integer(0, 255)),
      );
      const { fault } = await hear('opus', messages, 8_000, decoder);
      expect(fault === undefined || fault instanceof UnsupportedStream, `${fault}`).toBe(true);
    }
    decoder.free();
  });
});

describe('decoders', () => {
  test('decode nothing once freed, and no longer count', async () => {
    const decoder = await openOpusDecoder(16_000);
    expect([openDecoders(), decoder.decode(PACKETS[0]!)?.length]).toEqual([1, 320]);
    decoder.free();
    decoder.free();
    expect(() => decoder.decode(PACKETS[0]!)).toThrow('gone');
    expect(openDecoders()).toBe(0);
  });

  test('report once that they were freed', async () => {
    let freed = 0;
    const decoder = await openOpusDecoder(16_000, () => freed++);
    expect(freed).toBe(0);
    decoder.free();
    decoder.free();
    expect(freed).toBe(1);
  });
});
