// Money for files: held at the dearest model for as long as the work takes, charged once, given back when nothing came of it,
// and never in the way of an answer.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { costMicroUsd } from '../../../src/config/prices/price.ts';
import { boundMicroUsd, dearestMicroUsd } from '../../../src/config/prices/reserve.ts';
import {
  type FileCandidate,
  type FileReservationRequest,
  FileReservations,
} from '../../../src/files/money/file-reservations.ts';
import { Reservations } from '../../../src/money/ledger/reservations.ts';
import { settle as everything } from '../../fakes/session-rig.ts';
import { MemoryLedger } from '../../fakes/store/memory-ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const member = (slug: string, microUsd: bigint, own = false): FileCandidate => ({
  slug,
  own,
  price: { unit: 'minute', microUsd, minimumMicroUsd: 0n },
  channels: 1,
});
const CHEAP = member('a/cheap', 6_000n);
const DEAR = member('b/dear', 60_000n);
const OWN = member('c/own', 0n, true);

function world(balance: bigint | null) {
  const clock = new SimulatedClock();
  const ledger = new MemoryLedger(balance);
  const faults: string[] = [];
  const wallNow = () => new Date(clock.now());
  const settings = { directory: join(temporaryDirectory(), 'usage'), journalSyncMs: 4_000, graceMs: 0, historyDays: 0 };
  const onFault = (name: string) => faults.push(name);
  const reservations = new Reservations({ store: ledger, clock, wallNow, node: 'abc123', settings, onFault });
  const files = new FileReservations({ reservations, clock, wallNow });
  const timers = () => (Reflect.get(clock, 'timeouts') as Map<unknown, unknown>).size;
  return { clock, ledger, reservations, files, faults, timers };
}

const file = (members: FileCandidate[], secondsMax: number, id = 'req_1'): FileReservationRequest => ({
  id,
  organisationId: 'org_1',
  keyId: 'key_1',
  model: members[0]!.slug,
  members,
  secondsMax,
});

describe('a file’s reservation', () => {
  it('says what models were sent that failed or found no words, and nothing of a request that is repeated', async () => {
    const { ledger, files } = world(1_000_000n);
    const passedOver = [
      { member: DEAR, reason: 'attempt' },
      { member: DEAR, reason: 'attempt', seconds: 20 },
      { member: { ...OWN, channels: 2 }, reason: 'failed' },
    ] as const;
    for (const [id, again] of [
      ['req_1', false],
      ['req_2', true],
    ] as const) {
      const reserved = await files.reserve({ ...file([DEAR, OWN, CHEAP], 90, id), again });
      await reserved.settle({ member: CHEAP, seconds: 60, passedOver });
    }
    await everything();
    expect(ledger.settled.get('req_1')?.end.sentAgain).toEqual([
      { model: 'b/dear', own: false, reason: 'attempt', legs: 2, audioMs: 80_000 },
      { model: 'c/own', own: true, reason: 'failed', legs: 1, audioMs: 120_000 },
    ]);
    expect(ledger.settled.get('req_2')?.end).not.toHaveProperty('sentAgain');
  });

  it('holds what the dearest model would cost, and charges what the one that answered costs', async () => {
    const { ledger, files, timers } = world(1_000_000n);
    const reserved = await files.reserve(file([CHEAP, DEAR], 90));
    expect([...ledger.held.values()]).toEqual([dearestMicroUsd([CHEAP, DEAR], 90_000)]);
    expect(await reserved.settle({ member: CHEAP, seconds: 88.5 })).toBe(8_850n);
    await everything();
    expect([ledger.available, ledger.settled.get('req_1')?.end.reason]).toEqual([1_000_000n - 8_850n, 'completed']);
    expect(timers()).toBe(0);
  });

  it.each([
    ['a first model', [DEAR]],
    ['a fallback', [CHEAP, DEAR]],
  ])('fails where the credit does not cover %s', async (_, members) => {
    const { files, ledger } = world(59_000n);
    await expect(files.reserve(file(members, 60))).rejects.toMatchObject({ code: 'insufficient_credit' });
    expect(ledger.held.size).toBe(0);
  });

  it('holds one of the fixed prices in a chain, because one model answers', async () => {
    const fixed = (slug: string): FileCandidate => ({
      slug,
      own: false,
      channels: 1,
      price: { unit: 'session', microUsd: 1_000_000n, minimumMicroUsd: 0n },
    });
    const { files, ledger } = world(1_500_000n);
    await files.reserve(file([fixed('a/fixed'), fixed('b/fixed')], 60));
    expect(ledger.available).toBeGreaterThan(400_000n);
  });

  it('holds for every model that may transcribe some of it, and has a line for each', async () => {
    const fixed: FileCandidate = {
      ...member('c/fixed', 100_000n),
      price: { unit: 'session', microUsd: 100_000n, minimumMicroUsd: 0n },
    };
    const { ledger, files } = world(1_000_000n);
    const again = { ...CHEAP, price: { ...CHEAP.price, microUsd: 12_000n } };
    const members = [CHEAP, DEAR, fixed, again];
    const reserved = await files.reserve({ ...file(members, 90), isShared: true });
    expect([...ledger.held.values()]).toEqual([boundMicroUsd(members, 90_000)]);
    const shares = [
      { member: CHEAP, seconds: 30.0004 },
      { member: fixed, seconds: 20.0004 },
      { member: again, seconds: 10.0004 },
      { member: CHEAP, seconds: 28.4 },
    ];
    expect(await reserved.settle({ member: CHEAP, seconds: 88.401, shares })).toBe(5_840n + 100_000n + 2_000n);
    await everything();
    expect(ledger.settled.get('req_1')?.end).toMatchObject({
      audioMs: 88_401,
      lines: [
        { model: 'a/cheap', audioMs: 58_401 },
        { model: 'c/fixed', audioMs: 20_000 },
        { model: 'a/cheap', rate: 1, audioMs: 10_000 },
      ],
      file: { audioMs: 88_401, channels: 1 },
    });
  });

  it('holds nothing for customer keys and free models, but has a line on the bill', async () => {
    const { files, ledger } = world(0n);
    const reserved = await files.reserve(file([OWN], 3_600));
    expect(await reserved.settle({ member: OWN, seconds: 3_600 })).toBe(0n);
    await everything();
    expect(ledger.settled.get('req_1')?.end.lines).toMatchObject([{ own: true, audioMs: 3_600_000 }]);
  });

  it('renews while the work runs, also after a ledger call failed once', async () => {
    const { clock, files, ledger, timers } = world(1_000_000n);
    const reserved = await files.reserve(file([DEAR], 60));
    for (let minute = 0; minute < 5; minute++) {
      ledger.failing = minute === 2 ? 'busy' : undefined;
      clock.increment(30_000);
      await everything();
      clock.increment(30_000);
      await everything();
    }
    ledger.failing = undefined;
    expect(ledger.renewals.length).toBe(8);
    expect(ledger.renewals.every(({ hold, lines }) => hold.leaseMs === 60_000 && lines.length === 0)).toBe(true);
    await reserved.release();
    await everything();
    expect([ledger.available, ledger.settled.get('req_1')?.costMicroUsd, timers()]).toEqual([1_000_000n, 0n, 0]);
  });

  it('happens in parallel for a key without a limit, until the ledger objects or falls silent', async () => {
    const { clock, files, ledger } = world(null);
    const isAtOnce = async (id: string) => {
      const reserving = files.reserve(file([DEAR], 60, id));
      const outcome = await Promise.race([reserving.then(() => 'at once'), everything().then(() => 'later')]);
      return [outcome, reserving] as const;
    };
    let answer: (() => void) | undefined;
    const slowly = () => {
      ledger.gate = new Promise((resolve) => {
        answer = resolve;
      });
    };
    await files.reserve(file([DEAR], 60));
    slowly();
    expect((await isAtOnce('req_2'))[0]).toBe('at once');
    answer?.();
    await everything();
    slowly();
    clock.increment(30_000);
    const [outcome, reserving] = await isAtOnce('req_3');
    expect(outcome).toBe('later');
    answer?.();
    await reserving;
    clock.increment(1_000);
    ledger.failing = 'busy';
    await files.reserve(file([DEAR], 60, 'req_4'));
    await everything();
    await expect(files.reserve(file([DEAR], 60, 'req_5'))).rejects.toMatchObject({ code: 'ledger_unavailable' });
  });

  it('happens with the charge for such a key, unless the file takes over a second', async () => {
    const { clock, files, ledger, timers } = world(null);
    const known = () => [...ledger.known];
    await files.reserve(file([DEAR], 60, 'req_1'));
    const brief = await files.reserve(file([DEAR], 60, 'req_brief'));
    const long = await files.reserve(file([DEAR], 60, 'req_long'));
    await files.reserve({ ...file([DEAR], 60, 'req_again'), again: true });
    await everything();
    expect(known()).toEqual(['req_1', 'req_again']);
    await brief.settle({ member: DEAR, seconds: 60 });
    clock.increment(1_000);
    await everything();
    expect([known(), ledger.held.has('req_long')]).toEqual([['req_1', 'req_again', 'req_long'], true]);
    clock.increment(1_000);
    const asking = await files.reserve(file([DEAR], 60, 'req_asking'));
    await everything();
    expect(known()).toContain('req_asking');
    for (const each of [long, asking]) await each.release();
    await everything();
    expect([ledger.settled.get('req_brief')?.costMicroUsd, ledger.settled.get('req_long')?.end.reason]).toEqual([
      60_000n,
      'released',
    ]);
    // Those of the two that are still at work.
    expect(timers()).toBe(2);
  });

  it('retries after a refusal meanwhile, and the next file waits for the ledger', async () => {
    const { clock, files, ledger } = world(null);
    await files.reserve(file([DEAR], 60, 'req_1'));
    await files.reserve(file([DEAR], 60, 'req_2'));
    ledger.balance = 50_000n;
    ledger.held.clear();
    clock.increment(1_000);
    await everything();
    expect(ledger.held.get('req_2')).toBe(50_000n);
    ledger.held.clear();
    await expect(files.reserve(file([DEAR], 60, 'req_3'))).rejects.toMatchObject({ code: 'insufficient_credit' });
  });

  it('makes the only ledger call for a key whose last one was granted', async () => {
    const { clock, files, ledger } = world(100_000n);
    const who = { organisationId: 'org_1', keyId: 'key_1' };
    let asked = 0;
    const { balanceOf } = ledger;
    ledger.balanceOf = () => {
      asked++;
      return balanceOf.call(ledger);
    };
    await files.requireCredit(who);
    const reserved = await files.reserve(file([DEAR], 60, 'req_1'));
    await files.requireCredit(who);
    expect(asked).toBe(1);
    await reserved.settle({ member: DEAR, seconds: 60 });
    await everything();
    await expect(files.reserve(file([DEAR], 60, 'req_2'))).rejects.toMatchObject({ code: 'insufficient_credit' });
    await files.requireCredit(who);
    expect(asked).toBe(2);
    await files.reserve(file([CHEAP], 60, 'req_3'));
    clock.increment(30_000);
    await files.requireCredit(who);
    expect(asked).toBe(3);
  });

  it('does not keep an answer waiting for a ledger that is locked, and charges when it is free again', async () => {
    const { clock, files, ledger, reservations } = world(1_000_000n);
    const reserved = await files.reserve(file([DEAR], 60));
    ledger.failing = 'busy';
    expect(await reserved.settle({ member: DEAR, seconds: 60 })).toBe(costMicroUsd(DEAR.price, 60_000));
    await everything();
    expect(reservations.unsettled).toBe(1);
    ledger.failing = undefined;
    for (let at = 0; at < 20; at++) {
      clock.increment(1_000);
      await everything();
    }
    expect([reservations.unsettled, ledger.balance]).toEqual([0, 940_000n]);
  });
});

it('takes no paid work while 10,000 bills are unsettled, and resumes afterwards', async () => {
  const { clock, files, ledger, reservations } = world(null);
  ledger.failing = 'busy';
  for (let index = 0; index < 10_000; index++) {
    const reserved = await files.reserve(file([OWN], 1, `req_${index}`));
    void reserved.settle({ member: OWN, seconds: 1 });
  }
  await everything();
  expect(reservations.unsettled).toBe(10_000);
  ledger.failing = undefined;
  await expect(files.reserve(file([CHEAP], 1, 'req_paid'))).rejects.toMatchObject({ code: 'ledger_unavailable' });
  await expect(files.reserve(file([OWN], 1, 'req_own'))).resolves.toBeDefined();
  for (let at = 0; at < 20 && reservations.unsettled > 0; at++) {
    clock.increment(1_000);
    await everything();
  }
  expect(reservations.unsettled).toBe(0);
  await expect(files.reserve(file([CHEAP], 1, 'req_paid'))).resolves.toBeDefined();
});

describe('a file that is tried again under the id of an attempt that was cut short', () => {
  it('charges in full where the attempt between failed', async () => {
    const { files, ledger } = world(1_000_000n);
    await files.reserve(file([DEAR], 60));
    const second = await files.reserve({ ...file([DEAR], 60), again: true });
    await second.release();
    expect([ledger.held.size, ledger.settled.size]).toEqual([0, 0]);
    const third = await files.reserve({ ...file([DEAR], 60), again: true });
    expect(await third.settle({ member: DEAR, seconds: 60 })).toBe(60_000n);
    expect(ledger.balance).toBe(940_000n);
  });
});

it('holds again for a file restarted under the same id, and charges once', async () => {
  const { files, ledger } = world(1_000_000n);
  const first = await files.reserve(file([CHEAP], 60));
  await first.release(true);
  expect([ledger.held.size, ledger.settled.size]).toEqual([0, 0]);
  const second = await files.reserve(file([DEAR], 60));
  expect(await second.settle({ member: DEAR, seconds: 60 })).toBe(60_000n);
  await everything();
  expect(ledger.balance).toBe(940_000n);
});

it('waits for files in progress when a node leaves, and for nothing without any', async () => {
  const { files } = world(null);
  await files.idle();
  const reserved = [await files.reserve(file([DEAR], 1, 'req_1')), await files.reserve(file([OWN], 1, 'req_2'))];
  let idle = false;
  const waiting = files.idle().then(() => {
    idle = true;
  });
  await reserved[0]!.release();
  await everything();
  expect(idle).toBe(false);
  await reserved[1]!.settle({ member: OWN, seconds: 1 });
  await waiting;
});
