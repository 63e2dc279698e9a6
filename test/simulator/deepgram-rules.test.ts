// The rules that the simulated Deepgram keeps, and its quirks, one by one, over plain WebSockets.
import { afterEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { SimulatedClock } from 'xstate';
import type { Clock } from '../../machines/clock.ts';
import { simulator } from '../../src/providers/deepgram/simulator/index.ts';
import { scriptEar } from '../../src/simulator/ears.ts';
import { SimulatorServer } from '../../src/simulator/server.ts';
import { quickClock } from '../providers/deepgram/support.ts';

const RATE = 16_000;
const NOVA = { model: 'nova-3', encoding: 'linear16', sample_rate: String(RATE) };
const FLUX = { ...NOVA, model: 'flux-general-en' };
const AUTHORIZED = { headers: { authorization: 'Token good' } };

const disposers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const dispose of disposers.splice(0)) await dispose();
});

const WORDS = { text: 'one two three', seconds: 1 };
const SILENCE = { text: '', seconds: 3 };

async function serve(clock: Clock = quickClock(40), faults: string[] = [], turns = [WORDS]): Promise<string> {
  const ear = scriptEar({ turns });
  const server = await SimulatorServer.start({ simulator, ear, faults, clock });
  disposers.push(() => server.close());
  return server.url.replace('http', 'ws');
}

type Said = Readonly<Record<string, unknown>>;

/** One socket and all that happens to it. */
class Client {
  readonly said: Said[] = [];
  readonly opened: Promise<void>;
  readonly refused: Promise<{ status: number; headers: Readonly<Record<string, unknown>>; body: string }>;
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly socket: WebSocket;
  private wake = () => {};

  constructor(url: string, options: object = AUTHORIZED, protocols: string[] = []) {
    this.socket = new WebSocket(url, protocols, options);
    this.socket.on('error', () => {});
    this.opened = new Promise((resolve) => this.socket.on('open', resolve));
    this.closed = new Promise((resolve) =>
      this.socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
    );
    this.refused = new Promise((resolve) =>
      this.socket.on('unexpected-response', (_, response) => {
        let body = '';
        response.on('data', (piece) => {
          body += piece;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      }),
    );
    this.socket.on('message', (data) => {
      this.said.push(JSON.parse(data.toString()));
      this.wake();
    });
  }

  send(...frames: (Uint8Array | object)[]): void {
    for (const frame of frames) this.socket.send(frame instanceof Uint8Array ? frame : JSON.stringify(frame));
  }

  async until(wanted: (message: Said) => boolean): Promise<Said> {
    for (;;) {
      const found = this.said.find(wanted);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

function dial(
  base: string,
  path: string,
  query: Readonly<Record<string, string>>,
  ...rest: [options?: object, protocols?: string[]]
) {
  const client = new Client(`${base}${path}?${new URLSearchParams(query)}`, ...rest);
  disposers.push(() => client.socket.terminate());
  return client;
}

const audio = (seconds: number) => new Uint8Array(2 * seconds * RATE);
const isSettled = ({ is_final }: Said) => is_final === true;

describe('an upgrade', () => {
  it.each([
    [{}, 401],
    [{ headers: { authorization: 'Basic good' } }, 401],
    [{ headers: { authorization: 'Token bad-key' } }, 401],
    [{ headers: { authorization: 'Token broke-key' } }, 402],
    [{ headers: { authorization: 'Token limited-key' } }, 429],
  ])('with %j is refused with %i, with an id and an error in its headers', async (options, status) => {
    const { headers, body, ...refused } = await dial(await serve(), '/v1/listen', NOVA, options).refused;
    expect(refused.status).toBe(status);
    expect(headers).toMatchObject({ 'dg-request-id': expect.any(String), 'dg-error': expect.any(String) });
    expect(JSON.parse(body)).toMatchObject({ category: expect.any(String), message: expect.any(String) });
  });

  it.each([
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
  ])('of %s with %j is refused with 400', async (path, query, words) => {
    const refused = await dial(await serve(), path, query as unknown as Record<string, string>).refused;
    expect(refused.status).toBe(400);
    expect(refused.headers['dg-error']).toMatch(words);
    expect(JSON.parse(refused.body)).toMatchObject({ err_code: 'Bad Request' });
  });

  it.each(['token', 'bearer'])(
    'of a browser is let in by the subprotocols "%s" and key, with the SDK’s pair behind',
    async (name) => {
      const client = dial(await serve(), '/v1/listen', NOVA, {}, [name, 'good', 'x-deepgram-session-id', 'an-id']);
      await client.opened;
      expect(client.socket.protocol).toBe(name);
    },
  );

  it('of an unknown path is refused with 404', async () => {
    expect((await dial(await serve(), '/v3/listen', NOVA).refused).status).toBe(404);
  });
});

describe('/v1/listen', () => {
  it('closes with NET-0001 after ten seconds without audio; KeepAlive counts behind the first audio alone', async () => {
    const clock = new SimulatedClock();
    const client = dial(await serve(clock), '/v1/listen', NOVA);
    await client.opened;
    client.send({ type: 'KeepAlive' });
    await pong(client);
    clock.increment(9_999);
    client.send(audio(0.1));
    await pong(client);
    clock.increment(9_999);
    client.send({ type: 'KeepAlive' });
    await pong(client);
    clock.increment(9_999);
    expect(client.socket.readyState).toBe(WebSocket.OPEN);
    clock.increment(1);
    expect(await client.closed).toMatchObject({ code: 1011, reason: expect.stringMatching(/net0001$/) });
  });

  it('takes no KeepAlive for audio', async () => {
    const clock = new SimulatedClock();
    const client = dial(await serve(clock), '/v1/listen', NOVA);
    await client.opened;
    clock.increment(6_000);
    client.send({ type: 'KeepAlive' });
    await pong(client);
    clock.increment(4_000);
    expect((await client.closed).code).toBe(1011);
  });

  it('ends each turn by its speech, also those that are heard together with the end of the stream', async () => {
    const clock = new SimulatedClock();
    const client = dial(await serve(clock), '/v1/listen', NOVA);
    await client.opened;
    for (let frame = 0; frame < 25; frame++) client.send(audio(0.1));
    client.send({ type: 'CloseStream' });
    await pong(client);
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
    const client = dial(await serve(), '/v1/listen', NOVA);
    await client.opened;
    client.send(audio(0.5), new Uint8Array(0));
    expect(await client.closed).toMatchObject({ code: 1000 });
    expect(client.said.at(-1)).toMatchObject({ type: 'Metadata', duration: 0.5 });
  });

  it('works at 1.25 times real time: what comes faster is late, and nothing is refused', async () => {
    const clock = new SimulatedClock();
    const client = dial(await serve(clock), '/v1/listen', NOVA);
    await client.opened;
    for (let second = 0; second < 5; second++) client.send(audio(1));
    await pong(client);
    const settled = () => client.said.filter(({ speech_final }) => speech_final === true).length;
    expect(settled()).toBe(1);
    for (let second = 1; second < 5; second++) {
      clock.increment(799);
      await pong(client);
      expect(settled()).toBe(second);
      clock.increment(1);
      await pong(client);
      expect(settled()).toBe(second + 1);
    }
  });

  it.each([
    [{}, true],
    [{ endpointing: 'false' }, false],
  ])(
    'with %j tells of a gap between words by UtteranceEnd, once, where the gap is over',
    async (more, hasSpeechFinal) => {
      const query = { ...NOVA, interim_results: 'true', utterance_end_ms: '1000', endpointing: '300', ...more };
      const client = dial(await serve(undefined, [], [WORDS, SILENCE]), '/v1/listen', query);
      await client.opened;
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
    },
  );

  it.each([
    ['utterance-end-only', [false, false], ['Results', 'Results', 'UtteranceEnd']],
    ['late-speech-final', [false, false, true], ['Results', 'Results', 'Results']],
  ])('with %s ends turns otherwise', async (quirk, speechFinals, types) => {
    const query = { ...NOVA, interim_results: 'true', utterance_end_ms: '1000' };
    const client = dial(await serve(undefined, [quirk]), '/v1/listen', query);
    await client.opened;
    client.send(audio(1));
    const last =
      types.at(-1) === 'UtteranceEnd'
        ? ({ type }: Said) => type === 'UtteranceEnd'
        : ({ speech_final }: Said) => speech_final === true;
    await client.until(last);
    const turn = client.said.filter((message) => message.type === 'UtteranceEnd' || isSettled(message));
    expect(turn.map(({ type }) => type)).toEqual(types);
    expect(turn.filter(isSettled).map(({ speech_final }) => speech_final)).toEqual(speechFinals);
  });

  it('with swallow-finalize says nothing to Finalize, and the words at the end', async () => {
    const client = dial(await serve(undefined, ['swallow-finalize']), '/v1/listen', NOVA);
    await client.opened;
    client.send(audio(0.5), { type: 'Finalize' }, { type: 'CloseStream' });
    await client.closed;
    expect(client.said.some(({ from_finalize }) => from_finalize === true)).toBe(false);
    expect(client.said.some(isSettled)).toBe(true);
  });

  it('with no-metadata closes without it', async () => {
    const client = dial(await serve(undefined, ['no-metadata']), '/v1/listen', NOVA);
    await client.opened;
    client.send(audio(0.5), { type: 'CloseStream' });
    expect(await client.closed).toMatchObject({ code: 1000 });
    expect(client.said.some(({ type }) => type === 'Metadata')).toBe(false);
  });

  it('with slow-results says everything later, in its order', async () => {
    const clock = new SimulatedClock();
    const client = dial(await serve(clock, ['slow-results=700']), '/v1/listen', NOVA);
    await client.opened;
    client.send(audio(1), { type: 'CloseStream' });
    await pong(client);
    clock.increment(699);
    await pong(client);
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
      const client = dial(await serve(), '/v2/listen', FLUX);
      await client.opened;
      client.socket.send(text);
      expect(await client.closed).toMatchObject({ code: 1005 });
    },
  );

  it('ignores ForceEndTurn while no turn is open', async () => {
    const client = dial(await serve(undefined, [], [SILENCE, WORDS]), '/v2/listen', FLUX);
    await client.opened;
    client.send(audio(0.5), { type: 'ForceEndTurn' });
    for (let frame = 0; frame < 35; frame++) client.send(audio(0.1));
    const end = await client.until(({ event }) => event === 'EndOfTurn');
    expect(end).toMatchObject({ trigger: 'model', audio_window_end: 4 });
  });

  it('with flux-mute goes silent after so much audio, and stays open', async () => {
    const client = dial(await serve(undefined, ['flux-mute=1.5']), '/v2/listen', FLUX);
    await client.opened;
    for (let frame = 0; frame < 30; frame++) client.send(audio(0.1));
    await client.until(({ audio_window_end }) => audio_window_end === 1.5);
    await pong(client);
    expect(Math.max(...client.said.map(({ audio_window_end = 0 }) => Number(audio_window_end)))).toBe(1.5);
    expect(client.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('with no-force-end-turn says that it cannot read it, and closes', async () => {
    const client = dial(await serve(undefined, ['no-force-end-turn']), '/v2/listen', FLUX);
    await client.opened;
    client.send({ type: 'ForceEndTurn' });
    expect(await client.closed).toMatchObject({ code: 1005 });
    expect(client.said.at(-1)).toMatchObject({ type: 'Error', code: 'UNPARSABLE_CLIENT_MESSAGE' });
  });
});

describe('the simulator', () => {
  it('tells finals from all else', () => {
    expect(simulator.isFinal({ type: 'Results', is_final: true, speech_final: true })).toBe(true);
    expect(simulator.isFinal({ type: 'Results', is_final: true, speech_final: false })).toBe(true);
    expect(simulator.isFinal({ type: 'Results', is_final: false, speech_final: false })).toBe(false);
    expect(simulator.isFinal({ type: 'TurnInfo', event: 'EndOfTurn' })).toBe(true);
    expect(simulator.isFinal({ type: 'TurnInfo', event: 'Update' })).toBe(false);
  });

  it.each([400, 401, 402, 403, 404, 413, 429, 500, 503, 504])('refuses with %i in its own words', (status) => {
    const answer = simulator.refusal(status);
    expect(answer).toMatchObject({ status, headers: { 'dg-error': expect.any(String) } });
    expect(answer.body).toBeTruthy();
  });

  it('closes with reasons that fit into a close frame', () => {
    expect(Buffer.byteLength(simulator.failure().close.reason)).toBeLessThanOrEqual(123);
  });
});

/** Everything sent before was read, and everything said to it has come. */
async function pong({ socket }: Client): Promise<void> {
  for (let turn = 0; turn < 2; turn++) {
    await new Promise<void>((resolve) => {
      socket.once('pong', () => resolve());
      socket.ping();
    });
  }
}
