// The codec of the embedded recogniser: what it asks, how it reads what a stream says, and what its catalogue promises.
import { Value } from '@sinclair/typebox/value';
import { describe, expect, test } from 'vitest';
import type { Heard } from '../../machines/events.ts';
import { local } from '../../src/providers/local/index.ts';
import type { Incoming, LegRequest } from '../../src/providers/provider.ts';
import { TEXT_BOUNDS } from '../../src/recogniser/grammar/jsgf.ts';
import { ALIGN_BOUNDS } from '../../src/recogniser/grammar/task-compiler.ts';
import { readQuery } from '../../src/recogniser/protocol.ts';

const live = local.live!;
const legRequest = (more: Partial<LegRequest> = {}): LegRequest => ({
  model: 'commands-en',
  sampleRate: 16_000,
  language: undefined,
  interimResults: true,
  diarization: false,
  params: {},
  access: { baseUrl: undefined, credential: undefined },
  ...more,
});
const open = (more: Partial<LegRequest> = {}) => live.open(legRequest(more));
const modelNames = local.models.map(({ id }) => id.replace('local/', ''));

describe('opening', () => {
  test.each(modelNames)('%s asks the engine what the engine understands', (model) => {
    const params = model.startsWith('align-') ? { align_text: 'yes' } : {};
    const { endpoint, hello } = open({ model, params });
    expect(hello).toEqual([]);
    expect(endpoint).toMatchObject({ kind: 'embedded', engine: 'local' });
    const query = endpoint.kind === 'embedded' ? readQuery(endpoint.query) : undefined;
    expect(query).toMatchObject({ language: model.slice(-2), interims: true });
    expect(query?.task).toMatchObject(
      model.startsWith('align-') ? { kind: 'align', text: 'yes', builtIn: false } : { kind: 'grammar', builtIn: true },
    );
    expect(query?.task.text).not.toBe('');
  });

  test('hands on a grammar of the customer, to be checked, and that no interims are wanted', () => {
    const { endpoint } = open({ params: { grammar: '#JSGF …' }, interimResults: false });
    expect(endpoint).toMatchObject({
      query: { task: { kind: 'grammar', text: '#JSGF …', builtIn: false }, interims: false },
    });
  });

  test('paces what it sends, and waits for no end of time', () => {
    const timing = live.timing(legRequest());
    expect(timing.frame).toEqual({ minMs: 100, idealMs: 100, maxMs: 1_000, tail: 'short' });
    expect(timing.speedMax).toBeLessThan(Number.POSITIVE_INFINITY);
    for (const wait of [timing.connectMs, timing.readyMs, timing.drainMs]) expect(wait).toBeLessThanOrEqual(20_000);
  });
});

describe('reading', () => {
  const words = [{ word: 'yes', start: 1, end: 1.5, confidence: 0.9 }];
  const utterance = { text: 'yes', start: 1, end: 1.5, language: 'en' };

  test.each<[string, unknown, Heard[]]>([
    ['ready', { type: 'ready' }, [{ type: 'ready' }]],
    ['speech', { type: 'speech_started', start: 1 }, [{ type: 'speech.started', start: 1 }]],
    [
      'an interim',
      { type: 'interim', turn: 3, text: 'yes', start: 1, end: 1.5 },
      [{ type: 'partial', turnId: '3', utterance }],
    ],
    [
      'a final',
      { type: 'final', turn: 3, text: 'yes', start: 1, end: 1.5, confidence: 0.9, words },
      [
        {
          type: 'turn.ended',
          turnId: '3',
          utterance: { ...utterance, confidence: 0.9, words },
          formattedFollows: false,
        },
      ],
    ],
    [
      'a turn in which nothing was heard',
      { type: 'no_match', turn: 3, start: 1, end: 1.5 },
      [{ type: 'turn.ended', turnId: '3', utterance: { text: '', start: 1, end: 1.5 }, formattedFollows: false }],
    ],
    [
      'a warning',
      { type: 'warning', code: 'recogniser_slowed', message: 'Slower.' },
      [{ type: 'warned', code: 'recogniser_slowed', message: 'Slower.' }],
    ],
    ['the end', { type: 'finished' }, [{ type: 'finished' }]],
    ['something new', { type: 'news' }, []],
    ['nothing', null, []],
    ['a text', 'final', []],
  ])('%s', (_what, json, heard) => {
    expect(live.read(open().state, { json })).toEqual(heard);
  });

  test('bytes are no message', () => {
    expect(live.read(open().state, { bytes: new Uint8Array(4) } satisfies Incoming)).toEqual([]);
  });

  test.each(local.failures.flatMap(({ code, ...row }) => (typeof code === 'string' ? [{ code, ...row }] : [])))(
    'the error $code is a failure of its own kind',
    (row) => {
      const { code } = row;
      const [heard] = live.read(open().state, { json: { type: 'error', code, message: 'The sentence.' } });
      expect(heard).toMatchObject({ type: 'failed', failure: { code, kind: row.kind } });
      const message = heard?.type === 'failed' && heard.failure.message;
      expect(message).toBe(row.kind === 'caller' ? 'The sentence.' : row.message);
    },
  );

  test('an organisation that has its share says nothing of how the model serves others', () => {
    const [heard] = live.read(open().state, { json: { type: 'error', code: 'recogniser_share_used', message: 'x' } });
    expect(heard).toMatchObject({ failure: { own: true } });
  });

  test('an unknown error is a failure that is tried again', () => {
    const [heard] = live.read(open().state, { json: { type: 'error', code: 'new', message: 'x' } });
    expect(heard).toMatchObject({ type: 'failed', failure: { code: 'new', kind: 'retry' } });
  });
});

describe('closing', () => {
  test('in order after finish is the end; anything else is a failure that is tried again', () => {
    const { state } = open();
    expect(live.closed(state, 1000, '')).toMatchObject({
      type: 'failed',
      failure: { kind: 'retry', code: 'close_1000' },
    });
    expect(live.finish(state)).toEqual([{ type: 'send', frame: { type: 'finish' } }]);
    expect(live.closed(state, 1011, '')).toMatchObject({ type: 'failed', failure: { code: 'close_1011' } });
    expect(live.closed(state, 1000, '')).toEqual({ type: 'finished' });
  });

  test('a turn is ended by a command, audio is sent as it is, and nothing keeps it alive', () => {
    const { state } = open();
    const frame = new Uint8Array(3_200);
    expect(live.audio(state, frame)).toBe(frame);
    expect([live.finalize(state), live.keepAlive(state)]).toEqual([
      [{ type: 'send', frame: { type: 'finalize' } }],
      [],
    ]);
  });
});

describe('the catalogue', () => {
  test.each(local.models)('$id is free on purpose and says that it takes no dictation', (card) => {
    expect(card.pricing).toEqual({
      currency: 'USD',
      batch: { unit: 'minute', amount: '0', byok: '0.00', free: true },
      live: { unit: 'minute', amount: '0', byok: '0.00', free: true },
    });
    expect(card.description).toContain('No open dictation');
    expect(card.languages).toEqual([card.id.slice(-2)]);
  });

  test.each(modelNames)('%s accepts its own options and no others', (model) => {
    const accepts = (params: unknown) => Value.Check(local.options(model), params);
    const isAligned = model.startsWith('align-');
    expect([accepts({}), accepts({ align_text: 'yes' })]).toEqual([!isAligned, isAligned]);
    expect([accepts({ grammar: '#JSGF' }), accepts({ grammar: '' })]).toEqual([
      model.startsWith('commands-') || model.startsWith('digits-'),
      false,
    ]);
    expect([accepts({ grammer: 'x' }), accepts({ grammar: 1 }), accepts({ align_text: '' })]).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('options are bounded as the recogniser bounds them', () => {
    expect(local.options('commands-en').properties.grammar?.maxLength).toBe(TEXT_BOUNDS.lengthMax);
    expect(local.options('align-en').properties.align_text?.maxLength).toBe(ALIGN_BOUNDS.lengthMax);
  });
});
