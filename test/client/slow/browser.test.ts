// The built client in a real browser: loaded as an ES module without a bundler, a microphone that plays a file, and the finals.
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Voxgate } from '../../../clients/typescript/src/index.ts';
import type { Browser, Page } from '../../../tools/playwright.ts';
import { browserIsHere, openBrowser, spokenTurns } from '../../fakes/processes/browser.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { type CuttingProxy, startCuttingProxy } from '../rig/cutting-proxy.ts';

const CLIENT = fileURLToPath(new URL('../../../clients/typescript/dist/', import.meta.url));

/** What a module script of the page leaves for the tests. */
interface Loaded {
  voxgate: typeof import('../../../clients/typescript/src/index.ts');
}
const SCRIPT = "import * as voxgate from '/client/index.js'; globalThis.voxgate = voxgate;";

let live: LiveGateway;
let proxy: CuttingProxy;
let browser: Browser;
let origin: string;
const asked: string[] = [];

// It says itself why, when no browser is here.
describe.skipIf(!browserIsHere)('the client in a browser', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    live = await startLiveGateway();
    proxy = await startCuttingProxy(live.url);
    origin = await servePage();
    browser = await openBrowser('--autoplay-policy=no-user-gesture-required');
  }, 60_000);

  /** A page whose policy lets in the client, and no more than `policy` beside it. */
  async function open(policy: string): Promise<Page> {
    asked.length = 0;
    const page = await browser.newPage();
    await page.goto(
      `${origin}/?policy=${encodeURIComponent(`default-src 'none'; connect-src ws://127.0.0.1:*; ${policy}`)}`,
    );
    return page;
  }

  it.each([
    ['with its recorder inside', "script-src 'self' blob:", undefined],
    ['with its recorder served', "script-src 'self'", '/client/microphone/microphone-worklet.js'],
  ])('transcribes the microphone, %s, over a connection that breaks', async (_, policy, workletUrl) => {
    const { token } = await new Voxgate({ apiKey: live.key, baseUrl: live.url }).tokens.mint({ ttlSeconds: 300 });
    const page = await open(policy);
    proxy.made = 0;
    proxy.cuts = [{ audioBytes: 150_000, code: 4101, error: 'upstream_failed' }];
    const heard = await page.evaluate(
      async ({ baseUrl, token, workletUrl, wanted }) => {
        const { Voxgate } = (globalThis as unknown as Loaded).voxgate;
        const client = new Voxgate({ baseUrl, token });
        let level = 0;
        const microphone = await client.microphone({
          constraints: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
          onLevel: (value) => {
            level = Math.max(level, value);
          },
          ...(workletUrl === undefined ? {} : { workletUrl }),
        });
        const { sampleRate } = microphone;
        const session = client.listen({ model: 'local/commands-en', sampleRate, interimResults: false });
        const piped = session.pipe(microphone);
        const types: string[] = [];
        const finals: { turn: number; text: string; start: number; end: number }[] = [];
        const reading = (async () => {
          for await (const event of session) {
            types.push(event.type);
            if (event.type !== 'transcript') continue;
            finals.push({ turn: event.turn, text: event.text, start: event.start, end: event.end });
            if (finals.length === wanted) void microphone.stop();
          }
        })();
        const bytes = await piped;
        const summary = await session.close();
        await reading;
        return { sampleRate, level, types, finals, bytes, summary };
      },
      { baseUrl: proxy.url, token, workletUrl, wanted: 3 },
    );
    expect(proxy.made).toBe(1);
    expect(heard.finals.length).toBeGreaterThanOrEqual(3);
    for (const { text } of heard.finals.slice(0, 3)) expect(spokenTurns).toContain(text);
    expect(heard.finals.map(({ turn }) => turn)).toEqual(heard.finals.map((__, index) => index));
    heard.finals.forEach(({ start, end }, index) => {
      expect(start).toBeGreaterThanOrEqual(heard.finals[index - 1]?.end ?? 0);
      expect(end).toBeGreaterThan(start);
    });
    expect(heard.types.filter((type) => type === 'reconnected')).toHaveLength(1);
    expect(heard.types.at(-1)).toBe('session_ended');
    expect(heard.summary.audioSeconds).toBeCloseTo(heard.bytes / 2 / heard.sampleRate, 3);
    expect(heard.level).toBeGreaterThan(0.01);
    expect(heard.level).toBeLessThanOrEqual(1);
    // Nothing but files of its own folder, and none that is Node's.
    expect(asked.filter((path) => !/^\/(\?.*|page\.js|client\/[\w/-]+\.js|favicon\.ico)$/.test(path))).toEqual([]);
    expect(asked.filter((path) => /\/node/.test(path))).toEqual([]);
    await page.close();
  });

  it('explains a policy that blocks the recorder', async () => {
    const page = await open("script-src 'self'");
    const error = await microphoneError(page, undefined);
    expect(error).toMatchObject({ name: 'MicrophoneError', code: 'microphone_unsupported' });
    expect(error.message).toContain('workletUrl');
    await page.close();
  });

  it.each([
    ['NotAllowedError', 'microphone_denied'],
    ['NotFoundError', 'microphone_missing'],
    ['OverconstrainedError', 'microphone_missing'],
    ['NotReadableError', 'microphone_busy'],
    ['SomethingElse', 'microphone_unsupported'],
  ])('turns a microphone’s %s into the error %s', async (name, code) => {
    const page = await open("script-src 'self' blob:");
    expect(await microphoneError(page, name)).toMatchObject({ name: 'MicrophoneError', code });
    await page.close();
  });

  it('refuses an API key in a page unless it is explicitly allowed', async () => {
    const page = await open("script-src 'self'");
    const [refused, wanted] = await page.evaluate(async (apiKey) => {
      const { Voxgate } = (globalThis as unknown as Loaded).voxgate;
      const attempt = (options: object) => {
        try {
          new Voxgate({ apiKey, ...options });
          return 'made';
        } catch (error) {
          return (error as Error).message;
        }
      };
      return [attempt({}), attempt({ allowApiKeyInBrowser: true })] as const;
    }, live.key);
    expect(refused).toContain('getToken');
    expect(refused).not.toContain(live.key);
    expect(wanted).toBe('made');
    await page.close();
  });
});

function microphoneError(
  page: Page,
  thrown: string | undefined,
): Promise<{ name: string; code: string; message: string }> {
  return page.evaluate(async (name) => {
    const { Voxgate } = (globalThis as unknown as Loaded).voxgate;
    const { mediaDevices } = (
      globalThis as unknown as { navigator: { mediaDevices: { getUserMedia: () => Promise<never> } } }
    ).navigator;
    if (name !== undefined) mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', name));
    const client = new Voxgate({ token: 'st_a.b' });
    return client.microphone().then(
      () => ({ name: '', code: '', message: 'It opened.' }),
      (error) => ({ name: error.name, code: error.code, message: error.message }),
    );
  }, thrown);
}

/** An empty page with the policy of its query, and the built client. */
async function servePage(): Promise<string> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    asked.push(url.pathname + url.search);
    const path = CLIENT + url.pathname.slice('/client/'.length);
    if (url.pathname === '/') {
      const policy = url.searchParams.get('policy') ?? '';
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': policy });
      response.end('<!doctype html><title>Voxgate</title><script type="module" src="/page.js"></script>');
    } else if (url.pathname === '/page.js') {
      response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(SCRIPT);
    } else if (url.pathname.startsWith('/client/') && !url.pathname.includes('..') && existsSync(path)) {
      response.writeHead(200, { 'Content-Type': 'text/javascript' });
      response.end(readFileSync(path));
    } else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
