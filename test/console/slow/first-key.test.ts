// The console in a real browser: from the sign-up over the mail to a key, which a program then uses.

import { beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from '../../../tools/playwright.ts';
import { browserIsHere, openBrowser } from '../../fakes/processes/browser.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { EMAIL, logIn, openPage, signUp } from '../rig.ts';

let live: LiveGateway;
let browser: Browser;
let page: Page;
let complaints: string[];

// Without a browser there is nothing to be seen; it says so itself.
describe.skipIf(!browserIsHere)('a new person', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    live = await startLiveGateway();
    browser = await openBrowser();
    ({ page, complaints } = await openPage(browser));
  });

  it('signs up, and opens the link of the mail', async () => {
    await signUp(page, live.url);
  });

  it('gets the problem with a password explained, and keeps the input', async () => {
    await logIn(page, live.url, 'not this one at all');
    await page.locator('[role=alert]').waitFor();
    expect(await page.inputValue('[name=email]')).toBe(EMAIL);
  });

  it('mints a key that works, edits it and revokes it', async () => {
    await logIn(page, live.url);
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('button', { name: 'Mint a key' }).click();
    await page.fill('[name=name]', 'Checkout <b>');
    await page.getByRole('button', { name: 'Mint the key' }).click();
    const secret = await page.locator('.secret code').innerText();
    const balance = () => fetch(`${live.url}/v1/balance`, { headers: { Authorization: `Bearer ${secret}` } });
    expect((await balance()).status).toBe(200);

    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('Models, limits and expiry').click();
    await page.fill('[name=models]', 'local/*');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'local/*' }).waitFor();

    await page.getByRole('button', { name: 'Edit' }).click();
    await page.fill('[name=aliases]', 'best: local/commands-en');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('“best: local/commands-en” is not an alias').waitFor();
    await page.fill('[name=aliases]', 'best = local/nope');
    await page.getByRole('button', { name: 'Save' }).click();
    const field = page.locator('.field', { has: page.locator('[name=aliases]') });
    await field.getByRole('alert').getByText('There is no model local/nope').waitFor();
    expect(await page.locator('[name=aliases]').getAttribute('aria-invalid')).toBe('true');
    await page.fill('[name=aliases]', 'best = local/commands-en, loopback/numbered\nother = local/commands-en');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'aliases best, other' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await page.inputValue('[name=aliases]')).toContain('best = local/commands-en, loopback/numbered');
    await page.fill('[name=expires_at]', '2090-01-31T12:00');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('cell', { name: 'Checkout <b>' }).count()).toBe(1);

    // At the width of a small laptop every button of a row is there.
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('cell', { name: 'expires' }).waitFor();
    expect(await page.locator('section.table').evaluate((table) => table.scrollWidth - table.clientWidth)).toBe(0);

    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByRole('cell', { name: 'revoked' }).waitFor();
    expect((await balance()).status).toBe(401);
    expect(complaints.filter((line) => !line.includes('400'))).toEqual([]);
  });

  it('logs out, and the page shows nothing more', async () => {
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
  });
});
