// Speech models of the operator's own behind a whole gateway: in the catalogue, with files and live, and broken ones that fail over.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Model } from '../../../src/api/models.ts';
import type { VerboseTranscription } from '../../../src/api/transcriptions.ts';
import { moonshineIn, SPEECH, TRUNCATED, toyIn } from '../../fakes/own-models.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const WAV_HEADER_BYTES = 44;
const PCM = readFileSync(SPEECH).subarray(WAV_HEADER_BYTES);
const BYTES_PER_SECOND = 32_000;

let live: LiveGateway;
let models: string;

beforeAll(async () => {
  models = temporaryDirectory();
  moonshineIn(join(models, 'my-moonshine'), {}, { name: 'Ours', languages: ['en-GB'] });
  toyIn(join(models, 'toy'), {}, { languages: ['en', 'de'] });
  moonshineIn(join(models, 'broken'), { 'encoder.onnx': TRUNCATED });
  moonshineIn(join(models, 'vanishing'));
  live = await startLiveGateway({ VOXGATE_LOCAL_MODELS: models });
});

async function transcribe(fields: Record<string, string>): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ response_format: 'verbose_json', ...fields })) form.set(name, value);
  form.set('file', new Blob([readFileSync(SPEECH)]), 'speech.wav');
  return live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
}

/** Streams the sample with silence behind it, as fast as it is taken. */
async function speak(query: Record<string, string>) {
  const client = live.connect({ sample_rate: '16000', ...query });
  await client.event('session_started');
  const audio = Buffer.concat([PCM, Buffer.alloc(BYTES_PER_SECOND)]);
  for (let at = 0; at < audio.length; at += 3_200) client.send(audio.subarray(at, at + 3_200));
  client.send({ type: 'close' });
  expect((await client.close()).code).toBe(1000);
  return client;
}

const faults = () => live.log.filter((line) => line.includes('recogniser fault'));

/** Processes of this one with a word among their arguments. */
function processesOf(word: string): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word)).map(Number);
}

describe('own models', () => {
  it('are listed with what they declare, and without a price', async () => {
    const { data } = (await (await live.request('/v1/models?provider=local')).json()) as { data: Model[] };
    const byId = new Map(data.map((model) => [model.id, model]));
    expect(byId.get('local/my-moonshine')).toMatchObject({
      ...{ name: 'Ours', owned_by: 'local', languages: ['en-GB'], modes: ['batch', 'live'], live_turns: 'model' },
      ...{ available: true, pricing: { batch: { amount: '0.00', free: true } } },
    });
    expect(byId.get('local/toy')).toMatchObject({ languages: ['en', 'de'], available: true });
    expect(byId.has('local/dictation-en')).toBe(true);
    const one = await live.request('/v1/models/local/toy');
    expect([one.status, await one.json()]).toEqual([200, expect.objectContaining({ id: 'local/toy' })]);
  });

  it('transcribe a file as the model of the package does, for nothing', async () => {
    const built = (await (await transcribe({ model: 'local/dictation-en' })).json()) as VerboseTranscription;
    const own = (await (await transcribe({ model: 'local/my-moonshine' })).json()) as VerboseTranscription;
    expect(own.text).toBe(built.text);
    expect(own.text.toLowerCase()).toContain('amiable woman');
  });

  it('give text that grows, and words with times of the model, where they stream', async () => {
    const client = await speak({ model: 'local/toy', interim_results: 'true' });
    const interims = client.of('transcript').filter((event) => !event.is_final);
    const first = interims.filter(({ turn }) => turn === client.finals[0]?.turn).map(({ text }) => text);
    expect(first.length).toBeGreaterThan(2);
    for (const [at, text] of first.slice(1).entries()) expect(text.startsWith(first[at]!)).toBe(true);
    const words = client.finals.flatMap((final) => final.words ?? []);
    expect(words.length).toBeGreaterThan(10);
    for (const [at, { start, end }] of words.entries()) {
      expect(end).toBeGreaterThanOrEqual(start);
      expect(start).toBeGreaterThanOrEqual(words[at - 1]?.end ?? 0);
    }
    expect(client.of('warning')).toEqual([]);
  });

  it('take files where they stream', async () => {
    const { text } = (await (await transcribe({ model: 'local/toy' })).json()) as VerboseTranscription;
    expect(text.split(' ').length).toBeGreaterThan(10);
  });

  it('that cannot be opened fail over, and log what the process wrote on one line', async () => {
    const before = faults().length;
    const client = await speak({ model: 'local/broken', fallbacks: 'local/my-moonshine' });
    expect(client.of('failover')[0]).toMatchObject({ from: 'local/broken', to: 'local/my-moonshine' });
    expect(client.finals.map(({ text }) => text.toLowerCase()).join(' ')).toContain('amiable woman');
    const [line, ...others] = faults().slice(before);
    expect(others).toEqual([]);
    expect(line).toMatch(/SIGABRT.*broken\/encoder\.onnx failed:Protobuf parsing failed/);
    expect(line?.trim()).not.toContain('\n');
  });

  it('that cannot be opened are not opened for each session', async () => {
    const before = faults().length;
    for (let session = 0; session < 6; session++) {
      const client = await speak({ model: 'local/broken', fallbacks: 'local/toy' });
      expect(client.finals.length).toBeGreaterThan(0);
    }
    expect(faults().length - before).toBeLessThanOrEqual(3);
  });

  // Other systems do not list the processes of a process in files.
  it.runIf(process.platform === 'linux')('survive a killed process in mid-speech, and no audio is lost', async () => {
    const whole = (await speak({ model: 'local/toy' })).finals.flatMap(({ words }) => words ?? []);
    const client = live.connect({ sample_rate: '16000', model: 'local/toy', fallbacks: 'local/my-moonshine' });
    await client.event('session_started');
    const cut = 2 * BYTES_PER_SECOND;
    client.send(PCM.subarray(0, cut));
    await client.event('transcript', (event) => !event.is_final);
    const killed = processesOf('/toy/');
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    const rest = Buffer.concat([PCM.subarray(cut), Buffer.alloc(BYTES_PER_SECOND)]);
    for (let at = 0; at < rest.length; at += 3_200) client.send(rest.subarray(at, at + 3_200));
    client.send({ type: 'close' });
    expect([killed.length, (await client.close()).code]).toEqual([1, 1000]);
    expect(client.of('discontinuity')).toEqual([]);
    const words = client.finals.flatMap((final) => final.words ?? []);
    expect(words[0]?.start).toBeCloseTo(whole[0]!.start, 0);
    expect(words.at(-1)?.end).toBeCloseTo(whole.at(-1)!.end, 0);
    expect(Math.abs(words.length - whole.length)).toBeLessThan(whole.length / 10);
    const turns = client.finals.map(({ turn }) => turn);
    expect(new Set(turns).size).toBe(turns.length);
  });

  it('that have disappeared are refused, and fail over', async () => {
    rmSync(join(models, 'vanishing'), { recursive: true });
    const response = await transcribe({ model: 'local/vanishing', fallbacks: 'local/my-moonshine' });
    expect([response.status, ((await response.json()) as VerboseTranscription).text.toLowerCase()]).toEqual([
      200,
      expect.stringContaining('amiable woman'),
    ]);
  });

  it('are not opened by a gateway that finds a bad one', async () => {
    mkdirSync(join(models, 'empty'));
    await expect(startLiveGateway({ VOXGATE_LOCAL_MODELS: models })).rejects.toThrow(
      `The model folder ${join(models, 'empty')} cannot be used: it has no model.json; put one there, such as {"kind": "whisper", "languages": ["en"]}.`,
    );
  });
});
