// Replacement rules of a key in a real browser: rows are added, refused with the gateway's sentence, changed and removed, and a request of
// the key has them.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from '../../../tools/playwright.ts';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { browserIsHere, openBrowser } from '../../fakes/processes/browser.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { logIn, openPage, signUp } from '../rig.ts';

let live: LiveGateway;
let browser: Browser;
let page: Page;
let complaints: string[];
let secret: string;

// Without a browser there is nothing to be seen; it says so itself.
describe.skipIf(!browserIsHere)('the editor of replacement rules', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    live = await startLiveGateway();
    browser = await openBrowser();
    ({ page, complaints } = await openPage(browser));
    await signUp(page, live.url);
    await logIn(page, live.url);
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('button', { name: 'Mint a key' }).click();
    await page.fill('[name=name]', 'Checkout');
    await page.getByRole('button', { name: 'Mint the key' }).click();
    secret = await page.locator('.secret code').innerText();
  });

  const row = (number: number) => page.getByRole('group', { name: `Rule ${number}`, exact: true });
  const save = () => page.getByRole('button', { name: 'Save' }).click();
  /** Until the list of keys is loaded again. */
  const saved = async () => {
    const isList = (response: { url(): string; request(): { method(): string } }) =>
      response.request().method() === 'GET' && new URL(response.url()).pathname.endsWith('/keys');
    const loaded = page.waitForResponse(isList);
    await save();
    await (await loaded).finished();
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
  };
  const edit = async () => {
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Save' }).waitFor();
    if ((await page.locator('dialog details[open]').count()) === 0)
      await page.getByText('Models, limits and expiry').click();
    await page.getByRole('button', { name: 'Add a rule' }).waitFor();
  };

  async function transcribed(text: string): Promise<string> {
    const form = new FormData();
    form.append('model', 'loopback/script');
    form.append('response_format', 'text');
    form.append('provider_params', JSON.stringify({ turns: [{ text, seconds: 1 }] }));
    form.append('file', new Blob([new Uint8Array(silentWav(1))]), 'a.wav');
    const headers = { Authorization: `Bearer ${secret}` };
    const response = await fetch(`${live.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form });
    return (await response.text()).trim();
  }

  it('adds rules with the keyboard alone, which requests of the key then have', async () => {
    await edit();
    await page.getByRole('button', { name: 'Add a rule' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('vox gate');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Voxgate');
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await row(2).getByLabel('Heard').fill('[BLANK]');
    await row(2).getByLabel('Matches').selectOption('literal');
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await saved();
    await page.getByRole('cell', { name: '2 replacement rules' }).waitFor();
    expect(await transcribed('Vox gate [BLANK] is ready.')).toBe('Voxgate is ready.');
  });

  it('shows a wrong rule in the gateway’s words, and keeps what was typed', async () => {
    await edit();
    await row(1).getByLabel('Language').fill('English!');
    await save();
    const rules = page.getByRole('group', { name: 'Replacement rules' });
    const alert = rules.getByRole('alert');
    await alert.getByText('must be a BCP-47 tag such as en or fr-CA').waitFor();
    expect(await alert.innerText()).toContain('“Replacement rules” has an invalid rule, number 1');
    expect(await row(1).getByLabel('Language').inputValue()).toBe('English!');
    await row(1).getByLabel('Language').fill('en');
    await saved();
  });

  it('shows the rules again, and removes them', async () => {
    await edit();
    expect(await row(1).getByLabel('Written').inputValue()).toBe('Voxgate');
    expect(await row(1).getByLabel('Language').inputValue()).toBe('en');
    expect(await row(2).getByLabel('Matches').inputValue()).toBe('literal');
    await page.getByRole('button', { name: 'Remove rule 1' }).click();
    expect(await row(1).getByLabel('Heard').inputValue()).toBe('[BLANK]');
    await saved();
    await page.getByRole('cell', { name: '1 replacement rule' }).waitFor();
    await edit();
    await page.getByRole('button', { name: 'Remove rule 1' }).click();
    await saved();
    await page.getByRole('cell', { name: 'replacement rule' }).waitFor({ state: 'detached' });
    expect(complaints.filter((line) => !line.includes('400'))).toEqual([]);
  });
});
