// From the first start of a gateway to its second member, in a real browser: the owner's link, a key, the playground, a failover
// that is watched, its bill and its replay, an invitation, and a provider key with which a session costs nothing.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from '../../../tools/playwright.ts';
import { audioPath, browserIsHere, openBrowser, spokenTurns } from '../../fakes/processes/browser.ts';
import { Serving } from '../../fakes/processes/serving.ts';
import { startVoxgate } from '../../fakes/processes/voxgate.ts';
import { choose, openPage, PASSWORD } from '../rig.ts';

const OWNER = 'ada@example.com';
const SECOND = 'grace@example.com';
const FROM = 'deepgram/nova-3';
const TO = 'assemblyai/universal-streaming-english';

const children: ReturnType<typeof startVoxgate>[] = [];
let gateway: Serving;
let browser: Browser;
let page: Page;
let complaints: string[];
/** Of the session that failed over. */
let watched: Page;

/** Its address, and the settings of a gateway that takes it for the real provider. */
async function simulated(provider: string): Promise<Record<string, string>> {
  const child = startVoxgate(['simulate', provider, '--port', '0']);
  children.push(child);
  let printed = '';
  while (!/http:\S+/.test(printed)) printed += (await once(child.stdout, 'data'))[0];
  const name = provider.toUpperCase();
  return { [`VOXGATE_${name}_URL`]: /http:\S+/.exec(printed)?.[0] ?? '', [`${name}_API_KEY`]: 'simulated' };
}

const go = (name: string, on = page) => on.getByRole('link', { name, exact: true }).click();
const press = (name: string, on = page) => on.getByRole('button', { name, exact: true }).click();
const finals = () => page.locator('.transcript .final').allInnerTexts();
const heard = (text: string) => page.locator('.transcript .final', { hasText: text }).first().waitFor();
const ended = () => page.locator('.badge', { hasText: 'ended' }).waitFor();

/** The sample that the simulators and the grammar recognise exactly. */
async function playCommands(): Promise<void> {
  await page.setInputFiles('input[type=file]', audioPath('commands.wav'));
  await ended();
  expect(await finals()).toEqual(spokenTurns);
}

async function joinBy(who: Page, link: string, email?: string): Promise<void> {
  await who.goto(link);
  if (email !== undefined) await who.fill('[name=email]', email);
  await who.fill('[name=password]', PASSWORD);
  await press('Join', who);
  await go('Go to the console', who);
  await who.getByRole('heading', { name: 'Overview' }).waitFor();
}

// Without a browser there is nothing to be seen; it says so itself.
describe.skipIf(!browserIsHere)('a person who starts a gateway', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    const env = { ...(await simulated('deepgram')), ...(await simulated('assemblyai')) };
    gateway = await Serving.start({ env });
    browser = await openBrowser();
    ({ page, complaints } = await openPage(browser));
  }, 120_000);
  afterAll(() => {
    for (const child of children) child.kill();
  });

  it('becomes its owner by the link of the first start, which works once', async () => {
    const link = readFileSync(join(gateway.directory, 'first-owner'), 'utf8').trim();
    await joinBy(page, link, OWNER);
    const other = await openPage(browser);
    await other.page.goto(link);
    await other.page
      .getByText(/used|expired/)
      .first()
      .waitFor();
    await other.page.close();
  });

  it('mints a key, which a program uses at once', async () => {
    await go('Keys');
    await press('Mint a key');
    await page.fill('[name=name]', 'Checkout');
    await press('Mint the key');
    const secret = await page.locator('.secret code').innerText();
    const answer = await fetch(`${gateway.url}/v1/balance`, { headers: { Authorization: `Bearer ${secret}` } });
    expect(answer.status).toBe(200);
  });

  it('transcribes the sample and the microphone through the embedded recogniser', async () => {
    await go('Playground');
    await choose(page, 'Model', 'local/commands-en');
    await playCommands();
    await press('Speak');
    await heard(spokenTurns[1] as string);
    await press('Stop');
    await ended();
  });

  it('breaks the provider while speaking, sees the failover in the live charts, and loses no word', async () => {
    await choose(page, 'Model', FROM);
    await choose(page, 'Fallbacks, in order', TO);
    await press('Speak');
    const opened = page.waitForEvent('popup');
    await go('Watch this session');
    watched = await opened;
    await watched.locator('.chart .state.is-current').first().waitFor();
    expect(await watched.locator('.summary dt', { hasText: 'Cost so far' }).count()).toBe(0);
    await heard(spokenTurns[0] as string);
    await press('Break the provider');
    await page.locator('.takeover', { hasText: TO }).waitFor();
    await watched.getByRole('cell', { name: 'failover' }).first().waitFor();
    await watched.getByRole('cell', { name: TO }).first().waitFor();
    await heard(spokenTurns.at(-1) as string);
    await press('Stop');
    await ended();
    // The microphone begins again after the last; what it is at is cut off.
    expect((await finals()).slice(0, spokenTurns.length)).toEqual(spokenTurns);
  });

  it('finds it on the bill', async () => {
    await go('Usage and bills');
    for (const model of [FROM, TO]) await page.getByRole('cell', { name: model }).waitFor();
    const opened = page.waitForEvent('popup');
    await press('Open to print');
    const bill = await opened;
    for (const model of [FROM, TO]) await bill.getByText(model).first().waitFor();
    await bill.close();
  });

  it('replays the session after its end, step by step', async () => {
    await watched.reload();
    await press('One step back', watched);
    await watched.locator('.chart .state.is-current').first().waitFor();
    await watched.close();
  });

  it('invites another person, who joins and sees what the role allows', async () => {
    await go('Members');
    await press('Invite somebody');
    await page.fill('dialog [name=email]', SECOND);
    await press('Invite');
    const link = await page.locator('.secret code').innerText();
    const second = await openPage(browser);
    await joinBy(second.page, link);
    await go('Keys', second.page);
    await second.page.getByRole('cell', { name: 'Checkout' }).waitFor();
    expect(await second.page.getByRole('link', { name: 'Audit' }).count()).toBe(0);
    expect(second.complaints).toEqual([]);
    await second.page.close();
    await page.reload();
    await page.getByRole('cell', { name: SECOND }).waitFor();
  });

  it('stores a provider key, with which a session costs nothing', async () => {
    await go('Provider keys');
    await press('Add a key');
    await page.getByRole('combobox', { name: 'Provider' }).selectOption('deepgram');
    await page.locator('dialog input[type=password]').fill('my-own-deepgram-key');
    await press('Test and keep');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await go('Playground');
    await choose(page, 'Model', FROM);
    await playCommands();
    await go('Usage and bills');
    await page.getByRole('row', { name: new RegExp(`${FROM}.*your own key.*\\$0\\.00$`) }).waitFor();
    expect(complaints).toEqual([]);
  });
});
