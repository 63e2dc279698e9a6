// `npm run bench -- ledger [sessions] [--json]`: how many sessions a second the store opens and settles, each durable on the disk
// before it is answered, with 100 and with 1,000 sessions in flight, and with one renewal between.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../../bin/build.js';
import type { Store } from '../../src/store/store.ts';

const OPERATOR = { type: 'operator', id: 'bench' } as const;
const LEASE_MS = 60_000;
const PRICE = { unit: 'minute', microUsd: 4_300n, minimumMicroUsd: 0n } as const;
const WANTED = { wantedMicroUsd: 4_300n, leastMicroUsd: 1_000n, leaseMs: LEASE_MS };
const ROUNDS: readonly { name: string; inFlight: number; renewals: number }[] = [
  { name: '100 in flight', inFlight: 100, renewals: 0 },
  { name: '1,000 in flight', inFlight: 1_000, renewals: 0 },
  { name: '1,000 in flight, renewed once', inFlight: 1_000, renewals: 1 },
];

const sessions = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 20_000);
const { openSqliteStore } = await compiledStore();
const directory = mkdtempSync(join(tmpdir(), 'voxgate-bench-'));
const store: Store = await openSqliteStore({ directory });
try {
  const { id: organisationId } = await store.createOrganisation('Bench', 0n, OPERATOR);
  const { key } = await store.createKey(organisationId, {}, OPERATOR);
  await store.addCredit(
    { organisationId, kind: 'top_up', microUsd: 10n ** 12n, uniqueKey: 'bench', note: '' },
    OPERATOR,
  );
  await round(organisationId, key.id, 'warm', 100, 0, 2_000);
  const figures: Record<string, number> = {};
  for (const { name, inFlight, renewals } of ROUNDS) {
    figures[name] = await round(organisationId, key.id, `${inFlight}-${renewals}`, inFlight, renewals, sessions);
    if (!process.argv.includes('--json')) console.log(`${name}: ${figures[name]} settled sessions a second`);
  }
  const startedMs = performance.now();
  const audit = await store.auditLedger();
  const auditMs = Math.round(performance.now() - startedMs);
  if (!audit.ok) throw new Error(audit.faults.join('\n'));
  console.log(
    JSON.stringify({
      settled_per_second: figures[ROUNDS[0]!.name],
      settled_per_second_1000: figures[ROUNDS[1]!.name],
      settled_per_second_renewed: figures[ROUNDS[2]!.name],
      audited_transfers: audit.transfers,
      audit_ms: auditMs,
    }),
  );
} finally {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
}

/** The store as it is shipped: its thread runs the compiled files. */
async function compiledStore(): Promise<typeof import('../../src/store/sqlite/store.ts')> {
  await ensureBuilt(fileURLToPath(new URL('../../', import.meta.url)));
  return import('../../src/store/sqlite/store.ts');
}

/** Sessions settled a second, each by one of so many that run beside each other. */
async function round(
  organisationId: string,
  keyId: string,
  name: string,
  inFlight: number,
  renewals: number,
  count: number,
): Promise<number> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) {
      const model = 'loopback/script';
      const openedAt = new Date().toISOString();
      const head = { id: `ses_${name}_${index}`, organisationId, keyId, mode: 'live', model, openedAt } as const;
      const line = (audioMs: number) => [{ model, own: false, audioMs, price: PRICE }];
      await store.openSession(head, WANTED);
      for (let renewal = 1; renewal <= renewals; renewal++) {
        await store.renewHold(head, line(renewal * 10_000), WANTED);
      }
      const lines = line(10_000 * renewals + 5_000 + index);
      const endedAt = new Date().toISOString();
      await store.settleSession(head, {
        endedAt,
        reason: 'client_closed',
        code: null,
        audioMs: lines[0]!.audioMs,
        lines,
      });
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: inFlight }, worker));
  return Math.round((count * 1000) / (performance.now() - startedMs));
}
