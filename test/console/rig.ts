// A person in a real browser before a gateway's console.
import type { Browser, Page } from '../../tools/playwright.ts';

export const EMAIL = 'ada@example.com';
export const PASSWORD = 'correct horse battery staple';

/** `complaints`: errors of the page, and what its policy kept from it. Whoever is not logged in is told so by 401. */
export async function openPage(browser: Browser): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('401')) complaints.push(message.text());
  });
  return { page, complaints };
}

/** From the sign-up to the page that the mail's link leads to. */
export async function signUp(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/`);
  await page.getByText('Sign up').click();
  await page.fill('[name=email]', EMAIL);
  await page.fill('[name=password]', PASSWORD);
  await page.fill('[name=organisation]', 'Example Voice');
  await page.click('button[type=submit]');
  await page.getByText('read them').click();
  const link = page.locator('pre a');
  while ((await link.count()) === 0) await page.reload();
  await link.click();
  await page.fill('[name=password]', PASSWORD);
  await page.click('button');
  await page.getByText('Your account is open').waitFor();
}

/** Of a list of models that is searched by typing. */
export async function choose(page: Page, list: string, model: string): Promise<void> {
  const field = page.getByRole('combobox', { name: list, exact: true });
  await field.click();
  await field.fill(model);
  await page.getByRole('option', { name: model }).first().click();
}

export async function logIn(page: Page, url: string, password = PASSWORD, email = EMAIL): Promise<void> {
  await page.goto(`${url}/`);
  await page.fill('[name=email]', email);
  await page.fill('[name=password]', password);
  await page.click('button[type=submit]');
}
