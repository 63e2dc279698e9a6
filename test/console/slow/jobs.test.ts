// The page of jobs in a real browser: a completed job with its text, one that waits and is cancelled, and one that is deleted.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from '../../../tools/playwright.ts';
import { browserIsHere, openBrowser } from '../../fakes/processes/browser.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { logIn, openPage, signUp } from '../rig.ts';

let live: LiveGateway;
let page: Page;
let complaints: string[];
let key: string;
/** Requests of the model `custom/held`, which get no answer. */
const held: ServerResponse[] = [];

async function send(model: string, name: string): Promise<void> {
  const form = new FormData();
  form.append('model', model);
  form.append('tags', 'customer:acme');
  form.append('file', new Blob([sampleAudio('commands.wav').bytes], { type: 'audio/wav' }), name);
  const headers = { Authorization: `Bearer ${key}` };
  const { status } = await fetch(`${live.url}/v1/jobs`, { method: 'POST', headers, body: form });
  expect(status).toBe(202);
}

const LONG = 'second-recording-of-a-very-long-name-in-one-word-2026-11-29.wav';
const rowOf = (name: string) => page.getByRole('row', { name });

// Without a browser there is nothing to be seen; it says so itself.
describe.skipIf(!browserIsHere)('the page of jobs', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    const server = createServer((request, response) => {
      request.resume().on('end', () => held.push(response));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    afterAll(() => {
      server.close();
      server.closeAllConnections();
    });
    const directory = temporaryDirectory();
    const config = join(directory, 'voxgate.json');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const models = [{ name: 'held', model: 'held-1', batch: '0.6' }];
    writeFileSync(config, JSON.stringify({ custom: [{ shape: 'openai', url, models }] }));
    live = await startLiveGateway({ VOXGATE_DATA_DIRECTORY: directory, VOXGATE_CONFIG: config });
    ({ page, complaints } = await openPage(await openBrowser()));
    await signUp(page, live.url);
    await logIn(page, live.url);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const made = await page.evaluate<{ secret: string }>(`fetch('/console/api/keys', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Requested-With': 'console' },
      body: JSON.stringify({ name: 'batch', sessions_max: 1 }),
    }).then((answer) => answer.json())`);
    key = made.secret;
  });

  it('says how a key gets its first job', async () => {
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByText('This key has no jobs').waitFor();
  });

  it('shows a completed job, and its text once an owner has switched that on', async () => {
    await send('local/commands-en', 'done.wav');
    const row = rowOf('done.wav');
    await row.getByText('completed', { exact: true }).waitFor();
    await row.getByRole('link', { name: 'customer: acme' }).waitFor();
    await row.getByRole('button', { name: 'done.wav' }).click();
    await page.getByRole('dialog').getByText('does not show transcripts here').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Show transcripts' }).click();
    await page.getByRole('button', { name: 'Hide transcripts' }).waitFor();
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await rowOf('done.wav').getByRole('button', { name: 'done.wav' }).click();
    await page.getByRole('dialog').getByText('kitchen lights').waitFor();
    await page.keyboard.press('Escape');
  });

  it('fits a long name on a phone, cancels a job that waits, and finds it by its status', async () => {
    await send('custom/held', 'first.wav');
    await send('custom/held', LONG);
    const row = rowOf(LONG);
    await row.getByText('queued', { exact: true }).waitFor();
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    }
    await row.getByRole('button', { name: 'Cancel' }).click();
    await row.getByText('cancelled', { exact: true }).waitFor();
    expect(await row.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    await page.locator('[name=status]').selectOption('cancelled');
    await rowOf('done.wav').waitFor({ state: 'detached' });
    await row.waitFor();
    expect(page.url()).toContain('status=cancelled');
  });

  it('deletes one, after a confirmation', async () => {
    await rowOf(LONG).getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the job' }).click();
    await page.getByText('No jobs of this key match').waitFor();
    expect(complaints).toEqual([]);
  });
});
