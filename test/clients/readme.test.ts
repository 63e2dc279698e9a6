// What README.md tells people to type, word for word: its commands with curl, and its program with OpenAI's client library.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { type LiveGateway, samples, startLiveGateway } from '../fakes/live-gateway.ts';
import { curl, describeCurl, ROOT } from './curl.ts';

/** Where README.md has its gateway. */
const WRITTEN_URL = 'http://127.0.0.1:8080';

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, kind = '', text = '']) => ({ kind, text }));

/** Commands that can be run here: all of their files are there, and nothing in them is left out. */
const commands = blocks
  .filter(({ kind }) => kind === 'sh')
  .flatMap(({ text }) => text.match(/^curl (?:.*\\\n)*.*$/gm) ?? [])
  .filter((command) => !command.includes('…'))
  .filter((command) => [...command.matchAll(/@([\w./-]+)/g)].every(([, file = '']) => existsSync(join(ROOT, file))));

const programs = blocks.filter(({ text }) => text.includes("from 'openai'")).map(({ text }) => text);

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway();
});

const here = (text: string) => text.replaceAll(WRITTEN_URL, live.url);

describeCurl('README.md', () => {
  it('has commands with curl, one for a file among them', () => {
    expect(commands.some((command) => command.includes('/v1/audio/transcriptions'))).toBe(true);
  });

  it.each(commands)('says what works: %s', async (command) => {
    const { exit, status, body } = await curl(here(command), { KEY: live.key });
    expect([exit, status]).toEqual([0, 200]);
    if (command.includes('commands.wav')) expect(JSON.parse(body)).toMatchObject({ text: samples()[0]?.text });
  });
});

it('the program in README.md prints the text', async () => {
  expect(programs).toHaveLength(1);
  const program = `${here(programs[0] as string)}\nconsole.log(text);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: ROOT,
    env: { ...process.env, KEY: live.key },
    timeout: 20_000,
  });
  expect(stdout.trim()).toBe(samples()[0]?.text);
});
