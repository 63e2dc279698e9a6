// The playground in a real browser where things go wrong: a provider that is broken on purpose, hostile words, a refused microphone,
// files that are none. Each time there is a plain sentence, and a way on.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';
import { scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import type { Browser, Page, WebSocketRoute } from '../../../tools/playwright.ts';
import { browserIsHere, openBrowser } from '../../fakes/processes/browser.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { choose, logIn, openPage, signUp } from '../rig.ts';

const HOSTILE = '<img src=x onerror=alert(1)> \u001b[31mred\u001b[0m';
const servers: SimulatorServer[] = [];
let live: LiveGateway;
let browser: Browser;
let page: Page;
let complaints: string[];

// Without a browser there is nothing to be seen; it says so itself.
describe.skipIf(!browserIsHere)('the playground in trouble', { timeout: 90_000 }, () => {
  beforeAll(async () => {
    const settings: Record<string, string> = {};
    for (const name of ['deepgram', 'assemblyai']) {
      const simulator = simulators.find(({ provider }) => provider === name) as ProviderSimulator;
      const turns = Array.from({ length: 12 }, () => ({ text: HOSTILE, seconds: 1 }));
      const server = await SimulatorServer.start({ simulator, ear: scriptEar({ turns }) });
      servers.push(server);
      settings[`VOXGATE_${name.toUpperCase()}_URL`] = server.url;
      settings[`${name.toUpperCase()}_API_KEY`] = 'simulated';
    }
    live = await startLiveGateway(settings);
    browser = await openBrowser();
    ({ page, complaints } = await openPage(browser));
    await signUp(page, live.url);
    await logIn(page, live.url);
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
  });
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  const ended = () => page.locator('.badge', { hasText: 'ended' }).waitFor();
  const alert = (text: string) => page.locator('[role=alert]', { hasText: text }).waitFor();

  it('shows where the fallback continues after a broken provider', async () => {
    await choose(page, 'Model', 'deepgram/nova-3');
    await choose(page, 'Fallbacks, in order', 'assemblyai/universal-streaming-english');
    await page.getByRole('button', { name: 'Play the sample' }).click();
    await page.locator('.transcript .final').first().waitFor();
    await page.getByRole('button', { name: 'Break the provider' }).click();
    await page.locator('.takeover', { hasText: 'deepgram/nova-3 failed (connection lost)' }).waitFor();
    expect(await page.locator('.tape .change').innerText()).toContain('universal-streaming-english takes over');
    await ended();
    expect(await page.locator('.transcript .final').count()).toBeGreaterThan(3);
  });

  it('shows markup and control characters as plain words', async () => {
    expect(await page.locator('.transcript .final').first().innerText()).toContain('<img src=x onerror=alert(1)>');
    expect(await page.locator('.transcript img, .tape img').count()).toBe(0);
    expect(await page.locator('.transcript').innerText()).not.toContain('\u001b');
  });

  it('highlights and plays a word from the keyboard', async () => {
    // The last one would be over before the button is pressed on a busy machine.
    const word = page.locator('.tape .word').first();
    await word.focus();
    await page.locator('.tape span.lit').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stop listening' }).click();
    await page.getByRole('button', { name: 'Listen', exact: true }).waitFor();
  });

  it.each([
    ['NotAllowedError', 'does not let this page use the microphone'],
    ['NotFoundError', 'No microphone was found'],
    ['NotReadableError', 'another program may have it'],
  ])('explains a microphone that answers %s, and still plays the sample', async (name, sentence) => {
    await page.evaluate(
      `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', '${name}')); undefined`,
    );
    await page.getByRole('button', { name: 'Speak', exact: true }).click();
    await alert(sentence);
    expect(await page.getByRole('button', { name: 'Play the sample' }).isEnabled()).toBe(true);
  });

  it.each([
    ['empty.wav', Buffer.alloc(0), 'is empty'],
    ['letter.txt', Buffer.from('Dear'), 'cannot decode “letter.txt”'],
    ['long.m4a', Buffer.alloc(25_000_001, 1), 'is too long to play here'],
  ])('explains a file without sound: %s', async (name, buffer, sentence) => {
    await page.setInputFiles('input[type=file]', { name, mimeType: 'audio/wav', buffer });
    await alert(sentence);
  });

  it('shows a warning and a lost connection before the transcript, and marks the run', async () => {
    let lost: WebSocketRoute | undefined;
    let isAway = false;
    await page.routeWebSocket(/\/v1\/listen/, (socket) => {
      if (isAway) return void socket.close({ code: 1012 });
      const server = socket.connectToServer();
      lost ??= socket;
      server.onMessage((message) => {
        socket.send(message);
        const event = JSON.parse(String(message));
        if (event.type !== 'session_started') return;
        const warning = { code: 'parameter_ignored', param: 'summarize', message: 'No model can sum it up.' };
        socket.send(
          JSON.stringify({ ...warning, type: 'warning', session_id: event.session_id, seq: 2, at: event.at }),
        );
      });
    });
    await page.getByRole('button', { name: 'Play the sample' }).click();
    await alert('No model can sum it up. parameter_ignored: summarize');
    await page.locator('.badge.warn', { hasText: 'listening' }).waitFor();
    isAway = true;
    await lost?.close({ code: 1012 });
    await alert('The connection was lost');
    await page.locator('.badge.warn', { hasText: 'reconnecting' }).waitFor();
    isAway = false;
    await page.locator('.badge.warn', { hasText: 'listening' }).waitFor();
    expect(await page.locator('[role=alert]', { hasText: 'The connection was lost' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await ended();
  });

  it('plays the stated part of a file that is too long', async () => {
    await page.setInputFiles('input[type=file]', { name: 'hours.wav', mimeType: 'audio/wav', buffer: silence(400) });
    await page.getByText('Only the first 5 min 0 s of “hours.wav” are played here').waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await ended();
    expect(complaints).toEqual([]);
  });
});

/** A WAV file of 8-bit silence at 8 kHz. */
function silence(seconds: number): Buffer {
  const rate = 8_000;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + seconds * rate, 4);
  header.write('WAVEfmt ', 8);
  for (const [at, value] of [16, 0x0001_0001, rate, rate, 0x0008_0001].entries())
    header.writeUInt32LE(value, 16 + 4 * at);
  header.write('data', 36);
  header.writeUInt32LE(seconds * rate, 40);
  return Buffer.concat([header, Buffer.alloc(seconds * rate, 0x80)]);
}
