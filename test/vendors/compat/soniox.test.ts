// What Soniox' clients ask for and are told, message by message; and how a key is judged that comes in the first of them.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { apiError } from '../../../src/api/errors.ts';
import type { OutgoingEvent } from '../../../src/api/listen-events.ts';
import { parametersFor } from '../../../src/compat/parameters.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import type { Conversation, DeferredAuthEndpoint, Step } from '../../../src/vendors/compat/dialect.ts';
import { closeOf, endingOf } from '../../../src/vendors/soniox/compat/errors.ts';
import { soniox } from '../../../src/vendors/soniox/compat/index.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../fakes/processes/live-gateway.ts';

const PATH = '/transcribe-websocket';
const STAMP = { sessionId: 'ses_1', seq: 1, at: new Date(0) };
const BY = { type: 'operator', id: 'test' } as const;
const endpoint = soniox.live[PATH] as DeferredAuthEndpoint;
const START = { model: 'stt-rt-v5', audio_format: 'pcm_s16le', sample_rate: 16_000, num_channels: 1 };

const opened = (query = ''): Conversation =>
  endpoint.open({ query: new URLSearchParams(query), headers: new Map(), requestId: 'req_1' });
const said = (conversation: Conversation, message: object): Step[] => [...conversation.text(JSON.stringify(message))];
function started(more: object = {}, query = ''): Conversation {
  const conversation = opened(query);
  expect(said(conversation, { ...START, ...more })).toMatchObject([{ type: 'start' }]);
  return conversation;
}
function asked(more: object, query = ''): Record<string, string> {
  const [step] = said(opened(query), { ...START, ...more });
  if (step?.type !== 'start') throw new Error(`It came to ${step?.type}.`);
  return Object.fromEntries(parametersFor(soniox, step.request, {}));
}
const told = (conversation: Conversation, event: object) =>
  conversation.encode(event as OutgoingEvent, STAMP).map((text) => JSON.parse(text));

const final = {
  ...{ type: 'transcript', is_final: true, turn: 0, start: 0.2, end: 1.5, model: 'local/digits-en' },
  ...{ text: 'Nine, one.', language: 'en', confidence: 0.9 },
  words: [
    { word: 'Nine,', start: 0.2, end: 0.6, confidence: 0.8 },
    { word: 'one', start: 0.9, end: 1.4, speaker: 1 },
  ],
};

describe('a first message', () => {
  it.each<[object, object]>([
    [{}, { model: 'soniox/stt-rt-v5', encoding: 'linear16', sample_rate: '16000' }],
    [
      { model: 'stt-rt-v4', audio_format: 'pcm_f32le' },
      { model: 'soniox/stt-rt-v5', encoding: 'linear16' },
    ],
    [
      { model: 'local/digits-en', audio_format: 'alaw', sample_rate: 8_000 },
      { encoding: 'alaw', sample_rate: '8000' },
    ],
    [
      { language_hints: ['en'], enable_speaker_diarization: true },
      { language: 'en', diarization: 'true' },
    ],
    [{ language_hints: ['en', 'es'] }, { languages: '["en","es"]' }],
    [
      { enable_language_identification: true },
      { language: 'auto', provider_params: '{"enable_language_identification":true}' },
    ],
    [{ context: 'A gate.' }, { prompt: 'A gate.' }],
    [{ context: { text: 'A gate.', terms: ['vox'] } }, { prompt: 'A gate.', keyterms: '["vox"]' }],
    [
      { context: { general: [{ key: 'topic', value: 'gates' }] } },
      { provider_params: '{"context":{"general":[{"key":"topic","value":"gates"}]}}' },
    ],
    [{ max_endpoint_delay_ms: 900, translation: null }, { provider_params: '{"max_endpoint_delay_ms":900}' }],
  ])('maps %j', (more, parameters) => expect(asked(more)).toMatchObject(parameters));

  it.each(['auto', 'webm', 'ogg', 'wav'])('requests a container for the audio format %s', (audio_format) => {
    const parameters = asked({ audio_format, sample_rate: undefined, num_channels: undefined });
    expect(parameters).toMatchObject({ encoding: 'auto' });
    expect(parameters).not.toHaveProperty('sample_rate');
  });

  it('includes the options of the address', () =>
    expect(asked({}, 'fallbacks=local/digits-en&region=eu')).toMatchObject({
      ...{ fallbacks: 'local/digits-en', region: 'eu' },
    }));

  it.each<[object, string]>([
    [{ audio_format: 'mp3' }, 'audio_format'],
    [{ audio_format: undefined }, 'audio_format'],
    [{ sample_rate: undefined }, 'sample_rate'],
    [{ num_channels: 2 }, 'num_channels'],
    [{ translation: { type: 'one_way', target_language: 'de' } }, 'translation'],
  ])('fails: %j', (more, param) =>
    expect(said(opened(), { ...START, ...more })).toMatchObject([{ type: 'refuse', refusal: { extras: { param } } }]),
  );
});

describe('a client', () => {
  it.each<[string, object]>([
    ['{"type":"finalize","trailing_silence_ms":200}', { type: 'tell', message: { type: 'finalize' } }],
    ['{"type":"keepalive"}', { type: 'tell', message: { type: 'keepalive' } }],
    ['', { type: 'tell', message: { type: 'close' } }],
    ['{"type":"stop"}', { type: 'fault' }],
    ['audio', { type: 'fault' }],
  ])('says %j', (text, step) => expect([...started().text(text)][0]).toMatchObject(step));

  it('sends audio in binary messages, and ends it with an empty one', () => {
    expect([...started().binary(new Uint8Array(2))]).toMatchObject([{ type: 'audio', bytes: { byteLength: 2 } }]);
    const floats = started({ audio_format: 'pcm_f32le' });
    expect([...floats.binary(new Uint8Array(8))]).toMatchObject([{ type: 'audio', bytes: { byteLength: 4 } }]);
    expect([...started().binary(new Uint8Array(0))]).toMatchObject([{ type: 'tell', message: { type: 'close' } }]);
  });

  it('fails where its audio comes first', () =>
    expect([...opened().binary(new Uint8Array(2))]).toMatchObject([
      { type: 'refuse', refusal: { code: 'invalid_request' } },
    ]));

  it('gets a turn in tokens, which together are its text', () => {
    const conversation = started({ enable_endpoint_detection: true });
    expect(told(conversation, { ...final, is_final: false, text: 'Nine,', words: [] })).toMatchObject([
      { tokens: [{ text: 'Nine,', is_final: false }], final_audio_proc_ms: 0, total_audio_proc_ms: 1_500 },
    ]);
    const tokens = [
      { text: 'Nine,', start_ms: 200, end_ms: 600, confidence: 0.8, language: 'en', is_final: true },
      { text: ' one.', start_ms: 900, end_ms: 1_400, confidence: 0.9, speaker: '2', language: 'en', is_final: true },
      { text: '<end>', confidence: 1, is_final: true },
    ];
    expect(told(conversation, final)).toEqual([{ tokens, final_audio_proc_ms: 1_500, total_audio_proc_ms: 1_500 }]);
    expect(told(conversation, final)[0].tokens[0]).toMatchObject({ text: ' Nine,' });
  });

  it('gets the text where its words differ', () => {
    const words = [{ word: 'nein', start: 0.2, end: 0.6 }];
    expect(told(started(), { ...final, words })[0].tokens.map(({ text }: { text: string }) => text)).toEqual([
      'Nine,',
      ' one.',
    ]);
  });

  it('gets a turn’s end on request only, and always for turns that it ended', () => {
    const marksOf = (conversation: Conversation, event: object) =>
      told(conversation, event)[0].tokens.flatMap(({ text }: { text: string }) => /^<.*>$/.exec(text) ?? []);
    const silent = { ...final, text: '', words: [] };
    const conversation = started({ enable_endpoint_detection: true });
    for (const _ of conversation.binary(new Uint8Array(64_000)));
    expect(marksOf(started(), final)).toEqual([]);
    expect(marksOf(conversation, silent)).toEqual([]);
    said(conversation, { type: 'finalize' });
    expect(marksOf(conversation, final)).toEqual(['<fin>']);
    expect(marksOf(conversation, final)).toEqual(['<end>']);
    said(conversation, { type: 'finalize' });
    expect(marksOf(conversation, silent)).toEqual(['<fin>']);
    said(conversation, { type: 'finalize' });
    const ended = told(conversation, { type: 'session_ended', reason: 'client_closed', audio_seconds: 2 });
    expect(ended).toMatchObject([{ tokens: [{ text: '<fin>' }] }, { tokens: [], finished: true }]);
  });

  it('gets the end of the session it started, and no other', () => {
    const ended = { type: 'session_ended', reason: 'client_closed', audio_seconds: 2 };
    expect(told(started(), ended)).toEqual([
      { tokens: [], final_audio_proc_ms: 0, total_audio_proc_ms: 2_000, finished: true },
    ]);
    expect(told(started(), { ...ended, reason: 'error' })).toEqual([]);
    expect(told(started(), { type: 'speech_started', start: 0 })).toEqual([]);
  });

  it.each([
    ['invalid_request', 400, 'invalid_request'],
    ['insufficient_credit', 402, 'organization_balance_exhausted'],
    ['session_idle', 408, 'request_timeout'],
    ['too_many_sessions', 429, 'rate_limit_exceeded'],
    ['upstream_exhausted', 503, 'service_unavailable'],
    ['internal_error', 500, 'internal_error'],
  ])('gets %s as %d', (code, error_code, error_type) =>
    expect(told(started(), { type: 'error', error: { code, message: 'Why.' } })).toEqual([
      { tokens: [], error_code, error_type, error_message: 'Why.' },
    ]),
  );

  it.each([
    [1000, '', 1000],
    [4002, 'insufficient_credit', 1008],
    [4101, 'upstream_exhausted', 1011],
  ])('closes with %d %s as %d', (code, reason, known) =>
    expect(closeOf(code, reason)).toEqual({ code: known, reason }),
  );

  it('gets an error message when it is refused', () =>
    expect(endingOf(apiError('invalid_api_key', 'Why.'))).toMatchObject({ code: 1008, reason: 'invalid_api_key' }));

  it('gets the reason over HTTP when it is refused', () =>
    expect(JSON.parse(soniox.refusal(apiError('invalid_request', 'Why.', { param: 'model' }), 'req_1').body)).toEqual({
      ...{ status_code: 400, error_type: 'invalid_request', message: 'Why.', request_id: 'req_1' },
      validation_errors: [{ error_type: 'invalid_request', location: 'model', message: 'Why.' }],
    }));
});

describe('a key in the first message', () => {
  let gateway: LiveGateway;
  const keys = { revoked: '', listed: '' };
  const { pcm, sampleRate } = sampleAudio('commands.wav');
  const start = { ...START, model: 'local/commands-en', sample_rate: sampleRate };

  beforeAll(async () => {
    gateway = await startLiveGateway({ VOXGATE_FAILED_AUTHENTICATIONS_PER_MINUTE_MAX: '3' });
    const store = await openSqliteStore({ directory: gateway.directory });
    const { id } = await store.createOrganisation('Soniox', null, BY);
    const { key, secret } = await store.createKey(id, {}, BY);
    await store.revokeKey(id, key.id, BY);
    keys.revoked = secret;
    keys.listed = (await store.createKey(id, { origins: ['https://app.example.com'] }, BY)).secret;
    store.close();
  });
  const sockets: WebSocket[] = [];
  afterAll(() => {
    for (const socket of sockets) socket.terminate();
  });

  async function connect(headers: Record<string, string> = {}, protocols: string[] = []) {
    const address = `${gateway.url.replace('http', 'ws')}/compat/soniox${PATH}`;
    const socket = new WebSocket(address, protocols, { headers });
    sockets.push(socket);
    const messages: Record<string, unknown>[] = [];
    socket.on('message', (data) => messages.push(JSON.parse(String(data))));
    const closed = once(socket, 'close').then(([code]) => code as number);
    await once(socket, 'open');
    return { socket, messages, closed, say: (message: object) => socket.send(JSON.stringify(message)) };
  }

  const textOf = (messages: readonly Record<string, unknown>[]): string =>
    messages
      .flatMap(({ tokens }) => tokens as { text: string; is_final: boolean }[])
      .flatMap(({ text, is_final }) => (is_final && !text.startsWith('<') ? [text] : []))
      .join('');

  it.each([
    ['in the message', {}, [], true],
    ['in a header, before it', { authorization: true }, [], false],
    ['in a subprotocol, before it', {}, ['soniox-api-key'], false],
  ])('opens the session: %s', async (_, { authorization }: { authorization?: boolean }, protocols, isLate) => {
    const { key } = gateway;
    const { socket, messages, closed, say } = await connect(
      authorization === true ? { Authorization: `Bearer ${key}` } : {},
      protocols.flatMap((name) => [name, key]),
    );
    say({ ...start, ...(isLate ? { api_key: key } : {}) });
    for (let at = 0; at < pcm.byteLength; at += 8_000) socket.send(pcm.subarray(at, at + 8_000));
    socket.send('');
    expect(await closed).toBe(1000);
    expect(textOf(messages)).toMatch(/\w/);
    expect(messages.at(-1)).toMatchObject({ finished: true });
    expect(socket.protocol).toBe(protocols[0] ?? '');
  });

  it.each<[string, () => object, object, number]>([
    ['is missing', () => ({}), {}, 401],
    ['is revoked', () => ({ api_key: keys.revoked }), {}, 401],
    ['is used from another origin', () => ({ api_key: keys.listed }), { Origin: 'https://evil.example.com' }, 401],
    ['is good, and asks for a model that is not there', () => ({ api_key: gateway.key, model: 'none/such' }), {}, 400],
  ])('fails where it %s', async (_, more, headers, error_code) => {
    const { messages, closed, say } = await connect(headers as Record<string, string>);
    say({ ...start, ...more() });
    expect(await closed).toBe(1008);
    expect(messages).toMatchObject([{ tokens: [], error_code }]);
  });

  it('fails in its own subprotocol, without which clients receive nothing', async () => {
    const { socket, messages, closed } = await connect({}, ['soniox-api-key', keys.revoked]);
    expect(await closed).toBe(1008);
    expect(socket.protocol).toBe('soniox-api-key');
    expect(messages).toMatchObject([{ tokens: [], error_code: 401 }]);
  });

  it('counts as a guess where it is wrong, like any other; good ones pass', async () => {
    const codes: unknown[] = [];
    for (let guess = 0; guess < 4; guess++) {
      const { messages, closed, say } = await connect();
      say({ ...start, api_key: `sk_vox_guess${guess}` });
      await closed;
      codes.push(messages[0]?.error_code);
    }
    expect(codes.at(-1)).toBe(429);
    const { socket, messages, closed, say } = await connect();
    say({ ...start, api_key: gateway.key });
    socket.send('');
    expect(await closed).toBe(1000);
    expect(messages.at(-1)).toMatchObject({ finished: true });
  });
});
