// What is promised of every vendor's files, that the vendor's own client does not show: whose they are, and how they end.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { KEPT_FILES_MAX } from '../../../../src/jobs/kept-files.ts';
import { openSqliteStore } from '../../../../src/node/store/sqlite-store.ts';
import { drawnOf } from '../../../fakes/drawn.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { type Vendor, Visitor, vendors } from './vendors.ts';

const BY = { type: 'operator', id: 'test' } as const;
/** Short: recognising it is most of the work of these tests. */
const { bytes: WAV } = sampleAudio('times/time.wav');
/** Its provider never answers. */
const SILENT = 'deepgram/nova-3';

const silently: Record<string, string> = { DEEPGRAM_API_KEY: 'credential-of-the-gateway' };

let gateway: LiveGateway;
let silent: Server;
const keys: Record<'other' | 'single' | 'listening', string> = { other: '', single: '', listening: '' };

beforeAll(async () => {
  silent = createServer((request) => void request.resume()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  silently.VOXGATE_DEEPGRAM_URL = `http://127.0.0.1:${port}`;
  gateway = await startLiveGateway({
    ...silently,
    VOXGATE_UNTAKEN_FILES_FREE: '1000',
    VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '10000',
  });
  const store = await openSqliteStore({ directory: gateway.directory });
  const { id } = await store.createOrganisation('Files', null, BY);
  keys.other = (await store.createKey(id, {}, BY)).secret;
  keys.single = (await store.createKey(id, { sessionsMax: 1 }, BY)).secret;
  keys.listening = (await store.createKey(id, { scopes: ['listen'] }, BY)).secret;
  store.close();
});
afterAll(() => {
  silent.closeAllConnections();
  silent.close();
});

const asked = async (): Promise<IncomingMessage> => (await once(silent, 'request'))[0] as IncomingMessage;

const closeOf = ({ socket }: IncomingMessage) => new Promise((resolve) => socket.once('close', resolve));

describe.each(vendors)('files of clients of $dialect', (vendor) => {
  const visitor = (key: string) => new Visitor(gateway.url, vendor, key);
  const { statusOf, statuses, refusalOf, idOf, pathOf } = vendor;

  it.each([
    ['a key that is unknown', () => 'sk_vox_unknown', 401],
    ['a key without the scope', () => keys.listening, 403],
  ])('fail in the vendor’s format with %s', async (_, key, status) => {
    const reply = await vendor.ask(visitor(key()), WAV, 'local/commands-en');
    expect([reply.status, refusalOf(reply)]).toEqual([status, expect.stringMatching(/key/)]);
  });

  it.each([
    ['a model that is unknown', 'local/none', 404, /local\/none/],
    ['a model without a credential', 'openai/whisper-1', 422, /OpenAI/],
  ])('fail before any work: %s', async (_, model, status, words) => {
    const reply = await vendor.ask(visitor(gateway.key), WAV, model);
    expect([reply.status, refusalOf(reply)]).toEqual([status, expect.stringMatching(words)]);
  });

  it('are not fetched from this machine, which the operator has not allowed', async () => {
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/speech.wav`;
    let isAsked = false;
    const listener = () => {
      isAsked = true;
    };
    silent.once('request', listener);
    const reply = await vendor.askElsewhere(visitor(gateway.key), url, 'local/commands-en');
    silent.off('request', listener);
    expect([reply.status, refusalOf(reply), isAsked]).toEqual([
      400,
      expect.stringMatching(/Send an `https` address on the Internet/),
      false,
    ]);
  });

  it('look unknown for other ids, and to other keys', async () => {
    const own = visitor(gateway.key);
    const id = idOf(await vendor.ask(own, WAV, 'local/commands-en'));
    for (const [who, which] of [
      [own, crypto.randomUUID()],
      [own, 'x'],
      [visitor(keys.other), id],
    ] as const) {
      for (const method of ['GET', 'DELETE']) {
        const reply = await who.send(method, pathOf(which));
        expect([method, reply.status, refusalOf(reply)]).toEqual([method, 404, expect.stringMatching(/no such job/)]);
      }
    }
    expect((await own.send('GET', pathOf(id))).status).toBe(200);
  });

  it('wait for each other, and are ended when they are removed', async () => {
    const single = visitor(keys.single);
    const heard = asked();
    const first = idOf(await vendor.ask(single, WAV, SILENT));
    const request = await heard;
    const closed = closeOf(request);
    const second = idOf(await vendor.ask(single, WAV, SILENT));
    const status = async (id: string) => statusOf(await single.send('GET', pathOf(id)));
    expect([await status(first), await status(second)]).toEqual([statuses.processing, statuses.queued]);
    const next = asked();
    const { removal = '' } = vendor;
    expect((await single.send('DELETE', pathOf(first) + removal)).status).toBeLessThan(300);
    await closed;
    const ended = closeOf(await next);
    expect((await single.send('GET', pathOf(first))).status).toBe(404);
    expect(await status(second)).toBe(statuses.processing);
    await single.send('DELETE', pathOf(second) + removal);
    await ended;
  });
});

// Speechmatics has no separate upload: its files belong to jobs.
const keepers = vendors.filter(({ keep }) => keep !== undefined);

it.each(drawnOf(keepers))('files of clients of $dialect stop at the number that a key may keep', async (vendor) => {
  const store = await openSqliteStore({ directory: gateway.directory });
  const { id } = await store.createOrganisation('Many files', null, BY);
  const many = new Visitor(gateway.url, vendor, (await store.createKey(id, {}, BY)).secret);
  store.close();
  const keep = () => (vendor.keep as NonNullable<typeof vendor.keep>)(many, new Uint8Array(1));
  for (let count = 0; count < KEPT_FILES_MAX; count++) expect((await keep()).status).toBeLessThan(300);
  const reply = await keep();
  expect([reply.status, vendor.refusalOf(reply)]).toEqual([429, expect.stringMatching(/may keep 100 files/)]);
});

describe('files of clients of soniox', () => {
  const soniox = vendors.find(({ dialect }) => dialect === 'soniox') as Vendor;

  it('count, together with their transcriptions', async () => {
    const store = await openSqliteStore({ directory: gateway.directory });
    const { id } = await store.createOrganisation('Counted files', null, BY);
    const visitor = new Visitor(gateway.url, soniox, (await store.createKey(id, {}, BY)).secret);
    store.close();
    const counts = async () =>
      Promise.all(
        ['/v1/files/count', '/v1/transcriptions/count'].map(async (path) =>
          (await visitor.send('GET', path)).at('total'),
        ),
      );
    expect(await counts()).toEqual([0, 0]);
    await soniox.keep?.(visitor, WAV);
    await soniox.ask(visitor, WAV, 'local/commands-en');
    expect(await counts()).toEqual([2, 1]);
  });

  it('say why a transcription failed where its transcript is fetched', async () => {
    const visitor = new Visitor(gateway.url, soniox, gateway.key);
    const id = soniox.idOf(await soniox.ask(visitor, new Uint8Array(1_000), 'local/commands-en'));
    await vi.waitFor(async () => expect((await visitor.send('GET', soniox.pathOf(id))).at('status')).toBe('error'));
    const shown = await visitor.send('GET', soniox.pathOf(id));
    const reply = await visitor.send('GET', `${soniox.pathOf(id)}/transcript`);
    expect([reply.status, shown.at('error_message')]).toEqual([409, expect.stringMatching(/\w/)]);
    expect(soniox.refusalOf(reply)).toContain(shown.at('error_message'));
  });
});

it('files that are worked on, and those that wait, end with their node', async () => {
  const [vendor] = vendors;
  const ending = await startLiveGateway({ ...silently, VOXGATE_FILES_PER_KEY_MAX: '1' });
  const visitor = new Visitor(ending.url, vendor as Vendor, ending.key);
  const heard = asked();
  await vendor?.ask(visitor, WAV, SILENT);
  const closed = closeOf(await heard);
  await vendor?.ask(visitor, WAV, SILENT);
  ending.gateway.stop();
  expect(await ending.gateway.ended).toBeNull();
  await closed;
  expect(ending.log.filter((line) => line.includes('fault'))).toEqual([]);
});
