// How a live session of the client reaches its gateway: with which credential, fresh when it has to be, and by which WebSocket.
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import WebSocket from 'ws';
import { type LiveSession, type Transcript, Voxgate, type VoxgateOptions } from '../../clients/typescript/src/index.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../fakes/audio/numbered-finals.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { type CuttingProxy, startCuttingProxy } from './rig/cutting-proxy.ts';

let live: LiveGateway;
let proxy: CuttingProxy;
let client: Voxgate;
beforeAll(async () => {
  live = await startLiveGateway();
  proxy = await startCuttingProxy(live.url);
  client = new Voxgate({ apiKey: live.key, baseUrl: live.url });
});
beforeEach(() => {
  proxy.credentials.length = 0;
  proxy.paths.length = 0;
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const NUMBERED = { model: 'loopback/numbered', providerParams: { turn_seconds: 0.5 } } as const;

async function finalsOf(session: LiveSession): Promise<Transcript[]> {
  const finals: Transcript[] = [];
  for await (const final of session.finals()) finals.push(final);
  return finals;
}

describe('credentials', () => {
  const through = (options: VoxgateOptions) => new Voxgate({ baseUrl: proxy.url, ...options });
  const mint = async (ttlSeconds = 60) => (await client.tokens.mint({ ttlSeconds })).token;

  it('never stand in the URL', async () => {
    const token = await mint();
    for (const options of [{ apiKey: live.key }, { token }, { getToken: () => token }]) {
      await through(options).listen(NUMBERED).close();
    }
    expect(proxy.credentials).toEqual([live.key, token, token]);
    for (const path of proxy.paths) expect(decodeURIComponent(path)).not.toMatch(/sk_vox|st_|api_key/);
  });

  it('come fresh for every connection', async () => {
    proxy.cuts = [{ audioBytes: 4_000, code: 1006 }];
    const given: string[] = [];
    const getToken = async () => {
      const grant = await client.tokens.mint();
      given.push(grant.token);
      return grant;
    };
    const session = through({ getToken }).listen(NUMBERED);
    const finals = finalsOf(session);
    await session.send(numberedAudio(0, 8_000));
    await session.close();
    expectWhole(await finals, 8_000);
    expect(given).toHaveLength(2);
    expect(proxy.credentials).toEqual(given);
  });

  it.each([
    ['`ttl_seconds`', { ttl_seconds: 1 }],
    ['`expires_at`', { expires_at: new Date(Date.now() + 1_000).toISOString() }],
    ['`ttl_seconds`, which counts more than a clock', { ttl_seconds: 1, expires_at: '2999-01-01T00:00:00Z' }],
  ])('go unused when they are about to expire by %s', async (_, end) => {
    const good = await mint();
    const grants = [{ token: 'st_ending.token', ...end }, { token: good }];
    await through({ getToken: () => grants.shift() as { token: string } })
      .listen(NUMBERED)
      .close();
    expect(proxy.credentials).toEqual([good]);
  });

  it('get one replacement when they have expired', async () => {
    const old = await mint(10);
    const fresh = await mint(300);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11_000 });
    try {
      const tokens = [old, fresh];
      await through({ getToken: () => tokens.shift() as string })
        .listen(NUMBERED)
        .close();
      expect(proxy.credentials).toEqual([old, fresh]);
      const session = through({ getToken: () => old }).listen(NUMBERED);
      await expect(session.close()).rejects.toMatchObject({
        code: 'token_expired',
        closeCode: 4001,
        name: 'AuthenticationError',
      });
      expect(proxy.credentials).toEqual([old, fresh, old, old]);
      await expect(through({ token: old }).listen(NUMBERED).close()).rejects.toMatchObject({ code: 'token_expired' });
      expect(proxy.credentials).toHaveLength(5);
    } finally {
      vi.useRealTimers();
    }
  });

  it('get retries when they cannot be obtained, and an error that names them', async () => {
    const cause = new Error('my server is down');
    let asked = 0;
    const getToken = () => {
      asked++;
      throw cause;
    };
    const session = through({ getToken }).listen({ ...NUMBERED, reconnect: { attemptsMax: 2 } });
    await expect(session.close()).rejects.toMatchObject({ code: 'token_unavailable', cause });
    expect(asked).toBe(3);
  });
});

describe('the WebSocket', () => {
  it('may be given: that of `ws`, say', async () => {
    const made: string[][] = [];
    class Own extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols);
        made.push(protocols);
      }
    }
    await new Voxgate({ apiKey: live.key, baseUrl: live.url, webSocket: Own }).listen(NUMBERED).close();
    expect(made).toEqual([['bearer', live.key]]);
  });

  it('fails the session with a reason when it cannot be made or never opens', async () => {
    class Broken extends WebSocket {
      constructor() {
        super('ws://127.0.0.1:1', 'not a protocol');
      }
    }
    const broken = new Voxgate({ apiKey: live.key, baseUrl: live.url, webSocket: Broken }).listen(NUMBERED);
    await expect(broken.close()).rejects.toMatchObject({ code: 'connection_failed' });
    class Silent {
      readyState = 0;
      bufferedAmount = 0;
      binaryType = '';
      send() {}
      close() {}
      addEventListener() {}
    }
    const silent = new Voxgate({ apiKey: live.key, baseUrl: live.url, webSocket: Silent });
    const session = silent.listen({ ...NUMBERED, connectTimeoutMs: 100, reconnect: { attemptsMax: 2 } });
    await expect(session.close()).rejects.toMatchObject({ code: 'timeout', name: 'TimeoutError' });
  });
});
