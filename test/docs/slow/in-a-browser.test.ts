// The pages in a real browser, on a phone and on a desk: nothing is wider than what it stands in, and the search is found and used.

import { beforeAll, describe, expect, it } from 'vitest';
import { createDocuments } from '../../../src/docs/documents.ts';
import { providers } from '../../../src/vendors/index.ts';
import type { Browser } from '../../../tools/playwright.ts';
import { browserIsHere, openBrowser } from '../../fakes/processes/browser.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';

const { names } = createDocuments({ version: '', providers });

interface Box {
  scrollWidth: number;
  clientWidth: number;
  textContent: string | null;
}
interface Window {
  document: { documentElement: Box; querySelectorAll(selector: string): Iterable<Box> };
}

let live: LiveGateway;
let browser: Browser;

// It says itself why, when no browser is here.
describe.skipIf(!browserIsHere)('the pages', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    live = await startLiveGateway();
    browser = await openBrowser();
  });

  it.each([390, 1280, 1600])('fit their boxes at %i pixels, every table of them', async (width) => {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    const wide: string[] = [];
    for (const path of [
      '/',
      ...names.map((name) => (name === '' ? '/docs' : `/docs/${name}`)),
      '/docs/search?q=failover',
    ]) {
      await page.goto(`${live.url}${path}`);
      const found = await page.evaluate(() => {
        const { document } = globalThis as unknown as Window;
        return [document.documentElement, ...document.querySelectorAll('.table, nav')]
          .filter((box) => box.scrollWidth > box.clientWidth)
          .map(
            ({ scrollWidth, clientWidth, textContent }) =>
              `${scrollWidth} in ${clientWidth}: ${textContent?.slice(0, 40)}`,
          );
      });
      wide.push(...found.map((each) => `${path}: ${each}`));
    }
    expect(wide).toEqual([]);
    await page.close();
  });

  it('offer the search on each', async () => {
    const page = await browser.newPage();
    await page.goto(`${live.url}/docs/rest`);
    await page.fill('input[name=q]', 'insufficient_credit');
    await page.press('input[name=q]', 'Enter');
    await page.click('main .found a[href$="#insufficient_credit"]');
    expect(page.url()).toBe(`${live.url}/docs/reference/errors#insufficient_credit`);
    await page.close();
  });
});
