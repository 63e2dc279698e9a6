// The code that the playground prints, run as it is printed: with a key in the environment, and a file beside it.
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { codeOf, type Language, type Way } from '../../../src/console/pages/playground/code.ts';
import { type LiveGateway, samples, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { programOf } from '../../fakes/processes/programs.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const SPOKEN = samples().find(({ file }) => file === 'thermostat.wav')?.text ?? '';
const REQUEST = {
  model: 'local/commands-en',
  fallbacks: ['local/digits-en'],
  language: 'en',
  prefer: '',
  diarization: false,
  keyterms: ['Zoë'],
  prompt: '',
  languages: ['en', 'fr'],
  redact: ['pii'],
  vocabularyBoost: 0.5,
  providerParams: {},
};
const path = (url: string): string => fileURLToPath(new URL(url, import.meta.url));
const RUN: Readonly<Record<Language, (code: string) => [program: string, ...args: string[]]>> = {
  curl: (code) => ['bash', '-c', code],
  TypeScript: () => ['node', 'call.mjs'],
  Python: (code) => ['python3', '-c', code],
};

function hasRequests(): boolean {
  try {
    execFileSync('python3', ['-c', 'import requests'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
const isPythonHere = programOf('python3') !== undefined && hasRequests();
if (!isPythonHere) console.log('The Python of the playground is not run: there is no python3 with requests here.');

let live: LiveGateway;
let directory: string;
beforeAll(async () => {
  live = await startLiveGateway();
  directory = temporaryDirectory();
  symlinkSync(path('../../../node_modules'), join(directory, 'node_modules'));
  copyFileSync(path('../../fixtures/audio/thermostat.wav'), join(directory, 'speech.wav'));
});

const ways: [Language, Way][] = [
  ['curl', 'file'],
  ['TypeScript', 'file'],
  ['TypeScript', 'live'],
  // Where there is no Python it says so itself.
  ...(isPythonHere ? [['Python', 'file'] as [Language, Way]] : []),
];

describe('the code of the playground', () => {
  it.each(ways)('runs: %s, %s', async (language, way) => {
    const code = codeOf(REQUEST, language, way, live.url);
    expect(code).not.toContain(live.key);
    if (language === 'TypeScript') writeFileSync(join(directory, 'call.mjs'), code);
    const [program, ...args] = RUN[language](code);
    const { stdout } = await promisify(execFile)(program, args, {
      cwd: directory,
      env: { PATH: process.env.PATH, VOXGATE_KEY: live.key },
    });
    expect(stdout).toContain(SPOKEN);
  });

  it('keeps quotes and options as they are', async () => {
    const request = { ...REQUEST, providerParams: { keyterm: ["it's <b>", '"quoted"'] } };
    expect(codeOf(request, 'curl', 'file', live.url)).toContain(`it'\\''s <b>`);
    expect(codeOf(request, 'TypeScript', 'live', live.url)).toContain(
      `providerParams: ${JSON.stringify(request.providerParams)}`,
    );
    expect(codeOf(request, 'Python', 'file', live.url)).toContain(
      JSON.stringify(JSON.stringify(request.providerParams)),
    );
  });
});
