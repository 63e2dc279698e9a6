// Records `commands.wav` with Chromium's own MediaRecorder, in slices of 250 ms as pages send them, for the tests: `npm run recorded-speech`.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { chromium } from '../tools/playwright.ts';

const WAV = fileURLToPath(new URL('../test/fixtures/audio/commands.wav', import.meta.url));
const OUTPUT = fileURLToPath(new URL('../test/fixtures/audio/formats/recorder/speech.webm', import.meta.url));

const RECORD = `(async () => {
  const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const stream = await navigator.mediaDevices.getUserMedia({ audio });
  const recorder = new MediaRecorder(stream, { mimeType: 'audio/webm;codecs=opus', audioBitsPerSecond: 16_000 });
  const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const stopped = new Promise((resolve) => (recorder.onstop = resolve));
  recorder.start(250);
  setTimeout(() => recorder.stop(), 6_000);
  await stopped;
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
})()`;

// Pages have a microphone on secure origins, and on this one.
const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<title>')).listen(0);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    `--use-file-for-fake-audio-capture=${WAV}`,
  ],
});
const page = await browser.newPage();
await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
const base64: string = await page.evaluate(RECORD);
writeFileSync(OUTPUT, Buffer.from(base64, 'base64'));
await browser.close();
server.close();
