// Live Flux, message by message: its turns, its silence, and the end of a stream that has no final of its own.
import { describe, expect, it } from 'vitest';
import { live } from '../../../src/providers/deepgram/live.ts';
import { type Leg, legRequest, legWith, read, shown, turnInfo } from './support.ts';

const queryOf = (...args: Parameters<typeof legRequest>) => {
  const { endpoint } = live.open(legRequest(...args));
  return endpoint.kind === 'websocket' ? new URL(endpoint.url) : expect.unreachable();
};

type Story = [given: unknown | ((leg: Leg) => readonly unknown[]), said: string[]][];

const FORCE = ['send {"type":"ForceEndTurn"}', 'wake 1000'];
const CLOSE = 'send {"type":"CloseStream"}';
const FINISH: Story[number] = [(leg: Leg) => live.finish(leg), ['send 16000 bytes', ...FORCE]];
const wake = (leg: Leg) => live.wake?.(leg) ?? [];
const closed = (code: number) => (leg: Leg) => [live.closed(leg, code, '')];

const STORIES: Readonly<Record<string, Story>> = {
  'is ready when the provider says so': [[{ type: 'Connected', request_id: 'x', sequence_id: 0 }, ['ready']]],
  'takes the whole text each time, and EndOfTurn alone for a final': [
    [turnInfo('StartOfTurn', 0, 'Book', 0.5), ['speech 0', 'partial 0 "Book" 0-0.5']],
    [turnInfo('Update', 0, 'Book a', 0.75), ['partial 0 "Book a" 0-0.75']],
    [turnInfo('EagerEndOfTurn', 0, 'Book a table', 1.5), ['partial 0 "Book a table" 0-1.5']],
    [turnInfo('TurnResumed', 0, 'Book a table', 1.75), ['partial 0 "Book a table" 0-1.75']],
    [turnInfo('EndOfTurn', 0, 'Book a table for two', 2.5), ['turn.ended 0 "Book a table for two" 0-2.5']],
    [turnInfo('EndOfTurn', 0, 'Book a table for two', 2.5), []],
    [turnInfo('Update', 0, 'Book', 2.5), []],
    [turnInfo('StartOfTurn', 1, 'Yes', 3), ['speech 0', 'partial 1 "Yes" 0-3']],
  ],
  'tells silence about once a second, and only up to a second ago': [
    [turnInfo('Update', 0, '', 0.5), ['partial silence-0 "" 0-0']],
    [turnInfo('Update', 0, '', 1.75), ['partial silence-0 "" 0-0']],
    [turnInfo('Update', 0, '', 2), ['turn.ended silence-0 "" 0-1']],
    [turnInfo('Update', 0, '', 2.25), ['partial silence-1 "" 1-1']],
    [turnInfo('Update', 0, '', 3.5), ['turn.ended silence-1 "" 1-2.5']],
    [turnInfo('StartOfTurn', 0, 'Yes', 3.75), ['speech 0', 'partial 0 "Yes" 0-3.75']],
    [turnInfo('Update', 0, '', 9), ['partial 0 "" 0-9']],
    [turnInfo('EndOfTurn', 0, 'Yes', 9), ['turn.ended 0 "Yes" 0-9']],
    [turnInfo('Update', 1, '', 9.5), ['partial silence-2 "" 9-9']],
  ],
  'ends a turn when it is asked to': [[(leg: Leg) => live.finalize(leg), [FORCE[0] as string]]],
  'finishes with the end of the last turn': [
    [turnInfo('StartOfTurn', 0, 'Bye', 9.5), ['speech 0', 'partial 0 "Bye" 0-9.5']],
    FINISH,
    [turnInfo('EndOfTurn', 0, 'Bye', 10.25, { trigger: 'manual' }), ['turn.ended 0 "Bye" 0-10', CLOSE, 'finished']],
  ],
  'waits for what was still on its way when an earlier turn ends': [
    [turnInfo('StartOfTurn', 0, 'Hello', 7), ['speech 0', 'partial 0 "Hello" 0-7']],
    FINISH,
    [turnInfo('EndOfTurn', 0, 'Hello', 8), ['turn.ended 0 "Hello" 0-8']],
    [turnInfo('StartOfTurn', 1, 'Bye', 10.5), ['speech 0', 'partial 1 "Bye" 0-10']],
    [wake, FORCE],
    [turnInfo('EndOfTurn', 1, 'Bye', 10.5), ['turn.ended 1 "Bye" 0-10', CLOSE, 'finished']],
  ],
  'closes after a second in which no turn was open, and is finished when the provider closes without a code': [
    FINISH,
    [turnInfo('Update', 0, '', 10.5), ['turn.ended silence-0 "" 0-9.5']],
    [wake, [CLOSE]],
    [closed(1005), ['finished']],
  ],
  'never makes a final of an update: words without their end are a failure': [
    [turnInfo('StartOfTurn', 0, 'Bye', 9.5), ['speech 0', 'partial 0 "Bye" 0-9.5']],
    FINISH,
    [wake, FORCE],
    [wake, [CLOSE]],
    [turnInfo('Update', 0, 'Bye now', 10), ['partial 0 "Bye now" 0-10']],
    [closed(1005), ['failed retry final_missing']],
  ],
  'takes an end of turn after CloseStream as well': [
    FINISH,
    [wake, [CLOSE]],
    [turnInfo('EndOfTurn', 0, 'Bye', 10), ['turn.ended 0 "Bye" 0-10']],
    [closed(1000), ['finished']],
  ],
  'takes a close before CloseStream as a failure': [FINISH, [closed(1005), ['failed retry close_1005']]],
  'fails when a turn with words is passed over': [
    [turnInfo('StartOfTurn', 0, 'One', 1), ['speech 0', 'partial 0 "One" 0-1']],
    [turnInfo('StartOfTurn', 1, 'Two', 3), ['speech 0', 'partial 1 "Two" 0-3']],
    [turnInfo('EndOfTurn', 1, 'Two', 4), ['failed retry final_missing']],
  ],
  'fails when a turn with words is passed over by the end of another': [
    [turnInfo('StartOfTurn', 0, 'One', 1), ['speech 0', 'partial 0 "One" 0-1']],
    [turnInfo('EndOfTurn', 1, 'Two', 4), ['failed retry final_missing']],
  ],
  'takes an end of turn that comes behind the beginning of the next': [
    [turnInfo('StartOfTurn', 0, 'One', 1), ['speech 0', 'partial 0 "One" 0-1']],
    [turnInfo('StartOfTurn', 1, 'Two', 3), ['speech 0', 'partial 1 "Two" 0-3']],
    [turnInfo('EndOfTurn', 0, 'One', 2), ['turn.ended 0 "One" 0-2']],
    [turnInfo('EndOfTurn', 1, 'Two', 4), ['turn.ended 1 "Two" 0-4']],
  ],
  'takes an error message as the end': [
    [{ type: 'Error', code: 'INTERNAL_SERVER_ERROR', description: 'x' }, ['failed retry INTERNAL_SERVER_ERROR']],
  ],
  'is told that a deployment has no ForceEndTurn': [
    [{ type: 'Error', code: 'UNPARSABLE_CLIENT_MESSAGE' }, ['failed next UNPARSABLE_CLIENT_MESSAGE']],
  ],
  'makes nothing of what it cannot read': [
    [null, []],
    [7, []],
    [{ type: 'ConfigureSuccess' }, []],
    [turnInfo('Novelty', 0, 'x', 1), []],
    [turnInfo('EndOfTurn', 0.5, 'x', 1), []],
    [turnInfo('EndOfTurn', -1, 'x', 1), []],
    [turnInfo('EndOfTurn', 0, 'x', Number.NaN), []],
    [{ ...turnInfo('EndOfTurn', 0, 'x', 1), transcript: 5 }, []],
  ],
};

describe('live Flux', () => {
  it.each(Object.entries(STORIES))('%s', (_name, story) => {
    const leg = legWith('flux-general-en', 10);
    for (const [given, said] of story) {
      const steps = typeof given === 'function' ? (given(leg) as ReturnType<typeof read>) : read(leg, given);
      expect(shown(steps)).toEqual(said);
    }
  });

  it('reads words with their times, their mean confidence and the first language; words without times are left out', () => {
    const words = [
      { word: 'Yes', confidence: 0.5, start: 1, end: 1.5 },
      { word: 'no', confidence: 1, start: 1.5, end: 2 },
    ];
    const more = { words, languages: ['fr', 'en'], audio_window_start: 0.5 };
    const [step] = read(legWith('flux-general-multi', 5), turnInfo('EndOfTurn', 0, 'Yes no', 2.5, more));
    expect(step).toMatchObject({
      utterance: { start: 1, end: 2.5, confidence: 0.75, language: 'fr', words: [{ word: 'Yes' }, { word: 'no' }] },
    });
    const [bare] = read(
      legWith('flux-general-en', 5),
      turnInfo('EndOfTurn', 0, 'Yes', 2, { words: [{ word: 'Yes', confidence: 1 }] }),
    );
    expect(bare).not.toHaveProperty('utterance.words');
  });

  it('takes the silence it put in out of every time', () => {
    const leg = legWith('flux-general-en', 1);
    expect(live.keepAlive(leg)).toEqual([new Uint8Array(16_000)]);
    expect(live.keepAlive(leg)).toHaveLength(1);
    live.audio(leg, new Uint8Array(64_000));
    live.keepAlive(leg);
    // On the wire: 0-1 audio, 1-2 silence, 2-4 audio, 4-4.5 silence.
    const words = [
      { word: 'a', confidence: 1, start: 0.5, end: 1.25 },
      { word: 'b', confidence: 1, start: 2.5, end: 4.25 },
    ];
    const [step] = read(leg, turnInfo('EndOfTurn', 0, 'a b', 4.5, { words }));
    expect(step).toMatchObject({
      utterance: {
        start: 0.5,
        end: 3,
        words: [
          { start: 0.5, end: 1 },
          { start: 1.5, end: 3 },
        ],
      },
    });
  });

  it('takes no silence for told that was not sent', () => {
    const leg = legWith('flux-general-en', 10);
    expect(shown(read(leg, turnInfo('Update', 0, '', 1e9)))).toEqual(['turn.ended silence-0 "" 0-9']);
    live.audio(leg, new Uint8Array(64_000));
    expect(shown(read(leg, turnInfo('Update', 0, '', 12)))).toEqual(['turn.ended silence-1 "" 9-11']);
  });

  it('says no more after CloseStream, not even silence', () => {
    const leg = legWith('flux-general-en', 1);
    expect(live.leave?.(leg)).toEqual([{ type: 'CloseStream' }]);
    live.finish(leg);
    live.wake?.(leg);
    expect(live.keepAlive(leg)).toEqual([]);
    expect(live.leave?.(leg)).toEqual([]);
    expect(live.wake?.(leg)).toEqual([]);
  });

  it('asks with the few parameters that Flux knows', () => {
    const url = queryOf('flux-general-en', { language: 'fr', diarization: true, params: { smart_format: true } });
    expect(url.pathname).toBe('/v2/listen');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      model: 'flux-general-en',
      encoding: 'linear16',
      sample_rate: '16000',
    });
  });

  it.each([
    ['fr-CA', {}, ['fr']],
    ['auto', {}, []],
    ['sv', {}, []],
    [undefined, {}, []],
    ['fr', { language_hint: ['de', 'it'] }, ['de', 'it']],
  ])('hints at %s with %o as %o', (language, params, hints) => {
    expect(queryOf('flux-general-multi', { language, params }).searchParams.getAll('language_hint')).toEqual(hints);
  });

  it('wants an answer for speech within three seconds, and silence after half a second', () => {
    expect(live.timing(legRequest('flux-general-en'))).toMatchObject({ stallMs: 3_000, keepAliveMs: 500 });
    expect(live.timing(legRequest('nova-3'))).toMatchObject({ stallMs: 8_000, keepAliveMs: 4_000 });
  });
});
