// What must hold of the codec whatever the provider says, and of the clock whatever was put in.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { live } from '../../../src/providers/deepgram/live.ts';
import { LegClock } from '../../../src/providers/kit/leg-clock.ts';
import { Speakers } from '../../../src/providers/kit/words.ts';
import { TurnText } from '../../../src/providers/turn-text.ts';
import { legWith, RATE, read, results, turnInfo } from './support.ts';

const MODELS = ['nova-3', 'flux-general-multi'] as const;

const novaMessage = fc.oneof(
  fc
    .tuple(fc.constantFrom('', 'yes', 'no'), fc.nat(20), fc.nat(4), fc.constantFrom('', 'f', 'fs', 'fz'))
    .map(([text, start, length, flags]) => results(text, start / 2, (start + length) / 2, flags)),
  fc.constantFrom({ type: 'UtteranceEnd', last_word_end: -1 }, { type: 'Metadata' }, { type: 'Error' }),
);
const fluxMessage = fc
  .tuple(
    fc.constantFrom('StartOfTurn', 'Update', 'EagerEndOfTurn', 'TurnResumed', 'EndOfTurn'),
    fc.nat(4),
    fc.constantFrom('', 'yes', 'no'),
    fc.nat(40),
  )
  .map(([event, index, text, end]) => turnInfo(event, index, text, end / 4));

/** Well-formed messages with one member spoilt. */
const spoilt = fc.tuple(fc.oneof(novaMessage, fluxMessage), fc.nat(12), fc.jsonValue()).map(([message, at, value]) => {
  const names = Object.keys(message);
  return { ...message, [names[at % names.length] as string]: value };
});

describe('the codec', () => {
  it('never throws, whatever it hears', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...MODELS),
        fc.array(fc.oneof(fc.jsonValue(), spoilt, fc.constant(undefined)), { maxLength: 20 }),
        (model, messages) => {
          const leg = legWith(model, 5);
          expect(live.read(leg, { bytes: new Uint8Array(3) })).toEqual([]);
          for (const json of messages) expect(Array.isArray(read(leg, json))).toBe(true);
          live.finish(leg);
          for (const json of messages) read(leg, json);
          expect(['finished', 'failed']).toContain(live.closed(leg, 1005, 'x').type);
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    ['nova-3', novaMessage],
    ['flux-general-multi', fluxMessage],
  ] as const)('of %s ends no turn twice, in whatever order messages come', (model, message) => {
    fc.assert(
      fc.property(fc.array(message as fc.Arbitrary<object>, { maxLength: 60 }), (messages) => {
        const leg = legWith(model, 11);
        const text = new TurnText();
        const ended = new Set<string>();
        for (const json of messages) {
          for (const step of read(leg, json)) {
            if (!('turnId' in step)) continue;
            if (step.type === 'turn.ended') {
              expect(ended.has(step.turnId)).toBe(false);
              ended.add(step.turnId);
            }
            expect(text.hear(step).type).not.toBe('dropped');
            if ('utterance' in step && step.utterance !== undefined) {
              expect(step.utterance.start).toBeGreaterThanOrEqual(0);
              expect(step.utterance.end).toBeGreaterThanOrEqual(step.utterance.start);
              expect(step.utterance.end).toBeLessThanOrEqual(11);
            }
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('the leg’s clock', () => {
  const sends = fc.array(fc.record({ audioSamples: fc.nat(4_000), pauses: fc.nat(2) }), { maxLength: 30 });

  it('finds every sample of audio again, to the sample, between whatever silence was put in', () => {
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

describe('what is bounded', () => {
  it('gives 256 speakers a number, and the others none', () => {
    const speakers = new Speakers();
    for (let label = 0; label < 256; label++) expect(speakers.numberOf(`${label}`)).toBe(label);
    expect(speakers.numberOf('one more')).toBeUndefined();
    expect(speakers.numberOf('17')).toBe(17);
  });
});
