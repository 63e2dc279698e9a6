// A process killed at any moment under many sessions: what it acknowledged is on the disk, exactly and once.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { costMicroUsd } from '../../../src/config/prices/price.ts';
import type { LedgerCalls, SessionHead } from '../../../src/money/store/calls.ts';
import { seeded } from '../../fakes/random.ts';
import { endOf, headOf, ledgerRig, lineOf, perMinute } from '../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const source = (name: string) => new URL(`../../../src/${name}.ts`, import.meta.url).href;

/** `npm run test:release` sets 50. */
const KILLS = Number(process.env.KILLS ?? 10);
const IN_FLIGHT = 100;
const LEASE_MS = 60_000;
const PRICE = perMinute(4_300n);

/** What a session of the process below hears in all: some of each is settled at less than half a micro-dollar. */
const audioOf = (index: number) => (index * 7_919) % 90_000;

/** Opens, renews and settles sessions without end, so many at once, and tells of each settlement that was acknowledged. */
function startSessions(
  directory: string,
  who: Pick<SessionHead, 'organisationId' | 'keyId'>,
  round: number,
): ChildProcess {
  const code = `
    import { openSqliteStore } from '${source('node/store/sqlite-store')}';
    const audioOf = ${audioOf};
    const store = await openSqliteStore({ directory: ${JSON.stringify(directory)} });
    const hold = { wantedMicroUsd: 4300n, leastMicroUsd: 0n, leaseMs: ${LEASE_MS} };
    const price = { unit: 'minute', microUsd: ${PRICE.microUsd}n, minimumMicroUsd: 0n };
    let next = 0;
    async function run() {
      for (;;) {
        const index = next++;
        const model = 'loopback/script';
        const openedAt = new Date().toISOString();
        const head = { ...${JSON.stringify(who)}, id: 'ses_${round}_' + index, mode: 'live', model, openedAt };
        const line = (audioMs) => [{ model, own: false, audioMs, price }];
        const audioMs = audioOf(index);
        await store.openSession(head, hold);
        await store.renewHold(head, line(Math.floor(audioMs / 2)), hold);
        await store.settleSession(head, { endedAt: openedAt, reason: 'completed', code: null, audioMs, lines: line(audioMs) });
        process.send(index);
      }
    }
    for (let flight = 0; flight < ${IN_FLIGHT}; flight++) run();
  `;
  return spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

test(`loses no acknowledged settlement in ${KILLS} kills under ${IN_FLIGHT} sessions, and books none twice`, async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'voxgate.db');
  const first = ledgerRig(file);
  const who = first.customer({ credit: 10n ** 12n });
  first.database.close();
  const random = seeded(11);
  const settled = new Map<string, bigint>();
  for (let round = 0; round < KILLS; round++) {
    const acknowledged = new Set<number>();
    const enough = random.integer(1, 150);
    const child = startSessions(directory, who, round);
    child.on('message', (index: number) => {
      acknowledged.add(index);
      if (acknowledged.size === enough) child.kill('SIGKILL');
    });
    expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
    const { database, ledger, clock } = ledgerRig(file);
    clock.nowMs = Date.now();
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
    for (const index of acknowledged) {
      const id = `ses_${round}_${index}`;
      const record = ledger.findSession(who.organisationId, id);
      const cost = costMicroUsd(PRICE, audioOf(index));
      expect(record, id).toMatchObject({ reason: 'completed', audioMs: audioOf(index), costMicroUsd: cost });
      settled.set(id, cost);
      // Whoever did not hear the answer settles again.
      const end = endOf([lineOf(audioOf(index), PRICE)], { reason: 'recovered' });
      expect(ledger.settleSession(headOf(who, id), end)).toEqual(record);
    }
    // What was held for the sessions that died is given back when the leases are over.
    clock.nowMs += LEASE_MS;
    expect(ledger.expireHolds()).toBeLessThanOrEqual(IN_FLIGHT);
    expect(ledger.auditLedger()).toMatchObject({ ok: true, openHolds: 0, sumMicroUsd: 0n });
    database.close();
  }
  expect(settled.size).toBeGreaterThan(KILLS * 20);
  const { database, ledger } = ledgerRig(file);
  const posted = postedBySession(ledger);
  for (const [id, cost] of settled) expect(posted.get(id) ?? 0n, id).toBe(cost);
  database.close();
}, 180_000);

/** Everything that was ever posted, added up from the transfers themselves. */
function postedBySession(ledger: LedgerCalls): Map<string, bigint> {
  const posted = new Map<string, bigint>();
  let last = 0;
  for (;;) {
    const page = ledger.exportLedger(last, 10_000);
    if (page.length === 0) return posted;
    for (const { number, sessionId, microUsd } of page) {
      last = number;
      if (sessionId !== null) posted.set(sessionId, (posted.get(sessionId) ?? 0n) + microUsd);
    }
  }
}
