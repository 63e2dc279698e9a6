// Vendors' own clients in a real browser, on a page of another origin than the gateway: files, models, tokens, and what the browser's
// recorder makes of a microphone.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from '../../../tools/playwright.ts';
import { browserIsHere, openBrowser, spokenTurns } from '../../fakes/processes/browser.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';

const MODEL = 'local/commands-en';
const YES = readFileSync(new URL('../../fixtures/audio/yes.wav', import.meta.url)).toString('base64');
const ENTRY = `
import OpenAI from 'openai';
import { DeepgramClient } from '@deepgram/sdk';
import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js';
globalThis.clients = { OpenAI, DeepgramClient, ElevenLabsClient };
`;

/** The clients as one module for browsers. */
async function bundled(): Promise<string> {
  const name = 'virtual:clients';
  const output = await build({
    configFile: false,
    logLevel: 'silent',
    root: fileURLToPath(new URL('..', import.meta.url)),
    plugins: [
      { name, resolveId: (id) => (id === name ? id : undefined), load: (id) => (id === name ? ENTRY : undefined) },
    ],
    build: { write: false, minify: false, rollupOptions: { input: name } },
  });
  const [{ output: chunks }] = [output].flat() as unknown as [{ output: { code?: string }[] }];
  return chunks.map(({ code = '' }) => code).join('\n');
}

let live: LiveGateway;
let browser: Browser;
let page: Page;
const server = createServer();
afterAll(() => server.close());

// It says itself why, when no browser is here.
describe.skipIf(!browserIsHere)('a page of another origin', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    const script = await bundled();
    live = await startLiveGateway();
    server.on('request', ({ url }, response) => {
      response.setHeader('content-type', url === '/clients.js' ? 'text/javascript' : 'text/html');
      response.end(url === '/clients.js' ? script : '<!doctype html><script type="module" src="/clients.js"></script>');
    });
    await once(server.listen(0), 'listening');
    browser = await openBrowser();
    page = await browser.newPage();
    await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction('globalThis.clients !== undefined');
    await page.evaluate(`globalThis.gateway = ${JSON.stringify({ url: live.url, key: live.key, model: MODEL, yes: YES })};
      gateway.file = () => new File([Uint8Array.from(atob(gateway.yes), (each) => each.charCodeAt(0))], 'yes.wav');`);
  }, 120_000);

  const inPage = (body: string): Promise<unknown> =>
    page.evaluate(`(async () => { const { url, key, model, file } = gateway; ${body} })()`);
  /** What a page learns of a request that its browser lets through. */
  const refusal = (call: string) =>
    `try { await ${call}; return 'no error' } catch (error) { return [error.status ?? error.statusCode, String(error.message)] }`;

  it('uses OpenAI’s client: models, files and what is refused', async () => {
    const made = `const openai = new clients.OpenAI({ apiKey: key, baseURL: url + '/compat/openai/v1', dangerouslyAllowBrowser: true, maxRetries: 0 });`;
    expect(await inPage(`${made} return (await openai.models.list()).data.some(({ id }) => id === model)`)).toBe(true);
    expect(
      await inPage(`${made} return (await openai.audio.transcriptions.create({ model, file: file() })).text`),
    ).toBe('yes');
    const wrong = await inPage(
      `${made} ${refusal("openai.audio.transcriptions.create({ model: 'openai/none', file: file() })")}`,
    );
    expect(wrong).toEqual([404, expect.stringContaining('openai/none')]);
    const nobody = await inPage(`${made} openai.apiKey = 'none'; ${refusal('openai.models.list()')}`);
    expect(nobody).toEqual([401, expect.any(String)]);
  });

  it('uses Deepgram’s client: files, and what is refused', async () => {
    const made = `const deepgram = new clients.DeepgramClient({ apiKey: key, maxRetries: 0, environment: { base: url + '/compat/deepgram', production: '', agent: '', agentRest: '' } });`;
    const heard = await inPage(
      `${made} return (await deepgram.listen.v1.media.transcribeFile(file(), { model })).results.channels[0].alternatives[0].transcript`,
    );
    expect(heard).toBe('yes');
    const wrong = await inPage(
      `${made} ${refusal("deepgram.listen.v1.media.transcribeFile(file(), { model: 'none' })")}`,
    );
    expect(wrong).toEqual([404, expect.stringContaining('none')]);
  });

  it('uses ElevenLabs’ client: files', async () => {
    const made = `const elevenlabs = new clients.ElevenLabsClient({ apiKey: key, baseUrl: url + '/compat/elevenlabs' });`;
    expect(
      await inPage(`${made} return (await elevenlabs.speechToText.convert({ modelId: model, file: file() })).text`),
    ).toBe('yes');
  });

  it('records its microphone for Deepgram with a token, and names no encoding', async () => {
    const texts = await inPage(`
      const granted = await fetch(url + '/compat/deepgram/v1/auth/grant', {
        method: 'POST', headers: { Authorization: 'Token ' + key, 'Content-Type': 'application/json' }, body: '{"ttl_seconds":60}',
      });
      const { access_token } = await granted.json();
      const socket = new WebSocket(url.replace('http', 'ws') + '/compat/deepgram/v1/listen?model=' + model, ['bearer', access_token]);
      await new Promise((resolve, reject) => Object.assign(socket, { onopen: resolve, onclose: reject }));
      const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
      const recorder = new MediaRecorder(await navigator.mediaDevices.getUserMedia({ audio }));
      recorder.ondataavailable = ({ data }) => socket.send(data);
      recorder.onstop = () => socket.send('{"type":"CloseStream"}');
      const texts = [];
      socket.onmessage = ({ data }) => {
        const { type, is_final, channel } = JSON.parse(data);
        if (type === 'Results' && is_final && channel.alternatives[0].transcript) texts.push(channel.alternatives[0].transcript);
        if (texts.length === 2 && recorder.state === 'recording') recorder.stop();
      };
      const closed = new Promise((resolve) => { socket.onclose = ({ code }) => resolve(code); });
      recorder.start(100);
      return [await closed, ...texts.slice(0, 2)];
    `);
    const [code, ...heard] = texts as [number, ...string[]];
    expect([code, heard.length]).toEqual([1000, 2]);
    for (const text of heard) expect(spokenTurns).toContain(text);
  });
});
