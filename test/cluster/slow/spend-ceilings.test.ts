// One ceiling on spend, raced by 50 sessions at three nodes over a real nats-server, with the clocks of the nodes in three different hours:
// what is spent and held never passes it, and the clock of the accounts decides which hour it is.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, it } from 'vitest';
import { DATABASE_NAME } from '../../../src/store/keep-database.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { Cluster, type ClusterNode, MICRO_USD_PER_MS, NODE_START_MS } from '../rig/cluster.ts';
import { createKey, expectAgreement, settled } from '../rig/crowd.ts';
import { Talker } from '../rig/talker.ts';

const EDGES = ['edge-1', 'edge-2', 'edge-3'] as const;
const SESSIONS = 50;
const HOUR_MS = 3_600_000;
const LIMIT_MICRO_USD = 250_000;
/** Of each session: what it holds. */
const MAX_COST = '0.02';
const SECONDS = 1.5;

/** A module that sets the clock of a process that many milliseconds ahead. */
function clockAhead(directory: string, name: string, ms: number): string {
  const path = join(directory, `${name}.mjs`);
  writeFileSync(
    path,
    `const Real = Date;
     globalThis.Date = class extends Real {
       constructor(...given) { given.length === 0 ? super(Real.now() + ${ms}) : super(...given); }
       static now() { return Real.now() + ${ms}; }
     };`,
  );
  return `--import=file://${path}`;
}

// Skipped without the program; under CI that fails.
describe.skipIf(!natsServerIsHere)('a ceiling on spend over three nodes', () => {
  let cluster: Cluster;
  let accounts: ClusterNode;
  // Half past an hour at the accounts, whenever the test runs.
  const aheadMs = HOUR_MS / 2 - (Date.now() % HOUR_MS);
  const offsetsMs = [0, (HOUR_MS * 3) / 4, (-HOUR_MS * 3) / 4];
  beforeAll(async () => {
    const directory = temporaryDirectory();
    const clock = (name: string, ms: number) => ({ NODE_OPTIONS: clockAhead(directory, name, aheadMs + ms) });
    const env = { VOXGATE_LEDGER_GRACE_MS: '0', VOXGATE_SPEND_CEILINGS: '0.25/hour' };
    cluster = await Cluster.start({ accounts: { roles: 'accounts', env: clock('accounts', 0) } }, env);
    accounts = cluster.node('accounts');
    await Promise.all(
      EDGES.map((id, at) => cluster.add(id, { roles: 'edge,upstream', env: clock(id, offsetsMs[at] ?? 0) })),
    );
  }, 6 * NODE_START_MS);

  it(
    'is never passed by 50 sessions, and counts in the hour of the accounts',
    async () => {
      const key = await createKey(accounts);
      const database = new Database(join(accounts.directory, DATABASE_NAME), { readonly: true });
      const row = database.prepare<[], { span: string; used: number; spent: number }>(
        `SELECT span, spent_micro_usd + held_micro_usd AS used, spent_micro_usd AS spent FROM spend_ceilings`,
      );
      const refusals: string[] = [];
      const run = async (index: number): Promise<Talker | undefined> => {
        const { url } = cluster.node(EDGES[index % EDGES.length] as string);
        const speech = { url, key, seconds: SECONDS, turnSeconds: 0.5, query: { max_cost: MAX_COST } };
        const talker = await Talker.begin(speech).catch((error: Error) => void refusals.push(error.message));
        expect(row.get()?.used).toBeLessThanOrEqual(LIMIT_MICRO_USD);
        await talker?.finish();
        expect(row.get()?.used).toBeLessThanOrEqual(LIMIT_MICRO_USD);
        return talker || undefined;
      };
      const talkers = (await Promise.all(Array.from({ length: SESSIONS }, (_, index) => run(index)))).filter(
        (talker) => talker !== undefined,
      );
      await settled(accounts, talkers);
      expect(talkers.length).toBeGreaterThanOrEqual(Math.floor(LIMIT_MICRO_USD / 20_001));
      expect(refusals).toHaveLength(SESSIONS - talkers.length);
      for (const message of refusals) expect(message).toContain('spend_ceiling_reached');
      const { span, used, spent } = row.get()!;
      expect({ used, spent }).toEqual({ used: spent, spent: talkers.length * SECONDS * 1000 * MICRO_USD_PER_MS });
      expect(spent).toBeLessThanOrEqual(LIMIT_MICRO_USD);
      expect(span).toBe(new Date(Date.now() + aheadMs).toISOString().slice(0, 'YYYY-MM-DDTHH'.length));
      database.close();
      await expectAgreement(accounts);
      console.info(
        `${talkers.length} of ${SESSIONS} sessions were open; ${spent} of ${LIMIT_MICRO_USD} micro-USD spent`,
      );
    },
    4 * NODE_START_MS,
  );
});
