// The requests of OpenAI's client library for Python and of `requests`, byte for byte as they write them: neither is installed here.
// Fields come in front of the file, lists and objects by their members, or each under the same name.
import { beforeAll, describe, expect, it } from 'vitest';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { RawSocket } from '../fakes/raw-socket.ts';
import { numberedWav } from './files.ts';

/** httpx makes one of 16 random bytes. */
const BOUNDARY = '5b2f0a3c9d8e4f71a6b5c4d3e2f10987';

const HEADERS = [
  'Accept: application/json',
  'Accept-Encoding: gzip, deflate',
  'Connection: keep-alive',
  'User-Agent: OpenAI/Python 2.8.1',
  'X-Stainless-Lang: python',
  'X-Stainless-Package-Version: 2.8.1',
  'X-Stainless-OS: Linux',
  'X-Stainless-Arch: x64',
  'X-Stainless-Runtime: CPython',
  'X-Stainless-Runtime-Version: 3.12.3',
  'X-Stainless-Async: false',
  'x-stainless-retry-count: 0',
  'x-stainless-read-timeout: 600',
];

const dataField = (name: string, value: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** Of `requests`, which names no type for a file that it is not told one for. */
const REQUESTS_HEADERS = [
  'User-Agent: python-requests/2.34.2',
  'Accept-Encoding: gzip, deflate',
  'Accept: */*',
  'Connection: keep-alive',
];

/** The whole form. A file that was opened has its own name and the type that goes with it; bytes are named `upload`. */
function formOf(fields: readonly (readonly [string, string])[], file: { name: string; type?: string; bytes: Buffer }) {
  const type = file.type === undefined ? '' : `\r\nContent-Type: ${file.type}`;
  return Buffer.concat([
    Buffer.from(fields.map(([name, value]) => dataField(name, value)).join('')),
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${file.name}"${type}\r\n\r\n`),
    file.bytes,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
}

const OPENED = { name: 'speech.wav', type: 'audio/x-wav', bytes: numberedWav(2) };

describe('Python’s requests', () => {
  let live: LiveGateway;
  beforeAll(async () => {
    live = await startLiveGateway();
  });

  async function send(request: string, more: readonly string[] = [], body = Buffer.alloc(0), headers = HEADERS) {
    const socket = await RawSocket.connect(live.gateway.port);
    const host = `Host: 127.0.0.1:${live.gateway.port}`;
    const head = [`${request} HTTP/1.1`, host, ...headers, `Authorization: Bearer ${live.key}`, ...more, '', ''];
    socket.write(head.join('\r\n'));
    // httpx hands the body on in pieces.
    for (let at = 0; at < body.length; at += 65_536) socket.write(body.subarray(at, at + 65_536));
    const reply = await socket.reply();
    socket.destroy();
    return reply;
  }

  async function transcribe(
    fields: readonly (readonly [string, string])[],
    file: Parameters<typeof formOf>[1] = OPENED,
    headers = HEADERS,
  ) {
    const body = formOf([['model', 'loopback/numbered'], ...fields], file);
    return send(
      'POST /v1/audio/transcriptions',
      [`Content-Length: ${body.length}`, `Content-Type: multipart/form-data; boundary=${BOUNDARY}`],
      body,
      headers,
    );
  }

  it('transcribe an opened file, with a list and numbers', async () => {
    const { status, headers, body } = await transcribe([
      ['language', 'en'],
      ['response_format', 'verbose_json'],
      ['temperature', '0.0'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
    ]);
    expect([status, headers.get('x-request-id')?.slice(0, 4)]).toEqual([200, 'req_']);
    expect(JSON.parse(body)).toMatchObject({ text: '0-32000', duration: 2, segments: [{ start: 0, end: 2 }] });
  });

  it.each([
    ['bytes without a name', { name: 'upload', bytes: OPENED.bytes }],
    ['a tuple of a name in another script', { name: '会议 %22März%22.wav', type: 'audio/wav', bytes: OPENED.bytes }],
    ['an unknown type', { name: 'speech.xyz', type: 'application/octet-stream', bytes: OPENED.bytes }],
  ])('transcribe %s', async (_, file) => {
    const { status, body } = await transcribe([], file);
    expect([status, JSON.parse(body)]).toMatchObject([200, { text: '0-32000' }]);
  });

  it('carry what `extra_body` says: booleans, lists and objects', async () => {
    const { status, headers, body } = await transcribe([
      ['diarization', 'true'],
      ['fallbacks[]', 'loopback/script'],
      ['provider_params[turn_seconds]', '1.0'],
      ['provider_params[fail][how]', 'stall'],
      ['provider_params[fail][at_seconds]', '60'],
    ]);
    expect([status, JSON.parse(body)]).toMatchObject([200, { text: '0-16000 16000-32000' }]);
    expect(headers.get('voxgate-warning')).toContain('diarization');
  });

  it('get the field at fault', async () => {
    const { status, body } = await transcribe([['provider_params[turn_seconds]', 'two']]);
    expect([status, JSON.parse(body)]).toMatchObject([
      400,
      { error: { code: 'invalid_provider_params', param: 'provider_params.turn_seconds' } },
    ]);
  });

  it('find a model with its slash escaped, and as older versions wrote it', async () => {
    for (const slug of ['loopback%2Fscript', 'loopback/script']) {
      const { status, body } = await send(`GET /v1/models/${slug}`);
      expect([status, JSON.parse(body)]).toMatchObject([200, { id: 'loopback/script', object: 'model' }]);
    }
  });

  describe('the package `requests`', () => {
    const post = (...fields: [string, string][]) =>
      transcribe(fields, { name: 'spéech.wav', bytes: OPENED.bytes }, REQUESTS_HEADERS);
    const verbose: [string, string] = ['response_format', 'verbose_json'];

    it.each([
      ['True', 'diarization_unsupported;param=diarization'],
      ['1', 'diarization_unsupported;param=diarization'],
      ['true', 'diarization_unsupported;param=diarization'],
      ['False', undefined],
      ['0', undefined],
    ])('send Python’s booleans: %s', async (value, warning) => {
      const { status, headers, body } = await post(['diarization', value], ['strict', 'False'], ['stream', '0']);
      expect([status, JSON.parse(body), headers.get('voxgate-warning')]).toMatchObject([
        200,
        { text: '0-32000' },
        warning,
      ]);
      const strictly = await post(['diarization', value], ['strict', 'True']);
      expect(strictly.status).toBe(warning === undefined ? 200 : 422);
    });

    it('send lists under one name, without brackets', async () => {
      const { status, body } = await post(
        verbose,
        ['timestamp_granularities', 'word'],
        ['timestamp_granularities', 'segment'],
        ['fallbacks', 'loopback/script'],
        ['fallbacks', 'local/commands-en'],
      );
      expect([status, JSON.parse(body)]).toMatchObject([200, { segments: [{}], words: [{}] }]);
      const one = JSON.parse((await post(verbose, ['timestamp_granularities', 'word'])).body) as object;
      expect(['words' in one, 'segments' in one]).toEqual([true, false]);
    });

    it('refuses a value that is not a boolean, and a field that is sent twice', async () => {
      const refused = await post(['diarization', 'perhaps']);
      expect([refused.status, JSON.parse(refused.body)]).toMatchObject([400, { error: { param: 'diarization' } }]);
      const twice = await post(['language', 'en'], ['language', 'en']);
      expect(JSON.parse(twice.body)).toMatchObject({ error: { code: 'duplicate_parameter', param: 'language' } });
    });
  });
});
