// A cluster under sessions whose parts are killed one after the other, in the middle of what they do: each role of it, and NATS. What the
// ledger says after it must agree, nothing is billed that was not said, and nothing stays held.
import { setTimeout as after } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Cluster } from '../cluster/rig/cluster.ts';
import { beginAll, billedMs, sessionSeen } from '../cluster/rig/crowd.ts';
import type { Talker } from '../cluster/rig/talker.ts';
import { voxgate } from '../fakes/processes/voxgate.ts';
import { seeded } from '../fakes/random.ts';

/** Of each part. */
const KILLS = Number(process.env.KILLS ?? 1);
const SESSIONS = Number(process.env.KILL_SESSIONS ?? 6);
const SEED = Number(process.env.KILL_SEED ?? 1);
const PARTS = ['edge', 'upstream', 'accounts', 'nats'] as const;
const SECONDS = 6;
const MINUTE_MS = 60_000;
const BYTES_PER_MS = 32;
/** Longer than the lease of a hold: what nobody gives back has ended by itself then. */
const HOLD_MS_MAX = 90_000;

interface Audit {
  ok: boolean;
  faults: string[];
  sessions: number;
  openHolds: number;
  oldestHoldMs: number | null;
}

it(`survives ${KILLS} kills of each part under ${SESSIONS} sessions: no overbilling, no hold left`, {
  timeout: 3 * MINUTE_MS + KILLS * PARTS.length * MINUTE_MS,
}, async () => {
  const cluster = await Cluster.start(
    { accounts: { roles: 'accounts' }, upstream: { roles: 'upstream' }, edge: { roles: 'edge' } },
    // Every session is asked for at the end.
    { VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '1000000' },
  );
  const random = seeded(SEED);
  const { key } = cluster;
  const talkers: Talker[] = [];
  const ends: Promise<unknown>[] = [];
  const audit = async (): Promise<Audit> => {
    const env = { VOXGATE_DATA_DIRECTORY: cluster.node('accounts').directory };
    const { output } = await voxgate(['ledger', 'audit', '--json'], env);
    return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Audit;
  };
  let oldestHoldMs = 0;
  let heldMost = 0;
  for (let kill = 0; kill < KILLS * PARTS.length; kill++) {
    const part = PARTS[kill % PARTS.length] as (typeof PARTS)[number];
    const speech = { url: cluster.node('edge').url, key, seconds: SECONDS, turnSeconds: 1 };
    const some = await beginAll(SESSIONS, speech).catch(() => [] as Talker[]);
    talkers.push(...some);
    // Who is cut off is told so by the socket; who is not says everything.
    ends.push(...some.map((talker) => talker.finish().catch(() => undefined)));
    await some[0]?.said(random.integer(1, SECONDS - 1)).catch(() => undefined);
    if (part === 'nats') await cluster.nats.restart();
    else {
      await cluster.node(part).end('SIGKILL');
      await cluster.node(part).start();
    }
    const { ok, faults, openHolds, oldestHoldMs: ageMs } = await audit();
    expect({ kill, part, ok, faults }).toEqual({ kill, part, ok: true, faults: [] });
    oldestHoldMs = Math.max(oldestHoldMs, ageMs ?? 0);
    heldMost = Math.max(heldMost, openHolds);
  }
  await Promise.all(ends);

  // The last that was killed gives back what it held when its lease is over, or its journal is settled: whichever is sooner.
  let last = await audit();
  const untilMs = performance.now() + HOLD_MS_MAX;
  while (last.openHolds > 0 && performance.now() < untilMs) {
    await after(1_000);
    last = await audit();
  }
  let unbilledMs = 0;
  for (const talker of talkers) {
    const seen = await sessionSeen(cluster.node('edge').url, key, talker.sessionId);
    const saidMs = talker.sentBytes / BYTES_PER_MS;
    expect(billedMs(seen)).toBeLessThanOrEqual(Math.ceil(saidMs));
    unbilledMs = Math.max(unbilledMs, saidMs - billedMs(seen));
  }
  console.info(
    `${KILLS} kills of each of ${PARTS.join(', ')}: ${talkers.length} sessions, ${last.faults.length} differences, ${last.openHolds} ` +
      `holds left, ${heldMost} at most while they were killed and the oldest of ${Math.round(oldestHoldMs / 1000)} s, ` +
      `at most ${Math.round(unbilledMs)} ms of a session unbilled`,
  );
  expect(last).toMatchObject({ ok: true, faults: [], openHolds: 0 });
  await cluster.end();
});
