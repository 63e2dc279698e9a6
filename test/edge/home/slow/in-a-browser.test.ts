// The first page in a real browser: a key that is pasted, a microphone that plays a file, and what was heard; and the way there of
// somebody without a key, from the sign-up over the mail to a key of their own.
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { browserIsHere, openBrowser, spokenTurns } from '../../../fakes/processes/browser.ts';
import { type LiveGateway, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';

let live: LiveGateway;
let browser: Browser;

// It says itself why, when no browser is here.
describe.skipIf(!browserIsHere)('the first page', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    live = await startLiveGateway();
    browser = await openBrowser();
  });

  /** A person before the page: what the browser refused it, and where it asked. */
  async function open(path = '/'): Promise<{ page: Page; refused: string[]; asked: string[] }> {
    const page = await browser.newPage();
    const refused: string[] = [];
    const asked: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') refused.push(message.text());
    });
    page.on('request', (request) => asked.push(request.url()));
    page.on('websocket', (socket) => asked.push(socket.url()));
    await page.goto(`${live.url}${path}`);
    return { page, refused, asked };
  }

  async function speak(page: Page): Promise<void> {
    await page.click('#start');
    await page.waitForFunction((turns) => {
      const { document } = globalThis as unknown as {
        document: { querySelector(at: string): { textContent: string } };
      };
      return turns.some((turn) => document.querySelector('#finals').textContent.includes(turn));
    }, spokenTurns);
    await page.click('#stop');
    await page.waitForSelector('#state:text("The session has ended.")');
  }

  it('hears what is spoken, with a key that is pasted, and asks nobody but its gateway', async () => {
    const { page, refused, asked } = await open();
    await page.fill('#key', live.key);
    await speak(page);
    expect(refused).toEqual([]);
    const elsewhere = asked.filter(
      (url) => !url.startsWith(live.url) && !url.startsWith(live.url.replace('http', 'ws')),
    );
    expect(elsewhere).toEqual([]);
    // The key went into a header, once, and nowhere else.
    expect(asked.filter((url) => url.includes(live.key))).toEqual([]);
    expect(asked.filter((url) => url.endsWith('/v1/tokens'))).toHaveLength(1);
    await page.close();
  });

  it('says what is wrong with a key, and asks for no microphone before', async () => {
    const { page } = await open();
    await page.fill('#key', `${live.key.slice(0, -4)}abcd`);
    await page.click('#start');
    await page.waitForSelector('#state:text-matches("API key")');
    expect(await page.isEnabled('#start')).toBe(true);
    await page.close();
  });

  it('leads somebody without a key from the sign-up over the mail to a key, and to speech', async () => {
    const { page } = await open();
    await page.fill('#email', 'somebody@example.com');
    await page.fill('#password', 'a long enough password');
    await page.click('#sign-up');
    await page.waitForSelector('#account-state:text("A mail is on its way")');

    const mailed = () => live.log.some((line) => line.includes('a mail waits at /console/outbox'));
    await expect.poll(mailed).toBe(true);
    await page.goto(`${live.url}/console/outbox`);
    await page.click('pre a');
    await page.fill('input[type=password]', 'a long enough password');
    await page.click('button');
    await page.click('a:text("mint an API key")');

    await page.fill('#email', 'somebody@example.com');
    await page.fill('#password', 'a long enough password');
    await page.click('#mint');
    await page.waitForSelector('#minted:text-matches("^sk_vox_")');
    expect(await page.inputValue('#key')).toBe(await page.textContent('#minted'));
    await speak(page);
    await page.close();
  });
});
