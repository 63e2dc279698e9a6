// Runs every command and credential of the guide to simulators as written, except for the ports.
import { type ChildProcess, execFile } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { Serving } from '../../fakes/processes/serving.ts';
import { PROGRAM, startVoxgate, UNDER_TEST } from '../../fakes/processes/voxgate.ts';
import { gapsIn } from '../../simulation/whole.ts';
import { pages, ROOT } from '../pages.ts';

const page = pages.find(({ path }) => path === 'docs/guides/simulators.md');
const scripts = (page?.blocks ?? []).filter(({ language }) => language === 'sh').map(({ text }) => text);
const [list = '', simulate = '', serve = ''] = scripts;
const transcribe = scripts.find((script) => script.includes('-- transcribe ')) ?? '';
const transcript = page?.blocks.find(({ language }) => language === 'text')?.text;
const START_MS_MAX = 60_000;

const simulating: ChildProcess[] = [];
afterAll(() => {
  for (const child of simulating.splice(0)) child.kill('SIGKILL');
});

/** Starts the simulator that a line of the guide starts, and resolves with its address. */
async function simulated(line: string): Promise<string> {
  const words = line.replace(/ --port \d+/, '').split(' ');
  const child = startVoxgate([...words.slice(words.indexOf('--') + 1), '--port', '0']);
  simulating.push(child);
  for await (const told of createInterface({ input: child.stdout })) {
    const [url] = /http:\/\/\S+/.exec(told) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`${line} ended`);
}

/** Runs a script of the guide to its end. */
const run = (script: string, env: Record<string, string> = {}) =>
  promisify(execFile)('sh', ['-c', `${script.replaceAll('npm run -s voxgate --', `node ${PROGRAM}`)} 2>&1`], {
    cwd: ROOT,
    env: { ...process.env, ...UNDER_TEST, ...env },
    timeout: START_MS_MAX,
  });

/** The settings in front of `npm start`, as a shell reads them. */
async function settingsOf(script: string): Promise<Record<string, string>> {
  const { stdout } = await promisify(execFile)('sh', ['-c', script.replace(/npm start$/, 'env -0')], { env: {} });
  const lines = stdout.split('\0').map((line) => /^(VOXGATE_\w+_URL|\w+_API_KEY)=([\s\S]*)$/.exec(line));
  return Object.fromEntries(lines.flatMap((found) => (found === null ? [] : [[found[1], found[2]]])));
}

const atUrl = (text: string, written: string, url: string) => text.replaceAll(written, url);

// All at once: each has programs of its own, and waits for them.
describe.concurrent('the guide to simulators', () => {
  it('lists the faults of a provider', async () => {
    expect((await run(list)).stdout).toContain('close-after');
  });

  it('shows the failover with the output that it prints', { timeout: 3 * START_MS_MAX }, async () => {
    const [deepgram = '', assemblyai = ''] = await Promise.all(simulate.trim().split('\n').map(simulated));
    const script = atUrl(atUrl(serve, 'http://127.0.0.1:9000', deepgram), 'http://127.0.0.1:9001', assemblyai);
    const gateway = await Serving.start({ env: await settingsOf(script) });
    const { stdout } = await run(atUrl(transcribe, 'http://127.0.0.1:8080', gateway.url), { VOXGATE_KEY: gateway.key });
    expect(stdout.trim()).toBe(transcript);
  });

  const inLines = (page?.codes ?? []).filter((code) => /^(?:VOXGATE_\w+_URL=\S+ )?\w+_API_KEY=/.test(code));
  const credentials = [...scripts, ...inLines].flatMap((text) =>
    [...text.matchAll(/\b([A-Z]+)_API_KEY=('[^']*'|\S+)/g)].map(([, name = '', value = '']) => ({
      name: name.toLowerCase(),
      credential: value.replaceAll("'", ''),
    })),
  );
  const MODELS: Record<string, string> = {
    deepgram: 'deepgram/nova-3',
    assemblyai: 'assemblyai/universal-streaming-english',
    aws: 'aws/transcribe',
    google: 'google/chirp_3',
  };

  it('gives credentials for Deepgram, AssemblyAI, Amazon in both forms, and Google', () => {
    expect(credentials.map(({ name }) => name).sort()).toEqual(['assemblyai', 'aws', 'aws', 'deepgram', 'google']);
  });

  it.each(credentials)('gives $name a credential that works: $credential', { timeout: START_MS_MAX }, async (row) => {
    const { name, credential } = row;
    const url = await simulated(`-- simulate ${name} --ear numbered --params {"turn_seconds":0.7}`);
    const model = MODELS[name] ?? name;
    const prefix = name.toUpperCase();
    const gateway = await Serving.start({
      env: { [`VOXGATE_${prefix}_URL`]: url, [`${prefix}_API_KEY`]: credential },
    });
    const client = gateway.connect({ model, provider_params: '{}' });
    await client.event('session_started');
    client.send(numberedAudio(0, 16_000));
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    expect(gapsIn(client.finals, 16_000, 16_000, [model])).toEqual([]);
  });

  it.each(['bad', 'broke', 'limited'])(
    'names keys that the provider refuses: %s',
    { timeout: START_MS_MAX },
    async (start) => {
      expect(page?.codes).toContain(start);
      const url = await simulated('-- simulate deepgram');
      const gateway = await Serving.start({ env: { VOXGATE_DEEPGRAM_URL: url, DEEPGRAM_API_KEY: `${start}-key` } });
      const client = gateway.connect({ model: 'deepgram/nova-3', provider_params: '{}' });
      await client.close();
      expect(client.of('error')).toMatchObject([{ error: { message: expect.stringContaining('Deepgram') } }]);
      expect(client.of('session_ended')).toMatchObject([{ cost_usd: '0.00' }]);
    },
  );

  it('names loopback models that exist', { timeout: START_MS_MAX }, async () => {
    const gateway = await Serving.start({ env: { VOXGATE_LOOPBACK: 'on' } });
    const { data } = (await (await gateway.request('/v1/models')).json()) as { data: { id: string }[] };
    const named = (page?.codes ?? []).filter((code) => /^loopback\/\w+$/.test(code));
    expect(named.length).toBeGreaterThan(0);
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(named));
  });
});
