// What carriers say of a call, and what it comes to: the request, the audio of each track, and the end.
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/errors.ts';
import type { Conversation, Dialect, Step } from '../../../src/vendors/compat/dialect.ts';
import { audiohook } from '../../../src/vendors/telephony/audiohook.ts';
import { telnyx, twilio } from '../../../src/vendors/telephony/carriers.ts';
import { InOrder, TwoTracks } from '../../../src/vendors/telephony/media-stream.ts';
import { vonage } from '../../../src/vendors/telephony/vonage.ts';
import { drawn } from '../../fakes/drawn.ts';
import { seeded } from '../../fakes/random.ts';
import { CALL, STREAM, twilioCall } from './phone.ts';

const open = (dialect: Dialect, query = '') =>
  dialect.live['/media']?.open({
    query: new URLSearchParams(query),
    headers: new Map(),
    requestId: 'req_1',
  }) as Conversation;

const say = (conversation: Conversation, message: object): Step[] => [...conversation.text(JSON.stringify(message))];

const start = (customParameters: object, tracks = ['inbound']) => ({
  event: 'start',
  start: { callSid: CALL, streamSid: STREAM, tracks, customParameters },
});
const telnyxStart = (custom_parameters: object, media_format: object = { encoding: 'PCMU', sample_rate: 8000 }) => ({
  event: 'start',
  stream_id: 'st-1',
  start: { call_control_id: 'v3:abc', call_session_id: 'ff55', media_format, custom_parameters },
});
const hook = (type: string, parameters: object = {}) => ({
  ...{ version: '2', type, seq: 7, id: '9aba9a07-8dd5-4654-974a-44075c3d2ba5', position: 'PT0S' },
  parameters,
});
const MEDIA = [
  { type: 'audio', format: 'PCMU', channels: ['external'], rate: 8000 },
  { type: 'audio', format: 'PCMU', channels: ['external', 'internal'], rate: 8000 },
];
const CONVERSATION = '2f0f0e3a-7b0a-4b0c-9b1e-000000000001';
const hookOpen = { conversationId: CONVERSATION, media: MEDIA, customConfig: { model: 'a/b' } };

const TOLD = { events_url: 'https://example.com/e', events_secret: 'whsec_c2VjcmV0' };
const otherAudio = {
  event: 'start',
  start: { callSid: CALL, mediaFormat: { encoding: 'audio/x-l16' }, customParameters: TOLD },
};

describe('the options of a call', () => {
  test.each<[string, Dialect, object, object]>([
    ['Twilio', twilio, start({ model: 'a/b' }), { names: [CALL, STREAM], encoding: 'mulaw', sample_rate: '8000' }],
    [
      'Twilio with two tracks',
      twilio,
      start({ model: 'a/b', label: 'support', events_url: 'https://example.com/e' }, ['inbound', 'outbound']),
      { names: [CALL, STREAM, 'support'], encoding: 'mulaw', sample_rate: '8000', channels: '2' },
    ],
    [
      'Telnyx in A-law',
      telnyx,
      telnyxStart({ model: 'a/b' }, { encoding: 'PCMA', sample_rate: 8000 }),
      { names: ['v3:abc', 'ff55', 'st-1'], encoding: 'alaw', sample_rate: '8000' },
    ],
    [
      'Telnyx with both tracks',
      telnyx,
      telnyxStart({ model: 'a/b', tracks: 'both_tracks' }),
      { names: ['v3:abc', 'ff55', 'st-1'], encoding: 'mulaw', sample_rate: '8000', channels: '2' },
    ],
    [
      'Vonage',
      vonage,
      { event: 'websocket:connected', 'content-type': 'audio/l16;rate=16000', model: 'a/b', uuid: 'u-1' },
      { names: ['u-1'], encoding: 'linear16', sample_rate: '16000' },
    ],
    [
      'AudioHook',
      audiohook,
      hook('open', { ...hookOpen, language: 'en-US' }),
      {
        names: [CONVERSATION, '9aba9a07-8dd5-4654-974a-44075c3d2ba5'],
        ...{ language: 'en-US', encoding: 'mulaw', sample_rate: '8000', channels: '2' },
      },
    ],
  ])('%s', (_, dialect, message, request) => {
    const [step] = say(open(dialect), message);
    if (step?.type !== 'start') throw new Error(JSON.stringify(step));
    const { names, ...parameters } = request as Record<string, unknown>;
    expect(step.request).toMatchObject({ model: 'a/b', call: { carrier: dialect.name, names } });
    expect(Object.fromEntries(step.request.parameters)).toEqual(parameters);
  });

  test.each<[string, Dialect, object, string]>([
    ['an encoding', twilio, start({ encoding: 'linear16' }), '`encoding` cannot be asked for here'],
    ['a resume', twilio, start({ resume: 'on' }), '`resume` cannot be asked for here'],
    ['a label with a space', twilio, start({ label: 'a b' }), '`label` is 1 to 128 letters'],
    ['no address', twilio, start({ events_url: 'ftp://x' }), '`events_url` is the https:// address'],
    ['an object', vonage, { event: 'websocket:connected', model: {} }, '`model` has to be a text'],
    [
      'other audio of Twilio',
      twilio,
      { event: 'start', start: { mediaFormat: { encoding: 'audio/x-l16' } } },
      'audio/x-mulaw is taken',
    ],
    ['G.722', telnyx, telnyxStart({}, { encoding: 'G722' }), 'PCMU or PCMA is taken'],
    ['tracks of no name', telnyx, telnyxStart({ tracks: 'all' }), '`tracks` has to be what `stream_track` is'],
    [
      'a rate',
      vonage,
      { event: 'websocket:connected', 'content-type': 'audio/l16;rate=44100' },
      'audio/l16 with a rate',
    ],
    ['no PCMU', audiohook, hook('open', { conversationId: 'c', media: [] }), 'PCMU at 8000'],
  ])('%s is refused', (_, dialect, message, words) => {
    const [step] = say(open(dialect), message);
    if (step?.type !== 'refuse') throw new Error(JSON.stringify(step));
    expect(step.refusal).toBeInstanceOf(ApiError);
    expect(step.refusal.message).toContain(words);
  });

  test.each<[string, Dialect, object, string]>([
    ['Twilio, for a label', twilio, start({ ...TOLD, label: 'a b' }), CALL],
    ['Twilio, for its audio', twilio, otherAudio, CALL],
    ['Telnyx, for its tracks', telnyx, telnyxStart({ ...TOLD, tracks: 'all' }), 'v3:abc'],
    ['Vonage, for an object', vonage, { event: 'websocket:connected', ...TOLD, uuid: 'u-1', model: {} }, 'u-1'],
    ['AudioHook, for its media', audiohook, hook('open', { ...hookOpen, media: [], customConfig: TOLD }), CONVERSATION],
  ])('posts a refusal of %s where the call names an address', (_, dialect, message, name) => {
    const [step] = say(open(dialect), message);
    if (step?.type !== 'start') throw new Error(JSON.stringify(step));
    expect(step.request.refused).toBeInstanceOf(ApiError);
    expect(step.request.call).toMatchObject({
      ...{ carrier: dialect.name, eventsUrl: TOLD.events_url, eventsSecret: TOLD.events_secret },
      names: expect.arrayContaining([name]),
    });
    expect(step.request.call?.names).not.toContain('a b');
  });

  test('parameters of the URL count, and those of the call before them', () => {
    const [step] = say(open(vonage, 'model=x/y&language=en&api_key=k'), {
      event: 'websocket:connected',
      model: 'a/b',
    });
    if (step?.type !== 'start') throw new Error(JSON.stringify(step));
    expect(step.request.model).toBe('a/b');
    expect(step.request.parameters.get('language')).toBe('en');
    expect(step.request.parameters.has('api_key')).toBe(false);
  });
});

describe('the audio of a call', () => {
  test('reports an unrequested second track once, and omits it', () => {
    const conversation = open(twilio);
    say(conversation, start({ model: 'a/b' }));
    const media = (track: string) => ({ event: 'media', media: { track, payload: 'fn5+' } });
    const steps = ['inbound', 'outbound', 'outbound', 'inbound'].flatMap((track) => say(conversation, media(track)));
    expect(steps.map(({ type }) => type)).toEqual(['audio', 'fault', 'audio']);
  });

  test('sends every sample of two tracks once, in order and channel, for any pieces', () => {
    const draw = seeded(1);
    for (let round = 0; round < drawn(200); round++) {
      const tracks = new TwoTracks(8000, 0);
      const sent: number[][] = [[], []];
      const told: number[] = [];
      for (let piece = draw.integer(0, 60); piece > 0; piece--) {
        const track = draw.integer(0, 1) as 0 | 1;
        const bytes = Uint8Array.from({ length: draw.integer(0, 900) }, (_, at) => 1 + ((at + piece) % 255));
        sent[track]?.push(...bytes);
        told.push(...tracks.take(track, bytes));
      }
      told.push(...tracks.end());
      expect(told.length % 2).toBe(0);
      for (const track of [0, 1]) {
        const heard = told.filter((byte, at) => at % 2 === track && byte !== 0);
        // Byte by byte, `toEqual` takes seconds for all rounds.
        expect([heard.length, Buffer.from(heard).equals(Buffer.from(sent[track] ?? []))]).toEqual([
          sent[track]?.length,
          true,
        ]);
      }
      // Each piece could have to be filled up, and no more than that.
      expect(told.length / 2).toBeLessThanOrEqual((sent[0]?.length ?? 0) + (sent[1]?.length ?? 0));
    }
  });

  test('keeps a track within a fifth of a second of the other', () => {
    const tracks = new TwoTracks(8000, 0xff);
    expect(tracks.take(0, new Uint8Array(1600)).length).toBe(0);
    expect(tracks.take(0, new Uint8Array(160)).length).toBe(320);
    expect(tracks.take(1, new Uint8Array(160)).length).toBe(320);
  });

  test('sends numbered pieces in order, without omission', () => {
    const draw = seeded(2);
    for (let round = 0; round < drawn(200); round++) {
      const order = new InOrder<number>();
      const numbers = Array.from({ length: draw.integer(0, 50) }, (_, at) => at + 1);
      const told: number[] = [];
      const near = numbers
        .map((number) => ({ number, at: number === 1 ? 0 : number + draw.integer(0, 4) }))
        .sort((one, other) => one.at - other.at);
      for (const { number } of near) told.push(...order.take(number, number));
      told.push(...order.end());
      expect(told).toEqual(numbers);
    }
    const lossy = new InOrder<number>();
    const told = [1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 3].flatMap((number) => [
      ...lossy.take(number, number),
    ]);
    expect([...told, ...lossy.end()]).toEqual([1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 3]);
  });

  test('sends the rest of either track at `stop`', () => {
    const tracks = { inbound: new Uint8Array(1_000).fill(1), outbound: new Uint8Array(500).fill(2) };
    const conversation = open(twilio);
    const steps = [...twilioCall(tracks, { model: 'a/b' })].flatMap((message) => say(conversation, message));
    const bytes = steps.flatMap((step) => (step.type === 'audio' ? [...step.bytes] : []));
    expect(bytes.filter((byte) => byte === 1)).toHaveLength(1_000);
    expect(bytes.filter((byte) => byte === 2)).toHaveLength(500);
    expect(steps.at(-1)).toEqual({ type: 'tell', message: { type: 'close' } });
  });
});

describe('AudioHook', () => {
  const told = (texts: readonly string[]) => texts.map((text) => JSON.parse(text) as Record<string, unknown>);
  const stamp = { sessionId: 'ses_1', seq: 1, at: new Date(0) };

  test('opens, transcribes and closes a transaction in its format', () => {
    const conversation = open(audiohook);
    say(conversation, hook('open', hookOpen));
    const model = { type: 'session_started' } as Parameters<Conversation['encode']>[0];
    expect(told(conversation.encode(model, stamp))).toMatchObject([
      { version: '2', type: 'opened', seq: 1, clientseq: 7, parameters: { startPaused: false, media: [MEDIA[1]] } },
    ]);
    const heard = { text: 'take me home', start: 1, end: 2.5, turn: 3, channel: 1, is_final: true, words: [] };
    const transcript = { type: 'transcript', ...heard } as unknown as Parameters<Conversation['encode']>[0];
    const [event] = told(conversation.encode(transcript, stamp));
    expect(event).toMatchObject({
      type: 'event',
      parameters: {
        entities: [{ type: 'transcript', data: { channelId: 1, isFinal: true, offset: 'PT1S', duration: 'PT1.5S' } }],
      },
    });
    expect(say(conversation, hook('ping'))).toMatchObject([{ type: 'say' }]);
    expect(say(conversation, hook('close'))).toEqual([{ type: 'tell', message: { type: 'close' } }]);
    const ended = { type: 'session_ended', reason: 'client_closed' } as Parameters<Conversation['encode']>[0];
    expect(told(conversation.encode(ended, stamp))).toMatchObject([{ type: 'closed' }]);
  });

  test('answers a probe free of charge', () => {
    const conversation = open(audiohook);
    const probe = { ...hookOpen, conversationId: '00000000-0000-0000-0000-000000000000' };
    const steps = [...say(conversation, hook('open', probe)), ...say(conversation, hook('close'))];
    expect(steps.map((step) => (step.type === 'say' ? JSON.parse(step.text).type : step.type))).toEqual([
      'opened',
      'closed',
    ]);
  });
});
