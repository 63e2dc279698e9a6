// What Speechmatics' clients ask for and are told, case by case; and how its official client meets refusals.
import { describe, expect, it } from 'vitest';
import { apiError } from '../../../src/api/errors.ts';
import type { OutgoingEvent } from '../../../src/api/listen-events.ts';
import type { Conversation, Step } from '../../../src/vendors/compat/dialect.ts';
import { speechmatics } from '../../../src/vendors/speechmatics/compat/index.ts';

const STAMP = { sessionId: 'ses_1', seq: 1, at: new Date(0) };
const RAW = { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 };

const opened = (query = ''): Conversation =>
  (speechmatics.live['/v2'] as (typeof speechmatics.live)[string]).open({
    query: new URLSearchParams(query),
    headers: new Map(),
    requestId: 'req_1',
  });
const steps = (conversation: Conversation, message: object): Step[] => [...conversation.text(JSON.stringify(message))];
const start = (conversation: Conversation, config: object = {}, more: object = {}): Step[] =>
  steps(conversation, {
    message: 'StartRecognition',
    audio_format: RAW,
    transcription_config: { language: 'en', ...config },
    ...more,
  });
function started(config: object = {}): Conversation {
  const conversation = opened();
  start(conversation, config);
  return conversation;
}
const told = (conversation: Conversation, event: object): Record<string, unknown>[] =>
  conversation.encode(event as OutgoingEvent, STAMP).map((text) => JSON.parse(text));
const transcript = (more: object) => ({
  ...{ type: 'transcript', is_final: true, text: 'Hi, you.', turn: 0, start: 1, end: 2, model: 'a/b' },
  ...more,
});

function requestOf(query: string, config: object, more: object = {}) {
  const [step] = start(opened(query), config, more);
  if (step?.type !== 'start') throw new Error(JSON.stringify(step));
  const { model, parameters, own } = step.request;
  return { model, own, ...Object.fromEntries(parameters) };
}

const COMMON = { encoding: 'linear16', sample_rate: '16000', interim_results: 'false', language: 'en', own: {} };

describe('StartRecognition', () => {
  it.each([
    ['names no model', '', {}, {}],
    ['names an operating point', '', { operating_point: 'standard' }, { model: 'standard' }],
    ['names a model', '', { model: 'deepgram/nova-3' }, { model: 'deepgram/nova-3' }],
    ['has a model in its address', 'model=deepgram/nova-3', { model: 'enhanced' }, { model: 'deepgram/nova-3' }],
    ['has fallbacks in its address', 'fallbacks=a/b', {}, { fallbacks: 'a/b' }],
    ['asks for partials', '', { enable_partials: true }, { interim_results: 'true' }],
    ['asks for speakers', '', { diarization: 'speaker' }, { diarization: 'true' }],
    ['asks for Mandarin', '', { language: 'cmn' }, { language: 'zh' }],
    ['asks for a spelling', '', { output_locale: 'en-GB' }, { language: 'en-GB' }],
    ['asks for two languages', '', { language: 'cmn_en' }, { language: undefined, languages: '["zh","en"]' }],
    ['asks for any language', '', { language: 'multi' }, { language: 'auto' }],
    ['names words', '', { additional_vocab: ['a', { content: 'b' }] }, { keyterms: '["a","b"]' }],
    [
      'says what words sound like',
      '',
      { additional_vocab: [{ content: 'b', sounds_like: ['c'] }] },
      { keyterms: '["b"]', own: { additional_vocab: [{ content: 'b', sounds_like: ['c'] }] } },
    ],
    [
      'has options of the provider’s own models',
      '',
      {
        ...{ max_delay: 2, conversation_config: { end_of_utterance_silence_trigger: 0.7 } },
        speaker_diarization_config: { max_speakers: 3 },
      },
      { own: { max_delay: 2, end_of_utterance_silence_trigger: 0.7, max_speakers: 3 } },
    ],
    ['wants no ends of utterances', '', { conversation_config: { end_of_utterance_silence_trigger: 0 } }, {}],
  ])('%s', (_, query, config, more) => {
    expect(requestOf(query, config)).toEqual({ model: undefined, ...COMMON, ...more });
  });

  it('takes companded audio as it is, and floats as integers', () => {
    const format = (encoding: string) => ({ audio_format: { ...RAW, encoding } });
    expect(requestOf('', {}, format('mulaw'))).toMatchObject({ encoding: 'mulaw' });
    const conversation = opened();
    start(conversation, {}, format('pcm_f32le'));
    const floats = new Uint8Array(new Float32Array([0, 1, -1, 2, 0.5]).buffer);
    const heard = [floats.subarray(0, 6), floats.subarray(6)].flatMap((bytes) =>
      [...conversation.binary(bytes)].flatMap((step) => (step.type === 'audio' ? [...step.bytes] : [])),
    );
    expect([...new Int16Array(new Uint8Array(heard).buffer)]).toEqual([0, 32_767, -32_768, 32_767, 16_384]);
  });

  it('asks for a container that is recognised', () => {
    const [step] = start(opened(), {}, { audio_format: { type: 'file' } });
    if (step?.type !== 'start') throw new Error(JSON.stringify(step));
    expect(step.request.parameters.get('encoding')).toBe('auto');
    expect(step.request.parameters.has('sample_rate')).toBe(false);
  });

  it.each([
    ['no kind of audio', { audio_format: { type: 'none' } }, {}, 'unsupported_audio', 'invalid_audio_type', 1003],
    [
      'another encoding',
      { audio_format: { ...RAW, encoding: 'g722' } },
      {},
      'unsupported_audio',
      'invalid_audio_type',
      1003,
    ],
    ['no rate', { audio_format: { type: 'raw', encoding: 'mulaw' } }, {}, 'invalid_request', 'invalid_config', 1003],
    ['speakers by channel', {}, { diarization: 'channel' }, 'invalid_request', 'invalid_config', 1003],
  ])('fails with %s', (_, more, config, code, type, close) => {
    const conversation = opened();
    const [step] = start(conversation, config, more);
    if (step?.type !== 'refuse') throw new Error(JSON.stringify(step));
    expect(step.refusal.code).toBe(code);
    const { messages, ...end } = conversation.refused(step.refusal);
    expect(messages.map((text) => JSON.parse(text))).toEqual([
      { message: 'Error', type, reason: step.refusal.message },
    ]);
    expect(end.code).toBe(close);
  });

  it('must come first', () => {
    expect(steps(opened(), { message: 'EndOfStream' })).toMatchObject([{ type: 'refuse' }]);
    expect([...opened().binary(new Uint8Array(2))]).toMatchObject([{ type: 'refuse' }]);
  });
});

describe('a session', () => {
  it('confirms each message of audio once, also where it comes in pieces', () => {
    const conversation = started();
    const said = [false, true, true, false].flatMap((isPart) => [...conversation.binary(new Uint8Array(2), isPart)]);
    expect(said.flatMap((step) => (step.type === 'say' ? [JSON.parse(step.text)] : []))).toEqual([
      { message: 'AudioAdded', seq_no: 1 },
      { message: 'AudioAdded', seq_no: 2 },
    ]);
    expect(said.filter(({ type }) => type === 'audio')).toHaveLength(4);
  });

  it.each([
    [
      { message: 'EndOfStream', last_seq_no: 1 },
      { type: 'tell', message: { type: 'close' } },
    ],
    [{ message: 'ForceEndOfUtterance' }, { type: 'tell', message: { type: 'finalize' } }],
    [{ message: 'GetSpeakers' }, { type: 'say', text: '{"message":"SpeakersResult","speakers":[]}' }],
    [{ message: 'Anything' }, { type: 'fault' }],
  ])('takes %o', (message, step) => {
    expect(steps(started(), message)[0]).toMatchObject(step);
  });

  it('sends words and marks of a final, placed after the one before', () => {
    const words = [
      { word: 'Hi,', start: 1, end: 1.5, confidence: 0.5, speaker: 0 },
      { word: 'you.', start: 1.5, end: 2 },
    ];
    const [final, ...others] = told(started(), transcript({ words, language: 'en' }));
    expect(others).toEqual([]);
    expect(final).toMatchObject({
      message: 'AddTranscript',
      metadata: { start_time: 1, end_time: 2, transcript: 'Hi, you. ' },
      results: [
        {
          type: 'word',
          start_time: 1,
          end_time: 1.5,
          alternatives: [{ content: 'Hi', confidence: 0.5, speaker: 'S1' }],
        },
        { type: 'punctuation', attaches_to: 'previous', is_eos: false, alternatives: [{ content: ',' }] },
        { type: 'word', alternatives: [{ content: 'you', confidence: 1, language: 'en' }] },
        { type: 'punctuation', is_eos: true, start_time: 2, end_time: 2, alternatives: [{ content: '.' }] },
      ],
    });
  });

  it('makes words of a text whose model gives none, in the time of the turn', () => {
    const [final] = told(started(), transcript({ text: 'one two' }));
    expect(final?.results).toMatchObject([
      { start_time: 1, end_time: 1.5, alternatives: [{ content: 'one' }] },
      { start_time: 1.5, end_time: 2, alternatives: [{ content: 'two' }] },
    ]);
  });

  it('puts no spaces between finals of a language that has none', () => {
    const [final] = told(started({ language: 'ja' }), transcript({ text: 'はい' }));
    expect(final?.metadata).toMatchObject({ transcript: 'はい' });
  });

  it.each([
    ['not requested', {}, []],
    ['requested', { conversation_config: { end_of_utterance_silence_trigger: 0.5 } }, ['EndOfUtterance']],
  ])('sends ends of utterances: %s', (_, config, ends) => {
    const said = told(started(config), transcript({}));
    expect(said.map(({ message }) => message)).toEqual(['AddTranscript', ...ends]);
  });

  it('says of an end that was forced that it was', () => {
    const conversation = started();
    for (const _ of conversation.binary(new Uint8Array(64_000)));
    steps(conversation, { message: 'ForceEndOfUtterance' });
    expect(told(conversation, transcript({}))).toMatchObject([
      { message: 'AddTranscript', forced: true },
      { message: 'EndOfUtterance', forced: true, metadata: { start_time: 2, end_time: 2 } },
    ]);
    expect(told(conversation, transcript({}))).toHaveLength(1);
  });

  it.each([
    ['nothing of a turn without words', transcript({ text: '' }), []],
    ['a warning', { type: 'warning', code: 'x', message: 'Y.' }, [{ message: 'Warning', type: 'x', reason: 'Y.' }]],
    [
      'audio that no final covers',
      { type: 'discontinuity', from: 1, to: 2, reason: 'failover' },
      [{ message: 'Warning', type: 'discontinuity' }],
    ],
    [
      'a message that was not understood, then continues',
      { type: 'error', error: { code: 'invalid_request', message: 'Z.' } },
      [{ message: 'Warning', type: 'invalid_message', reason: 'Z.' }],
    ],
    [
      'an error',
      { type: 'error', error: { code: 'upstream_failed', message: 'Z.' } },
      [{ message: 'Error', type: 'job_error', reason: 'Z.' }],
    ],
    ['its end', { type: 'session_ended', reason: 'client_closed' }, [{ message: 'EndOfTranscript' }]],
    ['no end in order where there was none', { type: 'session_ended', reason: 'error' }, []],
  ])('sends %s', (_, event, said) => {
    expect(told(started(), event)).toMatchObject(said);
  });

  it('lists at its start what is not served', () => {
    const conversation = opened();
    start(conversation, {}, { translation_config: { target_languages: ['de'] } });
    expect(told(conversation, { type: 'session_started' })).toMatchObject([
      { message: 'RecognitionStarted', id: 'ses_1' },
      { message: 'Warning', type: 'unsupported_config' },
    ]);
  });

  it.each([
    [1000, '', 1000],
    [4001, 'key_revoked', 4001],
    [4002, 'insufficient_credit', 4006],
    [4008, 'session_idle', 1008],
    [4100, 'too_many_sessions', 4005],
    [4101, 'upstream_failed', 4013],
    [1011, 'internal_error', 1011],
  ])('turns the gateway’s close %i %s into %i', (code, reason, close) => {
    expect(opened().close(code, reason).code).toBe(close);
  });
});

it.each([
  [{ authorization: 'Bearer a' }, '', 'a'],
  [{}, 'jwt=b', 'b'],
  [{ authorization: 'Basic a' }, 'jwt=b', undefined],
  [{}, '', undefined],
])('finds the key in %o or %s', (headers, query, credential) => {
  const handshake = { headers: new Map(Object.entries(headers)), query: new URLSearchParams(query) };
  expect(speechmatics.credential(handshake).credential).toBe(credential);
});

it('refuses a handshake in the service’s format', () => {
  const { status, body } = speechmatics.refusal(apiError('not_found', 'Not here.'), 'req_1');
  expect([status, JSON.parse(body)]).toEqual([404, { code: 404, error: 'Path not found', detail: 'Not here.' }]);
});
