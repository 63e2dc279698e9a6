// What clients of LiveKit Inference ask for and are told, message by message, who may, and how they are refused.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { ApiError, apiError } from '../../../src/api/errors.ts';
import type { OutgoingEvent } from '../../../src/api/listen-events.ts';
import { parametersFor } from '../../../src/compat/parameters.ts';
import type { Change, ClientRequest, Conversation, LiveEndpoint } from '../../../src/vendors/compat/dialect.ts';
import { livekit } from '../../../src/vendors/livekit/index.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';

const PATH = '/v1/stt';
const STAMP = { sessionId: 'ses_1', seq: 1, at: new Date(0) };
const endpoint = livekit.live[PATH] as LiveEndpoint;
const said = (type: string, members: object = {}) => JSON.stringify({ type, ...members });

const opened = (query = ''): Conversation =>
  endpoint.open({ query: new URLSearchParams(query), headers: new Map(), requestId: 'req_1' });
const createOf = (model: string, extra: object = {}, settings: object = {}, more: object = {}) =>
  said('session.create', {
    settings: { sample_rate: '16000', encoding: 'pcm_s16le', extra, ...settings },
    ...(model === '' ? {} : { model }),
    ...more,
  });
const firstOf = (text: string, query?: string) => [...opened(query).text(text)][0];
const asked = (text: string, aliases = {}) => {
  const step = firstOf(text);
  if (step?.type !== 'start') throw new Error(JSON.stringify(step));
  return Object.fromEntries(parametersFor(livekit, step.request as ClientRequest, aliases));
};
const told = (conversation: Conversation, event: object) =>
  conversation.encode(event as OutgoingEvent, STAMP).map((text) => JSON.parse(text));
function begun(): Conversation {
  const conversation = opened();
  for (const _ of conversation.text(createOf('deepgram/nova-3')));
  return conversation;
}

const final = {
  ...{ type: 'transcript', is_final: true, turn: 0, start: 0.5, end: 1.5, model: 'local/digits-en' },
  ...{ text: 'Nine, one.', language: 'en', confidence: 0.9, speaker: 1 },
  words: [{ word: 'Nine,', start: 0.5, end: 0.6, confidence: 0.8 }],
};

describe('the message that creates a session', () => {
  it.each<[string, object]>([
    [createOf('local/digits-en'), { model: 'local/digits-en', encoding: 'linear16', sample_rate: '16000' }],
    [createOf(''), { model: 'deepgram/nova-3', turn_events: 'true' }],
    [createOf('assemblyai/universal-streaming'), { model: 'assemblyai/universal-streaming-english' }],
    [createOf('deepgram/nova-3', {}, { language: 'de' }), { language: 'de' }],
    [createOf('deepgram/nova-3', {}, { language: 'multi' }), { language: 'auto' }],
    [createOf('deepgram/flux-general-multi', { detect_language: true }), { language: 'auto' }],
    [createOf('deepgram/nova-3', { keyterm: ['vox', 'gate'] }), { keyterms: '["vox","gate"]' }],
    [createOf('deepgram/nova-3', { keyterm: 'vox', keywords: [['gate', 2]] }), { keyterms: '["vox","gate"]' }],
    [createOf('speechmatics/enhanced', { additional_vocab: [{ content: 'vox' }] }), { keyterms: '["vox"]' }],
    [createOf('assemblyai/u3-rt-pro', { speaker_labels: true }), { diarization: 'true' }],
    [createOf('speechmatics/enhanced', { diarization: 'speaker' }), { diarization: 'true' }],
    [createOf('google/chirp_3', { language_codes: ['de-DE', 'fr-FR'] }), { languages: '["de-DE","fr-FR"]' }],
    [createOf('xai/stt-1', { interim_results: false }), { interim_results: 'false' }],
    [createOf('deepgram/nova-3', { numerals: true, unheard_of: 1 }), { provider_params: '{"numerals":true}' }],
    [
      createOf('deepgram/nova-3', {}, {}, { fallback: { models: [{ model: 'assemblyai/universal-streaming' }] } }),
      { fallbacks: '[{"model":"assemblyai/universal-streaming-english"}]' },
    ],
    [
      createOf('local/x', {}, {}, { fallback: { models: [{ model: 'deepgram/nova-3', extra: { numerals: true } }] } }),
      { fallbacks: '[{"model":"deepgram/nova-3","provider_params":{"numerals":true}}]' },
    ],
  ])('requests %s', (text, parameters) => expect(asked(text)).toMatchObject(parameters));

  it.each([
    createOf('speechmatics/enhanced', { diarization: 'none' }),
    createOf('deepgram/nova-3', { diarize: false }),
  ])('requests no speakers: %s', (text) => expect(asked(text)).not.toHaveProperty('diarization'));

  it('requests the chain of a key’s alias, also where the gateway chooses', () => {
    const aliases = { auto: [{ model: 'local/digits-en' }] };
    expect(asked(createOf(''), { aliases })).toMatchObject({ model: 'auto' });
  });

  it.each([
    [said('input_audio', { audio: 'AAAA' }), 'type'],
    ['audio', 'type'],
    [createOf('local/x', {}, { encoding: 'opus' }), 'settings.encoding'],
    [createOf('local/x', {}, { sample_rate: 'fast' }), 'settings.sample_rate'],
    [createOf('local/x', {}, {}, { fallback: { models: [{}] } }), 'fallback.models'],
  ])('fails: %s', (text, param) =>
    expect(firstOf(text)).toMatchObject({ type: 'refuse', refusal: { extras: { param } } }),
  );
});

describe('a client', () => {
  it.each([
    [said('input_audio', { audio: 'AAAA' }), [{ type: 'audio', bytes: Buffer.alloc(3) }]],
    [said('input_audio', { audio: '' }), [{ type: 'tell', message: { type: 'keepalive' } }]],
    [said('input_audio', { audio: '?' }), [{ type: 'fault' }]],
    [said('session.finalize'), [{ type: 'tell', message: { type: 'finalize' } }, { type: 'later' }]],
    [said('session.close'), [{ type: 'tell', message: { type: 'close' } }]],
    [said('session.flush'), [{ type: 'fault' }]],
  ])('says %s', (text, steps) => expect([...begun().text(text)]).toMatchObject(steps));

  it('sends no audio in binary messages', () =>
    expect([...begun().binary(new Uint8Array(2))]).toMatchObject([{ type: 'fault' }]));

  const changeOf = (conversation: Conversation, settings: object): Change => {
    const [step] = conversation.text(said('session.update', { settings }));
    if (step?.type !== 'change') throw new Error(JSON.stringify(step));
    return step.change;
  };
  const changed = (change: Change) => Object.fromEntries(parametersFor(livekit, change.request(), {}));

  it.each<[object, object]>([
    [{ language: 'de' }, { language: 'de', model: 'deepgram/nova-3', sample_rate: '16000' }],
    [{ model: 'xai/stt-1' }, { model: 'xai/grok-voice-transcribe-2.0' }],
    [{ extra: { keyterm: ['vox'] } }, { keyterms: '["vox"]' }],
    [{ extra: { numerals: true } }, { provider_params: '{"numerals":true}' }],
    [{}, { model: 'deepgram/nova-3' }],
  ])('changes its session while it runs: %j', (settings, parameters) => {
    const change = changeOf(begun(), settings);
    expect(changed(change)).toMatchObject(parameters);
    expect(change.inForce()).toEqual([]);
  });

  it('keeps its earlier options across a change, unless they were refused', () => {
    const conversation = begun();
    const taken = changeOf(conversation, { extra: { numerals: true } });
    changed(taken);
    taken.taken();
    const refused = changeOf(conversation, { model: 'none/such' });
    changed(refused);
    const message = 'There is none.';
    expect(refused.refused(apiError('model_not_found', message)).map((text) => JSON.parse(text))).toEqual([
      { type: 'warning', code: 'model_not_found', message },
    ]);
    expect(changed(changeOf(conversation, { extra: { profanity_filter: true } }))).toMatchObject({
      ...{ model: 'deepgram/nova-3', provider_params: '{"numerals":true,"profanity_filter":true}' },
    });
  });

  it('may not make its session ask for more than 1 MiB, and no update is larger than 64 KiB', () => {
    const conversation = begun();
    const extraOf = (name: string, length: number) => ({ extra: { [name]: 'a'.repeat(length) } });
    const [step] = conversation.text(said('session.update', { settings: extraOf('x', 70_000) }));
    expect(step).toMatchObject({ type: 'fault' });
    for (let count = 0; count < 17; count++) {
      const change = changeOf(conversation, extraOf(`x${count}`, 60_000));
      changed(change);
      change.taken();
    }
    expect(() => changed(changeOf(conversation, extraOf('y', 60_000)))).toThrow(ApiError);
  });

  it('gets its session, speech, a possible end, and its words', () => {
    const conversation = begun();
    const words = [{ word: 'Nine,', start: 0.5, end: 0.6, confidence: 0.8, speaker_id: 'S1' }];
    const members = {
      ...{ session_id: 'ses_1', transcript: 'Nine, one.', language: 'en', start: 0.5, duration: 1 },
      ...{ confidence: 0.9, words, speaker_id: 'S1' },
    };
    expect(told(conversation, { type: 'session_started' })).toEqual([{ type: 'session.created', session_id: 'ses_1' }]);
    expect(told(conversation, { type: 'speech_started', start: 0.5 })).toEqual([{ type: 'start_of_speech' }]);
    expect(told(conversation, { ...final, is_final: false })).toEqual([{ type: 'interim_transcript', ...members }]);
    expect(told(conversation, { ...final, type: 'turn_eager_end' })).toEqual([
      { type: 'preflight_transcript', ...members },
    ]);
    expect(told(conversation, final)).toEqual([{ type: 'final_transcript', ...members }]);
    expect(told(conversation, { ...final, is_final: false }).map(({ type }) => type)).toEqual([
      'start_of_speech',
      'interim_transcript',
    ]);
  });

  it('gets a turn without words only after speech had begun', () => {
    const conversation = begun();
    const silent = { ...final, text: '', words: [] };
    expect(told(conversation, silent)).toEqual([]);
    expect(told(conversation, { ...silent, is_final: false })).toEqual([]);
    told(conversation, { type: 'speech_started', start: 0.5 });
    expect(told(conversation, silent)).toMatchObject([{ type: 'final_transcript', transcript: '' }]);
  });

  it('gets one confirmation of its finalize', () => {
    const conversation = begun();
    const audio = Buffer.alloc(64_000).toString('base64');
    for (const message of [said('input_audio', { audio }), said('session.finalize')])
      for (const _ of conversation.text(message));
    expect(told(conversation, final).map(({ type }) => type)).toEqual(['final_transcript', 'session.finalized']);
    expect(told(conversation, final).map(({ type }) => type)).toEqual(['final_transcript']);
  });

  it('continues after its own errors, and gets nothing after its own end', () => {
    const conversation = begun();
    const error = { code: 'invalid_request', message: 'Why.' };
    expect(told(conversation, { type: 'error', error })).toEqual([{ type: 'warning', ...error }]);
    expect(told(conversation, { type: 'session_ended', reason: 'client_closed' })).toEqual([]);
  });

  it.each([
    ['insufficient_credit', 402],
    ['session_idle', 2007],
    ['session_too_long', 408],
    ['upstream_exhausted', 502],
    ['node_draining', 503],
  ])('ends with %s and reports the number %d', (code, number) => {
    const conversation = begun();
    told(conversation, { type: 'error', error: { code, message: 'Why.' } });
    expect(told(conversation, { type: 'session_ended', reason: 'error' })).toEqual([
      { type: 'error', message: 'Why.', code: number },
    ]);
  });
});

const SECRET = 'sk_vox_secret';
const NOW = new Date('2026-11-24T12:00:00Z');
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function tokenOf(claims: object, { secret = SECRET, alg = 'HS256' } = {}): string {
  const text = `${part({ alg, typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

describe('an access token', () => {
  const seconds = NOW.getTime() / 1_000;
  const offered = (token: string) =>
    livekit.credential({ query: new URLSearchParams(), headers: new Map([['authorization', `Bearer ${token}`]]) });
  const good = { iss: SECRET, exp: seconds + 600, nbf: seconds, inference: { perform: true } };

  it.each<[string, object]>([
    ['signed with its issuer', good],
    ['of a clock that is a little ahead', { ...good, nbf: seconds + 59 }],
    ['of a clock that is a little behind', { ...good, exp: seconds - 59 }],
  ])('%s brings the key', (_, claims) => {
    const { credential, prove } = offered(tokenOf(claims));
    expect(credential).toBe(SECRET);
    expect(() => prove?.(NOW)).not.toThrow();
  });

  it.each<[string, string, string]>([
    ['with another secret', tokenOf(good, { secret: 'other' }), 'invalid_token'],
    ['by another algorithm', tokenOf(good, { alg: 'none' }), 'invalid_token'],
    ['without a signature', `${tokenOf(good).split('.').slice(0, 2).join('.')}.`, 'invalid_token'],
    ['that is over', tokenOf({ ...good, exp: seconds - 60 }), 'token_expired'],
    ['without an end', tokenOf({ ...good, exp: undefined }), 'token_expired'],
    ['that is not valid yet', tokenOf({ ...good, nbf: seconds + 61 }), 'invalid_token'],
  ])('%s is refused', (_, token, code) => {
    const { prove } = offered(token);
    expect(() => prove?.(NOW)).toThrow(expect.objectContaining({ code }));
    expect(() => prove?.(NOW)).toThrow(ApiError);
  });

  it('may be the bare key as well', () => expect(offered(SECRET)).toEqual({ credential: SECRET }));

  it('counts as missing, or as empty next to another credential', () => {
    const credential = (headers: [string, string][]) =>
      livekit.credential({ query: new URLSearchParams(), headers: new Map(headers) }).credential;
    expect(credential([])).toBeUndefined();
    expect(credential([['authorization', 'Basic x']])).toBe('');
  });
});

describe('a LiveKit client at a gateway', () => {
  const handshake = ({ url }: LiveGateway, token: string) =>
    new WebSocket(`${url.replace('http', 'ws')}/compat/livekit${PATH}?model=auto`, {
      headers: { Authorization: `Bearer ${token}` },
    });
  const claimsOf = (iss: string) => ({ iss, exp: Date.now() / 1_000 + 600 });

  it.each<[string, (key: string) => string, number]>([
    ['an unknown key', () => tokenOf(claimsOf(SECRET)), 401],
    ['another secret than the key', (key) => tokenOf(claimsOf(key)), 401],
    ['a token that is over', (key) => tokenOf({ iss: key, exp: 1 }, { secret: key }), 401],
  ])('%s is refused with an HTTP answer', async (_, token, status) => {
    const gateway = await startLiveGateway();
    const [, response] = await once(handshake(gateway, token(gateway.key)), 'unexpected-response');
    expect(response.statusCode).toBe(status);
    let body = '';
    for await (const chunk of response) body += chunk;
    expect(JSON.parse(body)).toEqual({ type: 'error', message: expect.any(String), code: status });
  });

  it('gets the reason and a close when its session cannot be opened', async () => {
    const gateway = await startLiveGateway();
    const socket = handshake(gateway, tokenOf(claimsOf(gateway.key), { secret: gateway.key }));
    await once(socket, 'open');
    const message = once(socket, 'message');
    const closed = once(socket, 'close');
    socket.send(createOf('none/such'));
    expect(JSON.parse(String((await message)[0]))).toMatchObject({ type: 'error', code: 404 });
    expect((await closed)[0]).toBe(4004);
  });
});
