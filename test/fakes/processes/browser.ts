// Chromium with a microphone that plays a file, for tests of what people see. It is closed after the tests of the file.
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { type Browser, chromium } from '../../../tools/playwright.ts';
import { samples } from './live-gateway.ts';
import { programOf } from './programs.ts';

const SPOKEN = 'commands.wav';
/** The path of a sample. */
export const audioPath = (file: string): string =>
  fileURLToPath(new URL(`../../fixtures/audio/${file}`, import.meta.url));
/** The argument of a browser whose microphone plays a sample, over and over. */
export const microphonePlays = (file: string): string => `--use-file-for-fake-audio-capture=${audioPath(file)}`;
const program = programOf('chromium', 'chromium-browser', 'google-chrome');

/** What the microphone says when no other sample is named. */
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
      // The last one of each counts.
      microphonePlays(SPOKEN),
      ...furtherArguments,
    ],
  });
  opened.push(browser);
  return browser;
}
