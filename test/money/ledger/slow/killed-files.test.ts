// Files that are under way when their process is killed: the next start closes them, and the audit agrees.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openSqliteStore } from '../../../../src/node/store/sqlite-store.ts';
import { wavOf } from '../../../fakes/audio/audio-files.ts';
import { KilledGateway } from '../../../fakes/processes/killed-gateway.ts';
import { voxgate } from '../../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../../fakes/temporary-directory.ts';

const MODEL = 'loopback/numbered';
const FILES = 6;
const BY = { type: 'system', id: 'test' } as const;
let running: KilledGateway | undefined;
afterAll(() => running?.kill());

it('closes files in progress at a kill on the next start', { timeout: 120_000 }, async () => {
  const directory = temporaryDirectory();
  const prices = join(directory, 'prices.json');
  writeFileSync(prices, JSON.stringify({ [MODEL]: { batch: { unit: 'minute', amount: '0.6' } } }));
  const env = { VOXGATE_PORT: '0', VOXGATE_DATA_DIRECTORY: directory, VOXGATE_PRICES_FILE: prices };
  const store = await openSqliteStore({ directory });
  await store.bootstrap();
  const { id } = await store.createOrganisation('Prepaid', 0n, BY);
  await store.addCredit({ organisationId: id, kind: 'top_up', microUsd: 1_000_000n, uniqueKey: 'first', note: '' }, BY);
  const { secret } = await store.createKey(id, {}, BY);

  const headers = { Authorization: `Bearer ${secret}` };
  const at = (path: string) => `${(running as KilledGateway).url.replace('ws', 'http')}${path}`;
  const send = (key: string, params: object) => {
    const form = new FormData();
    form.append('model', MODEL);
    form.append('provider_params', JSON.stringify(params));
    form.append('file', new Blob([wavOf(64_000)]), 'a.wav');
    const sent = { ...headers, 'Idempotency-Key': key };
    return fetch(at('/v1/audio/transcriptions'), { method: 'POST', headers: sent, body: form });
  };
  const sessions = async () => {
    const answer = await fetch(at('/v1/sessions?limit=50'), { headers });
    return ((await answer.json()) as { data: { id: string; state: string; reason: string | null }[] }).data;
  };

  running = await KilledGateway.start(env);
  const stalled = { fail: { how: 'stall', at_seconds: 0 } };
  const broken = Array.from({ length: FILES }, (_, index) => send(`file-${index}`, stalled).catch(() => undefined));
  while ((await store.auditLedger()).openHolds < FILES);
  expect((await sessions()).map(({ state }) => state)).toEqual(Array(FILES).fill('live'));
  await running.kill();
  await Promise.all(broken);

  running = await KilledGateway.start(env);
  const closed = await sessions();
  expect(closed.map(({ state, reason }) => [state, reason])).toEqual(Array(FILES).fill(['ended', 'node_lost']));
  const one = await (await fetch(at(`/v1/sessions/${closed[0]?.id}`), { headers })).json();
  expect(one).toMatchObject({ state: 'ended', held_usd: '0.00', cost_usd: '0.00' });
  const fresh = await send('another', { turn_seconds: 600 });
  expect([fresh.status, ((await fresh.json()) as { usage: { seconds: number } }).usage.seconds]).toEqual([200, 2]);
  await running.stop();
  running = undefined;
  expect(await store.balanceOf(id)).toMatchObject({ balanceMicroUsd: 980_000n, heldMicroUsd: 0n });
  await store.close();
  const audit = await voxgate(['ledger', 'audit', '--json'], env);
  expect(JSON.parse(audit.output.trim().split('\n').at(-1) as string)).toMatchObject({ ok: true, faults: [] });
});
