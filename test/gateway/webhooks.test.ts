// Webhooks as an organisation uses them: made over the API, posted by the gateway, listed and sent again; and what is refused.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewWebhookAnswer, WebhookDelivery, WebhookList } from '../../src/api/webhooks.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { type LiveClient, type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { livePerson } from '../fakes/processes/live-person.ts';
import { OPERATOR } from '../fakes/store/ledger.ts';

/** A receiver that always answers 204. */
const APART = '/apart';

interface Spoken {
  data: { transcript: unknown };
  finals: LiveClient['finals'];
}

interface Posted {
  headers: Record<string, string>;
  body: string;
}

let live: LiveGateway;
/** With the scope, and a limit of spend; and one of another organisation. */
let key: string;
let keyId: string;
let foreign: string;
let apart: Promise<Spoken[]>;
let organisationId: string;
let url: string;
let status = 204;
const posted: Posted[] = [];
const watchers = new Set<() => void>();

beforeAll(async () => {
  live = await startLiveGateway({ VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8' });
  const store = await openSqliteStore({ directory: live.directory });
  organisationId = (await store.listOrganisations())[0]!.id;
  const created = await store.createKey(organisationId, { scopes: ['webhooks', 'listen', 'transcribe'] }, OPERATOR);
  key = created.secret;
  keyId = created.key.id;
  const { id } = await store.createOrganisation('Another', null, OPERATOR);
  foreign = (await store.createKey(id, { scopes: ['webhooks', 'listen'] }, OPERATOR)).secret;
  const third = await store.createOrganisation('Apart', null, OPERATOR);
  const { secret } = await store.createKey(third.id, { scopes: ['webhooks', 'listen'] }, OPERATOR);
  await store.close();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    posted.push({ headers: request.headers as Record<string, string>, body });
    response.writeHead(request.url === APART ? 204 : status).end();
    for (const watch of [...watchers]) watch();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => server.close());
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  // A transcript that does not come is waited for: meanwhile the other tests run.
  apart = speakApart(secret);
  apart.catch(() => {});
});

const when = (isSo: () => boolean) =>
  new Promise<void>((resolve) => {
    const watch = () => {
      if (!isSo()) return;
      watchers.delete(watch);
      resolve();
    };
    watchers.add(watch);
    watch();
  });

async function ask<Answer>(method: string, path: string, body?: object, credential = key) {
  const headers = { Authorization: `Bearer ${credential}`, ...(body && { 'Content-Type': 'application/json' }) };
  const response = await live.request(`/v1/webhooks${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    answer: (await response.json()) as Answer & { error: { code: string; param: string; message: string } },
  };
}

const create = async (more: object = {}) =>
  (await ask<NewWebhookAnswer>('POST', '', { url, events: ['session.ended', 'key.revoked'], ...more })).answer;
const deliveries = async (id: string, query = '') =>
  (await ask<{ data: WebhookDelivery[]; next: string | null }>('GET', `/${id}/deliveries${query}`)).answer;
/** Recorded a moment after the receiver has answered. */
const recorded = (id: string, isSo: (data: WebhookDelivery[]) => boolean) =>
  expect.poll(async () => isSo((await deliveries(id)).data), { timeout: 10_000 }).toBe(true);

/** Speaks with and without a retention, in an organisation of its own that wants transcripts. */
async function speakApart(secret: string): Promise<Spoken[]> {
  // Its first session: whether transcripts are wanted is known for half a minute.
  const body = { url: new URL(APART, url), events: ['session.ended'], transcripts: true };
  await ask('POST', '', body, secret);
  const speak = async (more: Record<string, string> = {}): Promise<Spoken> => {
    const query = { model: 'loopback/script', ...more };
    const client = live.connect(query, { authorize: false, headers: { Authorization: `Bearer ${secret}` } });
    const { session_id: sessionId } = await client.event('session_started');
    client.send(new Uint8Array(64_000));
    client.send({ type: 'finalize' });
    await client.event('transcript', ({ is_final }) => is_final);
    client.send({ type: 'close' });
    await client.close();
    await when(() => posted.some(({ body }) => body.includes(sessionId)));
    const { data } = JSON.parse(posted.find(({ body }) => body.includes(sessionId))!.body);
    return { data, finals: client.finals };
  };
  return [await speak(), await speak({ retention: 'none' })];
}

const isSigned = ({ headers, body }: Posted, secret: string): boolean => {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = `v1,${createHmac('sha256', bytes).update(signed).digest('base64')}`;
  return (headers['webhook-signature'] ?? '').split(' ').includes(expected);
};

describe('a webhook', () => {
  it('receives the end of a session, signed, and says so in its deliveries', async () => {
    const { id, secret } = await create();
    const client = live.connect(
      { model: 'loopback/script', tags: 'customer:acme' },
      { authorize: false, headers: { Authorization: `Bearer ${key}` } },
    );
    const { session_id: sessionId } = await client.event('session_started');
    client.send({ type: 'close' });
    await client.close();
    await when(() => posted.some(({ body }) => body.includes(sessionId)));
    const post = posted.find(({ body }) => body.includes(sessionId))!;
    expect(isSigned(post, secret)).toBe(true);
    expect(JSON.parse(post.body)).toMatchObject({
      type: 'session.ended',
      data: {
        id: sessionId,
        model: 'loopback/script',
        key_id: keyId,
        reason: 'client_closed',
        cost_usd: '0.00',
        tags: { customer: 'acme' },
      },
    });
    await recorded(id, ([first]) => first?.state === 'delivered');
    expect((await deliveries(id)).data).toMatchObject([
      { id: post.headers['webhook-id'], event: 'session.ended', attempts: 1, latest_attempts: [{ status: 204 }] },
    ]);
    await ask('DELETE', `/${id}`);
  });

  it('receives usage as CloudEvents that a metering system reads, signed, each once', async () => {
    const { id, secret, format } = await create({ events: ['usage.recorded'], format: 'cloudevents' });
    expect(format).toBe('cloudevents');
    const client = live.connect(
      { model: 'loopback/script', tags: 'customer:acme' },
      { authorize: false, headers: { Authorization: `Bearer ${key}` } },
    );
    const { session_id: sessionId } = await client.event('session_started');
    client.send({ type: 'close' });
    await client.close();
    await when(() => posted.some(({ body }) => body.includes(sessionId)));
    const post = posted.find(({ body }) => body.includes(sessionId))!;
    expect(isSigned(post, secret)).toBe(true);
    expect(post.headers['content-type']).toBe('application/cloudevents+json; charset=utf-8');
    expect(JSON.parse(post.body)).toMatchObject({
      specversion: '1.0',
      type: 'usage.recorded',
      source: `urn:voxgate:${organisationId}`,
      subject: 'acme',
      datacontenttype: 'application/json',
      data: { id: sessionId, key_id: keyId, mode: 'live', cost_usd: '0.00', cost_micro_usd: 0 },
    });
    await recorded(id, ([first]) => first?.state === 'delivered');
    const changed = await ask('PATCH', `/${id}`, { format: 'standard' });
    expect([changed.status, changed.answer.error.code]).toEqual([400, 'invalid_request']);
    expect((await ask('POST', '', { url, events: ['usage.recorded'], format: 'xml' })).status).toBe(400);
    await ask('DELETE', `/${id}`);
  });

  it('receives the end of each job, with the transcript only of one that is not kept', async () => {
    const { id } = await create({ events: ['job.completed', 'job.failed'] });
    const jobOf = async (bytes: Uint8Array, retention: string) => {
      const form = new FormData();
      form.append('model', 'local/commands-en');
      form.append('retention_seconds', retention);
      form.append('file', new Blob([new Uint8Array(bytes)]), 'yes.wav');
      const headers = { Authorization: `Bearer ${key}` };
      const reply = await live.request('/v1/jobs', { method: 'POST', headers, body: form });
      const { id: job } = (await reply.json()) as { id: string };
      await when(() => posted.some(({ body }) => body.includes(job)));
      return JSON.parse(posted.find(({ body }) => body.includes(job))!.body);
    };
    const { bytes } = sampleAudio('yes.wav');
    const kept = await jobOf(bytes, '60');
    expect(kept).toMatchObject({ type: 'job.completed', data: { object: 'job', status: 'completed' } });
    expect(kept.data.result).toBeUndefined();
    const forgotten = await jobOf(bytes, '0');
    expect(forgotten.data.result.text).not.toBe('');
    const failed = await jobOf(Buffer.from('no audio at all'), '60');
    expect(failed).toMatchObject({ type: 'job.failed', data: { error: { code: 'unsupported_audio' } } });
    await ask('DELETE', `/${id}`);
  });

  it('is tested, rolled, disabled by 410, enabled, and sent its delivery again', async () => {
    const { id, secret } = await create();
    const test = async () => (await ask<WebhookDelivery>('POST', `/${id}/test`)).answer;
    const postOf = async (delivery: string, count = 1) => {
      const found = () => posted.filter(({ headers }) => headers['webhook-id'] === delivery);
      await when(() => found().length >= count);
      return found().at(-1)!;
    };
    const rolled = (await ask<NewWebhookAnswer>('POST', `/${id}/secret`)).answer;
    expect(rolled.previous_secret_until).toMatch(/Z$/);
    const first = await postOf((await test()).id);
    expect([isSigned(first, secret), isSigned(first, rolled.secret)]).toEqual([true, true]);
    const last = (await ask<NewWebhookAnswer>('POST', `/${id}/secret`, { overlap_seconds: 0 })).answer;
    const second = await postOf((await test()).id);
    expect([isSigned(second, rolled.secret), isSigned(second, last.secret)]).toEqual([false, true]);

    status = 410;
    const gone = (await test()).id;
    await postOf(gone);
    await expect
      .poll(async () => (await ask<NewWebhookAnswer>('GET', `/${id}`)).answer, { timeout: 10_000 })
      .toMatchObject({ state: 'disabled', disabled_reason: 'gone' });
    status = 204;
    expect((await ask('POST', `/${id}/test`)).status).toBe(400);
    expect((await ask('PATCH', `/${id}`, { state: 'enabled' })).answer).toMatchObject({ state: 'enabled' });
    const resent = await ask('POST', `/${id}/deliveries/${gone}/resend`);
    expect([resent.status, resent.answer]).toMatchObject([202, { id: gone, state: 'pending' }]);
    await postOf(gone, 2);
    const bodies = posted.flatMap(({ headers, body }) => (headers['webhook-id'] === gone ? [body] : []));
    expect([bodies.length, new Set(bodies).size]).toEqual([2, 1]);
    await recorded(id, (data) => data.every(({ state }) => state === 'delivered'));
    const page = await deliveries(id, '?limit=2');
    expect([page.data.length, page.next]).toEqual([2, page.data[1]?.id]);
    expect((await deliveries(id, `?before=${page.next}`)).data).toHaveLength(1);
    const unknown = await ask('GET', `/${id}/deliveries?before=msg_none`);
    expect([unknown.status, unknown.answer.error]).toMatchObject([404, { code: 'not_found', param: 'before' }]);
    await ask('DELETE', `/${id}`);
  });

  it('is changed, and deleted with its deliveries', async () => {
    const { id } = await create({ description: 'ours' });
    const changed = await ask('PATCH', `/${id}`, { events: ['balance.low'], balance_low_usd: '2.5' });
    expect(changed.answer).toMatchObject({ events: ['balance.low'], balance_low_usd: '2.50', description: 'ours' });
    expect((await ask<WebhookList>('GET', '')).answer.data.map((each) => each.id)).toContain(id);
    expect((await ask('DELETE', `/${id}`)).answer).toMatchObject({ id, deleted: true });
    expect((await ask('GET', `/${id}`)).answer.error.code).toBe('not_found');
    expect((await ask('GET', `/${id}/deliveries`)).answer.error.code).toBe('not_found');
  });

  it('is managed with a key of its organisation that has the scope, and with no other', async () => {
    const { id } = await create();
    const paths = [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/secret'],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', '/deliveries/msg_1/resend'],
    ] as const;
    for (const [method, path] of paths) {
      const body = method === 'PATCH' ? {} : undefined;
      expect((await ask(method, `/${id}${path}`, body, live.key)).answer.error.code, path).toBe('scope_not_allowed');
      expect((await ask(method, `/${id}${path}`, body, foreign)).answer.error.code, path).toBe('not_found');
    }
    expect((await ask<WebhookList>('GET', '', undefined, foreign)).answer.data).toEqual([]);
    expect((await ask('GET', `/${id}`)).status).toBe(200);
    await ask('DELETE', `/${id}`);
  });

  it.each([
    [{ url: 'ftp://example.com' }, 'url'],
    [{ url: 'https://user:password@example.com/' }, 'url'],
    [{ url: 'https://10.0.0.1/' }, 'url'],
    [{ url: 'https://[::ffff:169.254.169.254]/' }, 'url'],
    [{ url: 'https://2852039166/' }, 'url'],
    [{ events: [] }, 'events'],
    [{ events: ['session.begun'] }, 'events.0'],
    [{ events: ['key.revoked', 'key.revoked'] }, 'events'],
    [{ url: 'https://example.com/#part' }, 'url'],
    [{ balance_low_usd: '-1' }, 'balance_low_usd'],
    [{ secret: 'whsec_mine' }, 'secret'],
  ])('is refused with %j', async (more, param) => {
    const { status: refused, answer } = await ask('POST', '', { url, events: ['key.revoked'], ...more });
    expect([refused, answer.error]).toMatchObject([400, { code: 'invalid_request', param }]);
  });

  it('is refused with repeated events, and the message says why', async () => {
    const { answer } = await ask('POST', '', { url, events: ['key.revoked', 'key.revoked'] });
    expect(answer.error.message).toContain('a list of 1 to 7 different items');
  });

  it('is managed in the console as well', async () => {
    const person = await livePerson(live, 'ada@example.com', 'correct horse battery');
    const made = (await (
      await person.call('POST', 'webhooks', { url, events: ['key.revoked'] })
    ).json()) as NewWebhookAnswer;
    expect(made.secret).toMatch(/^whsec_/);
    const minted = (await (await person.call('POST', 'keys', { name: 'old' })).json()) as { key: { id: string } };
    await person.call('DELETE', `keys/${minted.key.id}`);
    await when(() => posted.some(({ body }) => body.includes(minted.key.id)));
    const post = posted.find(({ body }) => body.includes(minted.key.id))!;
    expect([isSigned(post, made.secret), JSON.parse(post.body).type]).toEqual([true, 'key.revoked']);
    const listed = (await (await person.call('GET', `webhooks/${made.id}/deliveries`)).json()) as { data: unknown[] };
    expect(listed.data).toHaveLength(1);
    expect((await person.call('DELETE', `webhooks/${made.id}`)).status).toBe(200);
  });

  it('receives what was said where it wants to, unless nothing may be kept', async () => {
    const [kept, unkept] = (await apart) as [Spoken, Spoken];
    expect(kept.finals[0]?.text).not.toBe('');
    expect(kept.data).toMatchObject({
      transcript: kept.finals.map(({ start, end, text }) => ({ start, end, text })),
      transcript_is_cut: false,
    });
    expect(unkept.data.transcript).toBeNull();
  }, 40_000);
});
