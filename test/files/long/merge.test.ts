// One transcript out of those of the parts: times, speakers, languages, warnings, and which model has how many seconds.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Utterance } from '../../../machines/events.ts';
import { type DonePart, merged, type Transcript } from '../../../src/files/long/merge.ts';
import type { ResolvedCandidate } from '../../../src/live/failover/chain.ts';
import { drawn } from '../../fakes/drawn.ts';

const member = (slug: string, times = true): ResolvedCandidate =>
  ({ slug, card: { capabilities: { segment_timestamps: times } } }) as unknown as ResolvedCandidate;
const ONE = member('p/one');
const TWO = member('p/two');

const transcript = (utterances: Utterance[], more: Partial<Transcript> = {}): Transcript => ({
  ...{ utterances, language: 'en', seconds: 10, warnings: [], member: ONE, attempts: [] },
  ...more,
});
const part = (start: number, end: number, more: Transcript, overlap = 0): DonePart => ({
  ...{ start, end, overlap },
  transcript: more,
});
const say = (text: string, start: number, end: number, more: Partial<Utterance> = {}): Utterance => ({
  ...{ text, start, end },
  ...more,
});

describe('the transcript of a file in parts', () => {
  it('has the times of the file, within each part', () => {
    const words = [{ word: 'b', start: 1, end: 12, speaker: 1 }];
    const { utterances } = merged(
      [part(0, 10, transcript([say('a', 1, 2)])), part(10, 20, transcript([say('b', 1, 12, { words })]))],
      20,
    );
    expect(utterances).toMatchObject([
      { text: 'a', start: 1, end: 2 },
      { text: 'b', start: 11, end: 20, words: [{ word: 'b', start: 11, end: 20 }] },
    ]);
  });

  it('numbers the speakers of each part separately, and warns', () => {
    const two = transcript([
      say('a', 1, 2, { speaker: 0 }),
      say('b', 3, 4, { speaker: 1, words: [{ word: 'b', start: 3, end: 4, speaker: 1 }] }),
    ]);
    const { utterances, warnings } = merged([part(0, 10, two), part(10, 20, two)], 20);
    expect(utterances.map(({ speaker }) => speaker)).toEqual([0, 1, 2, 3]);
    expect(utterances[3]?.words).toMatchObject([{ speaker: 3 }]);
    expect(warnings).toMatchObject([{ code: 'speakers_per_part', param: 'diarization' }]);
    expect(merged([part(0, 10, two)], 10).warnings).toEqual([]);
  });

  it('has the language of most of the audio', () => {
    const of = (language: string | undefined) => transcript([], { language });
    const parts = [part(0, 10, of('de')), part(10, 30, of('en')), part(30, 45, of('de')), part(45, 99, of(undefined))];
    expect(merged(parts, 99).language).toBe('de');
  });

  it('has each warning once, and none that concerns a part alone', () => {
    const warned = (...codes: string[]) =>
      transcript([say('a', 1, 2)], { warnings: codes.map((code) => ({ code, message: code })) });
    const empty = transcript([], { warnings: [{ code: 'empty_result', message: 'No words.' }] });
    const parts = [part(0, 10, warned('no_speech', 'duration_bounded')), part(10, 20, empty)];
    const codes = (...more: DonePart[]) => merged([...parts, ...more], 99).warnings.map(({ code }) => code);
    expect(codes(part(20, 99, warned('no_speech', 'words_estimated')))).toEqual(['no_speech', 'words_estimated']);
    expect(merged([part(0, 10, empty), part(10, 20, empty)], 20).warnings).toHaveLength(1);
  });

  it('reports each failed model and reason once', () => {
    const attempts = [{ model: 'p/one', reason: 'stalled' as const }];
    const failed = transcript([say('a', 1, 2)], { attempts, member: TWO });
    const { attempts: all, member: main } = merged([part(0, 10, failed), part(10, 20, failed)], 20);
    expect([all, main]).toEqual([attempts, TWO]);
  });

  it('is marked where all of its text is for audio without speech', () => {
    const invented = transcript([say('Thanks', 1, 2)], { noSpeech: true });
    const silent = transcript([]);
    expect(merged([part(0, 10, invented), part(10, 20, silent)], 20).noSpeech).toBe(true);
    expect(merged([part(0, 10, invented), part(10, 20, transcript([say('a', 1, 2)]))], 20).noSpeech).toBeUndefined();
    expect(merged([part(0, 10, silent)], 10).noSpeech).toBeUndefined();
  });

  it('has no times where a model gave none', () => {
    const text = transcript([say('all of it', 0, 10)], { member: member('p/text', false) });
    expect(merged([part(0, 10, text), part(10, 20, text)], 20)).toMatchObject({ isUntimed: true });
    expect(merged([part(0, 10, transcript([say('a', 1, 2)]))], 10).isUntimed).toBeUndefined();
  });

  it('has log probabilities where every part with text has them, and no word is in two', () => {
    const logprobs = [{ token: 'a', logprob: -1, bytes: [97] }];
    const rich = transcript([say('a', 1, 2)], { logprobs });
    const poor = transcript([say('a', 1, 2)]);
    expect(merged([part(0, 10, rich), part(10, 20, transcript([])), part(20, 30, rich)], 30).logprobs).toHaveLength(2);
    expect(merged([part(0, 10, rich), part(10, 20, poor)], 20).logprobs).toBeUndefined();
    expect(merged([part(0, 11, rich, 1), part(10, 20, rich)], 20).logprobs).toBeUndefined();
  });
});

describe('the seconds of each model', () => {
  const THREE = member('p/three');
  it('are those of the file together, to the millisecond', () => {
    const lengths = fc.array(fc.tuple(fc.integer({ min: 1, max: 2_000_000 }), fc.constantFrom(ONE, TWO, THREE)), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(lengths, fc.integer({ min: 1, max: 100_000_000 }), fc.boolean(), (all, fileMs, isSame) => {
        let at = 0;
        const parts = all.map(([length, by]) => {
          const start = at / 16_000;
          at += length;
          return part(start, at / 16_000, transcript([], { member: by }));
        });
        const seconds = isSame ? at / 16_000 : fileMs / 1_000;
        const { shares = [], member: main } = merged(parts, seconds);
        const ms = shares.map((share) => Math.round(share.seconds * 1_000));
        expect(ms.reduce((sum, each) => sum + each, 0)).toBe(Math.round(seconds * 1_000));
        expect(new Set(shares.map((share) => share.member)).size).toBe(shares.length);
        expect(shares.find((share) => share.member === main)?.seconds).toBe(
          Math.max(...shares.map((share) => share.seconds)),
        );
      }),
      { numRuns: drawn(1_000), seed: 393 },
    );
  });

  it('count shared audio once, for the part that ends with it', () => {
    const parts = [part(0, 13, transcript([]), 3), part(10, 20, transcript([], { member: TWO }))];
    expect(merged(parts, 20).shares).toEqual([
      { member: ONE, seconds: 13 },
      { member: TWO, seconds: 7 },
    ]);
  });

  it('are kept apart in a part that was cut again', () => {
    const shares = [
      { member: ONE, seconds: 4 },
      { member: TWO, seconds: 6 },
    ];
    const parts = [part(0, 10, transcript([], { shares })), part(10, 20, transcript([]))];
    expect(merged(parts, 20).shares).toEqual([
      { member: ONE, seconds: 14 },
      { member: TWO, seconds: 6 },
    ]);
  });
});
