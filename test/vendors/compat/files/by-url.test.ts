// Files that other vendors' clients send the address of: fetched when the job runs, and never shown with their query.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../../src/node/store/sqlite-store.ts';
import { ACCESS_KEY, BUCKET, REGION, type S3Server, startS3Server } from '../../../fakes/network/s3-server.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { type Reply, Visitor, vendors } from './vendors.ts';

const BY = { type: 'operator', id: 'test' } as const;
/** Short: recognising it is most of the work of these tests. */
const { bytes: WAV } = sampleAudio('times/time.wav');
const MODEL = 'local/commands-en';
const WORDS = /quarter.*to.*nine/is;
const SECRET = '5ec7e7';

let gateway: LiveGateway;
/** May have one file in progress. */
let singleKey = '';
let files: Server;
let buckets: S3Server;
let listener: RequestListener;
const fetches: string[] = [];
const url = (path = '/speech.wav') =>
  `http://127.0.0.1:${(files.address() as AddressInfo).port}${path}?X-Amz-Signature=${SECRET}`;

beforeAll(async () => {
  buckets = await startS3Server();
  gateway = await startLiveGateway({
    VOXGATE_WEBHOOK_NETWORKS: '127.0.0.1',
    VOXGATE_AUDIO_BUCKETS: `${BUCKET}/calls`,
    VOXGATE_AUDIO_S3_ENDPOINT: buckets.url,
    VOXGATE_AUDIO_S3_REGION: REGION,
    VOXGATE_AUDIO_S3_ACCESS_KEY_ID: ACCESS_KEY.accessKeyId,
    VOXGATE_AUDIO_S3_SECRET_ACCESS_KEY: ACCESS_KEY.secretAccessKey,
    VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '10000',
  });
  const store = await openSqliteStore({ directory: gateway.directory });
  const { id } = await store.createOrganisation('One at a time', null, BY);
  singleKey = (await store.createKey(id, { sessionsMax: 1 }, BY)).secret;
  store.close();
  files = createServer((request, response) => {
    fetches.push(request.url ?? '');
    listener(request, response);
  }).listen(0, '127.0.0.1');
  await once(files, 'listening');
});
afterAll(() => {
  expect(gateway.log.join('')).not.toContain(SECRET);
  files.closeAllConnections();
  files.close();
});
beforeEach(() => {
  fetches.length = 0;
  listener = (_, response) => response.end(WAV);
});

describe.each(vendors)('an address of a client of $dialect', (vendor) => {
  const { idOf, pathOf, refusalOf, statusOf } = vendor;
  const visitor = () => new Visitor(gateway.url, vendor, gateway.key);

  /** The job when it is over: its client asks until then. */
  async function ended(id: string): Promise<Reply> {
    for (;;) {
      const shown = await visitor().send('GET', pathOf(id));
      if (!/queued|processing|running/.test(statusOf(shown))) return shown;
    }
  }

  it('is fetched, and its audio transcribed', async () => {
    const asked = await vendor.askElsewhere(visitor(), url(), MODEL);
    expect(asked.status).toBeLessThan(300);
    const shown = await ended(idOf(asked));
    expect(statusOf(shown)).toMatch(/done|completed/);
    const path = { soniox: '/transcript', speechmatics: '/transcript' }[vendor.dialect];
    const { text } = path === undefined ? shown : await visitor().send('GET', pathOf(idOf(asked)) + path);
    expect(text).toMatch(WORDS);
    expect(fetches).toEqual([`/speech.wav?X-Amz-Signature=${SECRET}`]);
  });

  it('may be that of an object in a bucket of the operator', async () => {
    buckets.objects.set('calls/1.wav', WAV);
    const asked = await vendor.askElsewhere(visitor(), `s3://${BUCKET}/calls/1.wav`, MODEL);
    const shown = await ended(idOf(asked));
    expect(statusOf(shown)).toMatch(/done|completed/);
    expect(shown.text).toContain(`s3://${BUCKET}/calls/1.wav`);
    const other = await vendor.askElsewhere(visitor(), `s3://${BUCKET}/others/1.wav`, MODEL);
    expect([other.status, refusalOf(other)]).toEqual([400, expect.stringMatching(/does not read/)]);
  });

  it('is shown without its query', async () => {
    const asked = await vendor.askElsewhere(visitor(), url('/shown.wav'), MODEL);
    const shown = await ended(idOf(asked));
    const list = await visitor().send('GET', pathOf('').replace(/\/$/, ''));
    expect(shown.text).toContain('/shown.wav');
    for (const { text } of [asked, shown, list]) expect(text).not.toContain(SECRET);
  });

  it('fails the job where no audio comes from it', async () => {
    listener = (_, response) => response.writeHead(403).end();
    const asked = await vendor.askElsewhere(visitor(), url(), MODEL);
    expect(asked.status).toBeLessThan(300);
    const shown = await ended(idOf(asked));
    expect(statusOf(shown)).toMatch(/error|rejected/);
    if (vendor.dialect !== 'gladia') expect(shown.text).toMatch(/its server answered with status 403/);
  });

  it.each([
    ['https://169.254.169.254/latest/meta-data', /private address/],
    ['https://user:password@example.com/a.wav', /user name or a password/],
    ['a.wav', /is not a URL/],
  ])('is refused at once as %s', async (address, words) => {
    const reply = await vendor.askElsewhere(visitor(), address, MODEL);
    expect([reply.status, refusalOf(reply)]).toEqual([400, expect.stringMatching(words)]);
  });

  it('is not fetched for a model that is unknown', async () => {
    const reply = await vendor.askElsewhere(visitor(), url(), 'local/none');
    expect([reply.status, fetches]).toEqual([404, []]);
  });

  it('is fetched when its job runs, and not before', async () => {
    const single = new Visitor(gateway.url, vendor, singleKey);
    const { removal = '' } = vendor;
    let begun = () => {};
    const begins = () =>
      new Promise<void>((resolve) => {
        begun = resolve;
      });
    listener = (_, response) => {
      response.writeHead(200).write(WAV.subarray(0, 1_000));
      begun();
    };
    const first = begins();
    const ids = [];
    for (let job = 0; job < 5; job++) ids.push(idOf(await vendor.askElsewhere(single, url(`/${job}.wav`), MODEL)));
    await first;
    expect(statusOf(await single.send('GET', pathOf(ids[4] as string)))).toBe(vendor.statuses.queued);
    expect(fetches).toHaveLength(1);
    for (const [job, id] of ids.entries()) {
      const next = begins();
      expect((await single.send('DELETE', pathOf(id) + removal)).status).toBeLessThan(300);
      if (job < 4) await next;
    }
    expect(fetches.map((path) => path.slice(0, 6))).toEqual(['/0.wav', '/1.wav', '/2.wav', '/3.wav', '/4.wav']);
  });

  it('ends with its job', async () => {
    let began = () => {};
    const begun = new Promise<void>((resolve) => {
      began = resolve;
    });
    const closed = new Promise<void>((resolve) => {
      listener = (request, response) => {
        response.writeHead(200).write(WAV.subarray(0, 1_000));
        request.socket.once('close', () => resolve());
        began();
      };
    });
    const id = idOf(await vendor.askElsewhere(visitor(), url(), MODEL));
    await begun;
    expect((await visitor().send('DELETE', pathOf(id) + (vendor.removal ?? ''))).status).toBeLessThan(300);
    await closed;
    expect((await visitor().send('GET', pathOf(id))).status).toBe(404);
  });
});

describe('an address of a client that waits', () => {
  const deepgram = (body: object, query = '') =>
    fetch(`${gateway.url}/compat/deepgram/v1/listen?model=${MODEL}${query}`, {
      method: 'POST',
      headers: { Authorization: `Token ${gateway.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const elevenlabs = (fields: Record<string, string>, file?: Uint8Array) => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ model_id: MODEL, ...fields })) body.append(name, value);
    if (file !== undefined) body.append('file', new Blob([new Uint8Array(file)]), 'a.wav');
    return fetch(`${gateway.url}/compat/elevenlabs/v1/speech-to-text`, {
      method: 'POST',
      headers: { 'xi-api-key': gateway.key },
      body,
    });
  };

  it.each<[string, () => Promise<Response>]>([
    ['deepgram', () => deepgram({ url: url() })],
    ['elevenlabs, in cloud_storage_url', () => elevenlabs({ cloud_storage_url: url() })],
    ['elevenlabs, in source_url', () => elevenlabs({ source_url: url(), cloud_storage_url: 'null' })],
  ])('is fetched: %s', async (_, ask) => {
    const reply = await ask();
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringMatching(WORDS)]);
    expect(fetches).toHaveLength(1);
  });

  it.each<[string, () => Promise<Response>, RegExp]>([
    ['deepgram, without one', () => deepgram({}), /`url` is missing/],
    [
      'deepgram, of samples',
      () => deepgram({ url: url() }, '&encoding=mulaw'),
      /`encoding` is for samples in the body/,
    ],
    ['deepgram, of a private host', () => deepgram({ url: 'https://10.0.0.1/a.wav' }), /`url` names a host/],
    ['elevenlabs, next to a file', () => elevenlabs({ cloud_storage_url: url() }, WAV), /Send one of the two/],
    [
      'elevenlabs, of a private host',
      () => elevenlabs({ source_url: 'https://10.0.0.1/' }),
      /`source_url` names a host/,
    ],
  ])('is refused: %s', async (_, ask, words) => {
    const reply = await ask();
    expect([reply.status, await reply.text(), fetches]).toEqual([400, expect.stringMatching(words), []]);
  });
});

it('fails jobs of Speechmatics that send credentials along, or a file as well', async () => {
  const vendor = vendors.find(({ dialect }) => dialect === 'speechmatics') as (typeof vendors)[number];
  const visitor = new Visitor(gateway.url, vendor, gateway.key);
  const formOf = (fetch_data: object) => {
    const form = new FormData();
    const config = { type: 'transcription', transcription_config: { language: 'en', model: MODEL }, fetch_data };
    form.append('config', JSON.stringify(config));
    return form;
  };
  const withHeaders = await visitor.send(
    'POST',
    '/v2/jobs',
    formOf({ url: url(), auth_headers: ['Authorization: x'] }),
  );
  const twice = formOf({ url: url() });
  twice.append('data_file', new Blob([new Uint8Array(WAV)]), 'a.wav');
  const both = await visitor.send('POST', '/v2/jobs', twice);
  expect([withHeaders.status, vendor.refusalOf(withHeaders)]).toEqual([
    400,
    expect.stringMatching(/sends no credentials/),
  ]);
  expect([both.status, vendor.refusalOf(both), fetches]).toEqual([
    400,
    expect.stringMatching(/Send one of the two/),
    [],
  ]);
});
