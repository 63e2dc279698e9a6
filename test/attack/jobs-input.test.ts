// Jobs whose audio, or whose address of it, means no good, at a whole gateway: each fails with a reason and costs nothing, while honest
// jobs of another customer are done, and nothing is left of it on the disk.
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { JobAnswer } from '../../src/api/jobs.ts';
import { flacOf } from '../fakes/audio/audio-files.ts';
import { sampleAudio } from '../fakes/processes/live-gateway.ts';
import { head, type RemoteServer, remoteServer, whole } from '../files/remote/remote-server.ts';
import { type LyingProvider, startLyingProvider } from './rig/lying-provider.ts';
import { type Attacked, type Customer, startAttacked } from './rig/rig.ts';

const systemLookup = dns.lookup;
const MODEL = 'deepgram/nova-3';
const FILE_BYTES_MAX = 2_000_000;
const SECRET = 'X-Amz-Signature=5ec7e7';
const WAV = new Uint8Array(sampleAudio('yes.wav').bytes);
const fixture = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures/audio/formats', name));

let provider: LyingProvider;
let attacked: Attacked;
let hostile: Customer;
let honest: Customer;
let good: RemoteServer;

beforeAll(async () => {
  provider = await startLyingProvider();
  attacked = await startAttacked({
    prices: { [MODEL]: { batch: { unit: 'minute', amount: '0.60' } } },
    env: {
      VOXGATE_DEEPGRAM_URL: provider.url,
      DEEPGRAM_API_KEY: 'simulated',
      VOXGATE_WEBHOOK_NETWORKS: '127.0.0.1',
      VOXGATE_FILE_BYTES_MAX: String(FILE_BYTES_MAX),
      VOXGATE_BATCH_TIMEOUT_MS: '5000',
      VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '100000',
    },
  });
  hostile = await attacked.customer(10_000_000n);
  honest = await attacked.customer(10_000_000n);
  good = await remoteServer((socket) => socket.end(whole(WAV)));
});

async function post(customer: Customer, body: FormData | object): Promise<Response> {
  const isForm = body instanceof FormData;
  return customer.request('/v1/jobs', {
    method: 'POST',
    body: isForm ? body : JSON.stringify(body),
    ...(isForm ? {} : { headers: { 'Content-Type': 'application/json' } }),
  });
}

async function over(customer: Customer, reply: Promise<Response>): Promise<JobAnswer> {
  const accepted = await reply;
  const { id } = (await accepted.json()) as JobAnswer;
  expect(accepted.status).toBe(202);
  return vi.waitFor(
    async () => {
      const job = (await (await customer.request(`/v1/jobs/${id}`)).json()) as JobAnswer;
      expect(job.ended_at).not.toBeNull();
      return job;
    },
    { timeout: 30_000, interval: 20 },
  );
}

const atAddress = (audioUrl: string, customer = hostile) => post(customer, { model: MODEL, audio_url: audioUrl });
const uploaded = (bytes: Uint8Array<ArrayBuffer>, customer = hostile) => {
  const form = new FormData();
  form.append('model', MODEL);
  form.append('file', new Blob([bytes]), 'a');
  return post(customer, form);
};

/** A job of the other customer, by upload and by address, goes well at any time. */
async function expectHonest(): Promise<void> {
  const jobs = await Promise.all([
    over(honest, uploaded(WAV, honest)),
    over(honest, post(honest, { model: MODEL, audio_url: good.at(`/a.wav?${SECRET}`) })),
  ]);
  expect(jobs.map(({ status }) => status)).toEqual(['completed', 'completed']);
}

async function expectFree(): Promise<void> {
  await vi.waitFor(async () => {
    expect(await hostile.balance()).toMatchObject({ balanceMicroUsd: 10_000_000n, heldMicroUsd: 0n });
    expect(await readdir(join(attacked.directory, 'jobs', 'alone'))).toEqual([]);
  });
  expect(await attacked.audit()).toMatchObject({ ok: true, faults: [] });
  expect(attacked.log.join('')).not.toContain('5ec7e7');
}

describe('an address that leads inside', () => {
  it.each([
    'https://127.0.0.2/a.wav',
    'https://2130706434/a.wav',
    'https://0x7f.2/a.wav',
    'https://017700000002/a.wav',
    'https://[::1]/a.wav',
    'https://[::ffff:127.0.0.2]/a.wav',
    'https://[::ffff:7f00:2]/a.wav',
    'https://[64:ff9b::a9fe:a9fe]/a.wav',
    'https://169.254.169.254/latest/meta-data',
    'https://[fd00:ec2::254]/latest/meta-data',
    'https://10.0.0.1/a.wav',
    'http://127.0.0.2/a.wav',
    'https://user:password@example.com/a.wav',
    'file:///etc/passwd',
  ])('is refused as %s before there is a job', async (url) => {
    const reply = await atAddress(`${url}?${SECRET}`);
    const { error } = (await reply.json()) as { error: { code: string; param: string; message: string } };
    expect([reply.status, error]).toMatchObject([400, { code: 'audio_url_not_allowed', param: 'audio_url' }]);
    expect(error.message).not.toContain('5ec7e7');
  });

  it('fails the job where a redirect or a name leads there, and honest jobs are done', async () => {
    const inside = await remoteServer((socket) => socket.end(whole(WAV)), '127.0.0.2');
    const redirecting = await remoteServer((socket) => socket.end(whole('', { Location: inside.at() }, '302 Found')));
    const spender = await attacked.customer(10_000_000n);
    const named = await overNames({ 'rebound.test': ['127.0.0.1', '127.0.0.2'] }, async () => {
      const url = `http://rebound.test:${good.port}/a.wav?${SECRET}`;
      const first = await over(spender, atAddress(url, spender));
      const second = await over(hostile, atAddress(url.replace(String(good.port), String(inside.port))));
      return [first, second];
    });
    const redirected = await over(hostile, atAddress(redirecting.at(`/a.wav?${SECRET}`)));
    expect(named.map(({ status }) => status)).toEqual(['completed', 'failed']);
    for (const job of [named[1], redirected])
      expect(job?.error).toMatchObject({ code: 'audio_url_not_allowed', param: 'audio_url' });
    expect(inside.requests).toEqual([]);
    await expectHonest();
  });
});

/** The system finds these addresses, one after the other, under these names. */
async function overNames<Value>(names: Record<string, string[]>, work: () => Promise<Value>): Promise<Value> {
  const fake = (hostname: string, options: object, callback: (...found: unknown[]) => void) => {
    const found = names[hostname];
    if (found === undefined) return Reflect.apply(systemLookup, dns, [hostname, options, callback]);
    const address = found.length > 1 ? found.shift() : found[0];
    return setImmediate(callback, null, [{ address, family: 4 }]);
  };
  dns.lookup = fake as unknown as typeof dns.lookup;
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    dns.lookup = systemLookup;
    syncBuiltinESMExports();
  }
}

describe('a server', () => {
  type Answer = (socket: Socket) => unknown;
  const endless = (start: string): Answer => {
    const piece = Buffer.alloc(65_536, 1);
    return (socket) => {
      const more = () => {
        while (socket.writable && socket.write(piece));
      };
      socket.on('drain', more).write(start);
      more();
    };
  };
  const LONG = head('200 OK', { 'Content-Length': '999999' });
  const BOMB = gzipSync(Buffer.alloc(50_000_000));

  it.each<[string, Answer, string, RegExp]>([
    ['never ends', endless(head('200 OK', { Connection: 'close' })), 'file_too_large', /larger than 2000000 bytes/],
    [
      'announces too much',
      (socket) => socket.write(head('200 OK', { 'Content-Length': '9e9' })),
      'audio_url_failed',
      /HTTP/,
    ],
    ['sends nothing', (socket) => socket.write(LONG), 'audio_url_failed', /time that a file may take/],
    ['never answers', () => {}, 'audio_url_failed', /time that a file may take/],
    [
      'sends a byte now and then',
      (socket) => {
        socket.write(LONG);
        const more = () => socket.writable && socket.write(Buffer.alloc(1, 1), () => setTimeout(more, 50));
        more();
      },
      'audio_url_failed',
      /time that a file may take/,
    ],
    [
      'sends a bomb',
      (socket) => socket.end(whole(BOMB, { 'Content-Encoding': 'gzip' })),
      'audio_url_failed',
      /compressed/,
    ],
    ['sends a bomb that it calls audio', (socket) => socket.end(whole(BOMB)), 'insufficient_credit', /credit/],
    ['sends an empty file', (socket) => socket.end(whole('')), 'audio_url_failed', /empty file/],
    ['sends a page', (socket) => socket.end(whole('<!doctype html>')), 'audio_url_failed', /page or another text/],
    ['breaks off', (socket) => socket.write(LONG, () => socket.destroy()), 'audio_url_failed', /broke off/],
  ])('that %s fails the job, and honest jobs are done meanwhile', async (_, answer, code, words) => {
    const server = await remoteServer(answer);
    const files = provider.files;
    const failing = over(hostile, atAddress(server.at(`/a.wav?${SECRET}`)));
    await expectHonest();
    const { status, error } = await failing;
    expect([status, error]).toMatchObject(['failed', { code, message: expect.stringMatching(words) }]);
    expect(provider.files - files).toBe(2);
    await expectFree();
  });
});

describe('a file that claims ages', () => {
  const forged = (name: string, mark: string, behind: number, bytes: Buffer) => {
    const file = fixture(name);
    bytes.copy(
      file,
      (mark === 'OggS' ? file.lastIndexOf(mark, undefined, 'latin1') : file.indexOf(mark, 0, 'latin1')) +
        mark.length +
        behind,
    );
    return new Uint8Array(file);
  };
  const DAYS = Buffer.alloc(8);
  DAYS.writeBigUInt64LE(48_000n * 86_400n * 30n);

  it.each<[string, Uint8Array<ArrayBuffer>]>([
    ['FLAC', new Uint8Array(flacOf(2 ** 31 - 1, 4_000))],
    ['M4A in fragments', forged('aac-fragmented.m4a', 'tfhd', 16, Buffer.alloc(4, 0xff))],
  ])('%s fails, uploaded and at an address, and is sent to no provider', async (_, file) => {
    const server = await remoteServer((socket) => socket.end(whole(file)));
    const files = provider.files;
    for (const job of [await over(hostile, uploaded(file)), await over(hostile, atAddress(server.at()))])
      expect(job).toMatchObject({ status: 'failed', error: { code: 'unsupported_audio' } });
    expect(provider.files).toBe(files);
    await expectFree();
    await expectHonest();
  });

  it('Ogg with Opus costs what is in it', async () => {
    const spender = await attacked.customer(1_000_000n);
    provider.says = '10';
    const job = await over(spender, uploaded(forged('opus.ogg', 'OggS', 2, DAYS), spender));
    provider.says = '1';
    expect(job.status).toBe('completed');
    await vi.waitFor(async () =>
      expect(await spender.balance()).toMatchObject({ balanceMicroUsd: 899_800n, heldMicroUsd: 0n }),
    );
  });
});

describe('a request for a job', () => {
  it('without a byte of audio, or with more than a file may have, is refused or fails', async () => {
    const empty = await uploaded(new Uint8Array(0));
    const large = await uploaded(new Uint8Array(FILE_BYTES_MAX + 1));
    const codes = await Promise.all(
      [empty, large].map(async (each) => ((await each.json()) as { error?: { code: string } }).error?.code),
    );
    expect([empty.status, large.status, ...codes]).toEqual([400, 413, 'missing_file', 'file_too_large']);
    await expectFree();
  });

  it('that breaks off in the middle of its file leaves nothing', async () => {
    const broken = new ReadableStream<Uint8Array>({
      start(controller) {
        const part = 'Content-Disposition: form-data; name="file"; filename="a.wav"';
        controller.enqueue(
          Buffer.from(`--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${MODEL}\r\n--b\r\n${part}\r\n\r\n`),
        );
        controller.enqueue(new Uint8Array(100_000));
        setImmediate(() => controller.error(new Error('the client left')));
      },
    });
    const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
    const init = { method: 'POST', body: broken, headers, duplex: 'half' } as RequestInit;
    await expect(hostile.request('/v1/jobs', init)).rejects.toThrow();
    await expectFree();
    await expectHonest();
  });
});
