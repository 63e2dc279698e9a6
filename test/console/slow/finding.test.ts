// What people find and read on the pages of the console, in a real browser: names for ids, filters, models by what they are called,
// forms that keep what was typed, charts, and cards on a phone.

import { beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from '../../../tools/playwright.ts';
import { browserIsHere, openBrowser } from '../../fakes/processes/browser.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { choose, logIn, openPage, signUp } from '../rig.ts';

let live: LiveGateway;
let browser: Browser;
let page: Page;
let complaints: string[];

const go = (name: string) => page.getByRole('link', { name, exact: true }).click();
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

// Without a browser there is nothing to be seen; it says so itself.
describe.skipIf(!browserIsHere)('the pages of the console', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    live = await startLiveGateway({ DEEPGRAM_API_KEY: 'a-key' });
    browser = await openBrowser();
    ({ page, complaints } = await openPage(browser));
    await signUp(page, live.url);
    await logIn(page, live.url);
    await go('Playground');
    await choose(page, 'Model', 'local/dictation-en');
    await press('Play the sample');
    await page.locator('.badge', { hasText: 'ended' }).waitFor();
  });

  it('show a session with its key’s name, a readable reason, and a summary before its charts', async () => {
    await go('Sessions');
    const row = page.getByRole('row', { name: 'closed by the client' });
    await row.getByRole('button', { name: 'Copy the id of Playground' }).waitFor();
    await row.getByRole('link').click();
    await page.locator('.summary').getByText('closed by the client').waitFor();
    await page.getByRole('cell', { name: 'Turn 1', exact: true }).waitFor();
    const tops = await page
      .locator('.summary, .lanes, .actors')
      .evaluateAll((all) => all.map((each) => (each as unknown as { offsetTop: number }).offsetTop));
    expect(tops).toHaveLength(3);
    expect(tops).toEqual([...tops].sort((one, other) => one - other));
    await page.locator('.legend li', { hasText: 'failover' }).waitFor();
    const bounds = (selector: string) => page.locator(selector).first().boundingBox();
    const [box, state] = [await bounds('.drawn .view'), await bounds('.chart .is-followed > rect')];
    expect(state!.y).toBeGreaterThanOrEqual(box!.y);
    expect(state!.y + state!.height).toBeLessThanOrEqual(box!.y + box!.height);
    expect(state!.x).toBeGreaterThanOrEqual(box!.x);
  });

  it('filters are chips that take themselves back', async () => {
    await go('Sessions');
    await page.getByText('Filter', { exact: true }).click();
    await page.locator('[name=state]').selectOption('live');
    await page.getByText('No sessions match these filters').waitFor();
    expect(page.url()).toContain('state=live');
    await page.getByRole('button', { name: 'State: live' }).click();
    await page.getByRole('row', { name: 'closed by the client' }).waitFor();
    expect(page.url()).not.toContain('state=');
  });

  it('keep a filter during typing while the list is refreshed', async () => {
    const field = page.locator('[name=model]');
    await page.getByText('Filter', { exact: true }).click();
    await field.pressSequentially('loc');
    await page.waitForResponse((answer) => answer.url().includes('/console/api/sessions'));
    await page.waitForResponse((answer) => answer.url().includes('/console/api/sessions'));
    expect(await field.inputValue()).toBe('loc');
  });

  it('models are found by language and field, grouped, and grey until they are used', async () => {
    await go('Models');
    await page.getByRole('row', { name: 'deepgram/nova-3 ' }).getByText('not used yet').waitFor();
    await page.getByRole('row', { name: 'local/dictation-en' }).getByText('up', { exact: true }).waitFor();
    await page.getByLabel('Search').fill('french medical');
    await page.getByRole('row', { name: 'assemblyai/u3-rt-pro' }).waitFor();
    expect(await page.getByText('local/commands-en').count()).toBe(0);
    expect(await page.getByText('deepgram/nova-2-medical').count()).toBe(0);
  });

  it('keep a refused form’s input, and name its field by the label', async () => {
    await go('Keys');
    await press('Mint a key');
    expect(await page.getByLabel('Models').isVisible()).toBe(false);
    await page.fill('[name=name]', 'A key for production');
    for (const box of await page.locator('[name=scopes]').all()) await box.uncheck();
    await page.getByText('Models, limits and expiry').click();
    await page.fill('[name=origins]', 'https://app.example.com');
    await press('Mint the key');
    const alert = page.getByRole('dialog').getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toMatch(
      /“May be used for” must be a list of 1 to \d items, each "listen", "transcribe"/,
    );
    expect(await page.inputValue('[name=name]')).toBe('A key for production');
    expect(await page.inputValue('[name=origins]')).toBe('https://app.example.com');
    await page.keyboard.press('Escape');
  });

  it('provider keys have a row for each provider with what is there', async () => {
    await go('Provider keys');
    await page.getByRole('row', { name: 'Deepgram' }).getByText('the service’s key').waitFor();
    await page.getByRole('row', { name: 'AssemblyAI' }).getByText('no key', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add a key of AssemblyAI' }).click();
    expect(await page.getByRole('combobox', { name: 'Provider' }).inputValue()).toBe('assemblyai');
    await page.keyboard.press('Escape');
  });

  it('show an unused provider in grey, and one that answered in green', async () => {
    await go('Overview');
    const tone = (name: string) => page.locator('li', { hasText: name }).locator('.badge').getAttribute('class');
    await page.locator('li', { hasText: 'deepgram' }).getByText('not used yet').waitFor();
    expect([await tone('local'), await tone('deepgram')]).toEqual(['badge good', 'badge quiet']);
  });

  it('tables are cards on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${live.url}/keys`);
    const cell = page.locator('td[data-title="Last used"]').first();
    await cell.waitFor();
    const box = await cell.boundingBox();
    expect(box!.width).toBeGreaterThan(300);
    const looks =
      'const td = document.querySelector(\'td[data-title="Last used"]\'); getComputedStyle(td, "::before").content';
    expect(await page.evaluate(looks)).toBe('"Last used"');
    await page.setViewportSize({ width: 1280, height: 800 });
    // Of the form that was refused.
    expect(complaints.filter((line) => !line.includes('400'))).toEqual([]);
  });
});
