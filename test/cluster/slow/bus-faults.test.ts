// Whole gateways while NATS is frozen, killed and cut off: who talks is heard to the last sample, what it costs is booked once,
// and all is well within five seconds of its return. `CLUSTER_FULL=1`: the sizes whose figures are published.
import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { deployedConfig } from '../../deploy/nats-rig.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { BusFaultRig, type Key, longestPauseMs, patiently, recovered, type Said, span } from '../rig/bus-fault-rig.ts';
import { NODE_START_MS } from '../rig/cluster.ts';
import { NetworkNamespace, namespaceIsHere } from '../rig/network-namespace.ts';
import { Talker } from '../rig/talker.ts';

const FULL = process.env.CLUSTER_FULL === '1';
/** Talkers on each of the two nodes that have legs of their own, and on the one that has none. */
const NEAR = FULL ? 100 : 2;
const FAR = FULL ? 20 : 2;
/** Until the last has begun to talk. */
const GATHERING_SECONDS = FULL ? 30 : 2;
const BEFORE_SECONDS = 3;
const AFTER_SECONDS = FULL ? 10 : 6;
const FROZEN_SECONDS = FULL ? 60 : 10;
const CUT_SECONDS = FULL ? 300 : 10;
const KILLS = FULL ? 20 : 3;
const DOWN_MS = 500;
const KILL_SECONDS = 6;

const RECOVERY_MS_MAX = 5_000;
/** What was said meanwhile is heard at ten times its pace at least, by all who have waited. */
const CATCH_UP_MS_PER_SECOND = 100;
/** Who pays is told in time that the ledger, which trusts for five minutes, was not heard of for so long. */
const WARNED_SECONDS = 120;
/** Turns are two seconds long; the machine is busy. */
const PAUSE_MS_MAX = 5_000;
/** A key is taken for what it was for so long, where a revocation might not be heard of. */
const KNOWN_MS = 30_000;
const KNOWN_MS_MAX = 35_000;
const RUN_MS_MAX = 2 * NODE_START_MS + 60_000;

interface Outage {
  seconds: number;
  begin(): void;
  end(): void;
}

/** Everything that is promised of one outage, with people who talk before, through and after it. */
async function survive(rig: BusFaultRig, { seconds, begin, end }: Outage): Promise<void> {
  const [ours, visitor, stranger, doomed] = await Promise.all(
    ['ours', 'visitor', 'stranger', 'doomed'].map((name) => rig.createKey(name)),
  );
  const keys = { ours, visitor, stranger, doomed } as Record<'ours' | 'visitor' | 'stranger' | 'doomed', Key>;
  const length = GATHERING_SECONDS + BEFORE_SECONDS + seconds + AFTER_SECONDS;
  const near = [...(await rig.talk('a', NEAR, length, keys.ours)), ...(await rig.talk('b', NEAR, length, keys.ours))];
  const far = await rig.talk('c', FAR, length, keys.ours);
  const url = (node: string) => rig.cluster.node(node).url;
  const cutShort = await Promise.all(
    ['b', 'c'].map((node) => Talker.begin({ url: url(node), key: keys.doomed.secret, seconds: length })),
  );
  // These end, and are to be booked, while the bus is away.
  const ending = await rig.talk('b', FAR, BEFORE_SECONDS + 4, keys.ours);
  await Promise.all(far.map(({ talker }) => talker.said(BEFORE_SECONDS)));
  for (const node of ['b', 'c'] as const) expect(await rig.visit(node, keys.visitor)).toEqual({ status: 200 });
  const knownMs = performance.now();

  begin();
  const awayMs = performance.now();
  await visitWhileAway(rig, keys, knownMs, seconds);
  await rig.command('keys', 'revoke', keys.doomed.id);
  await Promise.all(ending.map(({ talker }) => talker.event('session_ended')));
  await after(Math.max(0, awayMs + seconds * 1000 - performance.now()));
  const waited = heardSince(near, awayMs);
  end();
  const backMs = performance.now();

  const sinceBack = () => Math.round(performance.now() - backMs);
  const closed = async (talker: Talker) => {
    expect(await talker.close()).toEqual({ code: 4001, reason: 'key_revoked' });
    return sinceBack();
  };
  const served = async (node: 'b' | 'c') => {
    expect(await rig.visit(node, keys.stranger)).toEqual({ status: 200 });
    return sinceBack();
  };
  const [{ finalMs, caughtUpMs }, revokedMs, servedMs] = await Promise.all([
    recovered(far, backMs),
    Promise.all(cutShort.map(closed)),
    Promise.all(
      (['b', 'c'] as const).map(async (node) => (await patiently(() => served(node), RECOVERY_MS_MAX)).value),
    ),
  ]);
  await rig.expectWhole();
  const pauseMs = longestPauseMs(near, { fromMs: awayMs, toMs: backMs - PAUSE_MS_MAX });
  const laterMs = longestPauseMs(near, { fromMs: backMs, toMs: backMs + AFTER_SECONDS * 1000 });
  console.info(
    `away for ${seconds} s with ${near.length} sessions beside their legs and ${far.length} far from them: ` +
      `finals of the far ones ${span(finalMs)} after it was back, caught up after ${span(caughtUpMs)}, revoked ` +
      `after ${span(revokedMs)}, a new key served after ${span(servedMs)}; the near ones had ${waited} finals ` +
      `meanwhile and waited ${pauseMs} ms at most, ${laterMs} ms when it was back`,
  );
  expect(Math.max(...finalMs)).toBeLessThan(RECOVERY_MS_MAX);
  const [revokedNearMs = 0, revokedFarMs = 0] = revokedMs;
  expect(Math.max(revokedNearMs, ...servedMs)).toBeLessThan(RECOVERY_MS_MAX);
  expect(Math.max(...caughtUpMs)).toBeLessThan(seconds * CATCH_UP_MS_PER_SECOND + RECOVERY_MS_MAX);
  // What was said before is still heard: it ends when the others have caught up.
  expect(revokedFarMs).toBeLessThan(Math.max(...caughtUpMs) + RECOVERY_MS_MAX);
  expect(pauseMs).toBeLessThan(PAUSE_MS_MAX);
  const isToldToWait = ({ talker: { events, times } }: Said) => {
    const told = times.filter((_, index) => {
      const event = events[index];
      return event?.type === 'warning' && event.code === 'upstream_waiting';
    });
    return told.length === 1 && told.every((at) => at > awayMs && at < backMs);
  };
  expect(far.every(isToldToWait)).toBe(true);
  const warned = new Set(near.flatMap(({ talker }) => talker.of('warning').map(({ code }) => code)));
  expect([...warned]).toEqual(seconds > WARNED_SECONDS ? ['ledger_unavailable'] : []);
  await rig.expectBilled(
    keys.ours,
    cutShort.map(({ sessionId }) => sessionId),
  );
}

/** A key that is known is good for 30 s; one that is not cannot be looked up. The node with the accounts knows them all. */
async function visitWhileAway(
  rig: BusFaultRig,
  { visitor, stranger }: Record<'visitor' | 'stranger', Key>,
  knownMs: number,
  seconds: number,
): Promise<void> {
  const overloaded = { status: 503, code: 'overloaded' };
  for (const node of ['b', 'c'] as const) {
    expect(await rig.visit(node, visitor)).toEqual({ status: 200 });
    expect(await rig.visit(node, stranger)).toEqual(overloaded);
  }
  expect(await rig.visit('a', stranger)).toEqual({ status: 200 });
  if (seconds * 1000 < KNOWN_MS_MAX) return;
  await after(Math.max(0, knownMs + KNOWN_MS - 2_000 - performance.now()));
  for (const node of ['b', 'c'] as const) expect(await rig.visit(node, visitor)).toEqual({ status: 200 });
  await after(Math.max(0, knownMs + KNOWN_MS + 1_000 - performance.now()));
  for (const node of ['b', 'c'] as const) expect(await rig.visit(node, visitor)).toEqual(overloaded);
  expect(await rig.visit('a', visitor)).toEqual({ status: 200 });
}

const heardSince = (said: readonly Said[], sinceMs: number): number =>
  said.reduce((sum, { talker }) => sum + talker.finalTimes.filter((at) => at > sinceMs).length, 0);

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('sessions of a gateway on three nodes', () => {
  it(
    'continue while NATS is frozen',
    async () => {
      const rig = await BusFaultRig.start();
      const { nats } = rig.cluster;
      await survive(rig, { seconds: FROZEN_SECONDS, begin: () => nats.freeze(), end: () => nats.thaw() });
    },
    RUN_MS_MAX + FROZEN_SECONDS * 2_000,
  );

  it(
    'continue when NATS is killed repeatedly',
    async () => {
      const rig = await BusFaultRig.start();
      const { nats } = rig.cluster;
      const key = await rig.createKey('ours');
      const length = GATHERING_SECONDS + BEFORE_SECONDS + KILLS * KILL_SECONDS;
      const near = [...(await rig.talk('a', NEAR, length, key)), ...(await rig.talk('b', NEAR, length, key))];
      const far = await rig.talk('c', FAR, length, key);
      await Promise.all(far.map(({ talker }) => talker.said(BEFORE_SECONDS)));
      const finalMs: number[] = [];
      const caughtUpMs: number[] = [];
      const admittedMs: number[] = [];
      const fromMs = performance.now();
      for (let kill = 1; kill <= KILLS; kill++) {
        // One that begins beforehand, and is to be booked when NATS is away or has just come back.
        const { value, tookMs } = await patiently(() => rig.talk('b', 1, 1 + (kill % 2), key), RECOVERY_MS_MAX);
        const [short] = value as [Said];
        admittedMs.push(tookMs);
        await nats.kill();
        await after(DOWN_MS);
        await nats.restart();
        const heard = await recovered(far, performance.now());
        finalMs.push(...heard.finalMs);
        caughtUpMs.push(...heard.caughtUpMs);
        await short.talker.event('session_ended');
      }
      const toMs = performance.now();
      await rig.expectWhole();
      const pauseMs = longestPauseMs(near, { fromMs, toMs });
      console.info(
        `killed ${KILLS} times with ${near.length} sessions beside their legs and ${far.length} far from them: finals of the ` +
          `far ones ${span(finalMs)} after it was back, caught up after ${span(caughtUpMs)}; the near ones waited ` +
          `${pauseMs} ms at most; a session that follows is let in after ${span(admittedMs)}`,
      );
      expect(Math.max(...finalMs)).toBeLessThan(RECOVERY_MS_MAX);
      expect(pauseMs).toBeLessThan(PAUSE_MS_MAX);
      expect(near.flatMap(({ talker }) => talker.of('warning'))).toEqual([]);
      await rig.expectBilled(key);
    },
    RUN_MS_MAX + KILLS * KILL_SECONDS * 2_000,
  );

  // It says itself why, when something that it needs is not here.
  it.skipIf(!namespaceIsHere)(
    'continue while the network drops everything to and from NATS',
    async () => {
      const network = new NetworkNamespace();
      const { address: host, name: namespace } = network;
      const { config, caFile } = deployedConfig(temporaryDirectory(), host);
      const port = 4222;
      const rig = await BusFaultRig.start(
        { VOXGATE_NATS: `tls://${host}:${port}`, VOXGATE_NATS_CA_FILE: caFile },
        { host, port, namespace, config },
      );
      await survive(rig, { seconds: CUT_SECONDS, begin: () => network.cut(), end: () => network.mend() });
    },
    RUN_MS_MAX + CUT_SECONDS * 2_000,
  );
});
