// What a proxy before the gateway has to do, whichever it is: each behaviour once, with real connections.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { Agent, type Dispatcher, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/index.ts';
import { wavOf } from '../fakes/audio/audio-files.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../fakes/audio/numbered-finals.ts';
import { LiveClient, type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { lookup, type RunningProxy } from './proxy-rig.ts';

export interface ProxyUnderTest {
  /** Starts one before servers on these ports of 127.0.0.1. */
  start(...ports: number[]): Promise<RunningProxy>;
  /** Whether a live session outlives a reload of its configuration. */
  reloadKeepsSessions: boolean;
}

const REFUSED_CREDENTIALS_MAX = 5;
const RATE = 16_000;
const WAV_HEADER_BYTES = 44;

const agents: Agent[] = [];
// Registered on import, since tests make them.
afterAll(() => Promise.all(agents.splice(0).map((agent) => agent.destroy())));

/** Connections to a proxy from an address of this machine. */
function through({ url, ca }: RunningProxy, localAddress = '127.0.0.1') {
  const dial = { ca, lookup, localAddress };
  const agent = new Agent({ localAddress, connect: { ca, lookup } });
  agents.push(agent);
  const ask = (
    path: string,
    options: Omit<Dispatcher.RequestOptions, 'path' | 'method' | 'origin'> & { method?: 'GET' | 'POST' } = {},
  ) => request(`${url}${path}`, { ...options, dispatcher: agent });
  const listen = (query: Record<string, string>, protocols: string[] = [], headers: Record<string, string> = {}) =>
    new LiveClient(`${url.replace('https', 'wss')}/v1/listen?${new URLSearchParams(query)}`, protocols, {
      ...dial,
      headers,
    });
  return { ask, listen };
}

export function proxySuite({ start, reloadKeepsSessions }: ProxyUnderTest): void {
  describe('a proxy before a gateway', () => {
    let live: LiveGateway;
    let proxy: RunningProxy;
    let bearer: { Authorization: string };
    beforeAll(async () => {
      live = await startLiveGateway({
        VOXGATE_TRUSTED_PROXIES: '127.0.0.1',
        VOXGATE_FAILED_AUTHENTICATIONS_PER_MINUTE_MAX: String(REFUSED_CREDENTIALS_MAX),
      });
      proxy = await start(live.gateway.port);
      bearer = { Authorization: `Bearer ${live.key}` };
    });

    /** A form as it goes over the wire. */
    const sent = async (form: FormData) => {
      const plain = new Response(form);
      const headers = { ...bearer, 'content-type': plain.headers.get('content-type') ?? '' };
      return { method: 'POST', headers, body: Buffer.from(await plain.arrayBuffer()) } as const;
    };

    test('delivers a file of several megabytes whole', async () => {
      const samples = 120 * RATE;
      const file = wavOf(samples * 2);
      file.set(numberedAudio(0, samples), WAV_HEADER_BYTES);
      const form = new FormData();
      form.set('model', 'loopback/numbered');
      form.set('response_format', 'verbose_json');
      form.set('file', new Blob([file]), 'numbered.wav');
      const { statusCode, body } = await through(proxy).ask('/v1/audio/transcriptions', await sent(form));
      const answer = (await body.json()) as { segments: { text: string; start: number; end: number }[] };
      expect(statusCode).toBe(200);
      expectWhole(
        answer.segments.map((segment, turn) => ({ ...segment, turn })),
        samples,
      );
    });

    test('delivers the text of a file as events', async () => {
      const form = new FormData();
      form.set('model', 'local/commands-en');
      form.set('stream', 'true');
      form.set('file', new Blob([sampleAudio('commands.wav').bytes]), 'commands.wav');
      const { statusCode, headers, body } = await through(proxy).ask('/v1/audio/transcriptions', await sent(form));
      expect([statusCode, headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/event-stream/)]);
      const events = (await body.text()).split('\n\n').filter((event) => event !== '');
      expect(events.length).toBeGreaterThan(2);
      expect(events[0]).toMatch(/"type":"transcript.text.delta"/);
      expect(events.at(-1)).toMatch(/"type":"transcript.text.done","text":"turn on the kitchen lights /);
    });

    test('delivers the finals to a page with a client token', async () => {
      const { ask, listen } = through(proxy);
      const minted = await ask('/v1/tokens', { method: 'POST', headers: bearer });
      const { token } = (await minted.body.json()) as { token: string };
      const { pcm, sampleRate } = sampleAudio('commands.wav');
      const client = listen({ model: 'local/commands-en', sample_rate: String(sampleRate) }, ['bearer', token]);
      await client.event('session_started');
      expect(client.socket.protocol).toBe('bearer');
      client.send(pcm);
      client.send({ type: 'close' });
      expect((await client.close()).code).toBe(1000);
      expect(client.finals.map(({ text }) => text).join(' ')).toMatch(/^turn on the kitchen lights .* call mom$/);
    });

    test('close codes and bodies of refusals arrive as they were sent', async () => {
      const { ask, listen } = through(proxy);
      const client = listen({ model: 'loopback/no-such-model', api_key: live.key });
      expect(await client.close()).toMatchObject({ code: 4004 });
      const { statusCode, body } = await ask('/v1/models/loopback/no-such-model', { headers: bearer });
      expect([statusCode, await body.json()]).toMatchObject([404, { error: { code: 'model_not_found' } }]);
    });

    test('limits by the client’s address, not by its claims', async () => {
      const guess = async (from: string, forwarded: string) => {
        const headers = { authorization: 'Bearer sk_vox_wrong', 'x-forwarded-for': forwarded };
        const { statusCode, body } = await through(proxy, from).ask('/v1/models', { headers });
        await body.dump();
        return statusCode;
      };
      const claims = Array.from({ length: REFUSED_CREDENTIALS_MAX }, (_, index) => `198.51.100.${index}`);
      for (const claim of claims) expect(await guess('127.0.0.2', claim)).toBe(401);
      expect(await guess('127.0.0.2', '198.51.100.99')).toBe(429);
      // Neither the proxy's own address nor anybody else's was counted.
      expect(await guess('127.0.0.3', '127.0.0.2')).toBe(401);
    });

    test('accepts a page of this origin in the console, over https too', async () => {
      const { statusCode, body } = await through(proxy).ask('/console/api/login', {
        method: 'POST',
        headers: { origin: proxy.url, 'content-type': 'application/json', 'x-requested-with': 'console' },
        body: JSON.stringify({ email: 'nobody@example.com', password: 'not the password' }),
      });
      expect([statusCode, await body.json()]).toMatchObject([401, { error: { code: 'invalid_login' } }]);
    });

    test(
      reloadKeepsSessions ? 'keeps a session across a reload' : 'ends sessions at a reload, and new ones begin',
      async () => {
        const { listen } = through(proxy);
        const numbered = { model: 'loopback/numbered', provider_params: '{"turn_seconds":0.5}' };
        const client = listen(numbered, ['bearer', live.key]);
        await client.event('session_started');
        const closed = client.close();
        client.send(numberedAudio(0, RATE));
        await client.event('transcript', ({ is_final }) => is_final);
        await proxy.reload();
        if (reloadKeepsSessions) {
          client.send(numberedAudio(RATE, 2 * RATE));
          client.send({ type: 'close' });
          expect((await closed).code).toBe(1000);
          expectWhole(client.finals, 2 * RATE);
        } else {
          await closed;
        }
        const next = listen(numbered, ['bearer', live.key]);
        await next.event('session_started');
        next.send({ type: 'close' });
        expect((await next.close()).code).toBe(1000);
      },
    );

    test('logs requests, and no credential', async () => {
      const { ask, listen } = through(proxy);
      const secrets = ['of-a-mail', 'of-a-session', 'of-the-page-before'];
      const mail = `/verify?token=${secrets[0]}&resume=${secrets[1]}`;
      await (await ask(mail, { headers: { referer: `${proxy.url}/verify?token=${secrets[2]}` } })).body.dump();
      const client = listen({ model: 'loopback/script', api_key: live.key });
      await client.event('session_started');
      client.send({ type: 'close' });
      await client.close();
      const log = await proxy.stop();
      expect(log).toContain('/v1/listen');
      expect(log).toContain('/v1/audio/transcriptions');
      expect(log).toContain('/verify');
      expect([live.key, ...secrets].filter((secret) => log.includes(secret))).toEqual([]);
      // The pieces of a token are in no other text.
      expect(log).not.toMatch(/st_[\w-]{8}/);
    });
  });

  describe('a proxy before any server', () => {
    let answer: RequestListener = (_, response) => void response.end();
    // A proxy that asks whether the node is ready is no client.
    const server = createServer((incoming, response) =>
      incoming.url === '/readyz' ? response.end() : answer(incoming, response),
    );
    let proxy: RunningProxy;
    beforeAll(async () => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      proxy = await start((server.address() as AddressInfo).port);
    });
    afterAll(() => {
      server.closeAllConnections();
      server.close();
    });

    test('server-sent events arrive one by one, as they are sent', async () => {
      const seen = new PassThrough();
      answer = async (_, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
        response.write('data: first\n\n');
        // The last is not sent before the client has seen the first.
        await once(seen, 'data');
        response.end('data: last\n\n');
      };
      const { body } = await through(proxy).ask('/v1/audio/transcriptions', { method: 'POST', body: 'file' });
      const events: string[] = [];
      for await (const chunk of body) {
        events.push(String(chunk));
        seen.write('seen');
      }
      expect(events).toEqual(['data: first\n\n', 'data: last\n\n']);
    });

    test('passes an upload on while it is still being sent', async () => {
      const upload = new PassThrough();
      const chunks: Buffer[] = [];
      answer = async (incoming, response) => {
        for await (const chunk of incoming) {
          // The client does not send the rest before the first has come here.
          if (chunks.length === 0) upload.end('rest');
          chunks.push(chunk as Buffer);
        }
        response.end(Buffer.concat(chunks));
      };
      upload.write('begin ');
      const { body } = await through(proxy).ask('/v1/audio/transcriptions', { method: 'POST', body: upload });
      expect(await body.text()).toBe('begin rest');
    });

    test('reports a departed client to the server at once', async () => {
      const arrived = new PassThrough();
      const gone = new Promise<void>((resolve) => {
        answer = (incoming, response) => {
          response.once('close', resolve);
          incoming.resume().once('end', () => arrived.write('arrived'));
        };
      });
      const abort = new AbortController();
      const { signal } = abort;
      const asked = through(proxy).ask('/v1/audio/transcriptions', { method: 'POST', body: 'file', signal });
      await once(arrived, 'data');
      abort.abort();
      await expect(asked).rejects.toThrow();
      await gone;
    });
  });
}

const HOURS = 3_600_000;
/** Idle connections are closed by the gateway after this time, with either adapter. */
const GATEWAY_KEEP_ALIVE_SECONDS = 10;

/** The times in a file of deploy/ fit those of the gateway. */
export function timesSuite(file: string, times: { answer?: RegExp; send?: RegExp; idle: RegExp }): void {
  const figure = (pattern: RegExp): number => Number(pattern.exec(file)?.[1]);

  test.each(Object.entries({ answer: times.answer, send: times.send }))(
    'waits longer for %s than the longest session and file',
    (_, pattern) => {
      // A proxy without such a limit waits as long as it takes.
      if (pattern === undefined) return expect(file).not.toMatch(/(?<!health_)timeout/);
      const { session, batch } = loadConfig({}, { providers: [] });
      expect(figure(pattern) * HOURS).toBeGreaterThan(Math.max(session.longestMs, batch.timeoutMs));
    },
  );

  test('closes idle connections before the gateway does', () => {
    expect(figure(times.idle)).toBeLessThan(GATEWAY_KEEP_ALIVE_SECONDS);
  });
}
