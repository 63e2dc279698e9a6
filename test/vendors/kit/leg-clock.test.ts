// What times of the provider come to on a leg's own clock, whatever silence was put in; and how many speakers are told apart.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LegClock } from '../../../src/vendors/kit/leg-clock.ts';
import { Speakers } from '../../../src/vendors/kit/words.ts';

const RATE = 16_000;

describe('the leg’s clock', () => {
  const sends = fc.array(fc.record({ audioSamples: fc.nat(4_000), pauses: fc.nat(2) }), { maxLength: 30 });

  it('maps times back to every sample exactly, around inserted silence', () => {
    fc.assert(
      fc.property(sends, (script) => {
        const clock = new LegClock(RATE);
        const pieces: { wire: number; leg: number; samples: number }[] = [];
        let leg = 0;
        for (const { audioSamples, pauses } of script) {
          pieces.push({ wire: Math.round(clock.sentSeconds * RATE), leg, samples: audioSamples });
          clock.audio(new Uint8Array(2 * audioSamples));
          leg += audioSamples;
          for (let pause = 0; pause < pauses; pause++) clock.silence(0.5);
        }
        for (const { wire, leg: at, samples } of pieces) {
          expect(Math.round(clock.legSeconds((wire + samples) / RATE) * RATE)).toBe(at + samples);
        }
        expect(Math.round(clock.legSeconds(1e9) * RATE)).toBe(leg);
      }),
    );
  });

  it('takes silence put in at one place for one pause, however often that was', () => {
    const clock = new LegClock(RATE);
    clock.audio(new Uint8Array(2 * RATE));
    clock.silence(0.5);
    clock.audio(new Uint8Array(2 * RATE));
    for (let again = 0; again < 1_000; again++) clock.silence(0.5);
    expect(clock.legSeconds(1)).toBe(1);
    expect(clock.legSeconds(2)).toBe(1.5);
    expect(clock.legSeconds(400)).toBe(2);
  });

  it('remembers 256 pauses, and after more of them is early with old times and right with new ones', () => {
    const clock = new LegClock(RATE);
    for (let pause = 0; pause < 1_000; pause++) {
      clock.audio(new Uint8Array(2 * RATE));
      clock.silence(0.5);
    }
    expect(clock.legSeconds(clock.sentSeconds)).toBe(1_000);
    expect(clock.legSeconds(clock.sentSeconds - 1.5)).toBe(999);
    expect(clock.legSeconds(1.5 * 800)).toBe(800);
    expect(clock.legSeconds(1.5 * 100)).toBeLessThan(100);
  });
});

describe('the bounds of a leg', () => {
  it('gives 256 speakers a number, and the others none', () => {
    const speakers = new Speakers();
    for (let label = 0; label < 256; label++) expect(speakers.numberOf(`${label}`)).toBe(label);
    expect(speakers.numberOf('one more')).toBeUndefined();
    expect(speakers.numberOf('17')).toBe(17);
  });
});
