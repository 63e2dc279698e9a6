// `voxgate accuracy` measures models on recordings, and `prefer=accuracy` chooses by what was kept: with two servers, of which one is wrong
// more often, and a third that fails.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VerboseTranscription } from '../../../src/api/transcriptions.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const WAV = 'test/fixtures/audio/yes.wav';
const SAID = Array.from({ length: 100 }, (_, at) => `mot${at}`);
const HEARD: Readonly<Record<string, string[] | undefined>> = {
  good: ['Autre', ...SAID.slice(1)],
  // One is inserted, and ten are missing.
  bad: ['autre', ...SAID.slice(0, 50), ...SAID.slice(60)],
  down: undefined,
};
const closing: (() => unknown)[] = [];
const directory = temporaryDirectory();
const kept = join(directory, 'accuracy.json');
let live: LiveGateway;
let config: string;

async function serverOf(name: string) {
  const heard = HEARD[name];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(heard === undefined ? 500 : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(heard === undefined ? { error: { message: 'down' } } : { text: heard.join(' ') }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const price = name === 'good' ? '0.01' : '0.0001';
  return { shape: 'openai', url, models: [{ name, batch: price, languages: ['fr', 'de'] }] };
}

/** A folder with so many recordings, each with the text. */
function folder(name: string, count: number, text = `${SAID.join(' ')}!`): string {
  const path = join(directory, name);
  mkdirSync(path);
  for (let at = 0; at < count; at++) {
    copyFileSync(WAV, join(path, `${at}.wav`));
    writeFileSync(join(path, `${at}.txt`), text);
  }
  return path;
}

beforeAll(async () => {
  config = join(directory, 'voxgate.json');
  writeFileSync(config, JSON.stringify({ custom: await Promise.all(Object.keys(HEARD).map(serverOf)) }));
  live = await startLiveGateway({ VOXGATE_CONFIG: config, VOXGATE_BREAKER_FAILURES_MAX: '1000' });
});
afterAll(() => Promise.all(closing.map((close) => close())));

const run = (...args: string[]) => voxgate(['accuracy', ...args, '--url', live.url], { VOXGATE_KEY: live.key });
const of = (...models: string[]) => ['--models', models.map((model) => `custom/${model}`).join(',')];

describe('voxgate accuracy', () => {
  it('prints the word error rate of each model', async () => {
    const path = folder('table', 6);
    writeFileSync(join(path, 'alone.mp3'), 'x');
    const { code, output, errors } = await run(path, ...of('good', 'bad'), '--language', 'fr');
    expect(code).toBe(0);
    expect(output.split('\n').map((line) => line.split(/ {2,}/))).toMatchObject([
      [
        'MODEL',
        'LANGUAGE',
        'ERRORS',
        '95 % INTERVAL',
        'SUBSTITUTED',
        'INSERTED',
        'DELETED',
        'WORDS',
        'FILES',
        'FAILED',
      ],
      ['custom/good', 'fr', '1.0 %', '1.0 % to 1.0 %', '6', '0', '0', '600', '6', '0'],
      ['custom/bad', 'fr', '11.0 %', '11.0 % to 11.0 %', '0', '6', '60', '600', '6', '0'],
      [''],
    ]);
    expect(errors).toBe('warning: alone.mp3 has no counterpart and is left out.\n');
  });

  it('prints JSON, counts files that failed, and says when too little was compared', async () => {
    const path = folder('json', 2, 'mot0 mot1');
    const { code, output, errors } = await run(
      path,
      ...of('down', 'good'),
      '--json',
      '--keep',
      join(directory, 'none'),
    );
    expect(code).toBe(1);
    expect(JSON.parse(output)).toMatchObject({
      ...{ language: null, unit: 'words' },
      models: [
        { model: 'custom/down', error_rate: null, interval: null, files: 0, failed: 2 },
        { model: 'custom/good', error_rate: 49.5, interval: null, insertions: 196, units: 4, files: 2, failed: 0 },
      ],
    });
    expect(errors).toContain('warning: custom/down failed with ');
    expect(errors).toContain('custom/down is not kept: 2 files failed');
    expect(errors).toContain('custom/good is not kept: 4 words were compared, and 500 are needed.');
    expect(errors).toContain('0 of 2 models kept');
  });

  it('keeps rates for `prefer=accuracy`, which then chooses the model that is wrong less often', async () => {
    const path = folder('kept', 6);
    writeFileSync(kept, JSON.stringify({ measured: [rowOf('custom/good', 'fr'), rowOf('other/model', 'en')] }));
    const { code, errors } = await run(path, ...of('good', 'bad'), '--language', 'fr-FR', '--keep', kept);
    expect([code, errors]).toEqual([0, expect.stringContaining(`2 of 2 models kept in ${kept}.`)]);
    const { measured } = JSON.parse(readFileSync(kept, 'utf8'));
    expect(measured).toMatchObject([
      { model: 'custom/bad', language: 'fr', unit: 'words', units: 600, errors: 66, files: 6 },
      { model: 'custom/good', language: 'fr', units: 600, errors: 6 },
      { model: 'other/model', language: 'en' },
    ]);
    const choosing = await startLiveGateway({ VOXGATE_CONFIG: config, VOXGATE_ACCURACY_FILE: kept });
    const ask = async (language: string) => {
      const form = new FormData();
      const file = new Blob([readFileSync(WAV)]);
      for (const [name, value] of Object.entries({
        model: 'auto',
        prefer: 'accuracy',
        response_format: 'verbose_json',
      }))
        form.set(name, value);
      form.set('language', language);
      form.set('file', file, 'yes.wav');
      return choosing.request('/v1/audio/transcriptions', { method: 'POST', body: form });
    };
    const answer = (await (await ask('fr-CA')).json()) as VerboseTranscription;
    expect([answer.model, answer.choice?.[0]]).toMatchObject([
      'custom/good',
      { accuracy: { error_rate: 0.01, unit: 'words', units: 600 } },
    ]);
    const refused = await ask('de');
    expect([refused.status, ((await refused.json()) as { error: object }).error]).toMatchObject([
      400,
      { param: 'prefer', message: expect.stringContaining('`voxgate accuracy DIR --models … --keep FILE`') },
    ]);
  });

  const LONG = 'mot '.repeat(20_001);
  it.each<[string, () => string[], number, string]>([
    ['no folder', () => [...of('good')], 64, 'name one folder.'],
    ['a folder that does not exist', () => [join(directory, 'nowhere'), ...of('good')], 1, 'there is no folder'],
    ['a file', () => [WAV, ...of('good')], 1, 'is a file. Name the folder'],
    ['no recording with a text', () => [folder('empty', 0), ...of('good')], 1, 'has no recording with a text'],
    ['no models', () => [directory], 64, '--models takes slugs'],
    ['a model that is not a slug', () => [directory, '--models', 'nova'], 64, '--models takes slugs'],
    ['a model twice', () => [directory, ...of('good', 'good')], 64, 'at most 20 models, each once'],
    ['too many models', () => [directory, ...of(...Array.from({ length: 21 }, (_, at) => `m${at}`))], 64, 'at most 20'],
    ['a language that is not a tag', () => [directory, ...of('good'), '--language', 'fr fr'], 64, 'BCP-47'],
    ['a folder to write to', () => [folder('to', 1), ...of('good'), '--keep', directory], 1, 'is a folder'],
    ['a text that is too long', () => [folder('long', 1, LONG), ...of('good')], 1, 'has 20001 words; at most 20000'],
    [
      'a text that is too large',
      () => [folder('large', 1, 'a'.repeat(1_048_577)), ...of('good')],
      1,
      'at most 1048576',
    ],
  ])('refuses %s with a sentence', async (_, args, exit, words) => {
    const { code, output, errors } = await run(...args());
    expect([code, output]).toEqual([exit, '']);
    expect(errors).toContain(words);
  });

  it('refuses a text that is not UTF-8, and more recordings than it measures', async () => {
    const path = folder('latin', 1);
    writeFileSync(join(path, '0.txt'), Buffer.from([0xe9, 0x74, 0xe9]));
    expect((await run(path, ...of('good'))).errors).toContain('is not UTF-8 text');
    const many = join(directory, 'many');
    mkdirSync(many);
    for (let at = 0; at < 1_001; at++) for (const end of ['wav', 'txt']) writeFileSync(join(many, `${at}.${end}`), '');
    expect((await run(many, ...of('good'))).errors).toContain('has 1001 recordings with texts; at most 1000');
  });
});

const rowOf = (model: string, language: string) => ({
  ...{ model, language, unit: 'words', units: 900, errors: 800, files: 9, measured_at: '2026-11-29' },
});
