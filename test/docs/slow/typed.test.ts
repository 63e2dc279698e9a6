// What the documents tell people to type, word for word, on a real gateway: commands with curl, and programs.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';
import { scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { curl, describeCurl } from '../../clients/curl.ts';
import { metricsOfPage } from '../../deploy/alerts/observed.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { expectReading } from '../../fakes/reading.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { guides, ROOT } from '../pages.ts';
import { blocks, different, printing, programs, run, SAMPLE, usesOpenai, WRITTEN_URL } from '../programs.ts';

/** Commands of these pages need each other: three-machines.test.ts runs all of the first, and a test below those of the second. */
const JOBS = 'docs/guides/jobs.md';
const WALKED = ['docs/operations/three-machines.md', JOBS];

/** Commands in which nothing is left out. */
const curls = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ path, text }) => (text.match(/^curl (?:.*\\\n)*.*$/gm) ?? []).map((command) => ({ path, command })))
  .filter(({ command }) => !command.includes('…'));
/** Those that can be run here: all of their files are there. */
const commands = curls
  .filter(({ path }) => !WALKED.includes(path))
  .filter(({ command }) =>
    [...command.matchAll(/@([\w./-]+)/g)].every(([, file = '']) => existsSync(join(ROOT, file))),
  );

/** The configuration that the documents write: its server is a simulator here. */
const configuration = blocks.find(({ language, text }) => language === 'json' && text.includes('"custom"'))?.text ?? '';

let live: LiveGateway;
let server: SimulatorServer;
beforeAll(async () => {
  const simulator = simulators.find(({ provider }) => provider === 'openai') as ProviderSimulator;
  const ear = scriptEar({ turns: [{ text: SAMPLE.text, seconds: 60 }] });
  server = await SimulatorServer.start({ simulator, ear });
  const file = join(temporaryDirectory(), 'voxgate.json');
  writeFileSync(file, configuration.replace('http://127.0.0.1:9000', server.url));
  live = await startLiveGateway({ VOXGATE_CONFIG: file, WHISPER_KEY: 'anything' });
});
afterAll(() => server.close());

const here = (text: string) => text.replaceAll(WRITTEN_URL, live.url);

/** Resolves when the job is over, or gone. */
const overOf = (id: string) =>
  vi.waitFor(
    async () => {
      const reply = await live.request(`/v1/jobs/${id}`);
      if (reply.status === 200) expect(((await reply.json()) as { ended_at: string | null }).ended_at).not.toBeNull();
    },
    { timeout: 20_000 },
  );

describeCurl('a command', () => {
  it.each(different(commands, ({ command }) => command))('works as $path describes: $command', async ({ command }) => {
    const { exit, status, body } = await curl(here(command), { VOXGATE_KEY: live.key });
    expect([exit, status]).toEqual([0, 200]);
    if (/custom\/whisper|dictation-en -F file=|dictation-en \\\n {2}-F file=/.test(command)) {
      expectReading((JSON.parse(body) as { text: string }).text);
    }
  });

  it('works after those above it on the page of jobs', async () => {
    const env: Record<string, string> = { VOXGATE_KEY: live.key };
    const statuses: number[] = [];
    for (const { command } of curls.filter(({ path }) => path === JOBS)) {
      const { status, body } = await curl(here(command), env);
      statuses.push(status);
      env.JOB ??= (JSON.parse(body) as { id: string }).id;
      await overOf(env.JOB);
    }
    expect(statuses).toEqual([202, 200, 200, 200, 200, 204]);
  });

  it('exists for a file, in README.md and in its guide', () => {
    const files = commands.filter(({ command }) => command.includes('/v1/audio/transcriptions'));
    expect(files.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['README.md', 'docs/guides/first-transcription.md', 'docs/guides/own-servers.md']),
    );
  });
});

describe('a program', () => {
  // Those with a vendor's client are run in test/sdk.
  const own = programs.filter((program) => !usesOpenai(program));
  it.each(different(own, ({ text }) => text))('transcribes the sample when copied from $path', async ({ text }) => {
    const output = await run(printing(text, live.url, ROOT), ROOT, live.key);
    expectReading(output);
  });

  it('embeds a gateway, as its guide says', async () => {
    const [block] = blocks.filter(({ text }) => text.includes("from 'voxgate'"));
    const directory = mkdtempSync(join(tmpdir(), 'voxgate-docs-'));
    const output = await run(`${block?.text.replace('./voxgate-data', directory)}\ngateway.stop();`, ROOT, live.key);
    expect(output).toMatch(/^http:\/\/127\.0\.0\.1:\d+ sk_vox_\w+$/m);
    rmSync(directory, { recursive: true });
  });

  it('exists for OpenAI’s client and for our own', () => {
    expect(programs.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['README.md', 'docs/guides/openai-client.md', 'docs/guides/live.md']),
    );
  });
});

it('explains existing metrics only', async () => {
  const metrics = await (await live.request('/metrics')).text();
  // test/deploy/alerts compares the page of all metrics with a gateway that is one of several nodes.
  const pages = guides.filter(({ path }) => path !== 'docs/operations/monitoring.md');
  const names = pages.flatMap(({ text }) => text.match(/\b(?:voxgate|process|nodejs)_[a-z0-9_]+\b/g) ?? []);
  expect(names.length).toBeGreaterThan(3);
  // Those of a node among several are listed there.
  const listed = new Set(metricsOfPage('docs/operations/monitoring.md'));
  expect(names.filter((name) => !metrics.includes(`# TYPE ${name} `) && !listed.has(name))).toEqual([]);
});
