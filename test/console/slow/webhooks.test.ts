// The page of webhooks in a real browser: one is added, tested, fails, is sent again, rolled and deleted.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from '../../../tools/playwright.ts';
import { browserIsHere, openBrowser } from '../../fakes/processes/browser.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { logIn, openPage, signUp } from '../rig.ts';

let live: LiveGateway;
let page: Page;
let complaints: string[];
let url: string;
let status = 500;

// Without a browser there is nothing to be seen; it says so itself.
describe.skipIf(!browserIsHere)('the page of webhooks', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(status).end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    afterAll(() => server.close());
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    live = await startLiveGateway({ VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8' });
    ({ page, complaints } = await openPage(await openBrowser()));
    await signUp(page, live.url);
    await logIn(page, live.url);
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  });

  it('adds one, and shows its secret once', async () => {
    await page.getByRole('button', { name: 'Add a webhook' }).click();
    await page.fill('[name=url]', 'https://10.0.0.1/');
    await page.getByRole('button', { name: 'Add the webhook' }).click();
    await page.getByText('is in a private or reserved network').waitFor();
    await page.fill('[name=url]', url);
    await page.getByLabel('A live session ended').uncheck();
    await page.getByRole('button', { name: 'Add the webhook' }).click();
    expect(await page.locator('.secret code').innerText()).toMatch(/^whsec_/);
    await page.getByRole('cell', { name: url }).waitFor();
    expect(await page.getByRole('cell', { name: 'session.ended' }).count()).toBe(0);
  });

  it('tests it, shows its attempts, and sends a delivery again', async () => {
    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByRole('cell', { name: 'webhook.test' }).waitFor();
    await page.getByRole('cell', { name: '500' }).waitFor();
    status = 204;
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('delivered', { exact: true }).waitFor();
  });

  it('changes it, replaces its secret, and deletes it', async () => {
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.fill('[name=description]', 'the accounting');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('the accounting').waitFor();
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('by a member').waitFor();
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('enabled').waitFor();
    await page.getByRole('button', { name: 'Roll' }).click();
    await page.getByRole('button', { name: 'Replace the secret' }).click();
    await page.getByText('former secret ends').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the webhook' }).click();
    await page.getByText('No webhook yet').waitFor();
    expect(complaints.filter((each) => !each.includes('400'))).toEqual([]);
  });
});
