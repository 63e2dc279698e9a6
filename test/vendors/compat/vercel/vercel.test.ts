// What clients of Vercel's AI Gateway ask for and are told, of streams and of files, and how they are refused.
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { ApiError, apiError } from '../../../../src/api/errors.ts';
import type { OutgoingEvent } from '../../../../src/api/listen-events.ts';
import type { VerboseTranscription } from '../../../../src/api/transcriptions.ts';
import { parametersFor } from '../../../../src/compat/parameters.ts';
import type {
  ClientRequest,
  Conversation,
  JsonFileEndpoint,
  LiveEndpoint,
} from '../../../../src/vendors/compat/dialect.ts';
import { vercel } from '../../../../src/vendors/vercel/index.ts';
import { sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';

const PATH = '/v4/ai/transcription-model';
const MODEL = 'deepgram/nova-3';
const STAMP = { sessionId: 'ses_1', seq: 1, at: new Date(0) };
const live = vercel.live[PATH] as LiveEndpoint;
const file = vercel.jsonFiles?.[PATH] as JsonFileEndpoint;

const opened = (model = MODEL): Conversation =>
  live.open({ query: new URLSearchParams({ 'ai-model-id': model }), headers: new Map(), requestId: 'req_1' });
const startOf = (providerOptions: object = {}, inputAudioFormat: object = { type: 'audio/pcm', rate: 16_000 }) =>
  JSON.stringify({ type: 'transcription-stream.start', inputAudioFormat, providerOptions });
const firstOf = (text: string, model?: string) => [...opened(model).text(text)][0];
function asked(text: string, model?: string) {
  const step = firstOf(text, model);
  if (step?.type !== 'start') throw new Error(JSON.stringify(step));
  return Object.fromEntries(parametersFor(vercel, step.request as ClientRequest, {}));
}
const told = (conversation: Conversation, event: object) =>
  conversation.encode(event as OutgoingEvent, STAMP).map((text) => JSON.parse(text));
function begun(): Conversation {
  const conversation = opened();
  for (const _ of conversation.text(startOf()));
  return conversation;
}

const final = {
  ...{ type: 'transcript', is_final: true, turn: 0, start: 0.5, end: 1.5, model: 'local/digits-en' },
  ...{ text: 'Nine, one.', language: 'en' },
};
const OPTIONS: readonly [object, object][] = [
  [{}, { model: MODEL }],
  [{ deepgram: { keyterm: ['vox', 'gate'], language: 'de' } }, { keyterms: '["vox","gate"]', language: 'de' }],
  [{ deepgram: { diarize: true, prompt: 'Vox' } }, { diarization: 'true', prompt: 'Vox' }],
  [{ deepgram: { profanityFilter: true, unheardOf: 1 } }, { provider_params: '{"profanity_filter":true}' }],
  [{ gateway: { models: ['openai/whisper-1', { model: 'xai/x' }] } }, { fallbacks: '["openai/whisper-1","xai/x"]' }],
  [{ voxgate: { keyterms: ['vox'], region: 'eu' } }, { keyterms: '["vox"]', region: 'eu' }],
];

describe('the request for a stream', () => {
  it.each(OPTIONS)('works with %j', (options, parameters) => expect(asked(startOf(options))).toMatchObject(parameters));

  it.each([
    [
      { type: 'audio/pcm', rate: 24_000 },
      { encoding: 'linear16', sample_rate: '24000' },
    ],
    [{ type: 'audio/pcmu' }, { encoding: 'mulaw', sample_rate: '8000' }],
    [
      { type: 'audio/pcma', rate: 16_000 },
      { encoding: 'alaw', sample_rate: '16000' },
    ],
  ])('works with audio of %j', (format, parameters) => expect(asked(startOf({}, format))).toMatchObject(parameters));

  it('drops options of another vendor than the model’s', () =>
    expect(asked(startOf({ deepgram: { numerals: true, language: 'de' } }), 'local/digits-en')).toEqual({
      ...{ model: 'local/digits-en', encoding: 'linear16', sample_rate: '16000' },
    }));

  it.each([
    ['{"type":"session.create"}', MODEL, 'type'],
    ['audio', MODEL, 'type'],
    [startOf({}, { type: 'audio/webm' }), MODEL, 'inputAudioFormat.type'],
    [startOf({}, { type: 'audio/pcm' }), MODEL, 'inputAudioFormat.rate'],
    [startOf(), '', 'ai-model-id'],
  ])('fails: %s with the model %j', (text, model, param) =>
    expect(firstOf(text, model)).toMatchObject({ type: 'refuse', refusal: { extras: { param } } }),
  );

  it('must precede the audio', () =>
    expect([...opened().binary(new Uint8Array(2))]).toMatchObject([{ type: 'refuse' }]));
});

describe('a stream', () => {
  it('takes audio in binary messages and its own end, and ignores unknown messages', () => {
    const conversation = begun();
    const bytes = new Uint8Array(2);
    expect([...conversation.binary(bytes)]).toEqual([{ type: 'audio', bytes }]);
    expect([...conversation.text('{"type":"transcription-stream.later"}')]).toEqual([]);
    expect([...conversation.text('{"type":"transcription-stream.audio-done"}')]).toEqual([
      { type: 'tell', message: { type: 'close' } },
    ]);
  });

  it('arrives part by part, and once more as a whole', () => {
    const conversation = begun();
    const span = { text: 'Nine, one.', startSecond: 0.5, endSecond: 1.5 };
    expect(told(conversation, { type: 'session_started', model: MODEL })).toEqual([
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', timestamp: STAMP.at.toISOString(), modelId: MODEL },
    ]);
    expect(told(conversation, { ...final, is_final: false })).toEqual([
      { type: 'transcript-partial', id: '0', text: 'Nine, one.', startSecond: 0.5, durationInSeconds: 1 },
    ]);
    expect(told(conversation, final)).toEqual([{ type: 'transcript-final', id: '0', ...span }]);
    told(conversation, { ...final, text: '', turn: 1 });
    told(conversation, { ...final, turn: 2 });
    expect(told(conversation, { type: 'session_ended', reason: 'client_closed', audio_seconds: 2 })).toEqual([
      {
        ...{ type: 'finish', text: 'Nine, one. Nine, one.', segments: [span, span] },
        ...{ language: 'en', durationInSeconds: 2 },
      },
    ]);
  });

  it('arrives in parts only beyond a million characters', () => {
    const conversation = begun();
    for (let turn = 0; turn < 12; turn++) told(conversation, { ...final, turn, text: 'a'.repeat(100_000) });
    expect(told(conversation, { type: 'session_ended', reason: 'client_closed', audio_seconds: 2 })).toMatchObject([
      { type: 'error', error: { message: expect.stringContaining('too long') } },
    ]);
  });

  it.each([
    ['insufficient_credit', 'forbidden'],
    ['upstream_exhausted', 'failed_dependency'],
    ['too_many_sessions', 'rate_limit_exceeded'],
    ['node_draining', 'internal_server_error'],
  ])('ends of %s with the type %s, without the errors it survived', (code, type) => {
    const conversation = begun();
    expect(told(conversation, { type: 'error', error: { code, message: 'Why.' } })).toEqual([]);
    expect(told(conversation, { type: 'session_ended', reason: 'error' })).toEqual([
      { type: 'error', error: { message: 'Why.', type, code } },
    ]);
  });
});

describe('a credential', () => {
  const credential = (headers: Record<string, string>) =>
    vercel.credential({ query: new URLSearchParams(), headers: new Map(Object.entries(headers)) });
  const protocol = 'ai-gateway-transcription.v1';

  it.each([
    [{ authorization: 'Bearer k' }, { credential: 'k' }],
    [{ authorization: 'Basic k' }, { credential: '' }],
    [{ 'sec-websocket-protocol': `${protocol}, ai-gateway-auth.k` }, { credential: 'k', protocol }],
    [{ 'sec-websocket-protocol': protocol }, { credential: undefined, protocol }],
    [{}, { credential: undefined }],
  ])('comes from %j', (headers, offered) => expect(credential(headers)).toEqual(offered));

  it('causes an error on the socket when unknown, because clients read nothing else', async () => {
    const { url } = await startLiveGateway();
    const socket = new WebSocket(`${url.replace('http', 'ws')}/compat/vercel${PATH}?ai-model-id=${MODEL}`, [
      ...[protocol, 'ai-gateway-auth.sk_vox_unknown'],
    ]);
    const message = new Promise<string>((resolve) => socket.once('message', (data) => resolve(String(data))));
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    expect(JSON.parse(await message)).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
    expect(await closed).toBe(4001);
  });
});

describe('a file', () => {
  const handshake = (model: string) => ({
    ...{ query: new URLSearchParams(), headers: new Map([['ai-model-id', model]]), requestId: 'req_1' },
  });

  it.each(OPTIONS)('gets requested with %j', (providerOptions, parameters) => {
    const request = file.open({ providerOptions }, handshake(MODEL));
    expect(Object.fromEntries(parametersFor(vercel, request, {}))).toMatchObject(parameters);
  });

  it('fails without a model', () => {
    expect(() => file.open({}, handshake(''))).toThrow(ApiError);
    expect(() => file.open({}, handshake(''))).toThrow(expect.objectContaining({ extras: { param: 'ai-model-id' } }));
  });

  it('returns its turns, its words and what is missing', () => {
    const heard = {
      ...{ text: 'Nine, one.', language: 'english', duration: 2, model: MODEL },
      segments: [{ text: 'Nine, one.', start: 0.5, end: 1.5 }],
      words: [{ word: 'Nine,', start: 0.5, end: 0.9 }],
      warnings: [{ code: 'x', message: 'Why.' }],
    } as unknown as VerboseTranscription;
    expect(JSON.parse(file.answer(heard, handshake(MODEL), STAMP.at).body)).toEqual({
      ...{ text: 'Nine, one.', language: 'en', durationInSeconds: 2 },
      segments: [{ text: 'Nine, one.', startSecond: 0.5, endSecond: 1.5 }],
      words: [{ text: 'Nine,', startSecond: 0.5, endSecond: 0.9 }],
      warnings: [{ type: 'other', message: 'Why.' }],
      providerMetadata: { voxgate: { model: MODEL } },
    });
  });

  it('fails in the vendor’s format', () =>
    expect(vercel.refusal(apiError('model_not_found', 'Why.'), 'req_1')).toMatchObject({
      status: 404,
      body: '{"error":{"message":"Why.","type":"model_not_found","code":"model_not_found"},"generationId":"req_1"}',
    }));

  const audio = sampleAudio('commands.wav').bytes.toString('base64');
  it.each<[number, string, string]>([
    [200, 'local/commands-en', JSON.stringify({ audio, mediaType: 'audio/wav' })],
    [404, 'none/such', JSON.stringify({ audio, mediaType: 'audio/wav' })],
    [400, 'local/commands-en', '{"mediaType":"audio/wav"}'],
    [400, 'local/commands-en', '{"audio":"?"}'],
    [400, 'local/commands-en', `{"audio":"${audio}","providerOptions":`],
    [400, 'local/commands-en', JSON.stringify({ audio, providerOptions: { voxgate: { language: 'no language' } } })],
    [400, 'local/commands-en', ''],
  ])('gets the status %i', async (status, model, body) => {
    const { url, key } = await startLiveGateway();
    const answer = await fetch(`${url}/compat/vercel${PATH}`, {
      ...{ method: 'POST', body },
      headers: { authorization: `Bearer ${key}`, 'ai-model-id': model, 'content-type': 'application/json' },
    });
    const told = (await answer.json()) as { text?: string; error?: { message: string } };
    expect([answer.status, told.error?.message ?? '']).toEqual([
      status,
      expect.stringMatching(status === 200 ? /^$/ : /\.$/),
    ]);
  });
});
