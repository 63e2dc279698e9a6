// Every page of the console in a real browser: by axe, signed out and in, light and dark, at the width of a desk and of a phone; by
// keyboard; and that nothing is asked of anybody but the gateway, and no other site can put it into a frame.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { CONSOLE_PATHS } from '../../../src/api/console/pages.ts';
import { axe } from '../../../tools/axe.ts';
import type { Browser, Page } from '../../../tools/playwright.ts';
import { browserIsHere, openBrowser } from '../../fakes/processes/browser.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { logIn, openPage, signUp } from '../rig.ts';

let live: LiveGateway;
let browser: Browser;
let page: Page;
const asked = new Set<string>();

const LOOKS = [
  { colorScheme: 'light', width: 1440, height: 900 },
  { colorScheme: 'dark', width: 1440, height: 900 },
  { colorScheme: 'light', width: 390, height: 844 },
] as const;
const paths = CONSOLE_PATHS.map((path) =>
  path.replace(':provider/:model', 'local/commands-en').replace(':id', 'ses_of_nobody'),
);

/** Serious and critical findings, in every look. */
async function findings(path: string): Promise<string[]> {
  const found: string[] = [];
  for (const { colorScheme, width, height } of LOOKS) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    await page.goto(live.url + path);
    await page.locator('h1').waitFor();
    await page.getByText('Loading…').first().waitFor({ state: 'detached' });
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() =>
      (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }),
    );
    const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    found.push(
      ...grave.map(({ id, nodes }) => `${id} (${colorScheme}, ${width}): ${nodes.map(({ html }) => html).join(' | ')}`),
    );
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    if ((overflow as number) > 0) found.push(`wider than the window by ${overflow} (${width})`);
  }
  return found;
}

const focused = () => page.evaluate<string>('document.activeElement?.textContent?.trim() ?? ""');

// Without a browser there is nothing to be seen; it says so itself.
describe.skipIf(!browserIsHere)('the pages of the console', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    live = await startLiveGateway();
    browser = await openBrowser();
    ({ page } = await openPage(browser));
    page.on('request', (request) => asked.add(request.url()));
    await signUp(page, live.url);
  });

  it('pass axe before the login', async () => {
    expect(await findings('/')).toEqual([]);
  });

  it.each(['/docs', '/docs/guides/failover', '/docs/reference/models', '/docs/live', '/docs/search?q=failover'])(
    'pass axe in the docs, such as %s',
    async (path) => {
      expect(await findings(path)).toEqual([]);
    },
  );

  it('copy code blocks in the docs, and unfold their menu on a phone', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: live.url });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${live.url}/docs/guides/failover`);
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm run -s voxgate -- demo');
    const back = page.getByRole('link', { name: 'Back to the console' });
    expect(await back.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Simulated providers', exact: true }).first().waitFor();
    await back.click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
  });

  it('appear after the login', async () => {
    await logIn(page, live.url);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it.each(paths)('pass axe at %s, within the width of the window', async (path) => {
    expect(await findings(path)).toEqual([]);
  });

  it('work by keyboard: past the menu or through it, with visible focus', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${live.url}/keys`);
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    const behind: string[] = [];
    while (behind.at(-1) !== 'Skip to the page' && behind.length < 40) {
      await page.keyboard.press('Shift+Tab');
      behind.push(await focused());
    }
    expect(behind).toEqual(expect.arrayContaining(['Log out', 'Settings', 'Keys', 'Overview', 'Skip to the page']));
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Mint a key');
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    expect(outline).toBe('solid');
  });

  it('give the focus to a dialog, keep it there, and give it back', async () => {
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    const isInside = () =>
      page.evaluate('document.activeElement.closest("dialog") !== null || document.activeElement === document.body');
    for (let presses = 0; presses < 25; presses++) {
      expect(await isInside()).toBe(true);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await focused()).toBe('Mint a key');
  });

  it('load from their gateway only', () => {
    expect(asked.size).toBeGreaterThan(20);
    expect([...asked].filter((url) => !url.startsWith(live.url) && !/^(?:data|blob):/.test(url))).toEqual([]);
  });

  it('refuse every frame of another site', async () => {
    const other = createServer((_, answer) => {
      answer.setHeader('Content-Type', 'text/html');
      answer.end(
        ['/', '/keys', '/docs', '/verify?token=x'].map((path) => `<iframe src="${live.url}${path}"></iframe>`).join(''),
      );
    });
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const { port } = other.address() as AddressInfo;
    const refused: string[] = [];
    page.on('console', (message) => refused.push(message.text()));
    await page.goto(`http://localhost:${port}/`);
    const frames = page.frames().filter((frame) => frame !== page.mainFrame());
    expect(frames.length).toBe(4);
    expect(frames.map((frame) => frame.url()).filter((url) => url.startsWith(live.url))).toEqual([]);
    expect(refused.filter((line) => line.includes('frame-ancestors')).length).toBe(4);
    other.close();
    other.closeAllConnections();
  });
});
