// What clients of other vendors want to be told of the end of a job: sent to the address that they name, in the vendor's own shape, and
// refused at once where nothing may be sent there.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Deferred, deferred } from '../../../../src/http/deferred.ts';
import { openSqliteStore } from '../../../../src/node/store/sqlite-store.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { type Reply, type Vendor, Visitor, vendors } from './vendors.ts';

const BY = { type: 'operator', id: 'test' } as const;
/** Short: recognising it is most of the work of these tests. */
const { bytes: WAV } = sampleAudio('times/time.wav');
const MODEL = 'local/commands-en';
const WORDS = /quarter to nine/i;
/** In the query of an address, and in a header. */
const SECRET = '5ec7e7';

interface Received {
  method: string | undefined;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

let gateway: LiveGateway;
let server: Server;
let answer: RequestListener;
let received: Received[];
let next: Deferred<Received>;
/** Of each test: what an earlier one has not answered comes again. */
let hook = '';
let hooks = 0;
/** Of the receiver. */
const at = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

beforeAll(async () => {
  gateway = await startLiveGateway({
    VOXGATE_WEBHOOK_NETWORKS: '127.0.0.1',
    VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '10000',
  });
  server = createServer(async (request, response) => {
    if (request.url === '/speech.wav') return void response.end(WAV);
    if (request.url === '/none.wav') return void response.writeHead(404).end();
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    const { method, url = '', headers } = request;
    if (!url.startsWith(hook)) return void response.writeHead(204).end();
    received.push({ method, url, headers, body });
    answer(request, response);
    next.resolve({ method, url, headers, body });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  expect(gateway.log.join('')).not.toContain(SECRET);
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  hook = `/hook-${++hooks}/`;
  received = [];
  next = deferred();
  answer = (_, response) => void response.writeHead(204).end();
});

const deepgram: Vendor = {
  ...(vendors[0] as Vendor),
  dialect: 'deepgram',
  headersOf: (key) => ({ Authorization: `Token ${key}` }),
  idOf: ({ at: member }) => member('request_id'),
  refusalOf: ({ at: member }) => member('err_msg') ?? member('message'),
};

const formOf = (config: object, audio: string) => {
  const form = new FormData();
  const transcription_config = { language: 'en', model: MODEL };
  const fetch_data = { url: audio };
  form.append('config', JSON.stringify({ type: 'transcription', transcription_config, fetch_data, ...config }));
  return form;
};

interface Door {
  vendor: Vendor;
  /** How its clients name an address. */
  param: string;
  ask(visitor: Visitor, callback: string, audio?: string): Promise<Reply>;
  /** What of a job that is done, and of one that failed, is in the body or in the query. */
  done: RegExp;
  failed: RegExp;
}

const vendorOf = (name: string) => vendors.find(({ dialect }) => dialect === name) as Vendor;

const doors: Record<string, Door> = {
  assemblyai: {
    vendor: vendorOf('assemblyai'),
    param: 'webhook_url',
    ask: (visitor, webhook_url, audio_url = at('/speech.wav')) =>
      visitor.send('POST', '/v2/transcript', { audio_url, speech_models: [MODEL], webhook_url }),
    done: /^\{"transcript_id":"[0-9a-f-]{36}","status":"completed"\}\n/,
    failed: /"status":"error"/,
  },
  soniox: {
    vendor: vendorOf('soniox'),
    param: 'webhook_url',
    ask: (visitor, webhook_url, audio_url = at('/speech.wav')) =>
      visitor.send('POST', '/v1/transcriptions', { audio_url, model: MODEL, webhook_url }),
    done: /^\{"id":"[0-9a-f-]{36}","status":"completed"\}\n/,
    failed: /"status":"error"/,
  },
  gladia: {
    vendor: vendorOf('gladia'),
    param: 'callback_config.url',
    ask: (visitor, url, audio_url = at('/speech.wav')) =>
      visitor.send('POST', '/v2/pre-recorded', {
        ...{ audio_url, model: MODEL, custom_metadata: { call: 7 } },
        ...{ callback: true, callback_config: { url, method: 'POST' } },
      }),
    done: /"event":"transcription.success","payload":\{.*quarter to nine.*"custom_metadata":\{"call":7\}/is,
    failed: /"event":"transcription.error","error":\{"code":4\d\d,"message":".+"\},"custom_metadata"/,
  },
  speechmatics: {
    vendor: vendorOf('speechmatics'),
    param: 'notification_config.url',
    ask: (visitor, url, audio = at('/speech.wav')) =>
      visitor.send('POST', '/v2/jobs', formOf({ notification_config: [{ url, contents: ['transcript.txt'] }] }, audio)),
    done: /quarter to nine.*[?&]id=[0-9a-f-]{36}&status=success/is,
    failed: /[?&]status=fetch_error/,
  },
  deepgram: {
    vendor: deepgram,
    param: 'callback',
    ask: (visitor, callback, url = at('/speech.wav')) =>
      visitor.send('POST', `/v1/listen?${new URLSearchParams({ model: MODEL, callback })}`, { url }),
    done: /"request_id":"[0-9a-f-]{36}".*quarter to nine/is,
    failed: /"(?:err_code|category)":.*"request_id":/,
  },
};

const visitorOf = ({ vendor }: Door, key = gateway.key) => new Visitor(gateway.url, vendor, key);
/** The body, and the address that it came to. */
const wholeOf = ({ body, url }: Received) => `${body}
${url}`;

/** The job when it says so: its client asks until then. */
async function shown(door: Door, id: string, isMeant: (reply: Reply) => boolean): Promise<Reply> {
  const ask = () => visitorOf(door).send('GET', door.vendor.pathOf(id));
  let reply = await ask();
  for (let asked = 1; asked < 1_000 && !isMeant(reply); asked++) reply = await ask();
  return reply;
}

describe.each(Object.entries(doors))('the address that a client of %s names', (name, door) => {
  const { vendor, done, failed, param } = door;

  it('receives the end of a job that is done, with its query and a path in Unicode', async () => {
    const asked = await door.ask(visitorOf(door), at(`${hook}hören?key=${SECRET}&a=b%20c`));
    expect(asked.status).toBeLessThan(300);
    const post = await next.promise;
    expect(post.method).toBe('POST');
    expect(post.url).toContain(`${hook}h%C3%B6ren?key=${SECRET}&a=b%20c`);
    expect(wholeOf(post)).toMatch(done);
    expect(wholeOf(post)).toContain(vendor.idOf(asked));
    if (name === 'deepgram') return;
    // Secrets are not shown again.
    const again = await visitorOf(door).send('GET', vendor.pathOf(vendor.idOf(asked)));
    const list = await visitorOf(door).send('GET', vendor.pathOf('').replace(/\/$/, ''));
    for (const { text } of [asked, again, list]) expect(text).not.toContain(SECRET);
  });

  it('receives the end of a job that failed', async () => {
    const asked = await door.ask(visitorOf(door), at(hook), at('/none.wav'));
    expect(asked.status).toBeLessThan(300);
    expect(wholeOf(await next.promise)).toMatch(failed);
  });

  it('may have a user name and a password', async () => {
    await door.ask(visitorOf(door), at(hook).replace('//', `//ada:${SECRET}@`));
    const { headers, url } = await next.promise;
    expect(headers.authorization).toBe(`Basic ${Buffer.from(`ada:${SECRET}`).toString('base64')}`);
    expect(url).not.toContain(SECRET);
  });

  it('is not followed to another address', async () => {
    answer = (_, response) => void response.writeHead(307, { Location: at(`${hook}elsewhere`) }).end();
    await door.ask(visitorOf(door), at(hook));
    await next.promise;
    // What another client is told comes later.
    next = deferred();
    answer = (_, response) => void response.writeHead(200).end();
    await door.ask(visitorOf(door), at(`${hook}other`));
    await next.promise;
    expect(received.map(({ url }) => url.split('?')[0])).toEqual([hook, `${hook}other`]);
  });

  it.each([
    ['a private address', 'https://10.0.0.1/hook', /private or reserved network/],
    ['a metadata service', 'https://169.254.169.254/latest/meta-data', /private or reserved network/],
    ['a decimal address', 'https://167772161/', /private or reserved network/],
    ['a hexadecimal address', 'https://0x0a.1/', /private or reserved network/],
    ['an address mapped into IPv6', 'https://[::ffff:10.0.0.1]/', /private or reserved network/],
    ['a local address of IPv6', 'https://[fd00::1]/', /private or reserved network/],
    ['another protocol', 'ftp://example.com/', /must be an `https` URL/],
    ['a file', 'file:///etc/passwd', /must be an `https` URL/],
    ['nonsense', 'hook', /must be an `https` URL/],
    ['too long a URL', `https://example.com/${'a'.repeat(2_100)}`, /send a shorter one/],
  ])('is refused at once as %s', async (_, url, words) => {
    const reply = await door.ask(visitorOf(door), url);
    expect([reply.status, vendor.refusalOf(reply)]).toEqual([400, expect.stringMatching(words)]);
    expect(vendor.refusalOf(reply)).toContain(`\`${param}\``);
  });
});

describe('headers that a client of', () => {
  const named = (webhook_auth_header_name: unknown, webhook_auth_header_value: unknown) => ({
    ...{ webhook_url: at(hook), webhook_auth_header_name, webhook_auth_header_value },
  });

  it('assemblyai names are sent along, and the status of the answer is shown', async () => {
    const door = doors.assemblyai as Door;
    answer = (_, response) => void response.writeHead(202).end();
    const asked = await visitorOf(door).send('POST', '/v2/transcript', {
      ...{ audio_url: at('/speech.wav'), speech_models: [MODEL] },
      ...named('X-Webhook-Secret', SECRET),
    });
    const { headers } = await next.promise;
    expect(headers).toMatchObject({ 'x-webhook-secret': SECRET, 'content-type': 'application/json' });
    const { text, at: member } = await shown(door, asked.at('id'), (reply) => reply.at('webhook_status_code') !== null);
    expect(text).not.toContain(SECRET);
    expect([member('webhook_auth'), member('webhook_auth_header_name'), member('webhook_status_code')]).toEqual([
      ...[true, 'X-Webhook-Secret', 202],
    ]);
  });

  it('soniox names are sent along, and shown without their value', async () => {
    const asked = await visitorOf(doors.soniox as Door).send('POST', '/v1/transcriptions', {
      ...{ audio_url: at('/speech.wav'), model: MODEL, ...named('Authorization', `Bearer ${SECRET}`) },
    });
    expect((await next.promise).headers.authorization).toBe(`Bearer ${SECRET}`);
    expect([asked.at('webhook_auth_header_value'), asked.text.includes(SECRET)]).toEqual(['*'.repeat(18), false]);
  });

  it('speechmatics names are sent along', async () => {
    const auth_headers = [`Authorization: Bearer ${SECRET}`, 'X-Call: 7'];
    const form = formOf({ notification_config: [{ url: at(hook), auth_headers, method: 'put' }] }, at('/speech.wav'));
    await visitorOf(doors.speechmatics as Door).send('POST', '/v2/jobs', form);
    const { headers, method } = await next.promise;
    expect([headers.authorization, headers['x-call'], method]).toEqual([`Bearer ${SECRET}`, '7', 'PUT']);
  });

  it.each([
    ['a break in the value', 'X-Secret', `a\r\nX-Other: b`, 'webhook_auth_header_value'],
    ['no Latin letters', 'X-Secret', '密', 'webhook_auth_header_value'],
    ['no value', 'X-Secret', null, 'webhook_auth_header_value'],
    ['a space in the name', 'X Secret', 'a', 'webhook_auth_header_name'],
    ['no name', '', 'a', 'webhook_auth_header_name'],
    ['the name of the host', 'Host', 'a', 'webhook_auth_header_name'],
    ['the name of the length', 'content-length', '5', 'webhook_auth_header_name'],
    ['another type', { a: 1 }, 'a', 'webhook_auth_header_name'],
  ])('assemblyai and soniox name are refused with %s', async (_, name, value, param) => {
    const replies = [
      await visitorOf(doors.assemblyai as Door).send('POST', '/v2/transcript', {
        ...{ audio_url: at('/speech.wav'), speech_models: [MODEL], ...named(name, value) },
      }),
      await visitorOf(doors.soniox as Door).send('POST', '/v1/transcriptions', {
        ...{ audio_url: at('/speech.wav'), model: MODEL, ...named(name, value) },
      }),
    ];
    expect(replies.map(({ status, text }) => [status, text.includes(param)])).toEqual([
      [400, true],
      [400, true],
    ]);
    expect(received).toEqual([]);
  });
});

describe('a callback of Deepgram', () => {
  const listen = (
    query: Record<string, string>,
    body: string | Uint8Array<ArrayBuffer> = new Uint8Array(WAV),
    key = gateway.key,
  ) =>
    fetch(`${gateway.url}/compat/deepgram/v1/listen?${new URLSearchParams({ model: MODEL, ...query })}`, {
      method: 'POST',
      headers: { Authorization: `Token ${key}`, 'Content-Type': 'audio/wav' },
      body,
    });

  it('gets the whole answer, by the method of its choice, and the client an id at once', async () => {
    const query = { callback: at(hook), callback_method: 'put', utterances: 'true', smart_format: 'true' };
    const asked = await listen(query);
    const { request_id: id } = (await asked.json()) as { request_id: string };
    expect([asked.status, asked.headers.get('dg-request-id')]).toEqual([200, id]);
    const { method, body, headers } = await next.promise;
    const waited = JSON.parse(await (await listen({ utterances: 'true', smart_format: 'true' })).text());
    const { metadata, results } = JSON.parse(body);
    expect([method, metadata.request_id, headers['dg-token']]).toEqual(['PUT', id, expect.stringMatching(/^key_/)]);
    expect(results.channels).toEqual(waited.results.channels);
    expect(results.utterances[0].transcript).toMatch(WORDS);
  });

  it('gets the reason of a file that could not be transcribed', async () => {
    await listen({ callback: at(hook) }, 'no audio at all');
    expect(JSON.parse((await next.promise).body)).toMatchObject({ request_id: expect.any(String) });
  });

  it('takes samples without a header', async () => {
    const samples = new Uint8Array(WAV.subarray(44));
    await listen({ callback: at(hook), encoding: 'linear16', sample_rate: '16000' }, samples);
    expect((await next.promise).body).toMatch(WORDS);
  });

  it.each([
    [{ callback: 'https://example.com', callback_method: 'get' }, 'callback_method'],
    [{ callback: 'https://example.com', model: 'local/none' }, 'local/none'],
  ])('is refused at once: %j', async (query, words) => {
    const reply = await listen(query);
    expect([reply.status >= 400, await reply.text()]).toEqual([true, expect.stringContaining(words)]);
  });

  it('is refused to a client token, which may transcribe a file and wait for it', async () => {
    const store = await openSqliteStore({ directory: gateway.directory });
    const { id } = await store.createOrganisation('Tokens', null, BY);
    const { secret } = await store.createKey(
      id,
      { scopes: ['tokens', 'transcribe', 'listen', 'tokens_may_upload'] },
      BY,
    );
    store.close();
    const minted = await fetch(`${gateway.url}/v1/tokens`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
      body: '{}',
    });
    const { token } = (await minted.json()) as { token: string };
    const [waits, reports] = [
      await listen({}, new Uint8Array(WAV), token),
      await listen({ callback: at('/') }, '', token),
    ];
    expect([waits.status, reports.status]).toEqual([200, 403]);
  });
});

describe('a notification of Speechmatics', () => {
  const door = doors.speechmatics as Door;
  const notify = (notification_config: unknown) =>
    visitorOf(door).send('POST', '/v2/jobs', formOf({ notification_config }, at('/speech.wav')));

  it.each<[string, object, string | undefined, RegExp]>([
    ['the transcript as an attachment', {}, 'multipart/form-data', /name="data_file"; filename="transcript.json"/],
    ['nothing', { contents: [] }, undefined, /^$/],
    ['the transcript as it is', { contents: ['transcript'] }, 'application/json', /^\{"format":"2\.\d+"/],
    ['subtitles', { contents: ['transcript.srt'] }, 'text/plain', /^1\n00:00:0/],
    ['the job', { contents: ['jobinfo'] }, 'application/json', /^\{"job":\{"id"/],
    [
      'several attachments',
      { contents: ['jobinfo', 'transcript.txt'] },
      'multipart/form-data',
      /name="jobinfo".*"job":.*name="transcript.txt"; filename="transcript.txt".*quarter to nine/is,
    ],
  ])('has %s', async (_, more, type, words) => {
    const asked = await notify([{ url: at(hook), ...more }]);
    expect(asked.status).toBe(201);
    const { headers, body, url } = await next.promise;
    expect([headers['content-type']?.split(';')[0], body]).toEqual([type, expect.stringMatching(words)]);
    expect(url).toBe(`${hook}?id=${asked.at('id')}&status=success`);
  });

  it('goes to each of three addresses', async () => {
    const all = deferred<void>();
    answer = (_, response) => {
      response.end();
      if (received.length === 3) all.resolve();
    };
    const paths = ['a', 'b?x=1', 'c'].map((path) => hook + path);
    await notify(paths.map((path) => ({ url: at(path), contents: [] })));
    await all.promise;
    expect(received.map(({ url }) => url.split(/[?&]id=/)[0]).sort()).toEqual(paths);
  });

  it('is refused with more headers than can be kept', async () => {
    const auth_headers = Array.from({ length: 5 }, (_, at) => `X-${at}: ${'a'.repeat(2_000)}`);
    const [few, many] = [
      await notify([{ url: at(hook), auth_headers: auth_headers.slice(0, 3) }]),
      await notify([{ url: at(hook), auth_headers }]),
    ];
    expect([few.status, many.status, door.vendor.refusalOf(many)]).toEqual([
      201,
      400,
      expect.stringMatching(/at most 8192/),
    ]);
    expect((await next.promise).headers['x-2']).toHaveLength(2_000);
  });

  it.each<[unknown, string]>([
    [[{ url: 'https://a.example', contents: ['data'] }], 'notification_config.contents'],
    [[{ url: 'https://a.example', method: 'get' }], 'notification_config.method'],
    [[{ url: 'https://a.example', auth_headers: ['nothing'] }], 'notification_config.auth_headers'],
    [[{}], 'notification_config'],
    ['https://a.example', 'notification_config'],
    [Array.from({ length: 4 }, () => ({ url: 'https://a.example' })), 'notification_config'],
  ])('is refused: %j', async (config, param) => {
    const reply = await notify(config);
    expect([reply.status, door.vendor.refusalOf(reply)]).toEqual([400, expect.stringContaining(`\`${param}\``)]);
  });
});

describe('a callback of Gladia', () => {
  const door = doors.gladia as Door;
  const ask = (more: object) =>
    visitorOf(door).send('POST', '/v2/pre-recorded', { audio_url: at('/speech.wav'), model: MODEL, ...more });

  it('may be an address alone, or be put', async () => {
    await ask({ callback_url: at(`${hook}alone`) });
    expect(await next.promise).toMatchObject({ method: 'POST', url: `${hook}alone` });
    next = deferred();
    await ask({ callback: 'yes', callback_config: { url: at(`${hook}put`), method: 'PUT' } });
    expect(await next.promise).toMatchObject({ method: 'PUT', url: `${hook}put` });
  });

  it('is not sent where it is off', async () => {
    await ask({ callback: false, callback_config: { url: at(`${hook}off`) } });
    await ask({ callback_url: at(`${hook}on`) });
    expect((await next.promise).url).toBe(`${hook}on`);
  });

  it('is refused without an address', async () => {
    const reply = await ask({ callback: true });
    expect([reply.status, door.vendor.refusalOf(reply)]).toEqual([400, expect.stringContaining('`callback_config`')]);
  });
});
