// What a session is asked for behind a change of another vendor's client, message by message, and what its client is told of it.
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/api/errors.ts';
import type { OutgoingEvent } from '../../../../src/api/listen-events.ts';
import { parametersFor } from '../../../../src/compat/parameters.ts';
import type { Change, Conversation, Dialect, Step } from '../../../../src/vendors/compat/dialect.ts';
import { dialects } from '../../../../src/vendors/dialects.ts';

const STAMP = { sessionId: 'ses_1', seq: 1, at: new Date(0) };

interface Opened {
  dialect: Dialect;
  conversation: Conversation;
}

function opened(name: string, path: string, query: string, ...first: object[]): Opened {
  const dialect = dialects.find((each) => each.name === name) as Dialect;
  const handshake = { query: new URLSearchParams(query), headers: new Map(), requestId: 'req_1' };
  const conversation = dialect.live[path]?.open(handshake) as Conversation;
  for (const message of first) for (const _ of conversation.text(JSON.stringify(message)));
  const model = new URLSearchParams(query).get('heard') ?? 'deepgram/nova-3';
  conversation.encode({ type: 'session_started', model, limits: {} } as OutgoingEvent, STAMP);
  return { dialect, conversation };
}

function changeOf({ conversation }: Opened, message: object): Change {
  const steps: Step[] = [...conversation.text(JSON.stringify(message))];
  const [step] = steps;
  if (step?.type !== 'change' || steps.length > 1) throw new Error(`No change, but ${JSON.stringify(steps)}`);
  return step.change;
}

const texts = (told: readonly string[]) => told.map((text) => JSON.parse(text));

/** What is asked for behind all of the messages, and what was told of the last. */
function changed(session: Opened, messages: readonly object[]) {
  let told: unknown[] = [];
  let parameters: Record<string, string> = {};
  for (const message of messages) {
    const change = changeOf(session, message);
    try {
      parameters = Object.fromEntries(parametersFor(session.dialect, change.request(), {}));
      change.taken();
      told = texts(change.inForce());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      told = texts(change.refused(error));
    }
  }
  return { parameters, told };
}

interface Row {
  messages: object[];
  asked?: Record<string, string | undefined>;
  told: object[];
}

function expectChanged(session: Opened, { messages, asked = {}, told }: Row): void {
  const { parameters, told: said } = changed(session, messages);
  expect(Object.fromEntries(Object.keys(asked).map((name) => [name, parameters[name]]))).toEqual(asked);
  expect(said).toMatchObject(told);
}

describe('a Configure of Flux', () => {
  const RAW = 'encoding=linear16&sample_rate=16000&keyterm=old&eot_threshold=0.7';
  const configure = (members: object) => ({ type: 'Configure', ...members });
  const success = (members: object) => [{ type: 'ConfigureSuccess', request_id: 'req_1', ...members }];

  it.each<Row>([
    {
      messages: [configure({ thresholds: { eot_timeout_ms: 3000 }, language_hints: ['en', 'de'] })],
      asked: {
        keyterms: '["old"]',
        languages: '["en","de"]',
        provider_params: '{"eot_threshold":0.7,"eot_timeout_ms":3000}',
      },
      told: success({
        thresholds: { eot_threshold: 0.7, eot_timeout_ms: 3000 },
        keyterms: ['old'],
        language_hints: ['en', 'de'],
      }),
    },
    {
      messages: [configure({ keyterms: ['new'] }), configure({ thresholds: { eot_threshold: 0.6 }, numerals: true })],
      asked: { keyterms: '["new"]', provider_params: '{"eot_threshold":0.6,"numerals":true}' },
      told: success({ thresholds: { eot_threshold: 0.6 }, keyterms: ['new'] }),
    },
    { messages: [configure({ keyterms: [] })], asked: { keyterms: undefined }, told: success({ keyterms: [] }) },
    ...[{ thresholds: { eot_threshold: 2 } }, { keyterms: 'x' }, { thresholds: null }, { model: 'x' }].map((bad) => ({
      messages: [configure(bad)],
      told: [{ type: 'ConfigureFailure', code: 'INVALID_REQUEST', request_id: 'req_1' }],
    })),
  ])('$messages', (row) => {
    const session = opened(
      'deepgram',
      '/v2/listen',
      `${RAW}&model=flux-general-multi&heard=deepgram/flux-general-multi`,
    );
    expectChanged(session, row);
  });

  it('reports no thresholds where another vendor’s model transcribes', () => {
    const session = opened('deepgram', '/v2/listen', `${RAW}&model=soniox/stt-rt-v5&heard=soniox/stt-rt-v5`);
    const { parameters, told } = changed(session, [configure({ thresholds: { eot_threshold: 0.8 }, keyterms: ['a'] })]);
    expect(parameters).not.toHaveProperty('provider_params');
    expect(told).toMatchObject([{ type: 'ConfigureSuccess', thresholds: {}, keyterms: ['a'] }]);
  });
});

describe('an UpdateConfiguration of AssemblyAI', () => {
  const QUERY = 'speech_model=universal-3-6-pro&keyterms_prompt=["old"]&language_code=en&max_turn_silence=900';
  const update = (members: object) => ({ type: 'UpdateConfiguration', ...members });
  const warned = (warning: string) => [
    { type: 'Warning', warning_code: 3006, warning: expect.stringContaining(warning) },
  ];

  it.each<Row>([
    {
      messages: [update({ min_turn_silence: 200, agent_context: 'Hello.' })],
      asked: {
        keyterms: '["old"]',
        language: 'en',
        provider_params: '{"max_turn_silence":900,"min_turn_silence":200,"agent_context":"Hello."}',
      },
      told: [],
    },
    {
      messages: [update({ min_end_of_turn_silence_when_confident: 100 }), update({ prompt: 'Names.' })],
      asked: { prompt: 'Names.', provider_params: '{"max_turn_silence":900,"min_turn_silence":100}' },
      told: [],
    },
    {
      messages: [update({ language_codes: ['es', 'pt'], keyterms_prompt: [] })],
      asked: { language: undefined, languages: '["es","pt"]', keyterms: undefined },
      told: [],
    },
    { messages: [update({ language_codes: [] })], asked: { language: undefined, languages: undefined }, told: [] },
    {
      messages: [update({ session_heartbeat: true, turn_left_pad_ms: 1, keyterms_prompt: ['new'] })],
      asked: { keyterms: '["new"]' },
      told: warned('session_heartbeat, turn_left_pad_ms: cannot be changed'),
    },
    { messages: [update({ keyterms_prompt: '["x"]' })], told: warned('`keyterms_prompt` cannot be updated so') },
    { messages: [update({ language_codes: [1] })], told: warned('`language_codes.0` cannot be updated so') },
  ])('$messages', (row) => {
    const session = opened('assemblyai', '/v3/ws', `${QUERY}&heard=assemblyai/universal-3-6-pro`);
    expectChanged(session, row);
  });

  it('warns of options for AssemblyAI’s models, where another model transcribes', () => {
    const session = opened('assemblyai', '/v3/ws', 'speech_model=deepgram/nova-3');
    const { parameters, told } = changed(session, [update({ min_turn_silence: 200, keyterms_prompt: ['new'] })]);
    expect(parameters).not.toHaveProperty('provider_params');
    expect(told).toMatchObject(warned('min_turn_silence: for AssemblyAI'));
  });
});

describe('a SetRecognitionConfig of Speechmatics', () => {
  const start = (config: object) => ({
    message: 'StartRecognition',
    audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
    transcription_config: { language: 'en', max_delay: 1, additional_vocab: ['old'], ...config },
  });
  const set = (config: object) => ({ message: 'SetRecognitionConfig', transcription_config: config });
  const warned = (reason: string) => [
    { message: 'Warning', type: 'unsupported_config', reason: expect.stringContaining(reason) },
  ];
  const started = (config: object, query: string) => opened('speechmatics', '/v2', query, start(config));
  const OWN = 'model=speechmatics/enhanced&heard=speechmatics/enhanced';

  it.each<Row>([
    {
      messages: [
        set({ language: 'en', max_delay: 2 }),
        set({ conversation_config: { end_of_utterance_silence_trigger: 1 } }),
      ],
      asked: {
        language: 'en',
        keyterms: '["old"]',
        provider_params: '{"max_delay":2,"end_of_utterance_silence_trigger":1}',
      },
      told: [],
    },
    { messages: [set({ language: 'de' })], asked: { language: 'de', provider_params: '{"max_delay":1}' }, told: [] },
    {
      messages: [set({ max_delay: 2, additional_vocab: ['new'] })],
      asked: { keyterms: '["old"]', provider_params: '{"max_delay":2}' },
      told: warned('additional_vocab: cannot be changed'),
    },
    { messages: [set({ enable_partials: true })], told: warned('enable_partials: cannot be changed') },
    { messages: [set({ language: 1 })], told: warned('`language` is a code') },
    { messages: [{ message: 'SetRecognitionConfig' }], told: warned('"transcription_config":{…}') },
  ])('$messages', (row) => expectChanged(started({}, OWN), row));

  it('warns of options for Speechmatics’ models, where another model transcribes', () => {
    const row = { messages: [set({ max_delay: 2 })], asked: { provider_params: undefined } };
    const session = started({ additional_vocab: [] }, 'model=deepgram/nova-3');
    expectChanged(session, { ...row, told: warned("max_delay: for Speechmatics' models, and deepgram/nova-3 hears") });
  });

  it('gives up partials, and takes them again', () => {
    const session = started({ enable_partials: true }, OWN);
    const heard = { type: 'transcript', is_final: false, turn: 0, start: 0, end: 1, text: 'one' };
    const partials = () => session.conversation.encode(heard as OutgoingEvent, STAMP).length;
    const counts = [true, false, true].map((enable_partials) => {
      expectChanged(session, { messages: [set({ enable_partials })], told: [] });
      return partials();
    });
    expect(counts).toEqual([1, 0, 1]);
  });
});

describe('an update of OpenAI', () => {
  const current = (input: object, more: object = {}) => ({
    ...{ type: 'session.update', ...more },
    session: { type: 'transcription', audio: { input } },
  });
  const beta = (session: object) => ({ type: 'transcription_session.update', session });
  const started = (model: string) =>
    opened('openai', '/v1/realtime', '', current({ transcription: { model, prompt: 'old' } }));
  const isUpdated = (input: object) => [{ type: 'session.updated', session: { audio: { input } } }];
  const own = (turn_detection: object | null) => JSON.stringify({ turn_detection });

  it.each<Row>([
    {
      messages: [current({ transcription: { language: 'de', keywords: ['new'] } })],
      asked: { model: 'openai/gpt-4o-transcribe', language: 'de', prompt: 'old', keyterms: '["new"]' },
      told: isUpdated({ transcription: { model: 'gpt-4o-transcribe', language: 'de', prompt: 'old' } }),
    },
    {
      messages: [current({ transcription: { model: 'deepgram/nova-3', prompt: '' } })],
      asked: { model: 'deepgram/nova-3', prompt: undefined, provider_params: undefined },
      told: isUpdated({ transcription: { model: 'deepgram/nova-3' } }),
    },
    {
      messages: [current({ turn_detection: { type: 'server_vad', threshold: 0.4 } })],
      asked: { provider_params: own({ type: 'server_vad', threshold: 0.4 }) },
      told: isUpdated({ turn_detection: { threshold: 0.4 } }),
    },
    {
      messages: [current({ turn_detection: null })],
      asked: { provider_params: own(null) },
      told: isUpdated({ turn_detection: null }),
    },
    {
      messages: [
        beta({ input_audio_transcription: { language: 'fr' }, input_audio_noise_reduction: { type: 'near_field' } }),
      ],
      asked: { language: 'fr', provider_params: '{"noise_reduction":"near_field"}' },
      told: [
        {
          type: 'transcription_session.updated',
          session: { input_audio_transcription: { language: 'fr', prompt: 'old' } },
        },
      ],
    },
    {
      messages: [current({ format: { type: 'audio/pcmu' }, transcription: { language: 'de' } }, { event_id: 'late' })],
      told: [
        {
          type: 'error',
          error: { code: 'unsupported_parameter', param: 'session.audio.input.format', event_id: 'late' },
        },
      ],
    },
    {
      messages: [beta({ input_audio_format: 'g711_ulaw' })],
      told: [{ type: 'error', error: { param: 'session.input_audio_format', event_id: null } }],
    },
    {
      messages: [current({ transcription: { language: 7 } })],
      told: [{ type: 'error', error: { param: 'session.audio.input.transcription.language' } }],
    },
  ])('$messages', (row) => expectChanged(started('gpt-4o-transcribe'), row));

  it('means nothing to other models when it concerns turn detection', () => {
    const row = { messages: [current({ turn_detection: null })], asked: { provider_params: undefined } };
    expectChanged(started('deepgram/nova-3'), { ...row, told: isUpdated({ turn_detection: null }) });
  });
});
