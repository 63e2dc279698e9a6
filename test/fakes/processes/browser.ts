// Chromium with a microphone that plays a file, for tests of what people see. It is closed after the tests of the file.
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { type Browser, chromium } from '../../../tools/playwright.ts';
import { samples } from './live-gateway.ts';
import { programOf } from './programs.ts';

const SPOKEN = 'commands.wav';
const WAV = fileURLToPath(new URL(`../../fixtures/audio/${SPOKEN}`, import.meta.url));
const program = programOf('chromium', 'chromium-browser', 'google-chrome');

/** What the microphone says, over and over. */
export const { turns: spokenTurns } = samples().find(({ file }) => file === SPOKEN) as ReturnType<
  typeof samples
>[number] & { turns: string[] };

/** Without a browser there is nothing to be seen. */
export const browserIsHere = program !== undefined;
if (!browserIsHere) console.log('No browser is tried: neither chromium nor google-chrome is on the PATH.');

const opened: Browser[] = [];
// Registered on import, so that one may also be opened before all tests.
afterAll(async () => {
  await Promise.all(opened.splice(0).map((browser) => browser.close()));
});

export async function openBrowser(...furtherArguments: readonly string[]): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: program as string,
    args: [
      '--no-sandbox',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${WAV}`,
      ...furtherArguments,
    ],
  });
  opened.push(browser);
  return browser;
}
