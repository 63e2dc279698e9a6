// The promise that a killed process costs its customers nothing that they did not use, and its operator five seconds a session
// at most: real gateways under load, killed at any moment, and the ledger's own audit after it.
import { afterAll, expect, it } from 'vitest';
import { costMicroUsd } from '../../../../src/config/prices/price.ts';
import { openSqliteStore } from '../../../../src/node/store/sqlite-store.ts';
import { KilledGateway, killedEnvironment, type Sent } from '../../../fakes/processes/killed-gateway.ts';
import { voxgate } from '../../../fakes/processes/voxgate.ts';
import { seeded } from '../../../fakes/random.ts';
import { temporaryDirectory } from '../../../fakes/temporary-directory.ts';

/** `npm run test:release` sets 50. */
const KILLS = Number(process.env.KILLS ?? 1);
const SESSIONS = Number(process.env.KILL_SESSIONS ?? 100);
const SEED = Number(process.env.KILL_SEED ?? 1);
const CREDIT = 1_000_000_000n;
const PRICE = { unit: 'minute', microUsd: 600_000n, minimumMicroUsd: 0n } as const;
const BY = { type: 'system', id: 'test' } as const;
const UNBILLED_MS_MAX = 5_000;

let running: KilledGateway | undefined;
afterAll(() => running?.kill());

async function prepaid(directory: string): Promise<{ organisationId: string; key: string }> {
  const store = await openSqliteStore({ directory });
  await store.bootstrap();
  const organisation = await store.createOrganisation('Prepaid', 0n, BY);
  const credit = {
    organisationId: organisation.id,
    kind: 'top_up',
    microUsd: CREDIT,
    uniqueKey: 'first',
    note: '',
  } as const;
  await store.addCredit(credit, BY);
  const { secret } = await store.createKey(organisation.id, {}, BY);
  await store.close();
  return { organisationId: organisation.id, key: secret };
}

it(`${KILLS} kills under ${SESSIONS} sessions: the audit agrees, nothing is overbilled, at most 5 s a session are unbilled`, {
  timeout: 60_000 + KILLS * 30_000,
}, async () => {
  const directory = temporaryDirectory();
  const env = killedEnvironment(directory);
  const { organisationId, key } = await prepaid(directory);
  const random = seeded(SEED);
  const sent: Sent[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    running = await KilledGateway.start(env);
    const speakers = await running.speak(SESSIONS, key);
    await speakers[0]!.reached(random.integer(0, 6_500));
    // Some are just being settled.
    const leaving = speakers.slice(1).filter(() => random.next() < 0.2);
    for (const speaker of leaving) speaker.finish();
    const gone = random.integer(0, leaving.length);
    if (gone > 0) await leaving[gone - 1]!.closed;
    await running.kill();
    sent.push(...speakers.map((speaker) => ({ ...speaker.sent })));
  }
  running = await KilledGateway.start(env);
  await running.stop();
  running = undefined;

  const audit = await voxgate(['ledger', 'audit', '--json'], env);
  const verdict = JSON.parse(audit.output.trim().split('\n').at(-1)!) as { ok: boolean };
  expect([audit.code, verdict.ok]).toEqual([0, true]);

  const store = await openSqliteStore({ directory });
  const balance = await store.balanceOf(organisationId);
  let total = 0n;
  let unbilledMsMax = 0;
  let overbilledMsMax = 0;
  for (const { sessionId, audioMs } of sent) {
    const record = await store.findSession(organisationId, sessionId);
    const billedMs = record?.lines.reduce((sum, line) => sum + line.audioMs, 0) ?? 0;
    unbilledMsMax = Math.max(unbilledMsMax, audioMs - billedMs);
    overbilledMsMax = Math.max(overbilledMsMax, billedMs - audioMs);
    expect(record?.costMicroUsd ?? 0n).toBe(costMicroUsd(PRICE, billedMs));
    total += record?.costMicroUsd ?? 0n;
  }
  const { oldestHoldMs } = await store.auditLedger();
  await store.close();
  console.log(JSON.stringify({ kills: KILLS, sessions: sent.length, unbilledMsMax, overbilledMsMax, oldestHoldMs }));
  expect(balance.balanceMicroUsd).toBe(CREDIT - total);
  expect(overbilledMsMax).toBe(0);
  expect(unbilledMsMax).toBeLessThanOrEqual(UNBILLED_MS_MAX);
  expect(oldestHoldMs ?? 0).toBeLessThanOrEqual(60_000);
});
