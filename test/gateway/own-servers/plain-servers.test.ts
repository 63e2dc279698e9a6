// Servers shaped like OpenAI's that give less, or give it elsewhere: words within segments, and text alone.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PLAIN_FILES } from '../../../src/vendors/kit/openai-shaped/batch.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const TEXT = 'turn on the light';
const WORDS = ['turn', 'on', 'the', 'light'].map((word, at) => ({ word, start: at, end: at + 0.5 }));
const segment = (from: number, to: number, more: object) => ({
  ...{
    start: from,
    end: to,
    text: WORDS.slice(from, to)
      .map(({ word }) => word)
      .join(' '),
  },
  ...more,
});
const WITHIN = {
  text: TEXT,
  duration: 4,
  segments: [
    segment(0, 2, { words: WORDS.slice(0, 2) }),
    segment(2, 4, { words: WORDS.slice(2).map(({ word, ...at }) => ({ text: word, ...at })) }),
  ],
};

interface Answer {
  status: number;
  body: object;
}
/** What the server says to a format; and what it was asked for. */
let answers: Record<string, Answer>;
let asked: string[];

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const [, format = 'none'] =
      /name="response_format"\r\n\r\n(\w+)/.exec(Buffer.concat(chunks).toString('latin1')) ?? [];
    asked.push(format);
    const { status, body } = answers[format] ?? { status: 500, body: {} };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
});
afterAll(() => server.close());

/** Its number: what is remembered of one says nothing of the next. */
let model = -1;
let live: LiveGateway;
beforeAll(async () => {
  await once(server.listen(0), 'listening');
  const file = join(temporaryDirectory(), 'voxgate.json');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const models = Array.from({ length: 20 }, (_, at) => ({ name: `mine-${at}`, model: `whisper-${at}`, batch: 'free' }));
  writeFileSync(file, JSON.stringify({ custom: [{ shape: 'openai', url, models }] }));
  live = await startLiveGateway({ VOXGATE_CONFIG: file, VOXGATE_BREAKER_FAILURES_MAX: '1000' });
});
beforeEach(() => {
  asked = [];
  model++;
});

async function transcribed(format = 'verbose_json', more: Record<string, string> = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(more)) form.set(name, value);
  form.set('model', `custom/mine-${model}`);
  form.set('response_format', format);
  form.set('file', new Blob([sampleAudio('yes.wav').bytes]), 'yes.wav');
  const response = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  return { status: response.status, text: await response.text() };
}

it('words within segments are those of the transcript', async () => {
  answers = { verbose_json: { status: 200, body: WITHIN } };
  const { status, text } = await transcribed();
  expect([
    status,
    JSON.parse(text).words.map(({ word, start }: { word: string; start: number }) => [word, start]),
  ]).toEqual([200, WORDS.map(({ word, start }) => [word, start])]);
  expect((await transcribed('srt')).text).toContain('00:00:00,000 --> ');
});

describe('a server that gives text alone', () => {
  const plain = { status: 200, body: { text: TEXT } };

  it.each<[number, string]>([
    [400, 'Currently do not support verbose_json for whisper-1'],
    [422, '[{"loc":["body","response_format"],"msg":"Input should be \'json\' or \'text\'"}]'],
    [400, 'timestamp_granularities is not supported by this model'],
    [501, 'response_format verbose_json is not implemented'],
  ])('receives a request for text alone after it answered %i and "%s"', async (status, message) => {
    answers = { verbose_json: { status, body: { error: { message } } }, json: plain };
    const heard = await transcribed();
    expect([heard.status, JSON.parse(heard.text).text, asked]).toEqual([200, TEXT, ['verbose_json', 'json']]);
  });

  const refused = { status: 400, body: { error: { message: 'verbose_json is not supported' } } };

  it('receives plain requests from the second file on, and full ones again after a while', async () => {
    answers = { verbose_json: refused, json: plain };
    for (let file = 0; file < PLAIN_FILES + 2; file++) expect((await transcribed()).status).toBe(200);
    const atOnce = Array.from({ length: PLAIN_FILES }, () => 'json');
    expect(asked).toEqual(['verbose_json', 'json', ...atOnce, 'verbose_json', 'json']);
    asked = [];
    await transcribed('text');
    // Without words it may give more.
    expect(asked).toEqual(['verbose_json', 'json']);
  });

  it('receives a full request again after it refused the options of one request', async () => {
    answers = { verbose_json: refused, json: plain };
    await transcribed('verbose_json', { provider_params: '{"temperature":0.5}' });
    await transcribed();
    expect(asked).toEqual(['verbose_json', 'json', 'verbose_json', 'json']);
  });

  it('receives no third request when it refuses plain text as well', async () => {
    const refusal = { status: 400, body: { error: { message: 'response_format is not taken' } } };
    answers = { verbose_json: refusal, json: refusal };
    expect((await transcribed()).status).toBeGreaterThanOrEqual(400);
    expect(asked).toEqual(['verbose_json', 'json']);
  });

  it.each<[number, string]>([
    [400, 'The audio file could not be decoded'],
    [401, 'No key for response_format'],
    [500, 'verbose_json failed'],
  ])('keeps receiving full requests after %i and "%s"', async (status, message) => {
    answers = { verbose_json: { status, body: { error: { message } } }, json: plain };
    await transcribed();
    expect(asked).not.toContain('json');
  });
});
