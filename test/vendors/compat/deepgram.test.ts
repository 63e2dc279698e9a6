// What Deepgram's clients ask for and are told, message by message.
import { describe, expect, it } from 'vitest';
import { ApiError, apiError } from '../../../src/api/errors.ts';
import type { OutgoingEvent } from '../../../src/api/listen-events.ts';
import { modelOf, parametersFor } from '../../../src/compat/parameters.ts';
import type { Conversation } from '../../../src/vendors/compat/dialect.ts';
import { closeOf } from '../../../src/vendors/deepgram/compat/errors.ts';
import { deepgram } from '../../../src/vendors/deepgram/compat/index.ts';

const STAMP = { sessionId: 'ses_1', seq: 1, at: new Date(0) };
const RAW = 'encoding=linear16&sample_rate=16000';

function opened(query: string, path = '/v1/listen'): Conversation {
  const endpoint = deepgram.live[path];
  if (endpoint === undefined) throw new Error(`There is no endpoint at ${path}.`);
  return endpoint.open({ query: new URLSearchParams(query), headers: new Map(), requestId: 'req_1' });
}

const asked = (query: string, path?: string) =>
  Object.fromEntries(parametersFor(deepgram, opened(query, path).request as never, {}));
/** Behind so many seconds of audio, of two channels at most. */
function finalize(conversation: Conversation, seconds: number): void {
  for (const _ of conversation.binary(new Uint8Array(seconds * 64_000)));
  for (const _ of conversation.text('{"type":"Finalize"}'));
}
const told = (conversation: Conversation, event: object) =>
  conversation.encode(event as OutgoingEvent, STAMP).map((text) => JSON.parse(text));

const files = deepgram.files['/v1/listen'];

const final = {
  ...{ type: 'transcript', is_final: true, turn: 0, start: 0.2, end: 1.5, model: 'local/digits-en' },
  text: 'Nine, one.',
  words: [
    { word: 'Nine,', start: 0.2, end: 0.6, confidence: 0.8 },
    { word: 'one.', start: 0.9, end: 1.4, confidence: 0.6 },
  ],
};

describe('a name of a model', () => {
  it.each([
    [undefined, 'deepgram/nova-3'],
    ['', 'deepgram/nova-3'],
    ['nova-2', 'deepgram/nova-2'],
    ['nova-3-general', 'deepgram/nova-3'],
    ['local/digits-en', 'local/digits-en'],
    ['best', 'best'],
  ])('%s means %s', (named, slug) => expect(modelOf(deepgram, named, (name) => name === 'best')).toBe(slug));
});

describe('a query', () => {
  it.each([
    [
      'model=nova-3',
      { model: 'deepgram/nova-3', encoding: 'linear16', sample_rate: '16000', interim_results: 'false' },
    ],
    ['interim_results=true&language=multi', { interim_results: 'true', language: 'auto' }],
    ['language=fr-CA&diarize=true', { language: 'fr-CA', diarization: 'true' }],
    ['keyterm=vox&keyterm=gate&keywords=way:2', { keyterms: '["vox","gate","way"]' }],
    ['redact=pci&redact=ssn', { redact: '["pci","pii"]' }],
    ['multichannel=true&channels=2', { channels: '2' }],
    ['multichannel=true', { channels: '1' }],
    ['channels=1', {}],
    ['fallbacks=local/digits-en&region=eu', { fallbacks: 'local/digits-en', region: 'eu' }],
    [
      'endpointing=300&smart_format=true&tag=a',
      { provider_params: '{"smart_format":true,"endpointing":300,"tag":["a"]}' },
    ],
  ])('maps %s', (query, parameters) => expect(asked(`${RAW}&${query}`)).toMatchObject(parameters));

  it.each<[string, object | undefined]>([
    ['', { smart_format: false }],
    ['punctuate=false', { smart_format: false, punctuate: false }],
    ['smart_format=true', { smart_format: true }],
    ['model=flux-general-en', undefined],
    ['model=local/digits-en', undefined],
  ])('requests Deepgram’s smart format only when the client does: %s', (query, options) => {
    const { provider_params: params } = asked(`${RAW}&${query}`) as Record<string, string>;
    expect(params === undefined ? undefined : JSON.parse(params)).toEqual(options);
    const file = files?.open({ query: new URLSearchParams(query), headers: new Map(), requestId: 'req_1' });
    expect(parametersFor(deepgram, file as never, {}).get('provider_params')).toBe(params);
  });

  it('requests Deepgram’s options from Deepgram’s models only', () =>
    expect(asked(`${RAW}&model=local/digits-en&endpointing=300`)).not.toHaveProperty('provider_params'));

  it('requests turns from Flux', () =>
    expect(asked(`${RAW}&model=flux-general-en&eot_threshold=0.7`, '/v2/listen')).toMatchObject({
      model: 'deepgram/flux-general-en',
      turn_events: 'true',
      provider_params: '{"eot_threshold":0.7}',
    }));

  it.each([
    ['', { encoding: 'auto' }],
    ['encoding=&sample_rate=44100&channels=2', { encoding: 'auto' }],
  ])('requests a container where no encoding is named: %s', (query, parameters) => {
    for (const path of ['/v1/listen', '/v2/listen']) {
      expect(asked(query, path)).toMatchObject(parameters);
      for (const name of ['sample_rate', 'channels']) expect(asked(query, path)).not.toHaveProperty(name);
    }
  });

  it.each([
    ['encoding=flac', 'encoding'],
    ['encoding=linear16', 'sample_rate'],
    [`${RAW}&channels=2`, 'channels'],
    [`${RAW}&callback=http://example.com`, 'callback'],
  ])('fails: %s', (query, param) => {
    expect(() => opened(query)).toThrow(ApiError);
    try {
      opened(query);
    } catch (error) {
      expect((error as ApiError).extras.param).toBe(param);
    }
  });
});

describe('a client of /v1/listen', () => {
  it.each([
    ['{"type":"KeepAlive"}', [{ type: 'tell', message: { type: 'keepalive' } }]],
    ['{"type":"Finalize"}', [{ type: 'tell', message: { type: 'finalize' } }, { type: 'later' }]],
    ['{"type":"CloseStream"}', [{ type: 'tell', message: { type: 'close' } }]],
    ['{"type":"Other"}', [{ type: 'fault' }]],
    ['audio', [{ type: 'fault' }]],
  ])('says %s', (text, steps) => expect([...opened(RAW).text(text)]).toMatchObject(steps));

  it('ends the stream with an empty message, and sends audio in others', () => {
    const conversation = opened(RAW);
    expect([...conversation.binary(new Uint8Array())]).toEqual([{ type: 'tell', message: { type: 'close' } }]);
    expect([...conversation.binary(new Uint8Array(2))]).toMatchObject([{ type: 'audio' }]);
  });

  it('gets windows end to end, with words both plain and punctuated', () => {
    const conversation = opened(`${RAW}&utterance_end_ms=1000`);
    const [window, end] = told(conversation, final);
    expect(window).toMatchObject({
      ...{ type: 'Results', channel_index: [0, 1], start: 0, duration: 1.5, is_final: true, speech_final: true },
      from_finalize: false,
      channel: { alternatives: [{ transcript: 'Nine, one.', confidence: 0.7 }] },
      metadata: { request_id: 'req_1' },
    });
    expect(window.channel.alternatives[0].words[0]).toEqual({
      ...{ word: 'nine', punctuated_word: 'Nine,', start: 0.2, end: 0.6, confidence: 0.8 },
    });
    expect(end).toEqual({ type: 'UtteranceEnd', channel: [0, 1], last_word_end: 1.4 });
    const [next] = told(conversation, { ...final, is_final: false, start: 2, end: 2.5 });
    expect(next).toMatchObject({ start: 1.5, duration: 1, is_final: false, speech_final: false });
  });

  it.each([
    ['/v1/listen', (told: { channel: { alternatives: { words: object[] }[] } }) => told.channel.alternatives[0]?.words],
    ['/v2/listen', (told: { words: object[] }) => told.words],
  ])('gets words on %s where its model gives none, because clients skip turns without words', (path, wordsIn) => {
    const { words, ...wordless } = final;
    const [window] = told(opened(RAW, path), wordless).slice(-1);
    expect(wordsIn(window)).toMatchObject([
      { start: 0.2, end: 0.85, confidence: 1 },
      { start: 0.85, end: 1.5, confidence: 1 },
    ]);
  });

  it('gets channels separately: windows, the effect of its Finalize, and their number', () => {
    const conversation = opened(`${RAW}&multichannel=true&channels=2&utterance_end_ms=1000`);
    told(conversation, { ...final, channel: 1 });
    finalize(conversation, 3);
    const [second, end] = told(conversation, { ...final, channel: 1, start: 2, end: 2.5 });
    const [first] = told(conversation, { ...final, channel: 0 });
    expect(second).toMatchObject({ channel_index: [1, 2], start: 1.5, duration: 1, from_finalize: true });
    expect(first).toMatchObject({ channel_index: [0, 2], start: 0, duration: 1.5, from_finalize: true });
    expect(end).toMatchObject({ type: 'UtteranceEnd', channel: [1, 2] });
    expect(told(conversation, { type: 'session_ended', audio_seconds: 2 })).toMatchObject([{ channels: 2 }]);
  });

  it('gets durations in whole milliseconds', () => {
    const conversation = opened(RAW);
    told(conversation, { ...final, end: 0.1 });
    expect(told(conversation, { ...final, end: 2.64 })[0]).toMatchObject({ duration: 2.54 });
  });

  it('learns which window its Finalize has ended', () => {
    const conversation = opened(RAW);
    finalize(conversation, 2);
    expect(told(conversation, final)[0]).toMatchObject({ from_finalize: true });
    expect(told(conversation, final)[0]).toMatchObject({ from_finalize: false });
  });

  it.each([
    [RAW, { type: 'speech_started', start: 1 }, []],
    [`${RAW}&vad_events=true`, { type: 'speech_started', start: 1 }, [{ type: 'SpeechStarted', timestamp: 1 }]],
    [RAW, { type: 'session_ended', audio_seconds: 2 }, [{ type: 'Metadata', duration: 2, request_id: 'req_1' }]],
    [RAW, { type: 'warning', code: 'x', message: 'y' }, []],
    [RAW, { type: 'failover', from: 'a/b', to: 'c/d' }, []],
    [
      RAW,
      { type: 'error', error: { code: 'session_idle', message: 'Nothing came.' } },
      [{ type: 'Error', variant: 'session_idle', description: 'Nothing came.' }],
    ],
  ])('answers, with %s, the event with %j', (query, event, messages) =>
    expect(told(opened(query), event)).toMatchObject(messages),
  );

  it.each([
    [1000, '', 1000, ''],
    [4006, 'unsupported_audio', 1008, 'DATA-0000: unsupported_audio'],
    [4008, 'session_idle', 1011, 'NET-0001: session_idle'],
    [4101, 'upstream_exhausted', 1011, 'NET-0000: upstream_exhausted'],
    [1009, 'message_too_big', 1009, 'message_too_big'],
  ])('closes with %d %s as %d %s', (code, reason, ...told) =>
    expect(Object.values(closeOf(code, reason))).toEqual(told),
  );
});

describe('a client of /v2/listen', () => {
  const PATH = '/v2/listen';

  it('gets one turn after the other, numbered without gaps', () => {
    const conversation = opened(RAW, PATH);
    const events = [
      ...told(conversation, { type: 'session_started', model: 'local/digits-en' }),
      ...told(conversation, { ...final, is_final: false, text: 'Nine' }),
      ...told(conversation, { ...final, is_final: false, text: 'Nine, one' }),
      ...told(conversation, { ...final, type: 'turn_eager_end', end_of_turn_confidence: 0.4 }),
      ...told(conversation, { type: 'turn_resumed', turn: 0, reason: 'speech' }),
      ...told(conversation, final),
      ...told(conversation, { ...final, turn: 1 }),
    ];
    expect(events.map(({ type, event, turn_index }) => event ?? type + (turn_index ?? ''))).toEqual([
      ...[
        'Connected',
        'StartOfTurn',
        'Update',
        'EagerEndOfTurn',
        'TurnResumed',
        'EndOfTurn',
        'StartOfTurn',
        'EndOfTurn',
      ],
    ]);
    expect(events.map(({ sequence_id }) => sequence_id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(events.at(-1)).toMatchObject({ turn_index: 1, transcript: 'Nine, one.', trigger: 'model' });
  });

  it.each([
    ['{"type":"CloseStream"}', [{ type: 'tell', message: { type: 'close' } }]],
    ['{"type":"ForceEndTurn"}', [{ type: 'tell', message: { type: 'finalize' } }]],
    ['{"type":"Configure","thresholds":{}}', [{ type: 'change' }]],
    ['{"type":"KeepAlive"}', [{ type: 'fault' }]],
  ])('says %s', (text, steps) => expect([...opened(RAW, PATH).text(text)]).toMatchObject(steps));

  it('gets no turn where nothing was said', () =>
    expect(told(opened(RAW, PATH), { ...final, text: '', words: [] })).toEqual([]));
});

describe('a file', () => {
  const handshake = (query: string, type?: string) => ({
    query: new URLSearchParams(query),
    headers: new Map(type === undefined ? [] : [['content-type', type]]),
    requestId: 'req_1',
  });

  it('comes from the body, of its content type or the encoding in the query', () => {
    expect(files?.open(handshake('model=nova-3', 'audio/wav'))).toMatchObject({ contentType: 'audio/wav' });
    expect(files?.open(handshake(RAW))).toMatchObject({ contentType: 'audio/l16;rate=16000' });
  });

  it('may be at an address, in a JSON object', () => {
    expect(files?.sourceIn?.({ url: 'https://example.com/a.wav' })).toEqual({
      url: 'https://example.com/a.wav',
      param: 'url',
    });
    for (const body of [{}, { url: '' }, { url: 7 }])
      expect(() => files?.sourceIn?.(body)).toThrow(expect.objectContaining({ extras: { param: 'url' } }));
  });

  const heard = {
    ...{ text: 'Nine, one.', task: 'transcribe', language: 'english', duration: 1.5, model: 'local/digits-en' },
    ...{ words: final.words, request_id: 'req_1', usage: {} },
    segments: [{ start: 0, end: 1.5, text: 'Nine, one.', speaker: 1 }],
  };

  it('gets channels, and utterances on request', () => {
    const answer = files?.answer(heard as never, handshake('utterances=true&detect_language=true'), new Date(0));
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({
      metadata: { request_id: 'req_1', duration: 1.5, models: ['local/digits-en'] },
      results: {
        channels: [{ alternatives: [{ transcript: 'Nine, one.' }], detected_language: 'en' }],
        utterances: [{ transcript: 'Nine, one.', speaker: 1, words: [{ word: 'nine' }, { word: 'one' }] }],
      },
    });
    expect(answer?.body).not.toContain('paragraphs');
  });

  it.each(['paragraphs', 'smart_format'])('gets paragraphs of its turns and their sentences, with %s', (name) => {
    const words = ['Nine.', 'Is', 'it?', 'No'].map((word, at) => ({ word, start: at, end: at + 0.5 }));
    const segments = [
      { start: 0, end: 2.5, text: 'Nine. Is it?', speaker: 0 },
      { start: 3, end: 3.5, text: 'No', speaker: 1 },
    ];
    const answer = files?.answer({ ...heard, words, segments } as never, handshake(`${name}=true`), new Date(0));
    expect(JSON.parse(answer?.body ?? '').results.channels[0].alternatives[0].paragraphs).toEqual({
      transcript: '\nSpeaker 0: Nine. Is it?\n\nSpeaker 1: No',
      paragraphs: [
        {
          sentences: [
            { text: 'Nine.', start: 0, end: 0.5 },
            { text: 'Is it?', start: 1, end: 2.5 },
          ],
          ...{ speaker: 0, num_words: 3, start: 0, end: 2.5 },
        },
        { sentences: [{ text: 'No', start: 3, end: 3.5 }], speaker: 1, num_words: 1, start: 3, end: 3.5 },
      ],
    });
  });

  it('gets punctuation with paragraphs, unless the client refuses it', () => {
    const own = (query: string) => files?.open(handshake(query, 'audio/wav'));
    expect(own('paragraphs=true')).toMatchObject({ own: { punctuate: true }, unmet: [] });
    expect(own('paragraphs=true&punctuate=false')).toMatchObject({ own: { punctuate: false } });
    expect(own('')?.own).not.toHaveProperty('punctuate');
  });
});

describe('a refusal over HTTP', () => {
  it.each([
    ['invalid_api_key', 401, { category: 'INVALID_AUTH' }],
    ['insufficient_credit', 402, { category: 'ASR_PAYMENT_REQUIRED' }],
    ['model_not_allowed', 403, { category: 'INSUFFICIENT_PERMISSIONS' }],
    ['too_many_sessions', 429, { category: 'TOO_MANY_REQUESTS' }],
    ['invalid_request', 400, { err_code: 'Bad Request' }],
    ['model_not_found', 404, { err_code: 'Not Found' }],
    ['overloaded', 503, { err_code: 'overloaded' }],
  ] as const)('%s', (code, status, body) => {
    const answer = deepgram.refusal(apiError(code, 'Why.'), 'req_1');
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([status, { ...body, request_id: 'req_1' }]);
    expect(answer.headers).toMatchObject({ 'dg-request-id': 'req_1', 'dg-error': 'Why.' });
  });
});
