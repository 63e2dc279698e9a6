// A frozen accounts node: callers get a quick answer, and a request that has waited too long is not executed afterwards.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Clock } from '../../machines/clock.ts';
import { ACCOUNTS_OWNED, type AccountsOpen } from '../../src/cluster/bus/subjects.ts';
import type { Answering } from '../../src/store/operation.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { accountsRig } from './accounts-rig.ts';

interface RigOptions {
  /** The owner's clock, ahead of the caller's by this much. */
  aheadMs?: number;
}

function awayRig({ aheadMs = 0 }: RigOptions = {}) {
  const clock = new SimulatedClock();
  const executed: unknown[] = [];
  const away: boolean[] = [];
  let held: Promise<void> | undefined;
  const answering: Answering = async ({ args }) => {
    executed.push(...args);
    await held;
    return args;
  };
  /** Calls are executed and not answered, until the returned function is called. */
  const hold = () => {
    let release = () => {};
    held = new Promise((resolve) => {
      release = resolve;
    });
    return () => release();
  };
  const ahead = { ms: aheadMs };
  const theirs: Clock = {
    now: () => clock.now() + ahead.ms,
    setTimeout: (...args) => clock.setTimeout(...args),
    clearTimeout: (handle) => clock.clearTimeout(handle as number),
  };
  const rig = accountsRig({
    clock: clock as Clock,
    service: { groups: new Map([['test', answering]]), clock: theirs },
    client: { onAway: (isAway) => away.push(isAway) },
  });
  const ask = (arg: unknown, timeoutMs = 10_000) => {
    const asked = { atMs: clock.now(), endedMs: undefined as number | undefined, outcome: undefined as unknown };
    rig.client
      .ask('test', null, 'call', [arg], timeoutMs)
      .catch((error: unknown) => (error instanceof StoreError ? error.reason : error))
      .then((outcome) => {
        asked.endedMs = clock.now();
        asked.outcome = outcome;
      });
    return asked;
  };
  /** Letters travel between the steps of the clock. */
  const pass = async (ms: number) => {
    for (let at = 0; at <= ms; at += 50) {
      await setImmediate();
      if (at < ms) clock.increment(Math.min(50, ms - at));
    }
    await setImmediate();
  };
  const announce = (node: string, revision: number) =>
    rig.edge.publish(ACCOUNTS_OWNED, { type: ACCOUNTS_OWNED, shard: '0', node, revision } as AccountsOpen);
  return { ...rig, clock, executed, away, ask, pass, ahead, hold, announce };
}

/** The longest time until the first callers of a frozen node have their answer. */
const NOTICE_MS = 2_100;

describe('a frozen accounts node', () => {
  test('callers fail within about two seconds, later ones at once, and one ping at a time tries whether it is back', async () => {
    const { network, ask, pass, away, carried, client } = awayRig();
    const known = ask('known');
    await pass(0);
    expect(known.outcome).toEqual(['known']);
    network.freeze();
    const first = Array.from({ length: 20 }, (_, index) => ask(index));
    await pass(NOTICE_MS);
    expect(first.map(({ outcome }) => outcome)).toEqual(first.map(() => 'unreachable'));
    expect(away).toEqual([true]);
    const sent = carried.length;
    const later = Array.from({ length: 20 }, (_, index) => ask(index));
    await pass(0);
    expect(later.map(({ outcome, endedMs, atMs }) => [outcome, endedMs === atMs])).toEqual(
      later.map(() => ['unreachable', true]),
    );
    await pass(60_000);
    // Nothing but pings: at most one each PROBE_MS and PROBE_AGAIN_MS.
    expect(carried.length - sent).toBeGreaterThan(30);
    expect(carried.length - sent).toBeLessThanOrEqual(60);
    expect(client.waiting).toBe(0);
  });

  test('serves a caller at once when it returns with the node', async () => {
    const { network, ask, pass, away } = awayRig();
    ask('known');
    await pass(0);
    network.freeze();
    ask('lost');
    await pass(NOTICE_MS);
    network.thaw(false);
    await pass(2_000);
    expect(away).toEqual([true, false]);
    const back = ask('back');
    await pass(0);
    expect(back.outcome).toEqual(['back']);
  });

  test('asks a new owner at once when it announces itself', async () => {
    const { network, ask, pass, serve, service, executed } = awayRig();
    ask('known');
    await pass(0);
    network.freeze();
    ask('lost');
    await pass(NOTICE_MS);
    network.thaw(false);
    await service.stop();
    serve({ revision: 8 });
    const back = ask('back');
    await pass(0);
    expect(back.outcome).toBe('unreachable');
    const again = ask('again');
    await pass(0);
    expect([again.outcome, executed]).toEqual([['again'], ['known', 'again']]);
  });

  test('gives up soon what a former owner was asked, when the next one announces itself', async () => {
    const { network, ask, pass, hold, announce } = awayRig();
    ask('known');
    announce('owner1', 7);
    await pass(0);
    const release = hold();
    const asked = ask('asked');
    await pass(100);
    network.freeze();
    announce('owner2', 8);
    await pass(900);
    expect(asked.outcome).toBeUndefined();
    await pass(200);
    expect(asked.outcome).toBe('unreachable');
    release();
  });

  test('addresses the node that answered, and ignores a later announcement of a former owner', async () => {
    const { ask, pass, network, announce } = awayRig();
    ask('first');
    await pass(0);
    const other = network.open('owner2');
    const asked: unknown[] = [];
    other.serve('accounts.0', (body) => {
      asked.push(body);
      return body;
    });
    announce('owner2', 6);
    for (let number = 0; number < 8; number++) ask(number);
    await pass(0);
    expect(asked).toEqual([]);
    announce('owner2', 8);
    ask('moved');
    await pass(0);
    expect(asked).toHaveLength(1);
  });

  test('waits for a slow call when its owner repeats that it is there', async () => {
    const { ask, pass, hold, announce } = awayRig();
    const release = hold();
    const asked = ask('asked');
    for (let second = 0; second < 5; second++) {
      announce('owner1', 7);
      await pass(1_000);
    }
    release();
    await pass(0);
    expect(asked.outcome).toEqual(['asked']);
  });

  test('opens no breaker for a slow call while the node answers pings', async () => {
    const { ask, pass, away, hold } = awayRig();
    const release = hold();
    const slow = ask('slow');
    await pass(9_000);
    expect([slow.outcome, away]).toEqual([undefined, []]);
    release();
    await pass(0);
    expect(slow.outcome).toEqual(['slow']);
  });
});

describe('a request that has waited for longer than its caller', () => {
  test.each([
    ['when both clocks agree', 0],
    ['when the clock of the accounts node is an hour ahead', 3_600_000],
    ['when the clock of the accounts node is an hour behind', -3_600_000],
  ])('stays unexecuted when the node thaws, %s', async (_, aheadMs) => {
    const { network, ask, pass, executed, refused } = awayRig({ aheadMs });
    ask('known');
    await pass(0);
    network.freeze();
    const lost = Array.from({ length: 5 }, (_, index) => ask(index, 3_000));
    await pass(30_000);
    network.thaw();
    await pass(0);
    expect(lost.map(({ outcome }) => outcome)).toEqual(lost.map(() => 'unreachable'));
    expect(executed).toEqual(['known']);
    expect(refused.filter((reason) => reason === 'late')).toHaveLength(5);
  });

  test('runs when it was only slightly late', async () => {
    const { network, ask, pass, executed } = awayRig({ aheadMs: 12_345 });
    ask('known');
    await pass(0);
    network.freeze();
    const held = ask('held', 3_000);
    await pass(900);
    network.thaw();
    await pass(0);
    expect([held.outcome, executed]).toEqual([['held'], ['known', 'held']]);
  });

  test('repeats with the right time when the accounts node’s clock was set forward', async () => {
    const { ask, pass, executed, refused, ahead } = awayRig();
    ask('known');
    await pass(0);
    ahead.ms = 60_000;
    const asked = ask('after');
    await pass(0);
    expect([asked.outcome, executed]).toEqual([['after'], ['known', 'after']]);
    expect(refused.filter((reason) => reason === 'late')).toEqual(['late']);
  });

  test('runs without a deadline for a caller that does not know the owner’s clock yet', async () => {
    const { network, pass, executed, ask } = awayRig();
    network.freeze();
    const first = ask('first');
    await pass(500);
    network.thaw();
    await pass(0);
    expect([first.outcome, executed]).toEqual([['first'], ['first']]);
  });
});
