// Files through the client to a real gateway: every kind of file, every format, and that a request sent twice is charged once.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FileInput, type TranscriptionEvent, Voxgate } from '../../clients/typescript/src/index.ts';
import { fileFromPath } from '../../clients/typescript/src/node.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';

const PATH = fileURLToPath(new URL('../fixtures/audio/number.wav', import.meta.url));
const bytes = readFileSync(PATH);
const MODEL = { model: 'local/commands-en' } as const;
let live: LiveGateway;
let client: Voxgate;
let text: string;
beforeAll(async () => {
  live = await startLiveGateway();
  client = new Voxgate({ apiKey: live.key, baseUrl: `${live.url}/v1/` });
  ({ text } = await client.transcribe({ ...MODEL, file: bytes }));
  expect(text).not.toBe('');
});

async function* pieces() {
  for (let at = 0; at < bytes.length; at += 7_001) yield bytes.subarray(at, at + 7_001);
}

describe('the same text for every kind of file', () => {
  it.each<[string, () => FileInput | Promise<FileInput>]>([
    ['a Blob', () => new Blob([bytes])],
    ['a File', () => new File([bytes], 'häß"lich\n.wav', { type: 'audio/wav' })],
    ['an ArrayBuffer', () => Uint8Array.from(bytes).buffer],
    ['a view that begins in the middle of its buffer', () => Buffer.concat([Buffer.alloc(3), bytes]).subarray(3)],
    ['an async iterable', () => pieces()],
    ['a web stream', () => new Blob([bytes]).stream()],
    ['a path', () => fileFromPath(PATH)],
  ])('transcribes %s', async (_, file) => {
    expect(await client.transcribe({ ...MODEL, file: await file() })).toMatchObject({ text });
  });

  it('transcribes headerless samples with their rate in the content type', async () => {
    const file = bytes.subarray(44);
    const contentType = 'audio/l16;rate=16000';
    for (const each of [
      file,
      new Blob([file]),
      (async function* () {
        yield file;
      })(),
    ]) {
      expect(await client.transcribe({ ...MODEL, file: each, contentType })).toMatchObject({ text });
    }
  });

  it('transcribes a file whose name no header can carry', async () => {
    const fileName = 'a"b\r\nX-Evil: 1\r\n\r\n.wav';
    expect(await client.transcribe({ ...MODEL, file: pieces(), fileName })).toMatchObject({ text });
  });
});

describe('the format', () => {
  it('includes times, usage and the request id in verbose_json', async () => {
    const { data, metadata } = await client
      .transcribe({
        ...MODEL,
        file: bytes,
        responseFormat: 'verbose_json',
        timestampGranularities: ['word', 'segment'],
      })
      .withMetadata();
    expect(data).toMatchObject({
      task: 'transcribe',
      text,
      model: 'local/commands-en',
      request_id: metadata.requestId,
    });
    expect(data.words?.map(({ word }) => word).join(' ')).toBe(text);
    expect(data.segments?.[0]?.start).toBeLessThan(data.segments?.[0]?.end ?? 0);
    expect(data.usage).toMatchObject({ cost_usd: '0.00', byok: false });
    expect(metadata).toMatchObject({ status: 200, attempts: 1, warnings: [] });
  });

  it('text, srt and vtt are strings', async () => {
    expect((await client.transcribe({ ...MODEL, file: bytes, responseFormat: 'text' })).trim()).toBe(text);
    expect(await client.transcribe({ ...MODEL, file: bytes, responseFormat: 'srt' })).toMatch(
      /^1\n00:00:\d\d,\d{3} --> /,
    );
    expect(await client.transcribe({ ...MODEL, file: bytes, responseFormat: 'vtt' })).toMatch(/^WEBVTT\n/);
  });

  it('sends events for a stream, whose deltas form the text', async () => {
    const events: TranscriptionEvent[] = [];
    for await (const event of await client.transcribe({ ...MODEL, file: bytes, stream: true })) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text });
    const deltas = events.map((event) => (event.type === 'transcript.text.delta' ? event.delta : ''));
    expect(deltas.join('')).toBe(text);
  });
});

it('fallbacks, options and warnings reach the other side and come back', async () => {
  const { data, metadata } = await client
    .transcribe({
      model: 'loopback/script',
      file: bytes,
      responseFormat: 'verbose_json',
      providerParams: { fail: { how: 'refuse' } },
      fallbacks: [{ model: 'loopback/script', providerParams: { turns: [{ text: 'second', seconds: 600 }] } }],
      prompt: 'names',
    })
    .withMetadata();
  expect(data).toMatchObject({ text: 'second', model: 'loopback/script', fallback: [{ model: 'loopback/script' }] });
  expect(metadata.warnings).toContain('parameter_ignored');
  const strict = client.transcribe({ ...MODEL, file: bytes, prompt: 'names', strict: true });
  await expect(strict).rejects.toMatchObject({ status: 422, code: 'unsupported_parameter', param: 'prompt' });
});

it('lets the gateway choose the model, and shows the choice', async () => {
  const asked = { model: 'auto', prefer: 'price', language: 'en', file: bytes } as const;
  const answer = await client.transcribe({ ...asked, responseFormat: 'verbose_json' });
  expect(answer.choice?.[0]).toMatchObject({ model: answer.model, price_per_minute: '0.00' });
  const wrong = client.transcribe({ ...asked, prefer: 'accuracy' as 'price' });
  await expect(wrong).rejects.toMatchObject({ status: 400, param: 'prefer' });
  const unknown = client.transcribe({ ...asked, price: 'lowest' as 'cheapest' });
  await expect(unknown).rejects.toMatchObject({ status: 400, param: 'price' });
});

describe('text for audio without a voice', () => {
  const silent = {
    model: 'loopback/script' as const,
    file: new Uint8Array(64_000),
    contentType: 'audio/l16;rate=16000',
    providerParams: { turns: [{ text: 'Thank you.', seconds: 600 }] },
  };

  it('is marked with the option speechGate: mark', async () => {
    const answer = await client.transcribe({ ...silent, responseFormat: 'verbose_json', speechGate: 'mark' });
    expect(answer).toMatchObject({ text: 'Thank you.', no_speech: true, warnings: [{ code: 'no_speech' }] });
    const [segment] = answer.segments ?? [];
    const [word] = answer.words ?? [];
    expect([segment?.no_speech, segment?.no_speech_prob, word?.no_speech]).toEqual([true, 1, true]);
  });

  it('is left out with the option speechGate: drop', async () => {
    const answer = await client.transcribe({ ...silent, speechGate: 'drop' });
    expect([answer.text, answer.no_speech]).toEqual(['', true]);
  });

  it('passes without the option, from a model that is not known for it', async () => {
    const answer = await client.transcribe({ ...silent, responseFormat: 'verbose_json' });
    expect([answer.text, answer.no_speech, answer.segments?.[0]?.no_speech]).toEqual([
      ...['Thank you.', undefined, undefined],
    ]);
  });

  it('is refused with a mode that does not exist', async () => {
    const wrong = client.transcribe({ ...silent, speechGate: 'loud' as 'drop' });
    await expect(wrong).rejects.toMatchObject({ status: 400, param: 'speech_gate' });
  });
});

it('requests a lost answer again, and the file is charged once', async () => {
  // A proxy that passes everything on, and breaks the first answer.
  let requests = 0;
  const proxy = createServer((incoming, outgoing) => {
    requests++;
    const isFirst = requests === 1;
    const { method, headers, url } = incoming;
    const passed = httpRequest(`${live.url}${url}`, { ...(method && { method }), headers }, (answer) => {
      if (isFirst) {
        answer.resume();
        outgoing.socket?.destroy();
      } else answer.pipe(outgoing.writeHead(answer.statusCode ?? 0, answer.headers));
    });
    incoming.pipe(passed);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  afterAll(() => proxy.close());
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const before = await client.usage();
  const { metadata } = await new Voxgate({ apiKey: live.key, baseUrl: url })
    .transcribe({ ...MODEL, file: await fileFromPath(PATH) })
    .withMetadata();
  expect(metadata.attempts).toBe(2);
  expect(metadata.headers.get('idempotency-replayed')).toBe('true');
  const sessionsOf = (usage: Awaited<ReturnType<Voxgate['usage']>>) =>
    usage.data.reduce((sum, { sessions }) => sum + sessions, 0);
  expect(sessionsOf(await client.usage()) - sessionsOf(before)).toBe(1);
});

it('gives models, tokens, usage and the balance', async () => {
  const models = await client.models.list({ mode: 'batch', provider: 'local' });
  expect(models.map(({ id }) => id)).toContain('local/commands-en');
  expect(models.every(({ owned_by, modes }) => owned_by === 'local' && modes.includes('batch'))).toBe(true);
  expect(await client.models.retrieve('local/commands-en')).toMatchObject({ object: 'model', id: 'local/commands-en' });
  await expect(client.models.retrieve('local/nobody')).rejects.toMatchObject({ name: 'NotFoundError' });
  expect(await client.tokens.mint({ ttlSeconds: 10 })).toMatchObject({
    ttl_seconds: 10,
    token: expect.stringMatching(/^st_/),
  });
  await expect(client.tokens.mint({ ttlSeconds: 9 })).rejects.toMatchObject({ param: 'ttl_seconds', status: 400 });
  const limits = { models: ['loopback/*'], maxSeconds: 60, maxCost: 0.25, languages: ['en'], singleUse: true };
  const plain = await client.tokens.mint();
  expect((await client.tokens.mint(limits)).token.length).toBeGreaterThan(plain.token.length);
  await expect(client.tokens.mint({ maxCost: 'much' })).rejects.toMatchObject({ param: 'max_cost', status: 400 });
  expect(await client.usage({ groupBy: 'day' })).toMatchObject({ object: 'list', group_by: 'day' });
  expect(await client.balance()).toMatchObject({ object: 'balance', currency: 'USD' });
});

it('raises Node’s own error for an invalid path', async () => {
  await expect(fileFromPath(`${PATH}.not`)).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(fileFromPath(fileURLToPath(new URL('.', import.meta.url)))).rejects.toThrow(/is no file/);
});
