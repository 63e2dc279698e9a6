// The console's pages and files, the documents, and every command, of the built program: in the checkout, as `npm start` runs it, and of the
// installed package.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CONSOLE_PATHS } from '../../../src/api/console/pages.ts';
import { commands } from '../../../src/cli/index.ts';
import type { Serving } from '../../fakes/processes/serving.ts';
import { UNDER_TEST, voxgateProcess } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { CHECKOUT, installPackage, type Program, serve } from '../rig.ts';

const AUDIO = 'test/fixtures/audio/yes.wav';
const HTML = { Accept: 'text/html' };
const DOCUMENTS = ['/docs', '/openapi.json', '/asyncapi.json', '/healthz', '/readyz', '/metrics'];

// Both at once: much of it is speech in real time.
describe.concurrent.each([
  ['the checkout', () => CHECKOUT],
  ['the installed package', installPackage],
])('%s', (_, program) => {
  let installed: Program;
  let gateway: Serving;
  beforeAll(async () => {
    installed = program();
    gateway = await serve(installed);
  });

  const run = (line: string, env: Record<string, string> = {}) =>
    voxgateProcess(
      line.split(' '),
      { ...installed.env, VOXGATE_DATA_DIRECTORY: gateway.directory, ...env },
      installed.path,
    );

  it.sequential('serves each page of the console and every file that a page loads', async () => {
    for (const path of CONSOLE_PATHS) {
      const answer = await fetch(gateway.url + path.replaceAll(/:\w+/g, 'some'), { headers: HTML });
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
      ]);
    }
    const page = await (await fetch(`${gateway.url}/`, { headers: HTML })).text();
    const files = [...page.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, path = '']) => path);
    const scripts = files.filter((path) => path.endsWith('.js'));
    expect(scripts.length).toBeGreaterThan(0);
    const text = await (await fetch(gateway.url + scripts[0])).text();
    const later = [...text.matchAll(/["'`]\.?\/?(assets\/[\w-]+\.(?:js|css))["'`]/g)].map(
      ([, path]) => `/console/${path}`,
    );
    for (const path of [...files, ...later]) {
      const answer = await fetch(new URL(path, gateway.url));
      expect([path, answer.status, (await answer.arrayBuffer()).byteLength > 0]).toEqual([path, 200, true]);
    }
  });

  it.sequential.each(DOCUMENTS)('serves %s', async (path) => {
    const answer = await fetch(gateway.url + path, { headers: HTML });
    expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
  });

  it.sequential.each(commands.map(({ name }) => name))('loads the command %s', async (name) => {
    expect(await run(`${name} --help`)).toMatchObject({
      code: 0,
      errors: '',
      output: expect.stringMatching(/^Usage: /),
    });
  });

  it.sequential.each([
    ['models --filter local', 'local/commands-en'],
    ['config check', 'The configuration can be used.'],
    ['keys list', 'key_'],
    ['orgs list', 'org_'],
    ['ledger audit', 'The ledger agrees.'],
    ['vault status', 'The current key of the vault'],
    [`transcribe ${AUDIO}`, 'Yes.'],
    [`transcribe ${AUDIO} --live`, 'Yes.'],
    ['simulate google --list', 'close-after'],
  ])('runs `voxgate %s`', async (line, words) => {
    expect(await run(line)).toMatchObject({ code: 0, output: expect.stringContaining(words) });
  });

  it.sequential('transcribes through the gateway that runs, which then has a bill and its audit', async () => {
    const target = `--url ${gateway.url} --key ${gateway.key}`;
    for (const how of ['', ' --live']) {
      expect(await run(`transcribe ${AUDIO}${how} ${target}`)).toMatchObject({ code: 0, output: 'Yes.\n' });
    }
    const [organisation] = /org_[\w-]+/.exec((await run('orgs list')).output) ?? [];
    expect((await run(`usage ${organisation} --by model`)).output).toContain('local/dictation-en');
    expect((await run('ledger audit')).code).toBe(0);
  });

  it.sequential('runs the demo', async () => {
    expect(await run('demo')).toMatchObject({ code: 0, output: expect.stringContaining('failover') });
  });
});

it('starts with `npm start`', async () => {
  const env = { ...process.env, ...UNDER_TEST, VOXGATE_PORT: '0', VOXGATE_DATA_DIRECTORY: temporaryDirectory() };
  const started = spawn('npm', ['start'], { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  onTestFinished(() => void process.kill(-(started.pid as number), 'SIGKILL'));
  for await (const line of createInterface({ input: started.stdout })) {
    if (!line.startsWith('{')) continue;
    const { msg, port } = JSON.parse(line) as { msg: string; port: number };
    if (msg !== 'listening') continue;
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    return;
  }
  throw new Error('It ended before it listened.');
});
