// `voxgate demo` without its processes: its arguments, its verdict and its screen. What its viewers see is slow/demo.test.ts.
import { describe, expect, it } from 'vitest';
import type { ServerEvent } from '../../src/api/listen-events.ts';
import { demo, problemOf } from '../../src/cli/demo/command.ts';
import { DemoScreen } from '../../src/cli/demo/screen.ts';
import { SENTENCE } from '../../src/cli/demo/sentence.ts';
import { providers } from '../../src/vendors/index.ts';
import { READING } from '../fakes/reading.ts';

const FROM = 'deepgram/nova-3';
const TO = 'assemblyai/universal-streaming-english';
/** Columns before the words of a row. */
const WORDS_AT = 21;

describe('the arguments of voxgate demo', () => {
  it.each([
    ['a file', ['a.wav'], /"a.wav" is too much/],
    [
      'a model that is not simulated',
      ['--from', 'local/commands-en'],
      /"local\/commands-en" is not one\. .*--mode live/,
    ],
    ['a model without a live mode', ['--to', 'assemblyai/universal-2'], /^--to takes a model that streams/],
    ['an invalid slug', ['--to', ''], /^--to .* Send one such as deepgram\/nova-3\./],
    ['a mistyped model, with the nearest', ['--from', 'deepgram/nova3'], /^.{60,130} Did you mean deepgram\/nova-3\?/],
    ['a mistyped provider, with the nearest', ['--from', 'deepgrm/nova-3'], /Did you mean deepgram\/nova-3\?/],
    ['two models of one provider', ['--to', 'deepgram/flux-general-en'], /of two/],
    ['an unknown fault', ['--fault', 'yawn'], /no fault "yawn"/],
    ['an unknown option', ['--form', 'x'], /--form/],
  ])('refuse %s with 64', async (_what, args, message) => {
    await expect(demo.run(args)).rejects.toMatchObject({ exitCode: 64, message: expect.stringMatching(message) });
  });
});

it('uses the sentence of the sample it was made from', () => {
  expect(READING.turns[0]).toBe(SENTENCE);
});

const common = { session_id: 'ses_1', seq: 1, at: '2026-01-01T00:00:00.000Z' };
const transcript = (text: string, isFinal = true, model = FROM): ServerEvent => ({
  ...common,
  type: 'transcript',
  text,
  is_final: isFinal,
  turn: 0,
  start: 0,
  end: 1,
  model,
});
const failover: ServerEvent = {
  ...common,
  type: 'failover',
  from: FROM,
  to: TO,
  reason: 'upstream_closed',
  replayed_seconds: 1.25,
  attempt: 1,
};
const error: ServerEvent = {
  ...common,
  type: 'error',
  error: { type: 'upstream_error', code: 'upstream_exhausted', message: 'All failed.', param: null, request_id: 'r' },
};
const ended: ServerEvent = {
  ...common,
  type: 'session_ended',
  reason: 'client_closed',
  audio_seconds: 4.7,
  usage: [
    { model: FROM, seconds: 2, cost_usd: '0.001', byok: false },
    { model: TO, seconds: 2.7, cost_usd: '0.002', byok: false },
  ],
  cost_usd: '0.003',
};

describe('the verdict', () => {
  const said = 'turn left';
  it.each([
    ['nothing to say of a whole sentence', [failover, transcript('Turn left.'), ended], undefined],
    ['interims aside', [transcript('burn', false), failover, transcript('turn left'), ended], undefined],
    ['no failover', [transcript(said), ended], /no failover/],
    ['two failovers', [failover, failover, transcript(said), ended], /2 failovers/],
    ['a word less', [failover, transcript('turn'), ended], /"turn left" was said, and "turn" arrived/],
    ['a word twice', [failover, transcript('turn turn left'), ended], /"turn turn left" arrived/],
    ['the sentence twice', [transcript(said), failover, transcript(said), ended], /"turn left turn left" arrived/],
    ['no final', [failover, transcript(said, false), ended], /no final came/],
    ['a failed session', [error, ended], /All failed/],
    ['no end', [failover, transcript(said)], /cut off/],
    ['nothing at all', [], /cut off/],
  ])('reports %s', (_what, heard, problem) => {
    if (problem === undefined) expect(problemOf(heard, said)).toBeUndefined();
    else expect(problemOf(heard, said)).toMatch(problem);
  });
});

describe('the screen', () => {
  const started: ServerEvent = {
    ...common,
    type: 'session_started',
    request_id: 'req_1',
    model: FROM,
    sample_rate: 8000,
    encoding: 'mulaw',
    fallbacks: [],
    chain: [],
    resume_token: null,
    limits: { idle_seconds: 1, suspend_seconds: 1, session_seconds: 1, binary_frame_bytes: 1, text_frame_bytes: 1 },
  };

  /** What is written for a session, with a clock that goes on by 250 ms with each thing that happens. */
  function shown(
    happenings: readonly (ServerEvent | 'death')[],
    {
      columns = 80,
      isTTY = true,
      ...env
    }: { columns?: number; isTTY?: boolean; NO_COLOR?: string; TERM?: string } = {},
  ): string {
    let text = '';
    let nowMs = 1_000;
    const write = (piece: string) => {
      text += piece;
    };
    const screen = new DemoScreen({ output: { write, isTTY, columns }, env, now: () => nowMs });
    for (const each of [started, ...happenings]) {
      if (each === 'death') screen.died(FROM);
      else screen.show(each);
      nowMs += 250;
    }
    screen.close();
    return text;
  }

  it('writes an interim over the one before it, and the final over the last', () => {
    const text = shown([transcript('turn', false), transcript('turn left', false), transcript('Turn left.')], {
      NO_COLOR: '1',
    });
    expect(text).toBe(
      [
        '\r\x1b[K  0.3 s  deepgram    turn',
        '\r\x1b[K  0.5 s  deepgram    turn left',
        '\r\x1b[K  0.8 s  final       Turn left.\n',
      ].join(''),
    );
  });

  it('keeps the last interim of a dead provider, and shows the failover time', () => {
    const heard = [transcript('turn', false), 'death', failover, transcript('turn', false, TO)] as const;
    const text = shown(heard, { NO_COLOR: '1' });
    expect(text).toContain('deepgram    turn\n  0.5 s  deepgram    the first provider dies here\n');
    expect(text).toContain('upstream_closed, took 250 ms, 1.3 s of audio replayed\n');
    expect(text.endsWith('\r\x1b[K  1.0 s  assemblyai  turn\n')).toBe(true);
  });

  it.each([
    ['no terminal', { isTTY: false }],
    ['a dumb terminal', { TERM: 'dumb' }],
  ])('uses no escape codes on %s, and shows an interim that says something new as a row', (_what, where) => {
    const turn = transcript('turn', false);
    const text = shown([turn, turn, transcript('turn left', false), 'death', failover, ended], where);
    expect(text).not.toContain('\x1b');
    expect(text).not.toContain('\r');
    expect(text.match(/deepgram {4}turn\n/g)).toHaveLength(1);
    expect(text.match(/deepgram {4}turn left\n/g)).toHaveLength(1);
  });

  it('uses colours on a terminal, unless NO_COLOR is set', () => {
    expect(shown(['death'])).toContain('\x1b[1;31m');
    expect(shown(['death'], { NO_COLOR: '' })).toContain('\x1b[1;31m');
    expect(shown(['death'], { NO_COLOR: '1' })).not.toContain('\x1b');
  });

  it.each([80, 60, 40])('keeps every model and every text within %i columns', (columns) => {
    const long = SENTENCE.repeat(3);
    for (const { id } of providers.flatMap(({ models }) => models)) {
      const rows = shown(
        [
          transcript(long, false, id),
          transcript(long),
          'death',
          { ...failover, from: id },
          { ...ended, usage: [{ model: id, seconds: 4.7, cost_usd: '0.0001', byok: false }] },
          error,
        ],
        { columns, NO_COLOR: '1' },
      )
        .replaceAll('\r\x1b[K', '\n')
        .split('\n');
      // A word is never broken: a long slug may stand alone on its line.
      const tooLong = rows.filter((row) => row.length >= columns && row.slice(WORDS_AT).includes(' '));
      expect(tooLong).toEqual([]);
    }
  });

  it('shows what else a session may say', () => {
    const text = shown(
      [
        { ...common, type: 'warning', code: 'w', message: 'Mind this.' },
        { ...common, type: 'discontinuity', from: 1, to: 2, reason: 'replay_exceeded' },
        error,
        ended,
      ],
      { isTTY: false },
    );
    expect(text).toContain('warning     Mind this.\n');
    expect(text).toContain('lost        1 s to 2 s (replay_exceeded)\n');
    expect(text).toContain('error       All failed.\n');
    expect(text).toMatch(
      /bill {8}\$0\.003: deepgram\/nova-3 2\.0 s,\n +assemblyai\/universal-streaming-english 2\.7 s\n$/,
    );
  });
});
