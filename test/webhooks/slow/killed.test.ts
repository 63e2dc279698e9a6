// A gateway that is killed while it delivers: every fact reaches the receiver, always with the same id, however often that is.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import type { NewWebhookAnswer, WebhookDelivery } from '../../../src/api/webhooks.ts';
import { openSqliteStore, type SqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { KilledGateway, killedEnvironment } from '../../fakes/processes/killed-gateway.ts';
import { OPERATOR } from '../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const KILLS = 8;

const directory = temporaryDirectory();
const env = { ...killedEnvironment(directory), VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8' };
/** Ids by the key that was revoked. */
const seen = new Map<string, string[]>();
let answers: ((response: ServerResponse) => void)[] = [];

const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const { data } = JSON.parse(body) as { data: { id: string } };
  seen.set(data.id, [...(seen.get(data.id) ?? []), request.headers['webhook-id'] as string]);
  const answer = answers.shift();
  if (answer === undefined) response.writeHead(204).end();
  else answer(response);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function withStore<Value>(work: (store: SqliteStore) => Promise<Value>): Promise<Value> {
  const store = await openSqliteStore({ directory });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

it(`delivers every fact over ${KILLS} kills, each with one id`, { timeout: 300_000 }, async () => {
  let gateway = await KilledGateway.start(env);
  const { organisationId, secret } = await withStore(async (store) => {
    const { id } = (await store.listOrganisations())[0]!;
    const created = await store.createKey(id, { scopes: ['webhooks'] }, OPERATOR);
    return { organisationId: id, secret: created.secret };
  });
  const ask = async <Answer>(path: string, body?: object) => {
    const response = await fetch(`${gateway.url.replace('ws', 'http')}/v1/webhooks${path}`, {
      headers: { Authorization: `Bearer ${secret}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    return (await response.json()) as Answer;
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { id } = await ask<NewWebhookAnswer>('', { url, events: ['key.revoked'] });
  const revoked: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    // Killed before the fact was looked at, while the receiver works on it, or as soon as it has answered.
    const received = new Promise<void>((resolve) => {
      answers = [
        (response) => {
          if (kill % 3 === 2) response.writeHead(204).end(() => resolve());
          else resolve();
        },
      ];
    });
    const key = await withStore(async (store) => {
      const created = await store.createKey(organisationId, {}, OPERATOR);
      await store.revokeKey(organisationId, created.key.id, OPERATOR);
      return created.key.id;
    });
    revoked.push(key);
    if (kill % 3 !== 0) await received;
    await gateway.kill();
    answers = [];
    gateway = await KilledGateway.start(env);
  }
  const data = async () => (await ask<{ data: WebhookDelivery[] }>(`/${id}/deliveries?limit=100`)).data;
  await expect
    .poll(async () => (await data()).filter(({ state }) => state === 'delivered').length, {
      timeout: 120_000,
      interval: 500,
    })
    .toBe(KILLS);
  expect(await data()).toHaveLength(KILLS);
  expect([...seen.keys()].sort()).toEqual(revoked.sort());
  expect([...seen.values()].filter((ids) => new Set(ids).size !== 1)).toEqual([]);
  // Those whose answer was lost came again.
  expect([...seen.values()].some((ids) => ids.length > 1)).toBe(true);
  await gateway.stop();
});
