// The codec of Realtime transcription at work: what it makes of each event, which audio each final covers, and how a leg ends.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { live } from '../../../src/providers/openai/live.ts';
import { type Act, audio, begun, legRequest, play, said, say } from './stage.ts';

const NO_TURNS = { model: 'gpt-live-transcribe' };
const SERVER_TURNS = { model: 'gpt-4o-transcribe' };

const { started, stopped, timeout, committed, delta, completed, failed, error } = said;

const STORIES: [string, Parameters<typeof legRequest>[0], Act[], string[]][] = [
  [
    'a commit covers what was sent since the one before',
    NO_TURNS,
    [
      audio(1),
      say(delta('a', 'Book ')),
      say(delta('a', 'a')),
      audio(0.5),
      'finalize',
      say(committed('a')),
      say(delta('a', ' table')),
      say(completed('a', 'Book a table.')),
      audio(0.25),
      'finalize',
      say(committed('b', 'a')),
      say(completed('b', ' Now. ')),
    ],
    [
      'partial a 0-1 "Book"',
      'partial a 0-1 "Book a"',
      'commit',
      'partial a 0-1.5 "Book a table"',
      'ended a 0-1.5 "Book a table."',
      'commit',
      'ended b 1.5-1.75 "Now."',
    ],
  ],
  [
    'commits under way keep their own positions',
    NO_TURNS,
    [
      audio(1),
      'finalize',
      audio(1),
      'finalize',
      audio(1),
      say(committed('a')),
      say(committed('b', 'a')),
      say(completed('a', 'one')),
      say(completed('b', 'two')),
    ],
    ['commit', 'commit', 'ended a 0-1 "one"', 'ended b 1-2 "two"'],
  ],
  [
    'less than 100 ms is not committed, and stays for the next',
    NO_TURNS,
    [audio(0.099), 'finalize', audio(0.001), 'finalize', say(committed('a')), say(completed('a', 'x'))],
    ['commit', 'ended a 0-0.1 "x"'],
  ],
  [
    'a refused commit leaves its audio to the next',
    SERVER_TURNS,
    [
      audio(1),
      'finalize',
      audio(1),
      'finalize',
      say(error('invalid_request_error', 'input_audio_buffer_commit_empty')),
      say(committed('a')),
      say(completed('a', 'x')),
    ],
    ['commit', 'commit', 'ended a 0-2 "x"'],
  ],
  [
    'a turn that the server ended lies where it said',
    SERVER_TURNS,
    [
      audio(3),
      say(started('a', 500)),
      say(stopped('a', 2100)),
      say(committed('a')),
      say(delta('a', 'Yes')),
      say(completed('a', 'Yes.', { languages: [{ code: 'en' }, { code: 'de' }] })),
    ],
    ['speech 0.5', 'partial a 0.5-2.1 "Yes"', 'ended a 0.5-2.1 "Yes." en'],
  ],
  [
    'a commit within a turn of the server ends it where the commit was',
    SERVER_TURNS,
    [audio(2), say(started('a', 250)), 'finalize', audio(1), say(committed('a')), say(completed('a', 'x'))],
    ['speech 0.25', 'commit', 'ended a 0.25-2 "x"'],
  ],
  [
    'a turn that the server ended first does not take the position of a commit',
    SERVER_TURNS,
    [
      audio(2),
      say(started('a', 0)),
      'finalize',
      say(stopped('a', 1500)),
      say(committed('a')),
      say(committed('b', 'a')),
      say(completed('a', 'x')),
      say(completed('b', '')),
    ],
    ['speech 0', 'commit', 'ended a 0-1.5 "x"', 'ended b 1.5-2 ""'],
  ],
  [
    'a position never lies beyond the audio that was sent, nor before what is covered',
    SERVER_TURNS,
    [
      audio(1),
      say(stopped('a', 9_000)),
      say(committed('a')),
      say(completed('a', 'x')),
      say(stopped('b', 10)),
      say(committed('b', 'a')),
      say(completed('b', 'y')),
    ],
    ['ended a 0-1 "x"', 'ended b 1-1 "y"'],
  ],
  [
    'silence that the server timed out is a turn without words',
    SERVER_TURNS,
    [audio(9), say(timeout('a', 1000, 8000)), say(committed('a')), say(completed('a', ''))],
    ['ended a 1-8 ""'],
  ],
  [
    'finals come in the order of the commits, and interims of one turn at a time',
    NO_TURNS,
    [
      audio(1),
      'finalize',
      say(committed('a')),
      audio(1),
      say(delta('b', 'two')),
      'finalize',
      say(committed('b', 'a')),
      say(completed('b', 'Two.')),
      audio(1),
      say(delta('c', 'thr')),
      say(completed('a', '')),
      say(delta('c', 'ee')),
    ],
    ['commit', 'commit', 'ended a 0-1 ""', 'ended b 1-2 "Two."', 'partial c 2-3 "thr"', 'partial c 2-3 "three"'],
  ],
  [
    'an item said twice is one turn',
    NO_TURNS,
    [
      audio(1),
      'finalize',
      say(committed('a')),
      say(committed('a')),
      say(completed('a', 'x')),
      say(completed('a', 'y')),
      say(delta('a', 'z')),
      say(committed('a')),
      say(started('a', 5)),
    ],
    ['commit', 'ended a 0-1 "x"', 'speech 0.005'],
  ],
  [
    'a final without its commit takes the position of the oldest',
    NO_TURNS,
    [audio(1), 'finalize', say(completed('a', 'x')), say(committed('a')), say(completed('b', 'y'))],
    ['commit', 'ended a 0-1 "x"', 'ended b 1-1 "y"'],
  ],
  [
    'what began and was never committed is forgotten',
    SERVER_TURNS,
    [
      audio(2),
      say(started('a', 100)),
      say(started('b', 900)),
      say(stopped('b', 1500)),
      say(committed('b')),
      say(delta('b', 'x')),
      say(completed('b', 'x')),
    ],
    ['speech 0.1', 'speech 0.9', 'partial b 0.9-1.5 "x"', 'ended b 0.9-1.5 "x"'],
  ],
  // Ends.
  ['a leg that was sent nothing is finished at once', NO_TURNS, ['finish'], ['finished']],
  [
    'the end commits what is left, and waits for every final',
    NO_TURNS,
    [
      audio(1),
      'finalize',
      audio(1),
      'finish',
      say(committed('a')),
      say(committed('b', 'a')),
      say(completed('b', '2')),
      say(completed('a', '1')),
    ],
    ['commit', 'commit', 'ended a 0-1 "1"', 'ended b 1-2 "2"', 'finished'],
  ],
  [
    'the end fills up what is too short for a commit, and does not count the silence',
    NO_TURNS,
    [audio(0.04), 'finish', say(committed('a')), say(completed('a', 'x'))],
    [`append 1440`, 'commit', 'ended a 0-0.04 "x"', 'finished'],
  ],
  [
    'with everything committed the end only waits',
    NO_TURNS,
    [audio(1), 'finalize', 'finish', say(committed('a')), say(completed('a', 'x')), say(said.updated)],
    ['commit', 'ended a 0-1 "x"', 'finished'],
  ],
  [
    'the end stops turn detection before it commits',
    SERVER_TURNS,
    [
      audio(1),
      say(started('a', 0)),
      'finish',
      say(said.updated),
      say(committed('a')),
      say(delta('a', 'x')),
      say(completed('a', 'x')),
    ],
    ['speech 0', 'session.update', 'commit', 'partial a 0-1 "x"', 'ended a 0-1 "x"', 'finished'],
  ],
  [
    'the end is there when the server had committed everything itself',
    SERVER_TURNS,
    [
      audio(1),
      say(started('a', 0)),
      'finish',
      say(stopped('a', 1000)),
      say(committed('a')),
      say(error('invalid_request_error', 'input_audio_buffer_commit_empty')),
      say(completed('a', 'x')),
    ],
    ['speech 0', 'session.update', 'commit', 'ended a 0-1 "x"', 'finished'],
  ],
  [
    'the end does not mind a refusal of the change of turn detection',
    SERVER_TURNS,
    [
      audio(1),
      'finish',
      say(error('invalid_request_error', 'invalid_value', { event_id: 'end-turn-detection' })),
      say(committed('a')),
      say(completed('a', 'x')),
    ],
    ['session.update', 'commit', 'ended a 0-1 "x"', 'finished'],
  ],
  // Failures: no words are made final by guess.
  [
    'an item that failed fails the leg, so that its audio is heard again',
    NO_TURNS,
    [audio(1), say(delta('a', 'some words')), 'finalize', say(committed('a')), say(failed('a'))],
    ['partial a 0-1 "some words"', 'commit', 'failed retry item_failed'],
  ],
  ['an item without words does so as well', NO_TURNS, [say(failed('a', { type: 'x' }))], ['failed retry item_failed']],
  [
    'credit may end with an item',
    NO_TURNS,
    [say(failed('a', { code: 'insufficient_quota' }))],
    ['failed account insufficient_quota'],
  ],
];

describe('a leg', () => {
  it.each(STORIES)('%s', (_, over, acts, lines) => {
    const setUp = over?.model === undefined ? [] : ['session.update', 'ready'];
    expect(play(over ?? {}, [...begun, ...acts])).toEqual([...setUp, ...lines]);
  });

  it.each<[unknown, string[]]>([
    [error('invalid_request_error', 'session_expired'), ['failed retry session_expired']],
    [error('invalid_request_error', 'invalid_model'), ['failed caller invalid_model']],
    [error('invalid_request_error'), ['failed caller invalid_request_error']],
    [error('invalid_request_error', 'invalid_api_key'), ['failed account invalid_api_key']],
    [error('server_error', 'oops'), ['failed retry oops']],
    [error('insufficient_quota'), ['failed account insufficient_quota']],
    [error('tokens', 'rate_limit_exceeded'), ['failed next rate_limit_exceeded']],
    [error('something_new', 'whatever'), []],
    [{ type: 'error' }, []],
    [{ type: 'rate_limits.updated' }, []],
    [{ type: 'conversation.item.added', item: {} }, []],
    [{ type: 'conversation.item.input_audio_transcription.segment', item_id: 'a', text: 'x' }, []],
    [started('a', Number.NaN), []],
    [{ type: 'input_audio_buffer.committed' }, []],
    ['text', []],
    [null, []],
  ])('makes of %j %j', (message, lines) => {
    expect(play({}, [say(message)])).toEqual(lines);
  });

  it('fails when more turns wait for their finals than it remembers', () => {
    const acts = Array.from({ length: 65 }, (): Act[] => [audio(0.1), 'finalize']).flat();
    expect(play({}, acts).at(-1)).toBe('failed retry too_many_items');
    expect(play({}, acts.slice(2)).at(-1)).toBe('commit');
    const answered = Array.from({ length: 65 }, (_, at): Act[] => [
      audio(0.1),
      'finalize',
      say(committed(`i${at}`)),
    ]).flat();
    expect(play({}, answered).at(-1)).toBe('failed retry too_many_items');
  });

  it('forgets the oldest of the items that are begun and never committed', () => {
    const acts = Array.from({ length: 9 }, (_, at) => say(started(`i${at}`, at * 1000)));
    const last = [audio(30), say(stopped('i8', 9_500)), say(committed('i8')), say(completed('i8', 'x'))];
    expect(play(SERVER_TURNS, [...acts, ...last]).at(-1)).toBe('ended i8 8-9.5 "x"');
    const first = [audio(30), say(stopped('i0', 9_500)), say(committed('i0')), say(completed('i0', 'x'))];
    expect(play(SERVER_TURNS, [...acts, ...first]).at(-1)).toBe('ended i0 0-9.5 "x"');
  });

  it('shows interim words up to a length', () => {
    const [line = ''] = play({}, [say(delta('a', 'x'.repeat(100_000)))]);
    expect(line.length).toBeLessThan(66_000);
  });
});

describe('whatever comes', () => {
  const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const times = fc.integer({ min: 0, max: 20_000 });
  const message = fc.oneof(
    fc.tuple(ids, times).map(([id, ms]) => started(id, ms)),
    fc.tuple(ids, times).map(([id, ms]) => stopped(id, ms)),
    fc.tuple(ids, fc.option(ids)).map(([id, previous]) => committed(id, previous)),
    fc.tuple(ids, fc.string()).map(([id, text]) => delta(id, text)),
    fc.tuple(ids, fc.string()).map(([id, text]) => completed(id, text)),
    fc.constant(error('invalid_request_error', 'input_audio_buffer_commit_empty')),
  );
  const act: fc.Arbitrary<Act> = fc.oneof(
    { weight: 3, arbitrary: message.map(say) },
    fc.integer({ min: 1, max: 50 }).map((frames) => audio(frames / 50)),
    fc.constant('finalize' as const),
  );

  it('no turn ends twice, their ends rise, and none lies beyond the audio', () => {
    fc.assert(
      fc.property(fc.constantFrom(NO_TURNS, SERVER_TURNS), fc.array(act, { maxLength: 60 }), (over, acts) => {
        const lines = play(over, [...acts, 'finish']);
        const sent = acts.reduce(
          (sum, each) => sum + (typeof each === 'object' && 'audio' in each ? each.audio : 0),
          0,
        );
        const ended = lines.flatMap((line) => /^ended (\w) ([\d.e-]+?)-([\d.e-]+) "/.exec(line)?.slice(1) ?? []);
        const turns = Array.from({ length: ended.length / 3 }, (_, at) => ended.slice(3 * at, 3 * at + 3));
        expect(new Set(turns.map(([id]) => id)).size).toBe(turns.length);
        const ends = turns.map(([, , end]) => Number(end));
        expect(ends).toEqual([...ends].sort((a, b) => a - b));
        for (const [, start, end] of turns) {
          expect(Number(end)).toBeLessThanOrEqual(sent + 1e-9);
          expect(Number(start)).toBeLessThanOrEqual(Number(end));
        }
        expect(lines.filter((line) => line === 'finished').length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 500 },
    );
  });

  it('nothing is thrown', () => {
    const types = [
      'session.created',
      'session.updated',
      'error',
      ...Object.values(said).flatMap((make) =>
        typeof make === 'function' ? [(make as (id: string) => { type: string })('x').type] : [],
      ),
    ];
    const member = () => fc.oneof(fc.jsonValue(), fc.constant(Number.NaN), fc.string());
    const garbled = fc.record(
      {
        type: fc.constantFrom(...types),
        item_id: member(),
        previous_item_id: member(),
        audio_start_ms: member(),
        audio_end_ms: member(),
        delta: member(),
        transcript: member(),
        languages: member(),
        error: fc.oneof(member(), fc.record({ type: member(), code: member(), message: member(), event_id: member() })),
      },
      { requiredKeys: ['type'] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.anything(), garbled), (json) => {
        const { state } = live.open(legRequest());
        for (const step of live.read(state, { json })) {
          if (step.type === 'failed') expect(step.failure.code).toBeTypeOf('string');
          if (step.type === 'turn.ended') expect(Number.isFinite(step.utterance?.end)).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
    expect(live.read(live.open(legRequest()).state, { bytes: new Uint8Array(3) })).toEqual([]);
  });
});
