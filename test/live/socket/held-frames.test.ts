// What a client sends before its session is open: all of it comes out once, in its order, and there is an end to what is kept.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HELD_BYTES_MAX, HELD_TEXTS_MAX, HeldFrames } from '../../../src/live/socket/start-wait.ts';
import { spoolsOf } from './listen-rig.ts';

const keepalive = { message: { type: 'keepalive' } } as const;

test('comes out in order at any sizes', () => {
  const spools = spoolsOf();
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(40_000), fc.constant('text' as const)), { maxLength: 12 }), (frames) => {
      const held = new HeldFrames(() => spools.open('org'));
      let sent = 0;
      const said: string[] = [];
      for (const frame of frames) {
        if (frame === 'text') said.push(`text at ${sent}`);
        else expect(held.audio(Uint8Array.from({ length: frame }, () => sent++ % 251))).toBe(true);
        if (frame === 'text') expect(held.text(keepalive)).toBe(true);
      }
      let heard = 0;
      const told: string[] = [];
      const steps = held.handOver({
        audio: (bytes) => {
          for (const byte of bytes) if (byte !== heard++ % 251) throw new Error(`Byte ${heard - 1} is another.`);
        },
        text: () => told.push(`text at ${heard}`),
      });
      while (steps.next().done !== true);
      expect([heard, told]).toEqual([sent, said]);
    }),
    { numRuns: 50 },
  );
  expect(spools.bytes).toBe(0);
});

test('stays within bounds of bytes, messages and disk', () => {
  const spools = spoolsOf();
  const held = new HeldFrames(() => spools.open('org'));
  const chunk = new Uint8Array(8 * 1_048_576);
  for (let at = 0; at < HELD_BYTES_MAX; at += chunk.byteLength) expect(held.audio(chunk)).toBe(true);
  expect(held.audio(new Uint8Array(1))).toBe(false);
  for (let text = 0; text < HELD_TEXTS_MAX; text++) expect(held.text(keepalive)).toBe(true);
  expect(held.text(keepalive)).toBe(false);
  held.dispose();
  expect(spools.bytes).toBe(0);
  expect(new HeldFrames(() => spoolsOf(0).open('org')).audio(new Uint8Array(20_000))).toBe(false);
});
