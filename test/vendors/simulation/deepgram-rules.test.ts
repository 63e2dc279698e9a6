// The rules that the simulated Deepgram keeps, and its quirks, one by one, over plain WebSockets.
import { afterEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Clock } from '../../../machines/clock.ts';
import { simulator } from '../../../src/vendors/deepgram/simulator/index.ts';
import { scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { silence as audio, Client, closeAll, type Message, serve } from './client.ts';
import { quickClock } from './quick-clock.ts';

afterEach(closeAll);

const NOVA = { model: 'nova-3', encoding: 'linear16', sample_rate: '16000' };
const FLUX = { ...NOVA, model: 'flux-general-en' };
const WORDS = { text: 'one two three', seconds: 1 };
const SILENCE = { text: '', seconds: 3 };
const GOOD = { authorization: 'Token good' };

interface Setting {
  clock?: Clock;
  faults?: string[];
  turns?: { text: string; seconds: number }[];
  headers?: Record<string, string>;
  protocols?: string[];
}

async function dial(path: string, query: Readonly<Record<string, string>>, setting: Setting = {}): Promise<Client> {
  const { clock = quickClock(40), faults = [], turns = [WORDS], headers = GOOD, protocols } = setting;
  const { url } = await serve({ simulator, ear: scriptEar({ turns }), faults, clock });
  return new Client(`${url}${path}?${new URLSearchParams(query)}`, headers, protocols);
}

async function open(path: string, query: Readonly<Record<string, string>>, setting?: Setting): Promise<Client> {
  const client = await dial(path, query, setting);
  await client.opened;
  return client;
}
const nova = (setting?: Setting) => open('/v1/listen', NOVA, setting);
const flux = (setting?: Setting) => open('/v2/listen', FLUX, setting);

const isSettled = ({ is_final }: Message) => is_final === true;

describe('an upgrade', () => {
  it.each<[Record<string, string>, number]>([
    [{}, 401],
    [{ authorization: 'Basic good' }, 401],
    [{ authorization: 'Token bad-key' }, 401],
    [{ authorization: 'Token broke-key' }, 402],
    [{ authorization: 'Token limited-key' }, 429],
  ])('fails with %j by %i, with an id and an error in its headers', async (headers, status) => {
    const refused = await (await dial('/v1/listen', NOVA, { headers })).refused;
    expect(refused.status).toBe(status);
    expect(refused.headers).toMatchObject({ 'dg-request-id': expect.any(String), 'dg-error': expect.any(String) });
    expect(JSON.parse(refused.body)).toMatchObject({ category: expect.any(String), message: expect.any(String) });
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['/v1/listen', { ...NOVA, keywords: 'x:2' }, /keyterm/],
    ['/v1/listen', { ...NOVA, model: 'nova-2', keyterm: 'x' }, /Nova-3/],
    ['/v1/listen', { ...NOVA, model: 'nova-9' }, /no such model/],
    ['/v1/listen', { ...NOVA, diarize_model: 'v2' }, /v2/],
    ['/v1/listen', { ...NOVA, utterance_end_ms: '500', interim_results: 'true' }, /1000/],
    ['/v1/listen', { ...NOVA, utterance_end_ms: '1000' }, /interim_results/],
    ['/v1/listen', { ...NOVA, endpointing: 'soon' }, /endpointing/],
    ['/v1/listen', { ...NOVA, keyterm: 'x '.repeat(501) }, /500/],
    ['/v1/listen', { ...NOVA, encoding: 'opus' }, /linear16/],
    ['/v1/listen', { model: 'nova-3', encoding: 'linear16' }, /sample_rate/],
    ['/v2/listen', { ...FLUX, language: 'en' }, /Unknown query parameter: language/],
    ['/v2/listen', { ...FLUX, interim_results: 'true' }, /Unknown/],
    ['/v2/listen', { ...FLUX, model: 'nova-3' }, /model/],
    ['/v2/listen', { ...FLUX, sample_rate: '11025' }, /sample_rate/],
    ['/v2/listen', { ...FLUX, eot_threshold: '0.4' }, /eot_threshold/],
    ['/v2/listen', { ...FLUX, language_hint: 'fr' }, /multi/],
    ['/v2/listen', { ...FLUX, model: 'flux-general-multi', language_hint: 'sv' }, /language_hint/],
    ['/v2/listen', { ...FLUX, redact: 'pci' }, /redact/],
  ])('fails on %s with %j by 400', async (path, query, words) => {
    const refused = await (await dial(path, query)).refused;
    expect(refused.status).toBe(400);
    expect(refused.headers['dg-error']).toMatch(words);
    expect(JSON.parse(refused.body)).toMatchObject({ err_code: 'Bad Request' });
  });

  it.each(['token', 'bearer'])(
    'passes in a browser by the subprotocols "%s" and key, before the SDK’s pair',
    async (name) => {
      const client = await nova({ headers: {}, protocols: [name, 'good', 'x-deepgram-session-id', 'an-id'] });
      expect(client.socket.protocol).toBe(name);
    },
  );
});

describe('/v1/listen', () => {
  it('sends Metadata and NET-0001 after twelve seconds without audio; KeepAlive counts later only', async () => {
    const clock = new SimulatedClock();
    const client = await nova({ clock });
    client.send({ type: 'KeepAlive' });
    await client.settled();
    clock.increment(11_999);
    client.send(audio(0.1));
    await client.settled();
    clock.increment(11_999);
    client.send({ type: 'KeepAlive' });
    await client.settled();
    clock.increment(11_999);
    expect(client.socket.readyState).toBe(1);
    clock.increment(1);
    await client.message('Metadata');
    expect(client.said.slice(-1)).toMatchObject([{ type: 'Metadata', sha256: 'incomplete' }]);
    clock.increment(25);
    expect(await client.closed).toMatchObject({ code: 1011, reason: expect.stringMatching(/net0001$/) });
  });

  it('takes no KeepAlive for audio', async () => {
    const clock = new SimulatedClock();
    const client = await nova({ clock });
    clock.increment(6_000);
    client.send({ type: 'KeepAlive' });
    await client.settled();
    clock.increment(6_000);
    clock.increment(25);
    expect((await client.closed).code).toBe(1011);
  });

  it('ends each turn at its speech, also those transcribed at the end of the stream', async () => {
    const clock = new SimulatedClock();
    const client = await nova({ clock });
    for (let frame = 0; frame < 25; frame++) client.send(audio(0.1));
    client.send({ type: 'CloseStream' });
    await client.settled();
    // As on a busy machine: the timers are late, and everything that waits is taken up at once.
    clock.increment(10_000);
    await client.closed;
    expect(client.said.filter(isSettled).map(({ speech_final }) => speech_final)).toEqual([
      ...[false, true],
      ...[false, true],
      ...[false, false],
    ]);
  });

  it('takes an empty frame for the end of the stream', async () => {
    const client = await nova();
    client.send(audio(0.5), new Uint8Array(0));
    expect(await client.closed).toMatchObject({ code: 1000 });
    expect(client.said.at(-1)).toMatchObject({ type: 'Metadata', duration: 0.5 });
  });

  it('works at 1.25 times real time: what comes faster is late, and nothing is refused', async () => {
    const clock = new SimulatedClock();
    const client = await nova({ clock });
    for (let second = 0; second < 5; second++) client.send(audio(1));
    await client.settled();
    const settled = () => client.said.filter(({ speech_final }) => speech_final === true).length;
    expect(settled()).toBe(1);
    for (let second = 1; second < 5; second++) {
      clock.increment(799);
      await client.settled();
      expect(settled()).toBe(second);
      clock.increment(1);
      await client.settled();
      expect(settled()).toBe(second + 1);
    }
  });

  it.each([
    [{}, true],
    [{ endpointing: 'false' }, false],
  ])('reports a gap with %j by UtteranceEnd, once, where the gap ends', async (more, hasSpeechFinal) => {
    const query = { ...NOVA, interim_results: 'true', utterance_end_ms: '1000', endpointing: '300', ...more };
    const client = await open('/v1/listen', query, { turns: [WORDS, SILENCE] });
    for (let frame = 0; frame < 30; frame++) client.send(audio(0.1));
    client.send({ type: 'CloseStream' });
    await client.closed;
    const told = client.said.filter((message) => message.type === 'UtteranceEnd' || isSettled(message));
    expect(told.map(({ type, speech_final }) => [type, speech_final])).toEqual([
      ['Results', false],
      ['Results', hasSpeechFinal],
      ['UtteranceEnd', undefined],
      ['Results', false],
    ]);
    expect(told[2]).toMatchObject({ last_word_end: 1 });
  });

  it('reports a gap also where all audio is processed at once', async () => {
    const clock = new SimulatedClock();
    const query = { ...NOVA, interim_results: 'true', utterance_end_ms: '1000' };
    const client = await open('/v1/listen', query, { clock, turns: [WORDS, SILENCE] });
    for (let frame = 0; frame < 30; frame++) client.send(audio(0.1));
    client.send({ type: 'CloseStream' });
    await client.settled();
    clock.increment(10_000);
    await client.closed;
    expect(client.all('UtteranceEnd')).toMatchObject([{ last_word_end: 1 }]);
  });

  it.each([
    ['utterance-end-only', [false, false], ['Results', 'Results', 'UtteranceEnd']],
    ['late-speech-final', [false, false, true], ['Results', 'Results', 'Results']],
  ])('ends turns differently with %s', async (quirk, speechFinals, types) => {
    const query = { ...NOVA, interim_results: 'true', utterance_end_ms: '1000' };
    const client = await open('/v1/listen', query, { faults: [quirk] });
    client.send(audio(1));
    const last =
      types.at(-1) === 'UtteranceEnd'
        ? ({ type }: Message) => type === 'UtteranceEnd'
        : ({ speech_final }: Message) => speech_final === true;
    await client.message(last);
    const turn = client.said.filter((message) => message.type === 'UtteranceEnd' || isSettled(message));
    expect(turn.map(({ type }) => type)).toEqual(types);
    expect(turn.filter(isSettled).map(({ speech_final }) => speech_final)).toEqual(speechFinals);
  });

  it('answers no Finalize with swallow-finalize, and sends the words at the end', async () => {
    const client = await nova({ faults: ['swallow-finalize'] });
    client.send(audio(0.5), { type: 'Finalize' }, { type: 'CloseStream' });
    await client.closed;
    expect(client.said.some(({ from_finalize }) => from_finalize === true)).toBe(false);
    expect(client.said.some(isSettled)).toBe(true);
  });

  it('closes without it with no-metadata', async () => {
    const client = await nova({ faults: ['no-metadata'] });
    client.send(audio(0.5), { type: 'CloseStream' });
    expect(await client.closed).toMatchObject({ code: 1000 });
    expect(client.said.some(({ type }) => type === 'Metadata')).toBe(false);
  });

  it('delays every message with slow-results, in order', async () => {
    const clock = new SimulatedClock();
    const client = await nova({ clock, faults: ['slow-results=700'] });
    client.send(audio(1), { type: 'CloseStream' });
    await client.settled();
    clock.increment(699);
    await client.settled();
    expect(client.said).toEqual([]);
    clock.increment(1);
    expect(await client.closed).toMatchObject({ code: 1000 });
    expect(client.said.map(({ type }) => type)).toEqual(['Results', 'Results', 'Metadata']);
  });
});

describe('/v2/listen', () => {
  it.each(['{"type":"KeepAlive"}', '{"type":"Finalize"}', 'no JSON', '[]'])(
    'closes without a code when it is sent %s',
    async (text) => {
      const client = await flux();
      client.socket.send(text);
      expect(await client.closed).toMatchObject({ code: 1005 });
    },
  );

  it('ignores ForceEndTurn while no turn is open', async () => {
    const client = await flux({ turns: [SILENCE, WORDS] });
    client.send(audio(0.5), { type: 'ForceEndTurn' });
    for (let frame = 0; frame < 35; frame++) client.send(audio(0.1));
    const end = await client.message(({ event }) => event === 'EndOfTurn');
    expect(end).toMatchObject({ trigger: 'model', audio_window_end: 4 });
  });

  it('falls silent with flux-mute after some audio, and stays open', async () => {
    const client = await flux({ faults: ['flux-mute=1.5'] });
    for (let frame = 0; frame < 30; frame++) client.send(audio(0.1));
    await client.message(({ audio_window_end }) => audio_window_end === 1.5);
    await client.settled();
    expect(Math.max(...client.said.map(({ audio_window_end = 0 }) => Number(audio_window_end)))).toBe(1.5);
    expect(client.socket.readyState).toBe(1);
  });

  it('reports that it cannot read the message with no-force-end-turn, and closes', async () => {
    const client = await flux({ faults: ['no-force-end-turn'] });
    client.send({ type: 'ForceEndTurn' });
    expect(await client.closed).toMatchObject({ code: 1005 });
    expect(client.said.at(-1)).toMatchObject({ type: 'Error', code: 'UNPARSABLE_CLIENT_MESSAGE' });
  });
});

it('distinguishes finals from all other messages', () => {
  expect(simulator.isFinal({ type: 'Results', is_final: true, speech_final: true })).toBe(true);
  expect(simulator.isFinal({ type: 'Results', is_final: true, speech_final: false })).toBe(true);
  expect(simulator.isFinal({ type: 'Results', is_final: false, speech_final: false })).toBe(false);
  expect(simulator.isFinal({ type: 'TurnInfo', event: 'EndOfTurn' })).toBe(true);
  expect(simulator.isFinal({ type: 'TurnInfo', event: 'Update' })).toBe(false);
});
