// `npm run bench -- ledger [sessions] [--json]`: how many sessions a second the store opens and settles, each durable on the disk
// before it is answered, with 100 and with 1,000 sessions in flight, and with one renewal between; beside how often a bare table
// of the same library takes one row durably. In turns, so that what slows the machine down slows both.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Store } from '../src/node/store/store.ts';
import { compiledStore } from './compiled-store.ts';
import { createPayer, settledPerSecond } from './settlements.ts';
import { ratiosOf, type Spread, spreadOf, textOf } from './spread.ts';

const LOADS = {
  settled_per_second: { name: '100 in flight', inFlight: 100, renewals: 0 },
  settled_per_second_1000: { name: '1,000 in flight', inFlight: 1_000, renewals: 0 },
  settled_per_second_renewed: { name: '1,000 in flight, renewed once', inFlight: 1_000, renewals: 1 },
} as const;
type Load = keyof typeof LOADS;
const ROUNDS = 3;
const BARE_MS = 1_000;

const isJsonOnly = process.argv.includes('--json');
const sessions = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 20_000);
const { openSqliteStore } = await compiledStore();
const directory = mkdtempSync(join(tmpdir(), 'voxgate-bench-'));
const store: Store = await openSqliteStore({ directory });
try {
  const payer = await createPayer(store);
  await settledPerSecond(store, payer, { name: 'warm', inFlight: 100, renewals: 0, count: 2_000 });
  const settled: Record<Load, number[]> = {
    settled_per_second: [],
    settled_per_second_1000: [],
    settled_per_second_renewed: [],
  };
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(bareCommits());
    for (const [load, { inFlight, renewals }] of Object.entries(LOADS) as [Load, (typeof LOADS)[Load]][]) {
      const crowd = { name: `${load}-${round}`, inFlight, renewals, count: Math.ceil(sessions / ROUNDS) };
      settled[load].push(await settledPerSecond(store, payer, crowd));
    }
  }
  await report(settled, bare);
} finally {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
}

async function report(settled: Readonly<Record<Load, number[]>>, bare: readonly number[]): Promise<void> {
  const ratios = Object.entries(settled).map(([load, each]) => [load, ratiosOf(each, bare)] as const);
  const figures = Object.fromEntries(Object.entries(settled).map(([load, each]) => [load, spreadOf(each)]));
  if (!isJsonOnly) {
    for (const [load, ratio] of ratios) {
      const { name } = LOADS[load as Load];
      const perSecond = textOf(figures[load] as Spread);
      console.log(`${name}: ${perSecond} settled sessions a second, ${textOf(ratio)} for each bare commit`);
    }
  }
  const startedMs = performance.now();
  const audit = await store.auditLedger();
  const auditMs = Math.round(performance.now() - startedMs);
  if (!audit.ok) throw new Error(audit.faults.join('\n'));
  console.log(
    JSON.stringify({
      ratios: Object.fromEntries(
        ratios.map(([load, ratio]) => [`${load.replace('per_second', 'vs_bare_commit')}`, ratio.median]),
      ),
      ...Object.fromEntries(Object.entries(figures).map(([load, each]) => [load, each.median])),
      bare_commits_per_second: spreadOf(bare),
      spread: figures,
      audited_transfers: audit.transfers,
      audit_ms: auditMs,
    }),
  );
}

/** How often a second a row is on the disk before the next is written. */
function bareCommits(): number {
  const database = new Database(join(directory, 'bare.db'));
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.exec('CREATE TABLE IF NOT EXISTS rows (number INTEGER PRIMARY KEY, value INTEGER) STRICT');
    const insert = database.prepare('INSERT INTO rows (value) VALUES (1)');
    const startedMs = performance.now();
    let count = 0;
    while (performance.now() - startedMs < BARE_MS) {
      insert.run();
      count++;
    }
    return (count * 1_000) / (performance.now() - startedMs);
  } finally {
    database.close();
  }
}
