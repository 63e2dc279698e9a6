// Live audio in Opus through a whole gateway: packets, Ogg, and what a browser records; what it costs, and what is said of what cannot be
// heard.
import { beforeAll, describe, expect, it } from 'vitest';
import { type CodedEncoding, DECODED_RATES } from '../../../src/api/listen.ts';
import { openDecoders } from '../../../src/audio/codecs/opus-decoder.ts';
import { cut, packetsOf, recording } from '../../audio/opus/opus-fixture.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../fakes/audio/numbered-finals.ts';
import { drawnOf } from '../../fakes/drawn.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { seeded } from '../../fakes/random.ts';

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway();
});

const MODEL = 'local/commands-en';
const OGG = recording('opus.ogg');
const WEBM = recording('opus-live.webm');
/** What the first ten seconds of `commands.wav` say. */
const TURNS = ['turn on the kitchen lights', 'set a timer for ten minutes', "what's the weather tomorrow"];
/** 501 packets of 20 ms. */
const SECONDS = 10.02;
const PRE_SKIP = 0.0065;

async function listen(query: Record<string, string>, messages: readonly Uint8Array[]) {
  const client = live.connect({ model: MODEL, ...query });
  await client.event('session_started');
  for (const message of messages) client.send(message);
  client.send({ type: 'close' });
  const { code } = await client.close();
  return { client, code, ended: client.of('session_ended')[0] };
}

describe('a session in Opus', () => {
  it.each<[CodedEncoding, string, readonly Uint8Array[], number]>([
    ['opus', 'a packet in each message', packetsOf(OGG), SECONDS],
    ['ogg-opus', 'in one message', [OGG], SECONDS - PRE_SKIP],
    ['ogg-opus', 'cut anywhere', cut(OGG, seeded(1), 400), SECONDS - PRE_SKIP],
    ['webm-opus', 'in one message', [recording('opus.webm')], SECONDS - PRE_SKIP],
    ['webm-opus', 'cut anywhere', cut(WEBM, seeded(2), 400), SECONDS - PRE_SKIP],
    ['webm-opus', 'byte by byte', cut(WEBM, seeded(3), 1), SECONDS - PRE_SKIP],
  ])('%s, %s, is transcribed and billed by what is in it', async (encoding, _, messages, seconds) => {
    const { client, code, ended } = await listen({ encoding }, messages);
    expect(client.events[0]).toMatchObject({ type: 'session_started', encoding, sample_rate: 16_000 });
    expect([code, client.of('warning'), client.of('error')]).toEqual([1000, [], []]);
    expect(client.finals.map(({ text }) => text).slice(0, 3)).toEqual(TURNS);
    expect(ended?.audio_seconds).toBeCloseTo(seconds, 2);
    expect(ended?.usage[0]?.seconds).toBeCloseTo(seconds, 1);
    expect(ended).not.toHaveProperty('dropped_bytes');
    expect(openDecoders()).toBe(0);
  });

  // What is decoded to each rate is looked at in test/audio/opus as well.
  it.each(drawnOf(DECODED_RATES))('keeps its times when it is decoded to %i Hz', async (rate) => {
    const query = { encoding: 'webm-opus', sample_rate: String(rate) };
    const { client, ended } = await listen(query, [WEBM]);
    expect(client.finals[0]).toMatchObject({ text: TURNS[0] });
    expect(ended?.audio_seconds).toBeCloseTo(SECONDS - PRE_SKIP, 2);
    expect(client.finals[1]?.start).toBeCloseTo(3.5, 0);
  });

  it.each<[CodedEncoding, Uint8Array]>([
    ['ogg-opus', OGG],
    ['webm-opus', WEBM],
  ])('transcribes %s up to where it is truncated at its close, and reports leftover bytes', async (encoding, bytes) => {
    const { client, code, ended } = await listen({ encoding }, [bytes.subarray(0, 7_000)]);
    expect([code, client.of('error')]).toEqual([1000, []]);
    expect(client.finals[0]?.text).toBe(TURNS[0]);
    expect(ended?.audio_seconds).toBeGreaterThan(3);
    expect(ended?.dropped_bytes).toBeGreaterThan(0);
  });

  it('decodes minutes of audio in steps, and handles the close after them', async () => {
    const minutes = Buffer.concat(Array<Buffer>(30).fill(OGG));
    const { code, ended } = await listen({ model: 'loopback/numbered', encoding: 'ogg-opus' }, [minutes]);
    expect(code).toBe(1000);
    expect(ended?.audio_seconds).toBeCloseTo(30 * (SECONDS - PRE_SKIP), 1);
  });

  it('decodes packets of two bytes for 120 ms whole, while other sessions continue', async () => {
    const other = live.connect({ model: 'loopback/numbered', provider_params: '{"turn_seconds":0.5}' });
    await other.event('session_started');
    const packets = Array<Uint8Array>(1_000).fill(Uint8Array.of(0x1b, 2));
    const flood = listen({ model: 'loopback/numbered', encoding: 'opus' }, packets);
    other.send(numberedAudio(0, 16_000));
    other.send({ type: 'close' });
    expect((await other.close()).code).toBe(1000);
    expectWhole(other.finals, 16_000);
    const { code, ended } = await flood;
    expect([code, ended?.audio_seconds, ended?.dropped_bytes]).toEqual([1000, 120, undefined]);
  });

  it('continues after a damaged packet, and warns once', async () => {
    const packets = packetsOf(OGG);
    const bad = Uint8Array.of(0x0b, 0);
    const { client, code, ended } = await listen({ encoding: 'opus' }, [bad, ...packets, bad, bad]);
    expect([code, client.of('warning').map((warning) => warning.code)]).toEqual([1000, ['audio_damaged']]);
    expect(client.finals[0]?.text).toBe(TURNS[0]);
    expect(ended?.audio_seconds).toBeCloseTo(SECONDS, 2);
  });

  it('states the message limit, and closes with 1009 beyond it', async () => {
    const client = live.connect({ model: MODEL, encoding: 'webm-opus' });
    expect((await client.event('session_started')).limits.binary_frame_bytes).toBe(1_048_576);
    client.send(new Uint8Array(1_048_577));
    expect((await client.event('error')).error.code).toBe('message_too_big');
    expect((await client.close()).code).toBe(1009);
  });
});

describe('audio that cannot be decoded', () => {
  it.each<[string, string, Uint8Array, RegExp]>([
    ['Ogg as linear16', 'linear16', OGG, /headerless linear16 here: open the session with `encoding=ogg-opus`/],
    ['WebM as mulaw', 'mulaw', WEBM, /`encoding=webm-opus`/],
    ['WebM as packets', 'opus', WEBM, /`encoding=webm-opus`/],
    ['Ogg as WebM', 'webm-opus', OGG, /`encoding=ogg-opus`/],
    ['Vorbis in Ogg', 'ogg-opus', recording('vorbis.ogg'), /no Opus in it/],
    ['WebM without its beginning', 'webm-opus', WEBM.subarray(6_000), /first piece of a recording/],
    [
      'WebM with a gap',
      'webm-opus',
      Buffer.concat([WEBM.subarray(0, 4_000), WEBM.subarray(6_005)]),
      /Send every piece/,
    ],
  ])('%s ends the session with 4006 and what to do', async (_, encoding, bytes, words) => {
    const client = live.connect({ model: MODEL, encoding });
    await client.event('session_started');
    client.send(bytes);
    expect((await client.event('error')).error).toMatchObject({
      code: 'unsupported_audio',
      message: expect.stringMatching(words),
    });
    expect((await client.close()).code).toBe(4006);
    expect(openDecoders()).toBe(0);
  });

  it.each([
    ['sample_rate', { encoding: 'opus', sample_rate: '44100' }, '8000, 12000, 16000, 24000 or 48000'],
    ['encoding', { encoding: 'mp3' }, 'linear16, mulaw, alaw, opus, ogg-opus, webm-opus or auto'],
  ])('refuses a wrong %s and lists what is accepted', async (param, query, accepted) => {
    const { status, body } = await live.connect({ model: MODEL, ...query }).refused();
    const { error } = JSON.parse(body) as { error: { param: string; message: string } };
    expect([status, error.param, error.message.includes(accepted)]).toEqual([400, param, true]);
  });

  it.each<[string, CodedEncoding, Uint8Array]>([
    ['Ogg', 'ogg-opus', OGG],
    ['WebM', 'webm-opus', WEBM],
    ['a container that is recognised', 'auto', WEBM],
  ])('keeps %s that comes before the session is open, and its close behind it', async (_, encoding, bytes) => {
    const client = live.connect({ start: 'message' });
    await client.opened();
    for (const message of cut(bytes, seeded(6), 3_000)) client.send(message);
    client.send({ type: 'start', model: MODEL, encoding });
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    expect(client.finals.map(({ text }) => text).slice(0, 3)).toEqual(TURNS);
    expect(client.of('session_ended')[0]?.audio_seconds).toBeCloseTo(SECONDS - PRE_SKIP, 2);
    expect(openDecoders()).toBe(0);
  });

  it('refuses packets of Opus that come before the session is open', async () => {
    const client = live.connect({ start: 'message' });
    await client.opened();
    for (const packet of packetsOf(OGG)) client.send(packet);
    client.send({ type: 'start', model: MODEL, encoding: 'opus' });
    expect((await client.event('error')).error).toMatchObject({
      code: 'invalid_request',
      param: 'encoding',
      message: expect.stringContaining('wait for that event'),
    });
    await client.close();
    expect(openDecoders()).toBe(0);
  });

  it('leaves no decoder for a session that never opened', async () => {
    const client = live.connect({ model: MODEL, encoding: 'opus', provider_params: '{"nothing":1}', strict: 'true' });
    await client.refused();
    expect(openDecoders()).toBe(0);
  });
});
