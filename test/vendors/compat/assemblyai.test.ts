// What AssemblyAI's clients ask for and are told, message by message, and how they are refused.
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { ApiError, apiError } from '../../../src/api/errors.ts';
import type { OutgoingEvent } from '../../../src/api/listen-events.ts';
import { parametersFor } from '../../../src/compat/parameters.ts';
import { closeOf, endingOf } from '../../../src/vendors/assemblyai/compat/errors.ts';
import { assemblyai } from '../../../src/vendors/assemblyai/compat/index.ts';
import type { Conversation, LiveEndpoint } from '../../../src/vendors/compat/dialect.ts';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';

const STAMP = { sessionId: 'ses_1', seq: 1, at: new Date(5_000) };
const endpoint = assemblyai.live['/v3/ws'] as LiveEndpoint;

const opened = (query = ''): Conversation =>
  endpoint.open({ query: new URLSearchParams(query), headers: new Map(), requestId: 'req_1' });
const asked = (query: string) => Object.fromEntries(parametersFor(assemblyai, opened(query).request as never, {}));
const told = (conversation: Conversation, event: object, at = STAMP.at) =>
  conversation.encode(event as OutgoingEvent, { ...STAMP, at }).map((text) => JSON.parse(text));

const final = {
  ...{ type: 'transcript', is_final: true, turn: 2, start: 0.2, end: 1.5, model: 'local/digits-en' },
  ...{ text: 'Nine, one.', language: 'en-US', speaker: 1 },
  words: [
    { word: 'Nine,', start: 0.2, end: 0.6, confidence: 0.8 },
    { word: 'one.', start: 0.9, end: 1.4, confidence: 0.6, speaker: 26 },
  ],
};

describe('a query', () => {
  it.each([
    ['', { model: 'assemblyai/universal-3-6-pro', encoding: 'linear16', sample_rate: '16000' }],
    ['speech_model=u3-pro&sample_rate=8000', { model: 'assemblyai/u3-rt-pro', sample_rate: '8000' }],
    ['encoding=opus&sample_rate=44100', { encoding: 'opus' }],
    ['encoding=ogg_opus', { encoding: 'ogg-opus' }],
    ['speech_model=local/digits-en&encoding=pcm_mulaw', { model: 'local/digits-en', encoding: 'mulaw' }],
    ['language_codes=["en"]', { language: 'en' }],
    ['language_codes=["en","es"]', { languages: '["en","es"]' }],
    ['language_code=fr', { language: 'fr' }],
    ['language_detection=true', { language: 'auto' }],
    ['keyterms_prompt=["vox"]&prompt=Names.', { keyterms: '["vox"]', prompt: 'Names.' }],
    ['speaker_labels=true&redact_pii=true', { diarization: 'true', redact: '["pii"]' }],
    ['include_partial_turns=false', { interim_results: 'false' }],
    ['fallbacks=local/digits-en&region=eu', { fallbacks: 'local/digits-en', region: 'eu' }],
    [
      'speech_model=universal-streaming-english&format_turns=true&min_end_of_turn_silence_when_confident=300&session_heartbeat=true',
      { provider_params: '{"format_turns":true,"min_turn_silence":300}' },
    ],
  ])('maps %s', (query, parameters) => expect(asked(query)).toMatchObject(parameters));

  it('requests AssemblyAI’s options from AssemblyAI’s models only', () =>
    expect(asked('speech_model=local/digits-en&min_turn_silence=300')).not.toHaveProperty('provider_params'));

  it.each([
    ['encoding=aac', 'encoding'],
    ['encoding=__proto__', 'encoding'],
    ['language_codes=en', 'language_codes'],
    ['webhook_url=http://example.com', 'webhook_url'],
    ['llm_gateway={}', 'llm_gateway'],
  ])('fails: %s', (query, param) => {
    expect(() => opened(query)).toThrow(ApiError);
    expect(() => opened(query)).toThrow(expect.objectContaining({ extras: { param } }));
  });
});

describe('a client', () => {
  it.each([
    ['{"type":"ForceEndpoint"}', [{ type: 'tell', message: { type: 'finalize' } }]],
    ['{"type":"KeepAlive"}', [{ type: 'tell', message: { type: 'keepalive' } }]],
    ['{"type":"Terminate"}', [{ type: 'tell', message: { type: 'close' } }]],
    ['{"type":"UpdateConfiguration"}', [{ type: 'change' }]],
    ['{"type":"Other"}', [{ type: 'fault' }]],
    ['[]', [{ type: 'fault' }]],
  ])('says %s', (text, steps) => expect([...opened().text(text)]).toMatchObject(steps));

  it('gets the maximum length of its session, and the final length', () => {
    const conversation = opened();
    const started = { type: 'session_started', model: 'local/digits-en', limits: { session_seconds: 60 } };
    expect(told(conversation, started)).toEqual([
      { type: 'Begin', id: 'ses_1', expires_at: 65, configuration: { model: 'local/digits-en' } },
    ]);
    const ended = { type: 'session_ended', reason: 'client_closed', audio_seconds: 2.4 };
    expect(told(conversation, ended, new Date(9_000))).toEqual([
      { type: 'Termination', audio_duration_seconds: 2, session_duration_seconds: 4 },
    ]);
  });

  it('gets the end of a turn once, formatted, with times in milliseconds', () =>
    expect(told(opened(), final)).toEqual([
      {
        ...{ type: 'Turn', turn_order: 2, turn_is_formatted: true, end_of_turn: true, end_of_turn_confidence: 1 },
        ...{ transcript: 'Nine, one.', utterance: 'Nine, one.', language_code: 'en' },
        words: [
          { text: 'Nine,', start: 200, end: 600, confidence: 0.8, word_is_final: true },
          { text: 'one.', start: 900, end: 1_400, confidence: 0.6, word_is_final: true },
        ],
      },
    ]));

  it('gets the whole turn so far, with words where its model gives none', () => {
    const { words, ...wordless } = final;
    expect(told(opened(), { ...wordless, is_final: false })).toMatchObject([
      {
        ...{ turn_is_formatted: false, end_of_turn: false, transcript: 'Nine, one.', utterance: '' },
        words: [
          { text: 'Nine,', start: 200, end: 850, word_is_final: false },
          { text: 'one.', start: 850, end: 1_500, word_is_final: false },
        ],
      },
    ]);
  });

  it.each([
    [final, 'B', ['B', 'AA']],
    [{ ...final, speaker: undefined, text: '', words: [] }, 'UNKNOWN', []],
  ])('gets speakers as letters', (event, label, speakers) => {
    const [turn] = told(opened('speaker_labels=true'), event);
    expect([turn.speaker_label, turn.words.map(({ speaker }: { speaker: string }) => speaker)]).toEqual([
      label,
      speakers,
    ]);
  });

  it.each([
    [{ type: 'speech_started', start: 1.25 }, [{ type: 'SpeechStarted', timestamp: 1_250 }]],
    [{ type: 'session_ended', reason: 'upstream', audio_seconds: 1 }, []],
    [{ type: 'warning', code: 'x', message: 'y' }, []],
    [
      { type: 'error', error: { code: 'session_too_long', message: 'Long.' } },
      [{ type: 'Error', error_code: 3008, error: 'Long.' }],
    ],
  ])('gets the message for %j', (event, messages) => expect(told(opened(), event)).toEqual(messages));

  it.each([
    [1000, '', 1000],
    [4008, 'session_idle', 4031],
    [4029, 'too_many_sessions', 3009],
    [4002, 'insufficient_credit', 1008],
    [4101, 'upstream_exhausted', 3005],
    [4200, 'node_draining', 3005],
    [1009, 'message_too_big', 3007],
  ])('closes with %d %s as %d', (code, reason, known) =>
    expect(closeOf(code, reason)).toEqual({ code: known, reason }),
  );

  it.each([
    ['invalid_api_key', 1008],
    ['model_not_allowed', 1008],
    ['invalid_request', 3006],
    ['overloaded', 3005],
  ] as const)('fails for %s with %d', (code, known) =>
    expect(endingOf(apiError(code, 'Why.'))).toEqual({
      messages: [JSON.stringify({ type: 'Error', error_code: known, error: 'Why.' })],
      ...{ code: known, reason: code },
    }),
  );
});

describe('a key', () => {
  const offered = (query: string, authorization?: string) =>
    assemblyai.credential({
      query: new URLSearchParams(query),
      headers: new Map(authorization === undefined ? [] : [['authorization', authorization]]),
    });

  it.each([
    ['', 'sk_vox_1', { credential: 'sk_vox_1' }],
    ['', 'Bearer sk_vox_1', { credential: 'sk_vox_1' }],
    ['', undefined, { credential: undefined }],
    ['token=st_1', 'sk_vox_1', { credential: 'st_1', param: 'token' }],
  ])('maps %j and %j to %j', (query, authorization, credential) =>
    expect(offered(query, authorization)).toEqual(credential),
  );

  it.each([
    ['?token=unknown', {}, 'invalid_api_key'],
    ['?token=unknown', { VOXGATE_QUERY_CREDENTIALS: 'off' }, 'missing_credential'],
  ])('causes an error on the connection when invalid in %s, with %j', async (query, env, code) => {
    const { url } = await startLiveGateway(env as Record<string, string>);
    const socket = new WebSocket(`${url.replace('http', 'ws')}/compat/assemblyai/v3/ws${query}`);
    const message = once(socket, 'message');
    const closed = once(socket, 'close');
    expect(JSON.parse(String((await message)[0]))).toMatchObject({ type: 'Error', error_code: 1008 });
    expect((await closed).map(String)).toEqual(['1008', code]);
  });
});
