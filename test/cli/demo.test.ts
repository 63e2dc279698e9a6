// `voxgate demo` as its viewers meet it: the real program, its events and rows, and that nothing of it is left behind.
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import type { ServerEvent } from '../../src/api/listen.ts';
import { demo } from '../../src/cli/demo/command.ts';
import { DemoScreen } from '../../src/cli/demo/screen.ts';
import { SENTENCE } from '../../src/cli/demo/sentence.ts';
import { problemOf } from '../../src/cli/demo/verdict.ts';
import { providers } from '../../src/providers/index.ts';
import { startVoxgate, voxgateProcess } from '../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

type EventOf<Type extends ServerEvent['type']> = Extract<ServerEvent, { type: Type }>;

const FROM = 'deepgram/nova-3';
const TO = 'assemblyai/universal-streaming-english';
const LONGEST_MS = 30_000;
/** Columns before the words of a row. */
const WORDS_AT = 21;

const of = <Type extends ServerEvent['type']>(events: readonly ServerEvent[], type: Type) =>
  events.filter((event): event is EventOf<Type> => event.type === type);

/** Runs `demo --json` to its end in time, and checks what is true of every good run. */
async function events(...args: string[]): Promise<ServerEvent[]> {
  const startedAt = performance.now();
  const { code, output, errors } = await voxgateProcess(['demo', '--json', ...args]);
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  expect(performance.now() - startedAt).toBeLessThan(LONGEST_MS);
  const heard = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ServerEvent);
  expect(heard.map(({ seq }) => seq)).toEqual(heard.map((_, index) => index + 1));
  expect([heard[0]?.type, heard.at(-1)?.type]).toEqual(['session_started', 'session_ended']);
  return heard;
}

// They wait for speech, not for the processor.
describe.concurrent('voxgate demo', () => {
  it('kills the first provider, and the client sees one failover, one final and the whole sentence', async () => {
    const heard = await events();
    const failovers = of(heard, 'failover');
    expect(failovers).toMatchObject([{ from: FROM, to: TO, replayed_seconds: expect.closeTo(2.1, 1) }]);
    const transcripts = of(heard, 'transcript');
    expect(transcripts.filter((event) => event.is_final)).toMatchObject([{ text: SENTENCE, model: TO, turn: 0 }]);
    // It died in the middle: some of the sentence had been heard by the first, and not all.
    const before = transcripts.filter(({ model }) => model === FROM);
    expect(before.length).toBeGreaterThan(0);
    expect(before.map(({ text }) => text)).not.toContain(SENTENCE);
    expect(heard.at(-1)).toMatchObject({ reason: 'client_closed', usage: [{ model: TO }] });
  });

  it('does so with other models', async () => {
    const [from, to] = ['openai/gpt-4o-transcribe', 'deepgram/flux-general-en'];
    const heard = await events('--from', from, '--to', to);
    expect(of(heard, 'failover')).toMatchObject([{ from, to }]);
    expect(of(heard, 'transcript').filter((event) => event.is_final)).toMatchObject([
      { text: SENTENCE, model: to, turn: 0 },
    ]);
  });

  it('tells it to people in 80 columns, without escape codes where there is no terminal', async () => {
    const directory = temporaryDirectory();
    const { code, output, errors } = await voxgateProcess(['demo'], { TMPDIR: directory });
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).not.toContain('\x1b');
    expect(Math.max(...output.split('\n').map((line) => line.length))).toBeLessThan(80);
    const story = [
      / {2}said +set the temperature to twenty one degrees\n/,
      / s {2}deepgram {4}set\n/,
      / s {2}deepgram {4}the first provider dies here\n/,
      / s {2}failover {4}deepgram\/nova-3 → assemblyai\/universal-streaming-english\n +\w+, took \d+ ms, 2\.1 s of audio/,
      / s {2}assemblyai {2}set the temperature/,
      / s {2}final {7}set the temperature to twenty one degrees\n/,
      / s {2}bill {8}\$0\.\d+: assemblyai\/universal-streaming-english 4\.7 s\n/,
      / {2}Every word that was said is in the final/,
    ];
    const places = story.map((part) => output.search(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(readdirSync(directory)).toEqual([]);
  });

  it('shows a fault of the first provider in place of its death', async () => {
    const { code, output } = await voxgateProcess(['demo', '--fault', 'close-after=1s:1008']);
    expect(code).toBe(0);
    expect(output).toContain('close-after=1s:1008');
    expect(output).not.toContain('dies here');
    expect(output).toMatch(/failover[\s\S]*final[\s\S]*Every word/);
  });

  it('ends with 1 and a sentence when the fault gave no reason for a failover', async () => {
    const { code, errors } = await voxgateProcess(['demo', '--json', '--fault', 'duplicate-finals']);
    expect({ code, errors }).toEqual({
      code: 1,
      errors: expect.stringMatching(/^voxgate: there was no failover.*\n$/),
    });
  });

  it('takes everything down on SIGINT', async () => {
    const directory = temporaryDirectory();
    const child = startVoxgate(['demo', '--json'], { TMPDIR: directory });
    const ended = once(child, 'close');
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    await once(createInterface({ input: child.stdout }), 'line');
    expect(readdirSync(directory)).toHaveLength(1);
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(errors).toBe('voxgate: ended by SIGINT.\n');
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe('the arguments of voxgate demo', () => {
  it.each([
    ['a file', ['a.wav'], /takes no file/],
    ['a model that is not simulated', ['--from', 'local/commands-en'], /--from takes one of: deepgram\/nova-3,/],
    ['a model without a live mode', ['--to', 'assemblyai/universal-2'], /--to takes one of/],
    ['what is no slug', ['--to', ''], /--to takes one of/],
    ['two models of one provider', ['--to', 'deepgram/flux-general-en'], /of two/],
    ['an unknown fault', ['--fault', 'yawn'], /no fault "yawn"/],
    ['an unknown option', ['--form', 'x'], /--form/],
  ])('refuse %s with 64', async (_what, args, message) => {
    await expect(demo.run(args)).rejects.toMatchObject({ exitCode: 64, message: expect.stringMatching(message) });
  });
});

it('the sentence is that of the sample it was made from', () => {
  const samples = JSON.parse(readFileSync(new URL('../fixtures/audio/samples.json', import.meta.url), 'utf8'));
  expect(samples).toContainEqual(expect.objectContaining({ file: 'thermostat.wav', text: SENTENCE }));
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
  ])('has %s', (_what, heard, problem) => {
    if (problem === undefined) expect(problemOf(heard, said)).toBeUndefined();
    else expect(problemOf(heard, said)).toMatch(problem);
  });
});

describe('the screen', () => {
  const started: ServerEvent = {
    ...common,
    type: 'session_started',
    model: FROM,
    sample_rate: 8000,
    encoding: 'mulaw',
    fallbacks: [],
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

  it('leaves the last interim of a provider that dies, and tells how long the failover took', () => {
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

  it('has colours on a terminal, unless NO_COLOR is set', () => {
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
