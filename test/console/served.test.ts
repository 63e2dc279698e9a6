// What a gateway serves of the console: the page at each of its paths, the files that it loads, and what anybody may know.
import { describe, expect, test } from 'vitest';
import { CONSOLE_PATHS } from '../../src/api/console/pages.ts';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';

const alone = await startLiveGateway();
const open = await startLiveGateway({ VOXGATE_PUBLIC_URL: 'https://stt.example.com' });

const pageOf = async (url: string) => (await fetch(`${url}/console`)).text();
const filesOf = (page: string) => [...page.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, path = '']) => path);

describe('the console', () => {
  test('is one page at each of its paths, and nowhere else', async () => {
    const first = await pageOf(alone.url);
    expect(first).toContain('<div id="console">');
    for (const path of CONSOLE_PATHS) {
      const answer = await fetch(alone.url + path.replaceAll(/:\w+/g, 'some'));
      expect([path, answer.status, await answer.text()]).toEqual([path, 200, first]);
    }
    for (const path of [
      '/console/nothing',
      '/console/api/nothing',
      '/console/assets/nothing.js',
      '/console/assets/..%2Findex.html',
    ]) {
      expect([path, (await fetch(alone.url + path)).status]).toEqual([path, 404]);
    }
  });

  test('lets a browser run its own files, ask this gateway, and nothing else', async () => {
    const { headers } = await fetch(`${open.url}/console`);
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

  test('tells only this machine where mails wait', async () => {
    const status = async (url: string, headers: Record<string, string> = {}) =>
      (await fetch(`${url}/console/api/status`, { headers })).json();
    expect(await status(alone.url)).toMatchObject({ sign_up: true, outbox: '/console/outbox' });
    expect(await status(alone.url, { 'X-Forwarded-For': '203.0.113.9' })).not.toHaveProperty('outbox');
    expect(await status(open.url)).toEqual({ version: expect.any(String), sign_up: false });
  });
});
