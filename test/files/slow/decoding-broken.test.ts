// Containers that are decoded for models that hear files live: cut anywhere, spoilt, and without an end.
import { describe, expect, it } from 'vitest';
import { LegFailed } from '../../../src/live/upstream/leg-failures.ts';
import { seeded } from '../../fakes/random.ts';
import { decoded, failureOf, KINDS, load } from '../decoded.ts';

function* inPieces(bytes: Uint8Array, length: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

it.each(KINDS)('%s sounds the same in pieces of any length', async (name) => {
  const bytes = load(`formats/${name}`);
  const [whole, inParts] = await Promise.all([decoded([bytes]), decoded(inPieces(bytes, 777))]);
  expect(Buffer.from(inParts.samples.buffer).equals(Buffer.from(whole.samples.buffer))).toBe(true);
});

describe('a file that is not whole', () => {
  it.each(KINDS)('transcribes %s, truncated in the middle, up to there', async (name) => {
    const bytes = load(`formats/${name}`);
    const whole = await decoded([bytes]);
    const { seconds, isDamaged } = await decoded([bytes.subarray(0, Math.floor(bytes.length * 0.6))]);
    expect([seconds > 0.1, seconds < whole.seconds - 0.2]).toEqual([true, true]);
    // Frames of MP3 stand for themselves.
    expect(isDamaged).toBe(!name.endsWith('.mp3'));
  });

  it.each(KINDS)(
    '%s of which nothing but the first bytes are there is refused, and it is said what is taken',
    async (name) => {
      const { kind, code, message } = await failureOf(decoded([load(`formats/${name}`).subarray(0, 40)]));
      expect([kind, code]).toEqual(['caller', 'audio_unusable']);
      expect(message).toMatch(/cannot be decoded: .*WAV, MP3, FLAC, Ogg .*WebM/);
    },
  );

  it('refuses or transcribes noise after a valid beginning, and continues with the next', async () => {
    const random = seeded(7);
    await Promise.all(
      KINDS.map(async (name) => {
        const bytes = load(`formats/${name}`);
        for (let at = 200; at < bytes.length; at++) bytes[at] = random.integer(0, 255);
        const outcome = await decoded([bytes]).catch((error: unknown) => error);
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(LegFailed);
      }),
    );
    expect((await decoded([load('formats/flac.flac')])).seconds).toBe(2);
  });

  it.each([1, 2])('spoilt here and there (seed %i) it never fails but by being refused', async (seed) => {
    const random = seeded(seed);
    await Promise.all(
      KINDS.map(async (name) => {
        const bytes = load(`formats/${name}`);
        for (let times = 0; times < 30; times++) {
          bytes[random.integer(20, bytes.length - 1)] = random.integer(0, 255);
        }
        const outcome = await decoded([bytes]).catch((error: unknown) => error);
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(LegFailed);
        // A spoilt packet of Opus may say that it is six times as long.
        else expect((outcome as { seconds: number }).seconds).toBeLessThan(61);
      }),
    );
  });
});

describe('a file that would never end', () => {
  it.each(['cbr.mp3', 'opus.ogg', 'flac.flac', 'opus.webm'])(
    'reads %s only as far as the model accepts',
    async (name) => {
      const bytes = load(`formats/${name}`);
      let given = 0;
      const endless = function* () {
        for (;;) {
          given += bytes.length;
          yield bytes;
        }
      };
      const { code, message } = await failureOf(decoded(endless(), 25));
      expect([code, message]).toEqual(['audio_too_long', expect.stringContaining('longer than 25 s')]);
      // Copies of two seconds at least, and what is on its way.
      expect(given).toBeLessThan(bytes.length * 15 + 100_000);
    },
  );
});
