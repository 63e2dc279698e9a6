// What a process that was killed leaves behind at the next start: its holds are given back, its idempotency keys are free; and neither
// where another process has a journal beside the database.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lineOf } from '../../../src/money/ledger/journal.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { thisProcess } from '../../../src/runtime/process-identity.ts';
import { createCustomer } from '../../attack/rig/customers.ts';
import { wavOf } from '../../fakes/audio/audio-files.ts';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const LEASE_MS = 60_000;
const HELD = 1_000n;

it.each([
  ['no other process is there', false, 200, 0n],
  ['another process is there', true, 409, HELD],
])('settles a killed process’s file where %s', async (_, isOther, status, held) => {
  const directory = temporaryDirectory();
  const store = await openSqliteStore({ directory });
  const customer = await createCustomer({ url: '', store }, 1_000_000n);
  const { organisationId, keyId } = customer;
  const head = {
    id: 'req_killed',
    organisationId,
    keyId,
    model: 'x/y',
    mode: 'batch',
    openedAt: new Date().toISOString(),
  };
  await store.openSession(head as never, { wantedMicroUsd: HELD, leastMicroUsd: HELD, leaseMs: LEASE_MS });
  const keyHash = new Uint8Array(createHash('sha256').update('again').digest());
  await store.claimIdempotency({ organisationId, keyHash, attemptId: 'req_killed' }, LEASE_MS);
  if (isOther) {
    mkdirSync(join(directory, 'usage'), { mode: 0o700 });
    writeFileSync(
      join(directory, 'usage', 'other1.journal'),
      lineOf({ type: 'begun', version: 1, process: thisProcess() }),
    );
  }
  const { request } = await startLiveGateway({ VOXGATE_DATA_DIRECTORY: directory });
  const form = new FormData();
  form.set('model', 'loopback/script');
  form.set('file', new Blob([wavOf(16_000)]), 'a.wav');
  const headers = { Authorization: `Bearer ${customer.key}`, 'Idempotency-Key': 'again' };
  const answer = await request('/v1/audio/transcriptions', { method: 'POST', headers, body: form });
  expect([answer.status, (await store.balanceOf(organisationId)).heldMicroUsd]).toEqual([status, held]);
  expect((await store.auditLedger()).faults).toEqual([]);
  await store.close();
});
