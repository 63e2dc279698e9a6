// The main job on real speech: the right words, live and as a file, with no key of any vendor and no network.
import { beforeAll, describe, expect, it } from 'vitest';
import type { VerboseTranscription } from '../../src/api/transcriptions.ts';
import { drawnOf } from '../fakes/drawn.ts';
import {
  type LiveGateway,
  type Sample,
  sampleAudio,
  samples,
  startLiveGateway,
} from '../fakes/processes/live-gateway.ts';

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway();
});

/** Segments and words are left out where others are asked for alone. */
type Verbose = Required<VerboseTranscription>;

const params = (sample: Sample): Record<string, string> =>
  sample.model.includes('/align-') ? { provider_params: JSON.stringify({ align_text: sample.text }) } : {};

async function transcribeFile(sample: Sample, format = 'verbose_json'): Promise<Response> {
  const form = new FormData();
  form.set('model', sample.model);
  form.set('response_format', format);
  for (const [name, value] of Object.entries(params(sample))) form.set(name, value);
  form.set('file', new Blob([sampleAudio(sample.file).bytes]), sample.file);
  return live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
}

/** What a sample is heard as; each is transcribed once. */
const heard = new Map<string, Promise<Verbose>>();
function verboseOf(sample: Sample): Promise<Verbose> {
  const known =
    heard.get(sample.file) ?? transcribeFile(sample).then((response) => response.json() as Promise<Verbose>);
  heard.set(sample.file, known);
  return known;
}

/** Streams the file as fast as the socket takes it. */
async function transcribeLive(sample: Sample) {
  const { pcm, sampleRate } = sampleAudio(sample.file);
  const client = live.connect({ model: sample.model, sample_rate: String(sampleRate), ...params(sample) });
  for (let at = 0; at < pcm.length; at += 3_200) {
    if (at === 0) await client.event('session_started');
    client.send(pcm.subarray(at, at + 3_200));
  }
  client.send({ type: 'close' });
  expect((await client.close()).code).toBe(1000);
  return client;
}

/** Some of each model; what the recogniser hears in all of them is in test/recogniser. */
const SPOKEN = samples().filter(({ text }) => text !== '');
const PLAYED = [...new Set(SPOKEN.map(({ model }) => model))].flatMap((named) =>
  drawnOf(SPOKEN.filter(({ model }) => model === named)),
);

describe.each(PLAYED)('$file with $model', (sample) => {
  it('gives its words as a file and live, with word times that agree within 150 ms', async () => {
    const file = await verboseOf(sample);
    const client = await transcribeLive(sample);
    expect(file.text).toBe(sample.text);
    expect(client.finals.map((final) => final.text).join(' ')).toBe(sample.text);
    const liveWords = client.finals.flatMap((final) => final.words ?? []);
    expect(liveWords.map((word) => word.word)).toEqual(file.words.map((word) => word.word));
    for (const [index, word] of file.words.entries()) {
      expect(Math.abs((liveWords[index]?.start ?? 0) - word.start)).toBeLessThanOrEqual(0.15);
      expect(Math.abs((liveWords[index]?.end ?? 0) - word.end)).toBeLessThanOrEqual(0.15);
    }
  });
});

it('sends an interim while its sentence is still being spoken', async () => {
  const sample = samples().find((each) => each.file === 'commands.wav') as Sample;
  const { segments } = await verboseOf(sample);
  const { start, end } = segments[0] as { start: number; end: number };
  const { pcm, sampleRate } = sampleAudio(sample.file);
  const client = live.connect({ model: sample.model, sample_rate: String(sampleRate) });
  await client.event('session_started');
  // The rest of the sentence is not sent before its first words have come back.
  const untilMidSentence = Math.round((start + (end - start) * 0.8) * sampleRate) * 2;
  client.send(pcm.subarray(0, untilMidSentence));
  const interim = await client.event('transcript');
  expect(interim).toMatchObject({ is_final: false, turn: 0, text: expect.stringMatching(/./) });
  client.send(pcm.subarray(untilMidSentence));
  client.send({ type: 'close' });
  await client.close();
  expect(client.finals.map((final) => final.text).join(' ')).toBe(sample.text);
  expect(client.of('speech_started').length).toBeGreaterThan(0);
});

it('open speech to a model of commands is warned of once, with the next step, live and as a file', async () => {
  const sample = { ...(samples().find((each) => each.file === 'alignment.wav') as Sample), model: 'local/commands-en' };
  const step = { code: 'no_open_dictation', message: expect.stringContaining('local/dictation-en') };
  const client = await transcribeLive(sample);
  expect(client.of('warning')).toMatchObject([step]);
  const response = await transcribeFile(sample);
  expect(response.headers.get('voxgate-warning')).toBe(step.code);
  expect(((await response.json()) as Verbose).warnings).toMatchObject([step]);
});

it('answers in the requested format', async () => {
  const sample = samples().find((each) => each.file === 'yes.wav') as Sample;
  expect(await (await transcribeFile(sample, 'json')).json()).toEqual({
    text: sample.text,
    usage: { type: 'duration', seconds: expect.closeTo(sample.seconds, 1) },
  });
  const text = await transcribeFile(sample, 'text');
  expect([text.headers.get('content-type'), await text.text()]).toEqual([
    'text/plain; charset=utf-8',
    `${sample.text}\n`,
  ]);
  const verbose = await verboseOf(sample);
  expect(verbose).toMatchObject({ task: 'transcribe', model: sample.model, usage: { cost_usd: '0.00', byok: false } });
  expect(verbose.duration).toBeCloseTo(sample.seconds, 1);
  const { segments } = await verboseOf(samples().find((each) => each.file === 'commands.wav') as Sample);
  expect(segments.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
});
