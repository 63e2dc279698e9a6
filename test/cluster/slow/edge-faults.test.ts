// The node that clients are connected to is killed: they see it at once, and what they said is billed from its journal, never more
// than they said and at most five seconds less. Where it never comes back, its sessions end all the same.
import { beforeAll, describe, expect, it } from 'vitest';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { Cluster, NODE_START_MS } from '../rig/cluster.ts';
import { beginAll, billedMs, expectAgreement, FULL, sessionSeen, settled } from '../rig/crowd.ts';
import type { Talker } from '../rig/talker.ts';

const TALKERS = FULL ? 100 : 6;
const KILLED_AFTER_SECONDS = FULL ? 20 : 7;
const UNBILLED_MS_MAX = 5_000;
/** Five minutes beyond the grace, which is none here. */
const LOST_MS_MAX = 330_000;
/** 16,000 samples a second. */
const BYTES_PER_MS = 32;

const rangeOf = (ms: readonly number[]) => `${Math.round(Math.min(...ms))} to ${Math.round(Math.max(...ms))}`;

// It says itself why, when something that it needs is not here.
describe.skipIf(!natsServerIsHere)('an edge node that is killed mid-sentence', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    const edge = { roles: 'edge,upstream', env: { VOXGATE_LEDGER_GRACE_MS: '0' } };
    cluster = await Cluster.start({
      accounts: { roles: 'accounts', env: { VOXGATE_LEDGER_GRACE_MS: '0' } },
      one: edge,
      two: edge,
    });
  }, 3 * NODE_START_MS);

  /** Speaks at that node until it is killed under them. */
  const killUnder = async (id: string): Promise<Talker[]> => {
    const node = cluster.node(id);
    const talkers = await beginAll(TALKERS, { url: node.url, key: cluster.key, seconds: 2 * KILLED_AFTER_SECONDS });
    await Promise.all(talkers.map((talker) => talker.said(KILLED_AFTER_SECONDS)));
    await node.end('SIGKILL');
    for (const talker of talkers) expect((await talker.close()).code).toBe(1006);
    return talkers;
  };
  /** Of each, what it said and is not billed. Late usage is billed beside a session that was closed without it. */
  const unbilledMs = async (talkers: readonly Talker[]): Promise<number[]> => {
    const found: number[] = [];
    for (const { sessionId, sentBytes } of talkers) {
      const seen = await sessionOf(sessionId);
      expect(seen).toMatchObject({ state: 'ended', held_usd: '0.00' });
      found.push(sentBytes / BYTES_PER_MS - billedMs(seen) - billedMs(await sessionOf(`${sessionId}:late`)));
    }
    return found;
  };
  const sessionOf = (id: string) => sessionSeen(cluster.node('two').url, cluster.key, id);
  const expectFair = (unbilled: readonly number[]) => {
    expect(Math.min(...unbilled)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...unbilled)).toBeLessThanOrEqual(UNBILLED_MS_MAX);
  };

  it(
    'bills each session at its last checkpoint when started again',
    async () => {
      const talkers = await killUnder('one');
      const startedAtMs = performance.now();
      await cluster.node('one').start();
      await settled(cluster.node('accounts'), talkers);
      const backMs = performance.now() - startedAtMs;
      const unbilled = await unbilledMs(talkers);
      console.info(
        `${TALKERS} sessions: ${rangeOf(unbilled)} ms unbilled; settled ${Math.round(backMs)} ms after the start`,
      );
      expectFair(unbilled);
      await expectAgreement(cluster.node('accounts'));
    },
    4 * NODE_START_MS,
  );

  // Five minutes have to pass.
  it.runIf(FULL)(
    'leaves no live sessions when never started again; a late journal is billed',
    async () => {
      const accounts = cluster.node('accounts');
      const talkers = await killUnder('one');
      const killedAtMs = performance.now();
      const { sessions } = await accounts.logged('sessions of a lost node are closed');
      const closedMs = performance.now() - killedAtMs;
      expect(sessions).toBe(TALKERS);
      // At what was posted, never more.
      expect(Math.min(...(await unbilledMs(talkers)))).toBeGreaterThanOrEqual(0);
      await expectAgreement(accounts);
      await cluster.node('one').start();
      await settled(accounts, talkers);
      const unbilled = await unbilledMs(talkers);
      console.info(
        `${TALKERS} sessions of a node that is gone for good are closed after ${Math.round(closedMs / 1000)} s; ${rangeOf(unbilled)} ms unbilled when it comes back`,
      );
      expectFair(unbilled);
      await expectAgreement(accounts);
    },
    LOST_MS_MAX + 4 * NODE_START_MS,
  );
});
