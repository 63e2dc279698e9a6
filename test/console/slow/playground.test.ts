// The playground in a real browser: the sample, the microphone, several models beside each other, and the session that each was.

import { beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from '../../../tools/playwright.ts';
import { browserIsHere, microphonePlays, openBrowser } from '../../fakes/processes/browser.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { expectReading, READING } from '../../fakes/reading.ts';
import { choose, logIn, openPage, signUp } from '../rig.ts';

let live: LiveGateway;
let browser: Browser;
let page: Page;
let complaints: string[];

// Without a browser there is nothing to be seen; it says so itself.
describe.skipIf(!browserIsHere)('the playground', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    live = await startLiveGateway();
    browser = await openBrowser(microphonePlays(READING.file));
    ({ page, complaints } = await openPage(browser));
    await signUp(page, live.url);
    await logIn(page, live.url);
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
  });

  const ended = () => page.locator('.badge', { hasText: 'ended' }).waitFor();

  it('begins with dictation where no provider has a key', async () => {
    expect(await page.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('local/dictation-en');
  });

  it('transcribes the console’s sample, and shows its cost', async () => {
    await page.getByRole('button', { name: 'Play the sample' }).click();
    await ended();
    const turns = await page.locator('.transcript .final').allInnerTexts();
    expect(turns).toHaveLength(READING.turns.length);
    expectReading(turns.join(' '));
    expect(await page.locator('.figure dd').allInnerTexts()).toEqual(expect.arrayContaining(['10.7 s', '$0.00']));
    await page.getByRole('alert').getByText('The times of words are estimated').waitFor();
  });

  it('transcribes the microphone until it is stopped, with its session watchable', async () => {
    await page.getByRole('button', { name: 'Speak' }).click();
    const opened = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Watch this session' }).click();
    const other = await opened;
    await other.locator('.chart .state.is-current').first().waitFor();
    await other.getByRole('cell', { name: 'turn final' }).first().waitFor();
    await page.locator('.transcript .final', { hasText: 'more amiable woman' }).first().waitFor();
    await page.locator('.transcript .final', { hasText: 'made amiable himself' }).first().waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await ended();
    await other.getByText('It has ended').waitFor();
    await other.getByRole('button', { name: 'One step back' }).click();
    await other.close();
  });

  it('lets the gateway choose a model, and shows which and why', async () => {
    const usual = await page.getByRole('combobox', { name: 'Model', exact: true }).inputValue();
    await choose(page, 'Model', 'auto');
    await page.getByLabel('Prefer').selectOption('price');
    await page.getByPlaceholder('as the model has it').first().fill('en');
    await page.getByRole('button', { name: 'Play the sample' }).click();
    const table = page.getByRole('table', { name: 'Chosen by the gateway' });
    // Until then the session before is shown, which has ended.
    await table.waitFor();
    await ended();
    expect(await table.getByRole('row').nth(1).innerText()).toContain('local/dictation-en');
    expect(await page.locator('.takeover').count()).toBe(0);
    expect(await page.locator('code', { hasText: 'prefer=price' }).innerText()).toContain('model=auto');
    await choose(page, 'Model', usual);
    await page.getByLabel('Prefer').waitFor({ state: 'detached' });
    expect(await page.locator('code', { hasText: 'prefer=price' }).count()).toBe(0);
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
    await choose(page, 'Compare with', 'local/digits-en');
    await choose(page, 'Compare with', 'deepgram/nova-3');
    await page.getByRole('button', { name: 'Play the sample' }).click();
    const cards = page.locator('article');
    for (const at of [0, 1]) await cards.nth(at).locator('.badge', { hasText: 'ended' }).waitFor();
    expect(await cards.count()).toBe(3);
    expect(await cards.nth(2).locator('.notice').innerText()).toContain('no credential');
    expect(await cards.nth(1).locator('mark').count()).toBeGreaterThan(3);
  });

  it('leaves a session with a listed key, and violates no policy', async () => {
    await page.getByRole('link', { name: 'Sessions', exact: true }).click();
    await page.getByRole('cell', { name: /^ses_/ }).first().waitFor();
    expect(await page.getByRole('cell', { name: /^ses_/ }).count()).toBe(5);
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('cell', { name: 'Playground' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
