// What OpenAI's clients ask for and are told, message by message.
import { describe, expect, it } from 'vitest';
import { apiError } from '../../../src/api/errors.ts';
import type { OutgoingEvent } from '../../../src/api/listen-events.ts';
import { parametersFor } from '../../../src/compat/parameters.ts';
import type { Conversation, Step } from '../../../src/vendors/compat/dialect.ts';
import { closeOf } from '../../../src/vendors/openai/compat/errors.ts';
import { openai } from '../../../src/vendors/openai/compat/index.ts';
import { RealtimeConversation } from '../../../src/vendors/openai/compat/realtime.ts';

const STAMP = { sessionId: 'ses_1', seq: 1, at: new Date(0) };
const SECOND = Buffer.alloc(48_000).toString('base64');
const TENTH = Buffer.alloc(4_800).toString('base64');
const BETA = { 'openai-beta': 'realtime=v1' };

const opened = (query = '', headers: Record<string, string> = {}): Conversation =>
  new RealtimeConversation({
    query: new URLSearchParams(query),
    headers: new Map(Object.entries(headers)),
    requestId: 'req_1',
  });
const steps = (conversation: Conversation, message: object): Step[] => [...conversation.text(JSON.stringify(message))];
const saidIn = (all: readonly Step[]) => all.flatMap((step) => (step.type === 'say' ? [JSON.parse(step.text)] : []));
const said = (conversation: Conversation, message: object) => saidIn(steps(conversation, message));
const told = (conversation: Conversation, event: object) =>
  conversation.encode(event as OutgoingEvent, STAMP).map((text) => JSON.parse(text));
const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type.replace(/^.*\.(?=\w+$)/, ''));

const current = (input: object) => ({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
const beta = (session: object) => ({ type: 'transcription_session.update', session });
const MODEL = { transcription: { model: 'gpt-4o-transcribe' } };
const APPEND = { type: 'input_audio_buffer.append', audio: SECOND };
const COMMIT = { type: 'input_audio_buffer.commit', event_id: 'mine' };

const wordsOf = (isFinal: boolean) => (text: string, start: number, end: number) => ({
  ...{ type: 'transcript', is_final: isFinal, turn: 0, model: 'local/digits-en', text, start, end },
});
const final = wordsOf(true);
const interim = wordsOf(false);

/** With so many seconds of audio, and a model. */
function speaking(input: object = {}, seconds = 2): Conversation {
  const conversation = opened();
  steps(conversation, current({ ...MODEL, ...input }));
  for (let at = 0; at < seconds; at++) steps(conversation, APPEND);
  return conversation;
}

/** As often as it asks to be heard later. */
function* looks(all: readonly Step[]): Generator<Step[]> {
  for (let later = all.find(({ type }) => type === 'later'); later?.type === 'later'; ) {
    const next = [...later.steps()];
    yield next;
    later = next.find(({ type }) => type === 'later');
  }
}

describe('an update', () => {
  it.each<[string, object, object]>([
    ['a model', current(MODEL), { model: 'openai/gpt-4o-transcribe', encoding: 'linear16', sample_rate: '24000' }],
    ['another’s', current({ transcription: { model: 'deepgram/nova-3' } }), { model: 'deepgram/nova-3' }],
    ['mulaw', current({ ...MODEL, format: { type: 'audio/pcmu' } }), { encoding: 'mulaw', sample_rate: '8000' }],
    [
      'words and a language',
      current({ transcription: { model: 'gpt-transcribe', language: 'fr', prompt: 'p', keywords: ['a,b'] } }),
      { language: 'fr', prompt: 'p', keyterms: '["a,b"]' },
    ],
    [
      'options of the provider’s own models',
      current({ ...MODEL, turn_detection: null, noise_reduction: { type: 'near_field' } }),
      { provider_params: '{"turn_detection":null,"noise_reduction":"near_field"}' },
    ],
    [
      'the same in the beta’s words',
      beta({
        input_audio_format: 'g711_alaw',
        input_audio_transcription: { model: 'whisper-1', language: 'de' },
        turn_detection: { type: 'server_vad', silence_duration_ms: 300, create_response: false },
      }),
      {
        ...{ model: 'openai/whisper-1', encoding: 'alaw', sample_rate: '8000', language: 'de' },
        provider_params: '{"turn_detection":{"type":"server_vad","silence_duration_ms":300}}',
      },
    ],
  ])('requests %s', (_, update, parameters) => {
    const [start] = steps(opened(), update);
    if (start?.type !== 'start') throw new Error('The session was not started.');
    expect(Object.fromEntries(parametersFor(openai, start.request, {}))).toMatchObject(parameters);
  });

  it('requests nothing new for early audio: the address or the default names the model', () => {
    for (const [query, model] of [
      ['model=local/digits-en', 'local/digits-en'],
      ['', 'openai/gpt-transcribe'],
    ] as const) {
      const [start, audio] = steps(opened(query), APPEND);
      expect(audio).toMatchObject({ type: 'audio' });
      if (start?.type !== 'start') throw new Error('The session was not started.');
      expect(parametersFor(openai, start.request, {}).get('model')).toBe(model);
    }
  });
});

describe('the start of a session', () => {
  it('reaches the client at once, and again with its model, in the format of each protocol', () => {
    const ofToday = opened();
    expect(JSON.parse(ofToday.greeting?.[0] ?? '')).toMatchObject({
      ...{ type: 'session.created', event_id: 'event_1_1' },
      session: { type: 'transcription', id: 'sess_1', audio: { input: { format: { rate: 24_000 } } } },
    });
    expect(said(ofToday, current(MODEL))).toEqual([]);
    expect(told(ofToday, { type: 'session_started', model: 'x' })).toMatchObject([
      { type: 'session.updated', session: { audio: { input: MODEL } } },
    ]);
    const ofBeta = opened('', BETA);
    expect(JSON.parse(ofBeta.greeting?.[0] ?? '')).toMatchObject({
      type: 'transcription_session.created',
      session: { input_audio_format: 'pcm16' },
    });
  });
});

describe('a session with turn detection', () => {
  it('makes a turn an item, whose deltas are never withdrawn', () => {
    const conversation = speaking();
    const events = [
      { type: 'speech_started', start: 0.2, turn: 0 },
      interim('hello word', 0.2, 0.8),
      interim('hello world', 0.2, 0.9),
      interim('hello world and', 0.2, 1.1),
      final('hello world and all', 0.2, 1.5),
    ].flatMap((event) => told(conversation, event));
    expect(typesOf(events)).toEqual([
      'speech_started',
      'delta',
      'delta',
      'speech_stopped',
      'committed',
      'added',
      'done',
      'delta',
      'completed',
    ]);
    expect(new Set(events.map(({ item_id, item }) => item_id ?? item.id))).toEqual(new Set(['item_1_1']));
    expect(events.flatMap(({ delta }) => delta ?? []).join('')).toBe('hello world and all');
    expect(events.at(-1)).toMatchObject({
      ...{ transcript: 'hello world and all', content_index: 0 },
      usage: { type: 'duration', seconds: 1.5 },
    });
    const next = told(conversation, final('more', 1.6, 1.9));
    expect(next[0]).toMatchObject({ item_id: 'item_1_2', previous_item_id: 'item_1_1' });
  });

  it('sends items in the beta by another event', () => {
    const conversation = opened('', BETA);
    steps(conversation, beta({ input_audio_transcription: { model: 'whisper-1' } }));
    expect(typesOf(told(conversation, final('a', 0, 1)))).toEqual(['committed', 'created', 'delta', 'completed']);
  });

  it('audio that no final will cover is an item that failed', () => {
    const events = told(speaking(), { type: 'discontinuity', from: 0, to: 1, reason: 'lost' });
    expect(events.at(-1)).toMatchObject({ type: expect.stringMatching(/failed$/), error: { code: 'lost' } });
  });
});

it('reports a refused model with the id of the update that named it', () => {
  const conversation = opened();
  for (const _ of conversation.text(JSON.stringify({ ...current(MODEL), event_id: 'mine' })));
  const { messages } = conversation.refused(apiError('model_not_found', 'Why.'));
  expect(JSON.parse(messages[0] as string)).toMatchObject({ type: 'error', error: { event_id: 'mine' } });
});

describe('a session without turn detection', () => {
  it('puts the finals of its audio into a commit, earlier and later ones', () => {
    const conversation = speaking({ turn_detection: null });
    expect(typesOf(told(conversation, final('one', 0, 0.7)))).toEqual(['delta']);
    told(conversation, interim('two', 0.7, 1.9));
    const committed = steps(conversation, COMMIT);
    expect(committed[0]).toEqual({ type: 'tell', message: { type: 'finalize' } });
    expect(typesOf(saidIn(committed))).toEqual(['committed', 'added', 'done']);
    expect(told(conversation, final('two', 0.7, 2)).at(-1)).toMatchObject({ transcript: 'one two' });
  });

  it('completes a commit of silence without words, in bounded time', () => {
    const all = [...looks(steps(speaking({ turn_detection: null }), COMMIT))];
    expect(all.length).toBeLessThan(20);
    expect(saidIn(all.flat())).toMatchObject([{ type: expect.stringMatching(/completed$/), transcript: '' }]);
  });

  it('waits, after a long commit, for a model at half the speed of speech', () => {
    const conversation = speaking({ turn_detection: null }, 12);
    const waiting = looks(steps(conversation, COMMIT));
    const events = [2.4, 4.8, 7.2, 9.6, 11.8].flatMap((end, at) => {
      const before = Array.from({ length: 10 }, () => saidIn(waiting.next().value ?? [])).flat();
      return [...before, ...told(conversation, final(`word${at}`, end - 1, end))];
    });
    events.push(...[...waiting].flatMap(saidIn));
    const completed = events.filter(({ type }) => type.endsWith('.completed'));
    expect(completed.map(({ transcript }) => transcript)).toEqual(['word0 word1 word2 word3 word4']);
  });

  it('completes a long commit soon after its last words when silence follows', () => {
    const conversation = speaking({ turn_detection: null }, 15);
    const waiting = looks(steps(conversation, COMMIT));
    for (let look = 0; look < 8; look++) expect(saidIn(waiting.next().value ?? [])).toEqual([]);
    told(conversation, final('all of it', 0, 14.2));
    const all = [...waiting];
    expect(saidIn(all.flat())).toMatchObject([{ transcript: 'all of it' }]);
    expect(all.length).toBeLessThan(8);
  });

  it.each([
    ['that was spoken as it was sent', 2.4, [final('one', 0, 1)]],
    ['that was sent faster', 15, []],
  ])('puts a turn in the last third of a second of audio %s into its commit', (_, seconds, before) => {
    const conversation = speaking({ turn_detection: null }, 0);
    for (let at = 0; at < seconds * 10; at++) steps(conversation, { ...APPEND, audio: TENTH });
    for (const each of before) told(conversation, each);
    const waiting = looks(steps(conversation, COMMIT));
    expect(typesOf(told(conversation, final('two', 1, seconds - 0.3)))).toEqual(['delta']);
    expect(typesOf(told(conversation, final('three', seconds - 0.3, seconds)))).toContain('completed');
    expect([...waiting].flatMap(saidIn)).toEqual([]);
  });

  it('puts a turn that follows the open one’s final into its commit', () => {
    const conversation = speaking({ turn_detection: null });
    told(conversation, interim('one', 0, 1.4));
    const waiting = looks(steps(conversation, COMMIT));
    expect(typesOf(told(conversation, final('one', 0, 1.4)))).toEqual(['delta']);
    expect(saidIn(waiting.next().value ?? [])).toEqual([]);
    expect(told(conversation, final('two', 1.4, 2)).at(-1)).toMatchObject({ transcript: 'one two' });
  });

  it('lets words that arrive after their commit be committed without more audio', () => {
    const conversation = speaking({ turn_detection: null });
    told(conversation, final('one', 0, 1.9));
    for (const _ of looks(steps(conversation, COMMIT)));
    expect(typesOf(told(conversation, final('late', 1.9, 2)))).toEqual(['delta']);
    expect(said(conversation, COMMIT).at(-1)).toMatchObject({ transcript: 'late' });
  });

  it('uses words from before a commit in silence', () => {
    const conversation = speaking({ turn_detection: null });
    told(conversation, final('one', 0, 1));
    const all = [...looks(steps(conversation, COMMIT))];
    expect(all).toHaveLength(2);
    expect(saidIn(all.flat())).toMatchObject([{ transcript: 'one' }]);
  });

  it('drops the words of cleared audio', () => {
    const conversation = speaking({ turn_detection: null });
    told(conversation, final('secret', 0, 1));
    expect(typesOf(said(conversation, { type: 'input_audio_buffer.clear' }))).toEqual(['cleared']);
    expect(told(conversation, final('as well', 1, 2))).toEqual([]);
    expect(said(conversation, COMMIT)).toMatchObject([{ error: { code: 'input_audio_buffer_commit_empty' } }]);
  });

  it('lets 64 commits wait for their words', () => {
    const conversation = speaking({ turn_detection: null }, 0);
    const codes = Array.from({ length: 66 }, () => {
      steps(conversation, APPEND);
      return said(conversation, COMMIT).at(-1).error?.code;
    });
    expect(codes.filter((code) => code === 'rate_limit_exceeded')).toHaveLength(2);
  });

  it('sends what it has when the session ends', () => {
    const conversation = speaking({ turn_detection: null });
    told(conversation, final('one', 0, 1));
    expect(told(conversation, { type: 'session_ended' }).at(-1)).toMatchObject({ transcript: 'one' });
  });
});

describe('a refused message in a session that continues', () => {
  it.each<[string, object, object]>([
    ['a type that is none', { type: 'x', event_id: 'e' }, { param: 'type', event_id: 'e' }],
    ['a conversation', { type: 'session.update', session: { type: 'realtime' } }, { code: 'invalid_parameter' }],
    ['a session that is none', { type: 'session.update', session: [] }, { param: 'session' }],
    ['a format', current({ format: { type: 'mp3' } }), { param: 'session.audio.input.format.type' }],
    ['a format of the beta', beta({ input_audio_format: 'mp3' }), { param: 'session.input_audio_format' }],
    ['audio that is not base64', { type: 'input_audio_buffer.append', audio: '?' }, { param: 'audio' }],
    ['a commit of nothing', COMMIT, { code: 'input_audio_buffer_commit_empty', event_id: 'mine' }],
  ])('contains %s', (_, message, error) => {
    expect(said(opened(), message)).toMatchObject([
      { type: 'error', error: { type: 'invalid_request_error', ...error } },
    ]);
  });

  it('contains audio in binary messages', () => {
    expect(saidIn([...opened().binary(new Uint8Array(2))])).toMatchObject([{ error: { code: 'invalid_value' } }]);
  });
});

describe('a session that is refused or over', () => {
  it.each([
    [1000, '', 1000, ''],
    [4001, 'invalid_api_key', 3000, 'authentication_error.invalid_api_key'],
    [4002, 'insufficient_credit', 1013, 'insufficient_quota.insufficient_quota'],
    [4004, 'model_not_found', 4004, 'invalid_request_error.model_not_found'],
    [4008, 'session_too_long', 1001, 'invalid_request_error.session_expired'],
    [4200, 'node_draining', 1001, 'server_error.node_draining'],
  ])('%i %s is closed with %i', (code, reason, told, because) =>
    expect(closeOf(code, reason)).toEqual({ code: told, reason: because }),
  );

  it('gives the reason as the dialect’s error', () => {
    const { messages, code } = opened().refused(apiError('insufficient_credit', 'No credit is left.'));
    expect(code).toBe(1013);
    expect(JSON.parse(messages[0] ?? '')).toMatchObject({
      type: 'error',
      error: { type: 'insufficient_quota', code: 'insufficient_quota', param: null, event_id: null },
    });
  });
});

describe('a credential', () => {
  it.each<[string, Record<string, string>, object]>([
    ['in the header', { authorization: 'Bearer sk_vox_1' }, { credential: 'sk_vox_1' }],
    [
      'in a browser’s subprotocols',
      { 'sec-websocket-protocol': 'realtime, openai-insecure-api-key.sk_vox_1, openai-beta.realtime-v1' },
      { credential: 'sk_vox_1', protocol: 'realtime' },
    ],
    ['nowhere', {}, { credential: undefined }],
  ])('%s', (_, headers, offered) =>
    expect(openai.credential({ query: new URLSearchParams(), headers: new Map(Object.entries(headers)) })).toEqual(
      offered,
    ),
  );
});
