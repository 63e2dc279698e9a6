// A file that a client sends the address of: fetched once, read as an upload is, and refused with a reason that a client can act on.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { fieldsOfJson } from '../../../src/files/routes/form.ts';
import { answer } from '../../live/upstream/http-batch-fixture.ts';
import { expectNothingLeft, flac, post, replied, reservations, server } from './files-fixture.ts';

const SMALL = flac(2_000);
const LARGE = flac(400_000);
const QUERY = '?X-Amz-Signature=5ec7e7';

let listener: RequestListener;
const fetches: string[] = [];
const files = createServer((request, response) => {
  fetches.push(request.url ?? '');
  listener(request, response);
});
files.listen(0, '127.0.0.1');
await once(files, 'listening');
afterAll(() => {
  files.closeAllConnections();
  files.close();
});
const at = (path: string): string => `http://127.0.0.1:${(files.address() as AddressInfo).port}${path}`;

beforeEach(() => {
  fetches.length = 0;
  listener = ({ url = '' }, response) => response.end(url.startsWith('/large') ? LARGE : SMALL);
});

const inForm = (fields: Record<string, string>, path = '/files', headers: Record<string, string> = {}) => {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return post(path, { body, headers });
};
const inJson = (fields: object, path = '/files', headers: Record<string, string> = {}) =>
  post(path, { body: JSON.stringify(fields), headers: { 'Content-Type': 'application/json', ...headers } });

describe.each([
  ['a form', inForm],
  ['a JSON object', inJson],
])('an address in %s', (_, ask) => {
  it.each([
    ['small', SMALL],
    ['large', LARGE],
  ])('gets the transcript of a %s file, which is fetched once', async (size, file) => {
    const reply = await ask({ model: 'second/file', audio_url: at(`/${size}.flac${QUERY}`) });
    expect([reply.status, reply.text]).toEqual([200, 'heard by second']);
    expect(fetches).toEqual([`/${size}.flac${QUERY}`]);
    expect(server('second').arrived.map(({ body }) => body.includes(file))).toEqual([true]);
    expect(reservations.charges.size).toBe(1);
    await expectNothingLeft();
  });

  it('asks for a fallback with the same file', async () => {
    server('second').answers = [answer({ error: 'down' }, 500)];
    const reply = await ask({ model: 'second/file', fallbacks: '["straight/file"]', audio_url: at('/large.flac') });
    expect([reply.status, reply.text, fetches.length]).toEqual([200, 'heard by straight', 1]);
    await expectNothingLeft();
  });

  it('is not followed for a request that is refused anyway', async () => {
    const unknown = await ask({ model: 'second/none', audio_url: at('/small.flac') });
    const narrow = await ask({ model: 'second/file', audio_url: at('/small.flac') }, '/narrow');
    const field = await ask({ model: 'second/file', audio_url: at('/small.flac'), modell: 'x' });
    expect([unknown.error?.code, narrow.error?.code, field.error?.param]).toEqual([
      ...['model_not_found', 'model_not_allowed'],
      'modell',
    ]);
    expect(fetches).toEqual([]);
    await expectNothingLeft();
  });

  it('gets the same answer under the same key, without another fetch, and another address does not', async () => {
    const key = { 'Idempotency-Key': `key ${ask.name}` };
    const fields = { model: 'second/file', audio_url: at(`/small.flac${QUERY}`) };
    const first = await ask(fields, '/files', key);
    const again = await ask(fields, '/files', key);
    const other = await ask({ ...fields, audio_url: at('/large.flac') }, '/files', key);
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect([other.status, other.error?.code]).toEqual([409, 'idempotency_conflict']);
    expect([fetches.length, server('second').arrived.length]).toEqual([1, 1]);
    await expectNothingLeft();
  });

  it.each<[string, RequestListener, number, string, RegExp]>([
    ['an error', (_, response) => response.writeHead(403).end('<Error/>'), 422, 'audio_url_failed', /status 403/],
    ['a page', (_, response) => response.end('<!doctype html>'), 422, 'audio_url_failed', /page or another text/],
    ['another kind of file', (_, response) => response.end(Buffer.alloc(99)), 400, 'unsupported_audio', /unknown/],
    ['too much', (_, response) => response.end(LARGE), 413, 'file_too_large', /larger than 100000 bytes/],
    [
      'half of it',
      (_, response) => void response.writeHead(200, { 'Content-Length': 9_999 }).write(SMALL, () => response.destroy()),
      422,
      'audio_url_failed',
      /broke off/,
    ],
  ])('fails where %s comes from it', async (_, answers, status, code, words) => {
    listener = answers;
    const reply = await ask({ model: 'second/file', audio_url: at(`/a.flac${QUERY}`) }, '/small');
    expect([reply.status, reply.error?.code, reply.error?.message]).toEqual([
      status,
      code,
      expect.stringMatching(words),
    ]);
    expect(JSON.stringify([reply, replied])).not.toContain('5ec7e7');
    expect([server('second').arrived.length, reservations.charges.size]).toEqual([0, 0]);
    await expectNothingLeft();
  });

  it('fails in the time that a file may take', async () => {
    listener = (_, response) => response.writeHead(200).flushHeaders();
    const reply = await ask({ model: 'second/file', audio_url: at('/a.flac') }, '/hasty');
    expect([reply.status, reply.error?.code, reply.error?.param]).toEqual([422, 'audio_url_failed', 'audio_url']);
    await expectNothingLeft();
  });

  it.each([
    ['https://169.254.169.254/latest/meta-data', 400, 'audio_url_not_allowed'],
    ['https://user:password@example.com/a.wav', 400, 'audio_url_not_allowed'],
    ['a.wav', 400, 'audio_url_not_allowed'],
    ['', 400, 'missing_file'],
  ])('fails as %j', async (url, status, code) => {
    const reply = await ask({ model: 'second/file', audio_url: url });
    expect([reply.status, reply.error?.code]).toEqual([status, code]);
    await expectNothingLeft();
  });

  it('fails under another name', async () => {
    const reply = await ask({ model: 'second/file', url: at('/small.flac') });
    expect([reply.status, reply.error?.param, reply.error?.message]).toEqual([
      ...[400, 'url'],
      expect.stringMatching(/as `audio_url`/),
    ]);
    expect(fetches).toEqual([]);
  });
});

it('fails next to a file', async () => {
  const body = new FormData();
  body.append('model', 'second/file');
  body.append('audio_url', at('/small.flac'));
  body.append('file', new Blob([SMALL]), 'a.flac');
  const reply = await post('/files', { body });
  expect([reply.status, reply.error?.param, reply.error?.message]).toEqual([
    ...[400, 'audio_url'],
    expect.stringMatching(/Send one of the two/),
  ]);
  expect(fetches).toEqual([]);
  await expectNothingLeft();
});

it('takes the members of a JSON object as the form has them', async () => {
  const reply = await inJson({
    model: 'straight/file',
    audio_url: at('/small.flac'),
    response_format: 'verbose_json',
    timestamp_granularities: ['segment'],
    fallbacks: ['second/file'],
    keyterms: ['Voxgate', 'Zoë'],
    temperature: 0.5,
    strict: false,
  });
  expect([reply.status, reply.text]).toEqual([200, 'heard by straight']);
  const wrong = await inJson({ model: 'straight/file', audio_url: at('/small.flac'), temperature: 2 });
  expect([wrong.status, wrong.error?.param]).toEqual([400, 'temperature']);
  await expectNothingLeft();
});

it('reads lists and objects of a JSON object as fields', () => {
  const body = {
    ...{ keyterms: ['Voxgate', 'Zoë'], timestamp_granularities: ['word'], 'include[]': ['logprobs'], prompt: null },
    ...{ fallbacks: ['a/b', { model: 'c/d' }], provider_params: { punctuate: true }, stream: true, temperature: 1 },
  };
  expect(fieldsOfJson(body)).toEqual([
    ...[
      ['keyterms[]', 'Voxgate'],
      ['keyterms[]', 'Zoë'],
    ],
    ...[
      ['timestamp_granularities[]', 'word'],
      ['include[]', 'logprobs'],
    ],
    ...[
      ['fallbacks', '["a/b",{"model":"c/d"}]'],
      ['provider_params', '{"punctuate":true}'],
    ],
    ...[
      ['stream', 'true'],
      ['temperature', '1'],
    ],
  ]);
});
