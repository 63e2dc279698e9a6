// What a gateway serves of the console: the page at each of its paths, the files that it loads, and what anybody may know.
import { get } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { ConsoleStatus } from '../../src/api/console/gateway.ts';
import { CONSOLE_PATHS } from '../../src/api/console/pages.ts';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';

const HTML = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const FORWARDED = { 'X-Forwarded-For': '203.0.113.9' };
const alone = await startLiveGateway({ DEEPGRAM_API_KEY: 'a-key-of-deepgram' });
const open = await startLiveGateway({ VOXGATE_PUBLIC_URL: 'https://stt.example.com', DEEPGRAM_API_KEY: 'a-key' });

const pageOf = async (url: string) => (await fetch(`${url}/`, { headers: HTML })).text();
const filesOf = (page: string) => [...page.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, path = '']) => path);
/** `fetch` would decompress it. */
const sentBytes = (url: string) =>
  new Promise<number>((resolve, reject) => {
    get(url, { headers: { 'Accept-Encoding': 'br' } }, async (answer) => {
      let bytes = 0;
      for await (const piece of answer) bytes += (piece as Buffer).length;
      resolve(bytes);
    }).on('error', reject);
  });
const given = (path: string) => path.replaceAll(/:\w+/g, 'some');

describe('the console', () => {
  test('serves one page at each of its paths, and nowhere else', async () => {
    const first = await pageOf(alone.url);
    expect(first).toContain('<div id="console">');
    for (const path of CONSOLE_PATHS) {
      const answer = await fetch(alone.url + given(path), { headers: HTML });
      expect([path, answer.status, await answer.text()]).toEqual([path, 200, first]);
    }
    for (const path of [
      '/nothing',
      '/console/nothing',
      '/console/api/nothing',
      '/console/assets/nothing.js',
      '/console/assets/..%2Findex.html',
    ]) {
      expect([path, (await fetch(alone.url + path)).status]).toEqual([path, 404]);
    }
  });

  test.each([
    '/nothing',
    '/v1/nothing',
    '/docs/nothing',
    '/docs/guides/nothing',
    '/console/nothing',
    '/compat/nothing',
    '/a"<b>/%00?c',
  ])('links from the page that a browser gets at %s, where programs get JSON', async (path) => {
    const page = await fetch(alone.url + path, { headers: HTML });
    const text = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('x-request-id')).toMatch(/^req_/);
    expect(text).toContain('<h1>There is no such page</h1>');
    expect(text).toContain('<a href="/">');
    expect(text).not.toContain('<b>');
    for (const Accept of ['*/*', 'application/json']) {
      const told = await fetch(alone.url + path, { headers: { Accept } });
      expect([told.status, told.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
    }
  });

  test('appears for any host name of a client', async () => {
    for (const host of ['a:99999', 'a"b<c>', '']) {
      const status = await new Promise((resolve, reject) => {
        get(alone.url, { headers: { ...HTML, host } }, (answer) => resolve(answer.resume().statusCode)).on(
          'error',
          reject,
        );
      });
      expect([host, status]).toEqual([host, 200]);
    }
  });

  test('redirects from its former paths, with the query', async () => {
    const led = async (path: string) => {
      const answer = await fetch(alone.url + path, { redirect: 'manual', headers: HTML });
      return [answer.status, answer.headers.get('location')];
    };
    expect(await led('/console')).toEqual([308, '/']);
    for (const path of CONSOLE_PATHS) {
      expect(await led(`/console${given(path)}`)).toEqual([308, given(path)]);
      expect(await led(`/console${given(path)}?from=2026-01-01&x=%2F`)).toEqual([
        308,
        `${given(path)}?from=2026-01-01&x=%2F`,
      ]);
    }
  });

  test('prints a few lines in a terminal', async () => {
    for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json' }]) {
      const answer = await fetch(`${alone.url}/`, { headers });
      const text = await answer.text();
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
      expect(answer.headers.get('vary')).toBe('Accept');
      expect(text).toMatch(/^Voxgate \S+, ready\n/);
      expect(text).toContain(`POST ${alone.url}/v1/audio/transcriptions`);
      expect(text.split('\n').every((line) => line.length <= 80)).toBe(true);
    }
    expect((await fetch(`${alone.url}/`, { headers: HTML })).headers.get('vary')).toBe('Accept, Accept-Encoding');
  });

  test('lets a browser run its own files, ask this gateway, and nothing else', async () => {
    const { headers } = await fetch(`${open.url}/`, { headers: HTML });
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self' wss://stt.example.com; img-src 'self' data:; media-src 'self' blob:; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('permissions-policy')).toBe('microphone=(self)');
    const page = await pageOf(open.url);
    expect(page).not.toMatch(/<script(?! type="module" crossorigin src="\/console\/assets\/)| on\w+=| style=/);
  });

  test('loads files that browsers keep, compressed where they take it, and asks for none of them twice', async () => {
    const files = filesOf(await pageOf(alone.url)).filter((path) => path.startsWith('/console/assets/'));
    expect(files.length).toBeGreaterThan(1);
    for (const path of files) {
      const plain = await fetch(alone.url + path, { headers: { 'Accept-Encoding': 'identity' } });
      const brotli = await fetch(alone.url + path, { headers: { 'Accept-Encoding': 'gzip, br' } });
      expect([plain.status, plain.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect([plain.headers.get('content-encoding'), brotli.headers.get('content-encoding')]).toEqual([null, 'br']);
      expect(await brotli.text()).toBe(await plain.text());
      const again = await fetch(alone.url + path, { headers: { 'If-None-Match': plain.headers.get('etag') ?? '' } });
      expect(again.status).toBe(304);
    }
  });

  test('loads less than 150 kB of script, as it is sent', async () => {
    const scripts = filesOf(await pageOf(alone.url)).filter((path) => path.endsWith('.js'));
    const sizes = await Promise.all(scripts.map((path) => sentBytes(alone.url + path)));
    expect(sizes.length).toBeGreaterThan(0);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(150_000);
  });

  test('serves a small, cacheable icon that is never missing', async () => {
    const answer = await fetch(`${alone.url}/favicon.ico`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=86400');
    expect(await answer.text()).toMatch(/^<svg .{100,500}<\/svg>\s*$/s);
  });
});

describe('the console before the login', () => {
  const status = async (url: string, headers: Record<string, string> = {}) =>
    (await (await fetch(`${url}/console/api/status`, { headers })).json()) as ConsoleStatus;

  test('shows the setup, and where mails wait, on this machine only', async () => {
    const told = await status(alone.url);
    expect(told).toMatchObject({ ready: true, sign_up: true, outbox: '/console/outbox' });
    expect(told.set_up).toMatchObject({ mail: 'outbox', tls: 'nobody' });
    const usable = Object.fromEntries(told.set_up!.providers.map(({ name, is_usable }) => [name, is_usable]));
    expect(usable).toMatchObject({ local: true, deepgram: true, assemblyai: false });
    expect(JSON.stringify(told)).not.toContain('a-key-of-deepgram');
    expect(await status(alone.url, FORWARDED)).toEqual({ version: told.version, ready: true, sign_up: true });
    expect(await status(open.url)).toEqual({ version: told.version, ready: true, sign_up: false });
  });

  const signUp = (url: string) =>
    fetch(`${url}/console/api/sign-up`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Requested-With': 'console', 'Sec-Fetch-Site': 'same-origin' },
      body: JSON.stringify({ email: 'somebody@example.com', password: 'a long enough password' }),
    });
  const warnings = ({ log }: { log: readonly string[] }) =>
    log.filter((line) => line.includes('sign-up is not possible'));

  test('refuses a sign-up whose mail cannot be sent, and warns at the start', async () => {
    const answer = await signUp(open.url);
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect([answer.status, error.code]).toEqual([400, 'invalid_request']);
    expect(error.message).toContain('VOXGATE_SMTP_URL');
    expect(warnings(open)).toHaveLength(1);
  });

  test('elsewhere it is not', async () => {
    expect(await (await fetch(`${alone.url}/console/outbox`)).text()).toContain('load this page again');
    expect((await signUp(alone.url)).status).toBe(202);
    expect(warnings(alone)).toEqual([]);
    const closed = await startLiveGateway({ VOXGATE_HOST: '0.0.0.0', VOXGATE_SIGN_UPS_PER_ADDRESS_DAY_MAX: '0' });
    expect(warnings(closed)).toEqual([]);
  });
});
