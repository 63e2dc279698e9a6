// A team in real browsers: people are invited by mail, with an account and without one, work in several organisations, and go.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from '../../../tools/playwright.ts';
import { startMailServer, type TestMailServer } from '../../fakes/network/mail-server.ts';
import { browserIsHere, openBrowser } from '../../fakes/processes/browser.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { logIn, openPage, PASSWORD } from '../rig.ts';

const [ADA, GRACE, EVA] = ['ada@example.com', 'grace@example.com', 'eva@example.com'];

let live: LiveGateway;
let mail: TestMailServer;
let browser: Browser;
let ada: Page;
let grace: Page;
const complaints: string[][] = [];

async function somebody(): Promise<Page> {
  const opened = await openPage(browser);
  complaints.push(opened.complaints);
  return opened.page;
}

async function signUp(page: Page, email: string, organisation: string): Promise<void> {
  await page.goto(live.url);
  await page.getByText('Sign up').click();
  await page.fill('[name=email]', email);
  await page.fill('[name=password]', PASSWORD);
  await page.fill('[name=organisation]', organisation);
  await page.click('button[type=submit]');
  await page.goto(await mail.link(email));
  await page.fill('[name=password]', PASSWORD);
  await page.click('button');
  await page.getByText('Your account is open').waitFor();
  await logIn(page, live.url, PASSWORD, email);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

async function invite(email: string, role: string): Promise<void> {
  await ada.getByRole('link', { name: 'Members' }).click();
  await ada.getByRole('button', { name: 'Invite somebody' }).click();
  await ada.fill('dialog [name=email]', email);
  await ada.locator('dialog label', { hasText: role }).click();
  await ada.getByRole('button', { name: 'Invite', exact: true }).click();
  await ada.getByText(`on its way to ${email}`).waitFor();
}

const members = (page: Page) => page.getByRole('region', { name: 'Members' });
const rowOf = (email: string) => ada.getByRole('row', { name: new RegExp(email) });

// Without a browser there is nothing to be seen; it says so itself.
describe.skipIf(!browserIsHere)('a team', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    mail = await startMailServer();
    live = await startLiveGateway({ VOXGATE_SMTP_URL: mail.url });
    browser = await openBrowser();
    ada = await somebody();
    await signUp(ada, ADA, 'Example Voice');
  });
  afterAll(() => mail?.close());

  it('gains a person without an account, who lands in the console with the role', async () => {
    await invite(GRACE, 'Developer');
    grace = await somebody();
    await grace.goto(await mail.link(GRACE));
    await grace.getByText('a developer of the organisation “Example Voice”').waitFor();
    await grace.fill('[name=password]', PASSWORD);
    await grace.getByRole('button', { name: 'Join' }).click();
    await grace.getByRole('link', { name: 'Go to the console' }).click();
    await grace.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await grace.getByRole('link', { name: 'Audit' }).count()).toBe(0);
    await grace.getByRole('link', { name: 'Members' }).click();
    await members(grace).getByText(ADA).waitFor();
    expect(await grace.getByRole('button', { name: 'Invite somebody' }).count()).toBe(0);
  });

  it('gains a logged-in person at one click, who then switches between two organisations', async () => {
    const eva = await somebody();
    await signUp(eva, EVA, 'Eva’s own');
    await invite(EVA, 'Read only');
    await eva.goto(await mail.link(EVA, 2));
    await eva.getByText('as which you are logged in here').waitFor();
    await eva.getByRole('button', { name: 'Join' }).click();
    await eva.getByRole('link', { name: 'Go to the console' }).click();
    const organisation = eva.getByLabel('Organisation');
    await organisation.waitFor();
    expect(await organisation.locator('option').allInnerTexts()).toEqual([
      'Eva’s own',
      'Example Voice',
      'New organisation…',
    ]);
    expect(await eva.getByRole('link', { name: 'Keys', exact: true }).count()).toBe(0);
    await organisation.selectOption('Eva’s own');
    await eva.getByRole('link', { name: 'Keys', exact: true }).waitFor();
    await organisation.selectOption('New organisation…');
    await eva.fill('dialog [name=name]', 'A third');
    await eva.getByRole('button', { name: 'Make it' }).click();
    await eva.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await organisation.locator('option:checked').innerText()).toBe('A third');
  });

  it('offers a switch to a person who opens a link with another login', async () => {
    await invite('new@example.com', 'Developer');
    await grace.goto(await mail.link('new@example.com'));
    await grace.getByText(`You are logged in as ${GRACE}`).waitFor();
    await grace.getByRole('link', { name: 'go back to the console' }).click();
    await grace.getByRole('heading', { name: 'Overview' }).waitFor();
    await ada.getByRole('button', { name: 'Withdraw', exact: true }).click();
    await ada.getByRole('button', { name: 'Withdraw it' }).click();
    await ada.getByText('Nobody is invited at the moment.').waitFor();
    await grace.goto(await mail.link('new@example.com'));
    await grace.getByText('used or withdrawn').waitFor();
  });

  it('changes roles in place, keeps its last owner, and loses removed members', async () => {
    await ada.reload();
    await ada.getByLabel(`Role of ${GRACE}`).selectOption('Admin');
    await grace.goto(`${live.url}/audit`);
    await grace.getByRole('cell', { name: 'member.role-changed' }).first().waitFor();
    await ada.getByRole('button', { name: 'Leave', exact: true }).click();
    await ada.getByRole('button', { name: 'Leave the organisation' }).click();
    await ada.locator('dialog [role=alert]', { hasText: 'Make another member an owner first' }).waitFor();
    await ada.getByRole('button', { name: 'Cancel' }).click();
    await rowOf(GRACE).getByRole('button', { name: 'Remove' }).click();
    await ada.getByRole('button', { name: 'Remove the member' }).click();
    await rowOf(GRACE).waitFor({ state: 'detached' });
    await grace.getByRole('link', { name: 'Members' }).click();
    await grace.getByRole('heading', { name: 'Log in' }).waitFor();
  });

  it('shows credit and bill after the password, and asks nothing unprompted', async () => {
    const database = new Database(join(live.directory, 'voxgate.db'));
    const forget = () => database.prepare('UPDATE console_sessions SET confirmed_at_ms = 0').run();
    const give = async () => {
      await ada.fill('dialog [name=password]', PASSWORD);
      await ada.getByRole('button', { name: 'Go on' }).click();
    };
    forget();
    await ada.getByRole('link', { name: 'Overview' }).click();
    const show = ada.getByRole('button', { name: 'Show credit' });
    await show.waitFor();
    expect(await ada.getByRole('dialog').count()).toBe(0);
    await show.click();
    await give();
    await ada.getByText('$2.00').waitFor();
    forget();
    await ada.getByRole('link', { name: 'Usage and bills' }).click();
    const opened = ada.waitForEvent('popup');
    await ada.getByRole('button', { name: 'Open to print' }).click();
    await give();
    const bill = await opened;
    await bill.getByRole('heading', { name: /^Bill for/ }).waitFor();
    await bill.close();
    const download = ada.waitForEvent('download');
    await ada.getByRole('button', { name: 'Download as CSV' }).click();
    expect((await download).suggestedFilename()).toMatch(/^voxgate-.*\.csv$/);
    database.close();
    const unexpected = complaints.flat().filter((line) => !/\b(403|409|400)\b/.test(line));
    expect(unexpected).toEqual([]);
  });
});
