// `npm run screenshots`: the pictures of the console in docs/images, taken with Chromium from a gateway of its own with simulated
// providers behind it and some traffic on it. Everything else is gone afterwards.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SENTENCE_ENCODING, SENTENCE_RATE, sentenceAudio } from '../src/cli/demo/sentence.ts';
import { call } from '../src/cli/shared/live-client.ts';
import { openLocalRecogniser } from '../src/cli/shared/local-recogniser.ts';
import { loadSettings } from '../src/cli/shared/settings.ts';
import { startGateway } from '../src/node/gateway.ts';
import { createLogger } from '../src/runtime/telemetry/log.ts';
import { SimulatorServer } from '../src/vendors/simulation/server.ts';
import { simulators } from '../src/vendors/simulators.ts';
import { chromium, type Page } from '../tools/playwright.ts';

const OUT = new URL('../docs/images/', import.meta.url).pathname;
const AUDIO = new URL('../test/fixtures/audio/', import.meta.url);
const PASSWORD = 'correct horse battery staple';
const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 780 };

interface Picture {
  name: string;
  path: string;
  size: typeof DESK;
  scheme: 'light' | 'dark';
  /** What is done before it is taken. */
  first?(page: Page): Promise<unknown>;
}

const PICTURES = (sessionId: string): Picture[] => [
  { name: 'overview', path: '/', size: DESK, scheme: 'light' },
  { name: 'overview-phone', path: '/', size: PHONE, scheme: 'dark' },
  {
    name: 'session',
    path: `/sessions/${sessionId}`,
    size: { width: 1280, height: 1240 },
    scheme: 'dark',
  },
  { name: 'sessions', path: '/sessions', size: DESK, scheme: 'light' },
  { name: 'playground', path: '/playground', size: { width: 1280, height: 1000 }, scheme: 'light', first: playSample },
  { name: 'keys-phone', path: '/keys', size: PHONE, scheme: 'light' },
];

async function playSample(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Play the sample' }).click();
  await page.locator('.badge', { hasText: 'ended' }).waitFor();
}

const closers: (() => unknown)[] = [];
try {
  const directory = mkdtempSync(join(tmpdir(), 'voxgate-'));
  closers.push(() => rmSync(directory, { recursive: true, force: true }));
  const ears = openLocalRecogniser({});
  closers.push(() => ears.close());
  await ears.warmUp();
  const pointed: Record<string, string> = {};
  const stages = new Map<string, SimulatorServer>();
  for (const simulator of simulators.filter(({ provider }) => ['deepgram', 'assemblyai'].includes(provider))) {
    const stage = await SimulatorServer.start({ simulator, ear: ears.ear, onFault: console.error });
    closers.push(() => stage.close());
    stages.set(simulator.provider, stage);
    const name = simulator.provider.toUpperCase();
    Object.assign(pointed, { [`VOXGATE_${name}_URL`]: stage.url, [`${name}_API_KEY`]: 'simulated' });
  }
  const settings = { VOXGATE_PORT: '0', VOXGATE_DATA_DIRECTORY: directory, VOXGATE_LOG_LEVEL: 'silent', ...pointed };
  const gateway = await startGateway({ config: loadSettings(settings), logger: createLogger('silent') });
  closers.push(() => {
    gateway.stop();
    return gateway.ended;
  });
  const { url } = gateway;
  const key = gateway.firstKey?.secret as string;
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  closers.push(() => browser.close());
  const page = await browser.newPage();
  await own(page, (await gateway.inviteFirstOwner()) as string);
  await transcribeFiles(url, key);
  await Promise.all([
    talk(url, key, { model: 'local/commands-en', times: 1 }),
    talk(url, key, { model: 'deepgram/nova-3', times: 1 }),
  ]);
  // The one that is watched: it fails over, and goes on.
  const controller = new AbortController();
  closers.push(() => controller.abort());
  const sessionId = await new Promise<string>((opened) => {
    const chain = { model: 'deepgram/nova-3', fallback: 'assemblyai/universal-streaming-english', times: 20 };
    talk(url, key, { ...chain, signal: controller.signal, opened }).catch(() => {});
  });
  await page.goto(`${url}/sessions/${sessionId}`);
  await delay(6_000);
  await stages.get('deepgram')?.close();
  await delay(4_000);
  mkdirSync(OUT, { recursive: true });
  for (const picture of PICTURES(sessionId)) await take(page, url, picture);
} finally {
  for (const close of closers.reverse()) await close();
}

/** Becomes the owner, and names two keys. */
async function own(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.fill('[name=email]', 'ada@example.com');
  await page.fill('[name=password]', PASSWORD);
  await page.click('button');
  await page.goto(`${new URL(link).origin}/keys`);
  for (const name of ['Production', 'Call centre']) {
    await page.getByRole('button', { name: 'Mint a key' }).click();
    await page.fill('[name=name]', name);
    await page.getByRole('button', { name: 'Mint the key' }).click();
    await page.locator('.secret code').waitFor();
    await page.reload();
    await page.getByRole('cell', { name, exact: true }).waitFor();
  }
}

async function transcribeFiles(url: string, key: string): Promise<void> {
  const files = [
    ['local/commands-en', 'thermostat.wav'],
    ['deepgram/nova-3', 'commands.wav'],
    ['local/digits-en', 'digits.wav'],
    ['deepgram/nova-2', 'garage.wav'],
    ['local/commands-en', 'navigation.wav'],
    ['deepgram/nova-3', 'forward.wav'],
  ] as const;
  for (const [model, file] of files) {
    const form = new FormData();
    form.set('model', model);
    form.set('file', new Blob([readFileSync(new URL(file, AUDIO))]), file);
    const headers = { Authorization: `Bearer ${key}` };
    await (await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })).text();
  }
}

interface Talk {
  model: string;
  fallback?: string;
  /** How often the sentence is said. */
  times: number;
  signal?: AbortSignal;
  opened?(sessionId: string): void;
}

async function talk(url: string, key: string, { times, opened, signal, ...models }: Talk): Promise<void> {
  await call({
    url,
    key,
    ...models,
    audio: Buffer.concat(Array.from({ length: times }, sentenceAudio)),
    encoding: SENTENCE_ENCODING,
    sampleRate: SENTENCE_RATE,
    signal: signal ?? new AbortController().signal,
    onEvent: (event) => {
      if (event.type === 'session_started') opened?.(event.session_id);
    },
    onSent: () => {},
  });
}

async function take(page: Page, url: string, { name, path, size, scheme, first }: Picture): Promise<void> {
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: scheme });
  await page.goto(url + path);
  await page.locator('h1').waitFor();
  await page.getByText('Loading…').first().waitFor({ state: 'detached' });
  await first?.(page);
  // A watched session tells what happens once a second.
  await delay(2_500);
  await page.evaluate('document.activeElement?.blur()');
  await page.screenshot({ path: join(OUT, `${name}.png`) });
}
