// A Node that the program does not run on is told so in one sentence, before anything is loaded.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { misfit } from '../bin/preflight.js';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const PROGRAM = fileURLToPath(new URL('../bin/voxgate.js', import.meta.url));

it.each([
  ['18.20.8', true],
  ['20.18.3', true],
  ['20.19.0', false],
  ['20.20.2', false],
  ['21.0.0', false],
  ['22.22.0', false],
  ['24.99.9', false],
  ['26.12.1', false],
  ['27.0.0', true],
  ['28.1.0-nightly', true],
])('Node %s is refused: %s', (version, isRefused) => {
  const sentence = misfit(version, engines.node);
  expect(sentence !== undefined).toBe(isRefused);
  if (isRefused) expect(sentence).toMatch(/^voxgate: this is Node [^\n]+ 20\.19\.0 or newer, below 27\.$/);
});

it('exits with 78 and one sentence, without loading anything', async () => {
  const claim = `data:text/javascript,${encodeURIComponent("Object.defineProperty(process.versions, 'node', { value: '18.20.8' });")}`;
  const { code, errors } = await new Promise<{ code: unknown; errors: string }>((resolve) => {
    execFile(process.execPath, ['--import', claim, PROGRAM, 'serve'], (error, _, errors) =>
      resolve({ code: error?.code, errors }),
    );
  });
  expect([code, errors]).toEqual([78, expect.stringMatching(/^voxgate: this is Node 18\.20\.8,[^\n]*\.\n$/)]);
});
