// The playground in a real browser: the sample, the microphone, several models beside each other, and the session that each was.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { hasBrowser, launch, logIn, openPage, SPOKEN, signUp } from '../rig.ts';

let live: LiveGateway;
let browser: Browser;
let page: Page;
let complaints: string[];

describe.skipIf(!hasBrowser)('the playground', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    live = await startLiveGateway();
    browser = await launch();
    ({ page, complaints } = await openPage(browser));
    await signUp(page, live.url);
    await logIn(page, live.url);
    await page.getByRole('link', { name: 'Playground' }).click();
  });
  afterAll(async () => {
    await browser?.close();
  });

  const ended = () => page.locator('.badge', { hasText: 'ended' }).waitFor();

  it('hears the sample that comes with the console, and says what it cost', async () => {
    await page.getByRole('button', { name: 'Play the sample' }).click();
    await ended();
    expect(await page.locator('.transcript p').allInnerTexts()).toEqual(SPOKEN.turns.slice(0, 3));
    expect(await page.getByText('9.6 s of audio for $0.00').count()).toBe(1);
  });

  it('hears the microphone until it is told to stop', async () => {
    await page.getByRole('button', { name: 'Speak' }).click();
    await page.locator('.transcript p', { hasText: SPOKEN.turns[1] as string }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await ended();
  });

  it('says in its words that a file is none of sound', async () => {
    await page.setInputFiles('input[type=file]', {
      name: 'letter.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('Dear'),
    });
    await page.locator('[role=alert]', { hasText: 'cannot decode “letter.txt”' }).waitFor();
  });

  it('lets several models hear the same, and marks what differs', async () => {
    await page.getByLabel('Compare with').selectOption('local/digits-en');
    await page.getByRole('button', { name: 'Play the sample' }).click();
    const cards = page.locator('article');
    await cards.nth(1).locator('dd', { hasText: 'ended' }).waitFor();
    expect(await cards.count()).toBe(2);
    expect(await cards.nth(1).locator('mark').count()).toBeGreaterThan(3);
  });

  it('has left a session, of a key that is listed, and nothing that its policy forbids', async () => {
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('cell', { name: /^ses_/ }).first().waitFor();
    expect(await page.getByRole('cell', { name: /^ses_/ }).count()).toBe(4);
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('cell', { name: 'Playground' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
