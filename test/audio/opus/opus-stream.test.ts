// Opus as live clients send it sounds the same however it is cut, tells its length by what is in it, and passes over what is damaged.
import { describe, expect, test } from 'vitest';
import { DECODED_RATES } from '../../../src/api/listen.ts';
import { UnsupportedStream } from '../../../src/audio/streams/sound-stream.ts';
import { drawn } from '../../fakes/drawn.ts';
import { sampleAudio } from '../../fakes/processes/live-gateway.ts';
import { seeded } from '../../fakes/random.ts';
import { areAlike, cut, hear, loudness, packetsOf, pagesOf, recording, sealed } from './opus-fixture.ts';

const OGG = recording('opus.ogg');
const WEBM = recording('opus.webm');
/** 10 s are 501 packets of 20 ms, less the pre-skip of 312 samples at 48 kHz. */
const PACKETS = 501;
const secondsOf = (packets: number) => packets * 0.02;
const SECONDS = secondsOf(PACKETS) - 312 / 48_000;

const STREAMS = [
  ['opus.ogg', 'ogg-opus', SECONDS],
  ['opus.webm', 'webm-opus', SECONDS],
  ['opus-live.webm', 'webm-opus', SECONDS],
  ['recorder/recorder.webm', 'webm-opus', 6],
  ['recorder/recorder-sliced.webm', 'webm-opus', 6],
] as const;

describe('a stream in a container', () => {
  test.each(STREAMS)('%s (%s) sounds the same wherever it is cut', async (name, encoding, seconds) => {
    const bytes = recording(name);
    const whole = await hear(encoding, [bytes]);
    expect([whole.samples.length, whole.damaged, whole.heldBytes, whole.fault]).toEqual([
      Math.round(seconds * 16_000),
      0,
      0,
      undefined,
    ]);
    expect(loudness(whole.samples)).toBeGreaterThan(0.03);
    for (let seed = 1; seed <= drawn(12); seed++) {
      const random = seeded(seed);
      const { samples } = await hear(encoding, cut(bytes, random, random.pick([1, 7, 100, 5_000])));
      expect(areAlike(samples, whole.samples), `seed ${seed}`).toBe(true);
    }
  });

  test.each(DECODED_RATES)('loses its pre-skip at %i Hz', async (rate) => {
    const { samples } = await hear('ogg-opus', [OGG], rate);
    expect(samples.length).toBe(secondsOf(PACKETS) * rate - Math.floor((312 * rate) / 48_000));
  });

  test.each([
    ['ogg-opus', OGG],
    ['webm-opus', WEBM],
  ] as const)('%s: plays concatenated recordings one after the other', async (encoding, bytes) => {
    const one = await hear(encoding, [bytes]);
    const two = await hear(encoding, cut(Buffer.concat([bytes, bytes]), seeded(3), 900));
    expect(two.damaged).toBe(0);
    expect(two.samples.length).toBe(2 * one.samples.length);
    expect(areAlike(two.samples.subarray(one.samples.length), one.samples)).toBe(true);
  });

  test('mixes two channels to one', async () => {
    const { samples, fault } = await hear('webm-opus', [recording('opus-stereo.webm')]);
    const voice = sampleAudio('yes.wav').pcm;
    const spoken = Float32Array.from(new Int16Array(voice.buffer), (sample) => sample / 32_768);
    expect(fault).toBeUndefined();
    expect(Math.abs(samples.length - spoken.length)).toBeLessThan(0.03 * 16_000);
    // Half of the voice: the other channel is silent.
    expect(loudness(samples) / loudness(spoken)).toBeCloseTo(0.5, 1);
  });

  test('ignores the times of Ogg pages', async () => {
    const honest = await hear('ogg-opus', [OGG]);
    const lying = pagesOf(Buffer.from(OGG)).map((page, index) => {
      page.writeBigUInt64LE(BigInt(index) * 2n ** 40n, 6);
      return sealed(page);
    });
    expect(areAlike((await hear('ogg-opus', lying)).samples, honest.samples)).toBe(true);
  });

  test('ignores the times of WebM blocks', async () => {
    const honest = await hear('webm-opus', [WEBM]);
    const lying = Buffer.from(WEBM);
    let blocks = 0;
    // A simple block of the first track, with a size of one byte or two.
    for (let at = 0; at < lying.length - 6; at++) {
      const head = lying[at + 1]! >= 0x80 ? 2 : 3;
      if (lying[at] !== 0xa3 || lying[at + head] !== 0x81 || lying[at + head + 3] !== 0x80) continue;
      lying.writeInt16BE(-30_000, at + head + 1);
      blocks++;
    }
    expect(blocks).toBeGreaterThan(PACKETS - 10);
    expect(areAlike((await hear('webm-opus', [lying])).samples, honest.samples)).toBe(true);
  });
});

test('decodes packets one by one like their container, except for the pre-skip', async () => {
  const inOgg = await hear('ogg-opus', [OGG]);
  const { samples, damaged } = await hear('opus', packetsOf(OGG));
  expect([samples.length, damaged]).toEqual([secondsOf(PACKETS) * 16_000, 0]);
  expect(areAlike(samples.subarray(104), inOgg.samples)).toBe(true);
});

describe('damaged audio', () => {
  const packets = packetsOf(OGG);

  test.each<[string, Uint8Array]>([
    ['longer than its frames', Uint8Array.of(0x08, ...new Uint8Array(1_300))],
    ['of two alike frames of different sizes', Uint8Array.of(0x09, 1, 2, 3)],
    ['cut off within a size', Uint8Array.of(0x0a, 255)],
    ['of frames that would sound for more than 120 ms', Uint8Array.of(0x0b, 0x3f, ...new Uint8Array(63))],
    ['of no frame', Uint8Array.of(0x0b, 0)],
    ['padded beyond its end', Uint8Array.of(0x0b, 0x41, 200, 1)],
  ])('skips and counts a packet %s, and decodes the others', async (_, bad) => {
    const messages = [...packets.slice(0, 100), bad, ...packets.slice(100, 200)];
    const { samples, damaged, fault } = await hear('opus', messages);
    expect([samples.length, damaged, fault]).toEqual([secondsOf(200) * 16_000, 1, undefined]);
  });

  test('ignores an empty message', async () => {
    const { samples, damaged } = await hear('opus', [new Uint8Array(0), ...packets.slice(0, 10), new Uint8Array(0)]);
    expect([samples.length, damaged]).toEqual([secondsOf(10) * 16_000, 0]);
  });

  test.each<[string, (pages: Buffer<ArrayBuffer>[]) => Buffer<ArrayBuffer>[]]>([
    ['a page with a wrong byte', (pages) => pages.with(4, Buffer.from(pages[4]!).fill(0x55, 100, 101))],
    ['a page that is missing', (pages) => pages.toSpliced(4, 1)],
    ['noise between two pages', (pages) => pages.toSpliced(4, 0, Buffer.alloc(3_000, 'Ogg'))],
    ['a page that is cut off', (pages) => pages.with(4, pages[4]!.subarray(0, 500))],
  ])('loses only %s in Ogg, and counts it', async (_, damage) => {
    const whole = await hear('ogg-opus', [OGG]);
    const damaged = await hear('ogg-opus', cut(Buffer.concat(damage(pagesOf(OGG))), seeded(5), 700));
    expect([damaged.fault, damaged.damaged > 0]).toEqual([undefined, true]);
    expect(damaged.samples.length).toBeLessThanOrEqual(whole.samples.length);
    expect(damaged.samples.length).toBeGreaterThan(whole.samples.length - 2.2 * 16_000);
    expect(damaged.samples.slice(0, 16_000)).toEqual(whole.samples.slice(0, 16_000));
  });

  test.each<[string, 'opus' | 'ogg-opus' | 'webm-opus', Uint8Array[], RegExp]>([
    [
      'WebM without its middle',
      'webm-opus',
      [WEBM.subarray(0, 4_000), WEBM.subarray(6_005)],
      /damaged: .*Send every piece/,
    ],
    ['WebM without its beginning', 'webm-opus', [WEBM.subarray(5_000)], /does not begin as WebM/],
    ['Ogg sent as WebM', 'webm-opus', [OGG], /file \(Ogg\).*`encoding=ogg-opus`/],
    ['WebM sent as Ogg', 'ogg-opus', [WEBM], /file \(WebM or Matroska\).*`encoding=webm-opus`/],
    ['Ogg sent as packets', 'opus', [OGG], /file \(Ogg\).*`encoding=ogg-opus`/],
    ['MP4', 'webm-opus', [recording('opus-fragmented.m4a')], /file \(MP4\).*post the file/],
    ['Vorbis in Ogg', 'ogg-opus', [recording('vorbis.ogg')], /no Opus in it/],
    ['samples', 'ogg-opus', [new Uint8Array(64_000)], /does not begin as Ogg/],
    ['Ogg, then no page any more', 'ogg-opus', [OGG, new Uint8Array(300_000)], /256 KiB in a row/],
    [
      'a message that is not a packet',
      'opus',
      [new Uint8Array(3_841)],
      /at most 3840.*each binary message is one packet/,
    ],
    [
      'packets without end that are none',
      'opus',
      Array(60).fill(Uint8Array.of(0x0b, 0)),
      /More than 50 packets in a row/,
    ],
  ])('fails for %s, with the reason', async (_, encoding, messages, words) => {
    const { fault } = await hear(encoding, messages);
    expect(fault).toBeInstanceOf(UnsupportedStream);
    expect((fault as Error).message).toMatch(words);
  });

  test('more channels than two are refused', async () => {
    const [head, ...rest] = pagesOf(Buffer.from(OGG)) as [Buffer<ArrayBuffer>, ...Buffer<ArrayBuffer>[]];
    head[28 + 9] = 6;
    const { fault } = await hear('ogg-opus', [sealed(head), ...rest]);
    expect((fault as Error).message).toMatch(/6 channels.*Record in mono or stereo/);
  });
});
