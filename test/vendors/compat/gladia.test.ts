// What Gladia's clients ask for and are told, case by case; and how its official client meets refusals.
import { describe, expect, it } from 'vitest';
import { ApiError, apiError } from '../../../src/api/errors.ts';
import type { OutgoingEvent } from '../../../src/api/listen-events.ts';
import type { Conversation, LiveEndpoint, Step } from '../../../src/vendors/compat/dialect.ts';
import { CARRIED_BYTES_MAX } from '../../../src/vendors/compat/params.ts';
import { init, WHOLE_CHARACTERS_MAX } from '../../../src/vendors/gladia/compat/conversation.ts';
import { gladia } from '../../../src/vendors/gladia/compat/index.ts';

const AT = new Date('2026-01-01T00:00:00.000Z');
const STAMP = { sessionId: 'ses_1', seq: 1, at: AT };
const LIVE = gladia.live['/v2/live'] as LiveEndpoint;
const handshake = (query = '') => ({ query: new URLSearchParams(query), headers: new Map(), requestId: 'req_1' });

const asked = (config: object, query = '') => init.open(handshake(query), config);
function addressOf(config: object, query = ''): URL {
  const socketUrl = (path: string) => `wss://voice.example.com/compat/gladia${path}`;
  const { status, body } = asked(config, query).answer({ mint: () => 'st_1', socketUrl, at: AT });
  expect(status).toBe(201);
  expect(JSON.parse(body)).toMatchObject({ id: 'req_1', created_at: AT.toISOString() });
  return new URL(JSON.parse(body).url);
}
const opened = (config: object = {}): Conversation => LIVE.open(handshake(addressOf(config).search));
const withMessages = (messages: object): Conversation => opened({ messages_config: messages });
const steps = (conversation: Conversation, message: object): Step[] => [...conversation.text(JSON.stringify(message))];
const said = (all: Iterable<Step>) => [...all].flatMap((step) => (step.type === 'say' ? [JSON.parse(step.text)] : []));
const told = (conversation: Conversation, event: object): Record<string, unknown>[] =>
  conversation.encode(event as OutgoingEvent, STAMP).map((text) => JSON.parse(text));
const transcript = (more: object = {}) => ({
  ...{ type: 'transcript', is_final: true, text: 'hi you', turn: 3, start: 1, end: 2, model: 'a/b', ...more },
});
const types = (messages: readonly Record<string, unknown>[]) => messages.map(({ type }) => type);

describe('POST /v2/live', () => {
  const USUAL = { encoding: 'linear16', sample_rate: '16000', interim_results: 'false', turn_events: 'true' };
  const listen = (name: string, value: unknown) => ({
    realtime_processing: { custom_vocabulary: true, [name]: value },
  });

  it.each([
    ['names nothing', {}, '', {}],
    ['names a model', { model: 'deepgram/nova-3' }, '', { model: 'deepgram/nova-3' }],
    ['has fallbacks in its address', {}, 'fallbacks=a/b', { fallbacks: 'a/b' }],
    ['names a region', {}, 'region=eu-west', { region: 'eu' }],
    [
      'sends A-law',
      { encoding: 'wav/alaw', bit_depth: 8, sample_rate: 8000 },
      '',
      { encoding: 'alaw', sample_rate: '8000' },
    ],
    ['wants partials', { messages_config: { receive_partial_transcripts: true } }, '', { interim_results: 'true' }],
    ['wants no speech events', { messages_config: { receive_speech_events: false } }, '', { turn_events: undefined }],
    ['names a language', { language_config: { languages: ['en'] } }, '', { language: 'en' }],
    [
      'names several languages',
      { language_config: { languages: ['en', 'de'], code_switching: true } },
      '',
      { languages: '["en","de"]', own: { code_switching: true } },
    ],
    ['names words', listen('custom_vocabulary_config', { vocabulary: ['a'] }), '', { keyterms: '["a"]' }],
    [
      'says how words are spoken',
      listen('custom_vocabulary_config', { vocabulary: [{ value: 'a', pronunciations: ['b'] }] }),
      '',
      { keyterms: '["a"]', own: { custom_vocabulary: [{ value: 'a', pronunciations: ['b'] }] } },
    ],
    [
      'has switched words off',
      { realtime_processing: { custom_vocabulary: false, custom_vocabulary_config: { vocabulary: ['a'] } } },
      '',
      {},
    ],
    [
      'has options of the provider’s own models',
      { endpointing: 0.3, pre_processing: { audio_enhancer: true } },
      '',
      { own: { endpointing: 0.3, audio_enhancer: true } },
    ],
  ])('%s: asks for the same where it is called and on its WebSocket', (_, config, query, more) => {
    const { request } = asked(config, query);
    const { model, parameters, own } = request;
    expect({ model, own, ...Object.fromEntries(parameters) }).toEqual({ model: undefined, own: {}, ...USUAL, ...more });
    expect(LIVE.open(handshake(addressOf(config, query).search)).request).toEqual(request);
  });

  it.each([
    ['another encoding', { encoding: 'opus' }],
    ['another depth', { bit_depth: 24 }],
    ['no channel', { channels: 0 }],
    ['more channels than are transcribed', { channels: 9 }],
    ['half a channel', { channels: 1.5 }],
    ['a callback', { callback: true }],
    ['translations', { realtime_processing: { translation: true } }],
    ['a summary', { post_processing: { summarization: true } }],
    [
      'more than an address has room for',
      { realtime_processing: { custom_vocabulary_config: { vocabulary: ['a'.repeat(CARRIED_BYTES_MAX)] } } },
    ],
  ])('fails with %s, in one sentence', (_, config) => {
    expect(() => asked(config)).toThrow(ApiError);
    expect(() => asked(config)).toThrow(/\.$/);
  });

  it('keeps metadata out of the address, which carries a separate token', () => {
    const { searchParams, pathname } = addressOf({ custom_metadata: { big: 'a'.repeat(9_000) } });
    expect([pathname, searchParams.get('token')]).toEqual(['/compat/gladia/v2/live', 'st_1']);
    expect(searchParams.toString().length).toBeLessThan(200);
  });

  it('must precede the WebSocket', () => {
    expect(() => LIVE.open(handshake())).toThrow('POST /v2/live');
  });
});

describe('a session', () => {
  it('acknowledges audio by its bytes, in binary messages and in text', () => {
    const conversation = opened();
    const acks = [
      ...said(conversation.binary(new Uint8Array(3_200))),
      ...said(steps(conversation, { type: 'audio_chunk', data: { chunk: Buffer.alloc(1_600).toString('base64') } })),
    ];
    expect(acks).toMatchObject([
      { type: 'audio_chunk', acknowledged: true, error: null, data: { byte_range: [0, 3_200], time_range: [0, 0.1] } },
      { type: 'audio_chunk', data: { byte_range: [3_200, 4_800], time_range: [0.1, 0.15] } },
    ]);
    expect(acks[0]).toMatchObject({ session_id: 'req_1', created_at: AT.toISOString() });
  });

  it.each([
    [
      'audio without bytes keeps it',
      { type: 'audio_chunk', data: { chunk: '' } },
      { type: 'tell', message: { type: 'keepalive' } },
    ],
    ['a stop ends it', { type: 'stop_recording' }, { type: 'tell', message: { type: 'close' } }],
    ['anything else is a fault', { type: 'finalize' }, { type: 'fault' }],
  ])('%s', (_, message, step) => {
    expect(steps(withMessages({ receive_acknowledgments: false }), message)).toMatchObject([step]);
  });

  it('acknowledges the stop with what was recorded', () => {
    const conversation = opened();
    [...conversation.binary(new Uint8Array(32_000))];
    expect(said(steps(conversation, { type: 'stop_recording' }))).toMatchObject([
      { type: 'stop_recording', acknowledged: true, data: { recording_duration: 1 } },
    ]);
  });

  it('sends a turn as start, partials, end and final under one name', () => {
    const conversation = withMessages({ receive_partial_transcripts: true });
    const words = [
      { word: 'hi', start: 1, end: 1.5, confidence: 0.5 },
      { word: 'you', start: 1.5, end: 2 },
    ];
    const all = [
      { type: 'speech_started', start: 1 },
      transcript({ is_final: false }),
      transcript({ words, language: 'en', speaker: 1 }),
    ].flatMap((event) => told(conversation, event));
    expect(types(all)).toEqual(['speech_start', 'transcript', 'speech_end', 'transcript']);
    expect(all.at(-1)).toMatchObject({
      session_id: 'req_1',
      data: {
        ...{ id: '00_00000003', is_final: true },
        utterance: {
          ...{ text: 'hi you', start: 1, end: 2, language: 'en', channel: 0, confidence: 0.5, speaker: 1 },
          words: [{ word: 'hi', confidence: 0.5 }, { word: ' you' }],
        },
      },
    });
  });

  it.each([
    ['receive_partial_transcripts', transcript({ is_final: false }), false, ['speech_start', 'transcript']],
    ['receive_final_transcripts', transcript(), true, ['speech_start', 'speech_end', 'transcript']],
    ['receive_speech_events', { type: 'speech_started', start: 0 }, true, ['speech_start']],
    ['receive_errors', { type: 'error', error: { code: 'x', message: 'Y.' } }, true, ['error']],
    ['receive_lifecycle_events', { type: 'session_started' }, false, ['start_recording']],
    ['receive_lifecycle_events', { type: 'session_ended', audio_seconds: 1 }, false, ['end_recording', 'end_session']],
    ['receive_post_processing_events', { type: 'session_ended', audio_seconds: 1 }, false, ['post_final_transcript']],
  ])('%s is kept to', (name, event, usual, messages) => {
    const last = messages.at(-1);
    expect(types(told(withMessages({ [name]: true }), event))).toEqual(messages);
    expect(types(told(withMessages({ [name]: false }), event))).not.toContain(last);
    expect(types(told(opened(), event)).includes(last)).toBe(usual);
  });

  it('sends nothing for a turn without words', () => {
    expect(told(opened(), transcript({ text: '' }))).toEqual([]);
  });

  it('sends the whole transcript again at its end on request', () => {
    const conversation = withMessages({ receive_post_processing_events: true });
    for (const text of ['one', 'two']) told(conversation, transcript({ text, language: 'en' }));
    expect(told(conversation, { type: 'session_ended', audio_seconds: 4 })).toMatchObject([
      {
        data: {
          metadata: { audio_duration: 4 },
          transcription: {
            full_transcript: 'one two',
            languages: ['en'],
            utterances: [{ text: 'one' }, { text: 'two' }],
          },
        },
      },
    ]);
  });

  it('reports when the transcript is too long to send again', () => {
    const conversation = withMessages({ receive_post_processing_events: true });
    told(conversation, transcript({ text: 'a'.repeat(WHOLE_CHARACTERS_MAX) }));
    expect(told(conversation, { type: 'session_ended', audio_seconds: 4 })).toMatchObject([
      { type: 'error', data: { code: 'post_transcript_too_long' } },
    ]);
  });

  it.each([
    [1000, '', 1000],
    [4001, 'key_revoked', 4401],
    [4008, 'session_idle', 4408],
    [4100, 'too_many_sessions', 4429],
    [4101, 'upstream_failed', 4499],
    [4200, 'node_draining', 4400],
    [1011, 'internal_error', 4499],
  ])('turns the gateway’s close %i %s into %i, after which clients do not reconnect', (code, reason, close) => {
    expect(opened().close(code, reason)).toEqual({ code: close, reason });
  });
});

it.each([
  [{ 'x-gladia-key': 'a' }, '', { credential: 'a' }],
  [{}, 'token=st_1', { credential: 'st_1' }],
  [{}, 'token=sk_vox_1', { credential: 'sk_vox_1', param: 'token' }],
  [{}, '', { credential: undefined }],
])('finds the key in %o or %s', (headers, query, found) => {
  const { query: parsed } = handshake(query);
  expect(gladia.credential({ headers: new Map(Object.entries(headers)), query: parsed })).toEqual(found);
});

it('refuses in the service’s format', () => {
  const refusal = apiError('invalid_request', 'Not this.', { param: 'channels' });
  const { status, body } = gladia.refusal(refusal, 'req_1');
  expect([status, JSON.parse(body)]).toMatchObject([
    400,
    { statusCode: 400, message: 'Not this.', request_id: 'req_1', validation_errors: ['channels: Not this.'] },
  ]);
  expect(opened().refused(refusal)).toMatchObject({ code: 4400, reason: 'invalid_request' });
});
