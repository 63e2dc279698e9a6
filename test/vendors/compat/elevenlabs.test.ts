// What ElevenLabs' clients ask for and are told, message by message, and how they are refused.
import { once } from 'node:events';
import { beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { ApiError, apiError } from '../../../src/api/errors.ts';
import type { OutgoingEvent } from '../../../src/api/listen-events.ts';
import { parametersFor } from '../../../src/compat/parameters.ts';
import type { Conversation, FormEndpoint, LiveEndpoint } from '../../../src/vendors/compat/dialect.ts';
import { closeOf, endingOf } from '../../../src/vendors/elevenlabs/compat/errors.ts';
import { elevenlabs } from '../../../src/vendors/elevenlabs/compat/index.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../fakes/processes/live-gateway.ts';

const PATH = '/v1/speech-to-text/realtime';
const STAMP = { sessionId: 'ses_1', seq: 1, at: new Date(0) };
const endpoint = elevenlabs.live[PATH] as LiveEndpoint;

const opened = (query = ''): Conversation =>
  endpoint.open({ query: new URLSearchParams(query), headers: new Map(), requestId: 'req_1' });
const asked = (query: string) => Object.fromEntries(parametersFor(elevenlabs, opened(query).request as never, {}));
const told = (conversation: Conversation, event: object) =>
  conversation.encode(event as OutgoingEvent, STAMP).map((text) => JSON.parse(text));
const chunk = (audio_base_64: string, commit = false, more: object = {}) =>
  JSON.stringify({ message_type: 'input_audio_chunk', audio_base_64, commit, sample_rate: 16_000, ...more });
const SECOND = Buffer.alloc(32_000).toString('base64');

const final = {
  ...{ type: 'transcript', is_final: true, turn: 0, start: 0.2, end: 1.5, model: 'local/digits-en' },
  ...{ text: 'Nine, one.', language: 'en' },
  words: [
    { word: 'Nine,', start: 0.2, end: 0.6, confidence: 1 },
    { word: 'one.', start: 0.9, end: 1.4, speaker: 1 },
  ],
};

describe('a query', () => {
  it.each([
    ['', { model: 'elevenlabs/scribe_v2_realtime', encoding: 'linear16', sample_rate: '16000' }],
    ['model_id=local/digits-en&audio_format=pcm_24000', { model: 'local/digits-en', sample_rate: '24000' }],
    ['audio_format=ulaw_8000', { encoding: 'mulaw', sample_rate: '8000' }],
    ['language_code=eng&secondary_languages=spa', { language: 'en', languages: '["es"]' }],
    ['keyterms=vox&keyterms=gate', { keyterms: '["vox","gate"]' }],
    [
      'enable_logging=false&no_verbatim=true',
      { retention: 'none', provider_params: '{"enable_logging":false,"no_verbatim":true}' },
    ],
    ['model_id=local/digits-en&enable_logging=false', { retention: 'none' }],
    ['fallbacks=local/digits-en&region=eu', { fallbacks: 'local/digits-en', region: 'eu' }],
  ])('maps %s', (query, parameters) => expect(asked(query)).toMatchObject(parameters));

  it('requests ElevenLabs’ options from ElevenLabs’ models only', () =>
    expect(asked('model_id=local/digits-en&no_verbatim=true')).not.toHaveProperty('provider_params'));

  it.each([
    ['audio_format=mp3', 'audio_format'],
    ['audio_format=ulaw_16000', 'audio_format'],
    ['entity_detection=all', 'entity_detection'],
    ['transcript_edit=shorter', 'transcript_edit'],
  ])('fails: %s', (query, param) => {
    expect(() => opened(query)).toThrow(ApiError);
    expect(() => opened(query)).toThrow(expect.objectContaining({ extras: { param } }));
  });
});

describe('a client', () => {
  it.each([
    [chunk('AAAA'), [{ type: 'audio', bytes: Buffer.alloc(3) }]],
    [chunk(SECOND, true), [{ type: 'audio' }, { type: 'tell', message: { type: 'finalize' } }, { type: 'later' }]],
    [chunk(''), [{ type: 'tell', message: { type: 'keepalive' } }]],
    [chunk('AAAA', false, { sample_rate: 8_000 }), [{ type: 'fault', param: 'sample_rate' }]],
    [chunk('no base64'), [{ type: 'fault' }]],
    ['{"message_type":"commit"}', [{ type: 'fault' }]],
    ['audio', [{ type: 'fault' }]],
  ])('says %.80s', (text, steps) => expect([...opened().text(text)]).toMatchObject(steps));

  it('sends no audio in binary messages', () =>
    expect([...opened().binary(new Uint8Array(2))]).toMatchObject([{ type: 'fault' }]));

  it('gets an error when too little audio follows the last commit', () => {
    const conversation = opened();
    const steps = (text: string) => [...conversation.text(text)].map(({ type }) => type);
    expect(steps(chunk(SECOND, true))).toEqual(['audio', 'tell', 'later']);
    told(conversation, { ...final, end: 1 });
    expect([...conversation.text(chunk('', true))]).toMatchObject([
      { type: 'say', text: expect.stringContaining('"message_type":"commit_throttled"') },
    ]);
    expect(steps(chunk(SECOND, true))).toEqual(['audio', 'tell']);
  });

  it('gets the properties of its session', () =>
    expect(told(opened('audio_format=pcm_8000'), { type: 'session_started', model: 'local/digits-en' })).toEqual([
      {
        ...{ message_type: 'session_started', session_id: 'ses_1' },
        config: {
          ...{ model_id: 'local/digits-en', audio_format: 'pcm_8000', sample_rate: 8_000 },
          ...{ commit_strategy: 'manual', include_timestamps: false },
        },
      },
    ]));

  it('gets each turn as a commit, and again with words on request', () => {
    expect(told(opened(), { ...final, is_final: false })).toEqual([
      { message_type: 'partial_transcript', text: 'Nine, one.' },
    ]);
    expect(told(opened(), final)).toEqual([{ message_type: 'committed_transcript', text: 'Nine, one.' }]);
    expect(told(opened('include_timestamps=true'), final)[1]).toEqual({
      ...{ message_type: 'committed_transcript_with_timestamps', text: 'Nine, one.', language_code: 'en' },
      words: [
        { text: 'Nine,', start: 0.2, end: 0.6, type: 'word', logprob: 0 },
        { text: ' ', start: 0.6, end: 0.9, type: 'spacing', logprob: 0, speaker_id: 'speaker_1' },
        { text: 'one.', start: 0.9, end: 1.4, type: 'word', logprob: 0, speaker_id: 'speaker_1' },
      ],
    });
  });

  it('gets words where its model gives none', () => {
    const { words, ...wordless } = final;
    expect(told(opened('include_timestamps=true'), wordless)[1].words).toMatchObject([
      { text: 'Nine,', start: 0.2, end: 0.85 },
      { type: 'spacing' },
      { text: 'one.', start: 0.85, end: 1.5 },
    ]);
  });

  it('gets a turn without words only where it ended that turn', () => {
    const conversation = opened();
    const silent = { ...final, text: '', words: [] };
    expect(told(conversation, silent)).toEqual([]);
    for (const _ of conversation.text(chunk(`${SECOND.slice(0, -4)}AAAA${SECOND.slice(0, -4)}`, true)));
    expect(told(conversation, { ...silent, end: 0.1 })).toEqual([{ message_type: 'committed_transcript', text: '' }]);
  });

  it.each([
    ['session_too_long', 'session_time_limit_exceeded'],
    ['too_many_sessions', 'rate_limited'],
    ['insufficient_credit', 'quota_exceeded'],
    ['upstream_exhausted', 'transcriber_error'],
    ['invalid_request', 'input_error'],
    ['internal_error', 'error'],
  ])('gets %s as %s', (code, message_type) =>
    expect(told(opened(), { type: 'error', error: { code, message: 'Why.' } })).toEqual([
      { message_type, error: 'Why.' },
    ]),
  );

  it.each([
    [1000, '', 1000],
    [4002, 'insufficient_credit', 1008],
    [4101, 'upstream_exhausted', 1011],
    [4200, 'node_draining', 1011],
  ])('closes with %d %s as %d', (code, reason, known) =>
    expect(closeOf(code, reason)).toEqual({ code: known, reason }),
  );

  it.each([
    ['invalid_api_key', 'auth_error', 1008],
    ['invalid_request', 'invalid_request', 1008],
    ['overloaded', 'resource_exhausted', 1011],
  ] as const)('fails for %s with %s', (reason, message_type, code) =>
    expect(endingOf(apiError(reason, 'Why.'))).toEqual({
      messages: [JSON.stringify({ message_type, error: 'Why.' })],
      ...{ code, reason },
    }),
  );

  it.each(['?token=unknown', ''])('fails on the connection, with the query %j', async (query) => {
    const { url } = await startLiveGateway();
    const socket = new WebSocket(`${url.replace('http', 'ws')}/compat/elevenlabs${PATH}${query}`);
    const message = once(socket, 'message');
    const closed = once(socket, 'close');
    expect(JSON.parse(String((await message)[0]))).toMatchObject({ message_type: 'auth_error' });
    expect((await closed)[0]).toBe(1008);
  });
});

describe('a file', () => {
  const form = elevenlabs.forms?.['/v1/speech-to-text'] as FormEndpoint;
  const handshake = (query = '') => ({ query: new URLSearchParams(query), headers: new Map(), requestId: 'req_1' });
  const fieldsOf = (fields: [string, string][], query?: string) =>
    Object.fromEntries(parametersFor(elevenlabs, form.open(fields, handshake(query)), {}));

  it.each<[[string, string][], object]>([
    [[], { model: 'elevenlabs/scribe_v2' }],
    [
      [
        ['model_id', 'local/digits-en'],
        ['language_code', 'eng'],
        ['diarize', 'true'],
        ['num_speakers', '2'],
      ],
      { model: 'local/digits-en', language: 'en', diarization: 'true' },
    ],
    [
      [
        ['keyterms', 'vox'],
        ['keyterms', 'gate'],
        ['temperature', '0.5'],
      ],
      { keyterms: '["vox","gate"]', temperature: '0.5' },
    ],
    [
      [
        ['model_id', 'scribe_v2'],
        ['num_speakers', '2'],
        ['tag_audio_events', 'true'],
        ['entity_redaction', 'pii'],
        ['webhook', 'false'],
      ],
      { provider_params: '{"num_speakers":2,"tag_audio_events":true}', redact: '["pii"]' },
    ],
    // Its Python SDK sends `null` for what is not named.
    [
      [
        ['entity_detection', 'null'],
        ['entity_redaction', 'null'],
        ['webhook_metadata', 'null'],
        ['additional_formats', 'null'],
        ['language_code', 'null'],
        ['num_speakers', '2'],
        ['keyterms', 'null'],
      ],
      { model: 'elevenlabs/scribe_v2', provider_params: '{"num_speakers":2}', keyterms: '["null"]' },
    ],
  ])('asks for %j', (fields, asked) => expect(fieldsOf(fields)).toMatchObject(asked));

  it('asks for nothing of ElevenLabs of another vendor’s model', () =>
    expect(
      fieldsOf([
        ['model_id', 'local/digits-en'],
        ['num_speakers', '2'],
      ]),
    ).toEqual({ model: 'local/digits-en' }));

  it('asks in the address for fallbacks, and that nothing is kept', () =>
    expect(fieldsOf([], 'enable_logging=false&fallbacks=local/digits-en')).toEqual({
      ...{ model: 'elevenlabs/scribe_v2', fallbacks: 'local/digits-en', retention: 'none' },
      provider_params: '{"enable_logging":false}',
    }));

  it.each([
    ['source_url', 'https://example.com/a.wav'],
    ['webhook', 'true'],
    ['use_multi_channel', 'true'],
    ['file_format', 'pcm_s16le_16'],
  ])('fails with %s %s', (param, value) =>
    expect(() => form.open([[param, value]], handshake())).toThrow(expect.objectContaining({ extras: { param } })),
  );

  describe('that is sent', () => {
    let gateway: LiveGateway;
    beforeAll(async () => {
      gateway = await startLiveGateway();
    });

    async function send(fields: [string, string][], headers: Record<string, string> = { 'xi-api-key': gateway.key }) {
      const body = new FormData();
      for (const [name, value] of fields) body.append(name, value);
      body.append('file', new Blob([sampleAudio('commands.wav').bytes]), 'commands.wav');
      const answer = await fetch(`${gateway.url}/compat/elevenlabs/v1/speech-to-text`, {
        method: 'POST',
        headers,
        body,
      });
      const told = (await answer.json()) as { text: string; words: { text: string }[]; audio_duration_secs: number };
      return { status: answer.status, body: told };
    }

    it('gets its words and the text between them', async () => {
      const { status, body } = await send([['model_id', 'local/commands-en']]);
      expect(status).toBe(200);
      expect(body).toMatchObject({ language_code: 'en', transcription_id: expect.stringMatching(/^req_/) });
      expect(body.words.map(({ text }) => text).join('')).toBe(body.text);
      expect(body.audio_duration_secs).toBeGreaterThan(1);
    });

    it.each<[number, [string, string][], Record<string, string> | undefined]>([
      [401, [['model_id', 'local/commands-en']], {}],
      [404, [['model_id', 'none/such']], undefined],
      [400, [['source_url', 'https://example.com/a.wav']], undefined],
    ])('fails with %d', async (status, fields, headers) => {
      const refused = await send(fields, headers);
      expect(refused).toMatchObject({ status, body: { detail: { message: expect.any(String) } } });
    });
  });
});
