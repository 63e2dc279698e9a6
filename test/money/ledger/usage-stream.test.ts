// Money on its way through the usage stream: what a message says is believed only of this gateway's nodes, every session is settled
// once whatever is lost, repeated or killed, and what can never be settled stands in nobody's way.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { signed, signingKeys } from '../../../src/cluster/bus/signed.ts';
import { costMicroUsd } from '../../../src/config/prices/price.ts';
import { JOURNAL_SUFFIX, recordsOf } from '../../../src/money/ledger/journal.ts';
import { unsettledIn } from '../../../src/money/ledger/recovery.ts';
import { type ReservationStore, Reservations } from '../../../src/money/ledger/reservations.ts';
import {
  consumeUsage,
  createStreamedStore,
  readUsage,
  usageBody,
  usageKeys,
} from '../../../src/money/ledger/usage-stream.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { drawn } from '../../fakes/drawn.ts';
import { seeded } from '../../fakes/random.ts';
import { settle } from '../../fakes/session-rig.ts';
import { directStore } from '../../fakes/store/direct-store.ts';
import { endOf, headOf, lineOf, perMinute } from '../../fakes/store/ledger.ts';
import { MemoryUsageStream } from '../../fakes/store/memory-usage-stream.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const secret = Buffer.from('a secret of the usage stream of the tests');
const keys = usageKeys({ secret });
const WHO = { organisationId: 'org_1', keyId: 'key_1' };
const PRICE = perMinute(60_001n, 100n);

describe('a message', () => {
  const price = fc.record({
    unit: fc.constantFrom('minute' as const, 'session' as const),
    microUsd: fc.bigInt(0n, 10n ** 12n),
    minimumMicroUsd: fc.bigInt(0n, 10n ** 12n),
  });
  const line = fc.record(
    { model: fc.string(), own: fc.boolean(), rate: fc.nat(), audioMs: fc.nat(), connectionMs: fc.nat(), price },
    { requiredKeys: ['model', 'own', 'audioMs', 'price'] },
  );
  const end = fc.record({
    endedAt: fc.string(),
    reason: fc.string(),
    code: fc.option(fc.string()),
    audioMs: fc.nat(),
    lines: fc.array(line, { maxLength: 5 }),
  });

  test('says after a journey what it said before, also under the secret before', () => {
    const other = Buffer.from('the secret that comes after that one');
    const rolled = usageKeys({ secret: other, previousSecret: secret });
    fc.assert(
      fc.property(end, fc.constantFrom('live' as const, 'batch' as const), (told, mode) => {
        const head = headOf(WHO, 'ses_1', { mode });
        const body = JSON.parse(JSON.stringify(usageBody(keys, head, told)));
        expect(readUsage(keys, body)).toEqual({ head, end: told });
        expect(readUsage(rolled, body)).toEqual({ head, end: told });
        expect(readUsage(usageKeys({ secret: other }), body)).toBe('foreign');
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  test('has counts of redactions, and is billed without them where they are malformed', () => {
    const head = headOf(WHO, 'ses_1');
    const told = endOf([lineOf(1_000)]);
    const read = (redactions: unknown) =>
      readUsage(keys, usageBody(keys, head, { ...told, redactions } as typeof told));
    expect(read({ card: 2, passport: 1 })).toEqual({ head, end: { ...told, redactions: { card: 2, passport: 1 } } });
    for (const wrong of ['none', null, [1], { card: 0 }, { card: '1' }, { 'No class': 1 }])
      expect(read(wrong)).toEqual({ head, end: told });
  });

  test('has what was sent again, and is billed without it where it is malformed', () => {
    const head = headOf(WHO, 'ses_1');
    const told = endOf([lineOf(1_000)]);
    const failed = { model: 'loopback/script', own: false, reason: 'failed', legs: 1, audioMs: 5 } as const;
    const read = (sentAgain: unknown) => readUsage(keys, usageBody(keys, head, { ...told, sentAgain } as typeof told));
    const ahead = { ...failed, reason: 'standby', audioMs: 0, connectionMs: 7 };
    for (const sentAgain of [[], [failed], [ahead]])
      expect(read(sentAgain)).toEqual({ head, end: { ...told, sentAgain } });
    for (const wrong of [
      'none',
      [{ ...failed, legs: 0 }],
      [{ ...failed, reason: 'served' }],
      [{ ...failed, audioMs: 0.5 }],
      [{ ...ahead, connectionMs: -1 }],
      [null],
    ])
      expect(read(wrong)).toEqual({ head, end: told });
  });

  test('carries the tags of a session, and leaves out what cannot be tags', () => {
    const told = endOf([lineOf(1)]);
    const head = headOf(WHO, 'ses_1', { tags: '{"customer":"acme"}' });
    const read = (tags: unknown) => readUsage(keys, usageBody(keys, { ...head, tags } as typeof head, told));
    expect(read(head.tags)).toEqual({ head, end: told });
    for (const tags of [7, null, ['a'], { a: 'b' }])
      expect(read(tags)).toEqual({ head: headOf(WHO, 'ses_1'), end: told });
  });

  test('counts as foreign when it was changed or is not usage, in any form', () => {
    const body = usageBody(keys, headOf(WHO, 'ses_1'), endOf([lineOf(1)])) as {
      text: string;
      mark: string;
      type: string;
    };
    const foreign = [
      { ...body, text: body.text.replace('"audioMs":1', '"audioMs":0') },
      { ...body, mark: '' },
      { ...body, type: 'usage' },
      signed(signingKeys({ secret }, 'limits'), 'usage.end', { version: 1 }),
      ...[null, 7, [], { version: 1 }, { version: 0, head: headOf(WHO, 'ses_1'), end: endOf([]) }].map((value) =>
        signed(keys, 'usage.end', value),
      ),
      ...[
        { price: { unit: 'hour', microUsd: '1', minimumMicroUsd: '0' } },
        { price: null },
        { audioMs: '1' },
        { connectionMs: '1' },
        { rate: '1' },
        { own: 1 },
      ].map((wrong) =>
        signed(keys, 'usage.end', {
          version: 1,
          head: headOf(WHO, 'ses_1'),
          end: {
            ...endOf([]),
            lines: [{ ...lineOf(1), price: { unit: 'minute', microUsd: '1', minimumMicroUsd: '0' }, ...wrong }],
          },
        }),
      ),
    ];
    for (const each of foreign) expect([each, readUsage(keys, each)]).toEqual([each, 'foreign']);
    fc.assert(
      fc.property(fc.object(), (anything) => {
        expect(readUsage(keys, { type: 'usage.end', ...anything })).toBe('foreign');
      }),
      { seed: 2 },
    );
  });

  test.each([
    ['of audio alone', {}, 1],
    ['with the time of a connection', { connectionMs: 5 }, 2],
    ['with a further price of a model', { connectionMs: 5, rate: 1 }, 3],
  ])('%s has the version of the first reader that understands it', (_, line, version) => {
    const body = usageBody(keys, headOf(WHO, 'ses_1'), endOf([lineOf(1), lineOf(1, PRICE, { model: 'b', ...line })]));
    expect(JSON.parse((body as unknown as { text: string }).text)).toMatchObject({ version });
  });

  test('waits, from a later version, for a ledger that understands it', async () => {
    const { stream, faults, owner } = world(1);
    const stop = owner();
    for (let version = 4; version < 7; version++)
      await stream.publish('0', `${version}`, signed(keys, 'usage.end', { version }));
    await settle();
    expect([await stream.waiting(), stream.refused, faults]).toEqual([3, [], ['usage newer']]);
    stop();
  });
});

function world(seed: number) {
  const stream = new MemoryUsageStream(seeded(seed));
  const direct = directStore();
  const faults: string[] = [];
  const settled: string[] = [];
  const owner = () =>
    consumeUsage({
      usage: stream,
      shard: '0',
      store: direct.store,
      keys,
      onSettled: ({ id }) => settled.push(id),
      onFault: (name) => faults.push(name),
    });
  return { ...direct, stream, faults, settled, owner };
}

test('sets aside and reports usage that can never be settled, and continues after it', async () => {
  const { stream, faults, owner, customer, ledger } = world(1);
  const who = customer({ credit: 100_000n });
  const stop = owner();
  const publish = (id: string, whose = who) =>
    stream.publish('0', id, usageBody(keys, headOf(whose, id), endOf([lineOf(60_000, PRICE)])));
  await publish('ses_1', WHO);
  await stream.publish('0', 'hostile', { type: 'usage.end' });
  await publish('ses_2');
  await settle();
  expect([faults, stream.refused.length]).toEqual([['usage refused', 'usage refused'], 2]);
  expect(ledger.findSession(who.organisationId, 'ses_2')?.costMicroUsd).toBe(60_001n);
  stop();
});

test('settles on its return what another ledger set aside, without a second report', async () => {
  const [right, wrong] = [world(1), world(2)];
  const who = right.customer({ credit: 100_000n });
  wrong.failing.set('settleSession', 'not_found');
  const { stream } = right;
  const on = ({ store }: typeof wrong, faults: string[]) =>
    consumeUsage({ usage: stream, shard: '0', store, keys, onSettled: () => {}, onFault: (name) => faults.push(name) });
  let stop = on(wrong, wrong.faults);
  await stream.publish('0', 'ses_1', usageBody(keys, headOf(who, 'ses_1'), endOf([lineOf(60_000, PRICE)])));
  await stream.publish('0', 'hostile', { type: 'usage.end' });
  await settle();
  await stream.hand();
  expect([wrong.faults, await stream.putAside()]).toEqual([['usage refused', 'usage refused'], 2]);
  stop();
  stop = on(right, right.faults);
  await settle();
  expect([right.faults, await stream.putAside()]).toEqual([[], 1]);
  expect(right.ledger.findSession(who.organisationId, 'ses_1')?.costMicroUsd).toBe(60_001n);
  stop();
});

test('reports a locked ledger once, and settles everything when it is free', async () => {
  const { stream, faults, owner, customer, ledger, failing } = world(1);
  const who = customer({ credit: 100_000n });
  failing.set('settleSession', 'busy');
  const stop = owner();
  for (const id of ['ses_1', 'ses_2'])
    await stream.publish('0', id, usageBody(keys, headOf(who, id), endOf([lineOf(1_000, PRICE)])));
  await settle();
  expect([faults, await stream.waiting()]).toEqual([['usage waits'], 2]);
  failing.clear();
  await stream.hand();
  expect([await stream.waiting(), ledger.auditLedger().sessions]).toEqual([0, 2]);
  stop();
});

test('asks the ledger about a possibly shared bill, and computes it where that fails', async () => {
  const { stream, owner, customer, store, failing } = world(1);
  const who = customer({ credit: 1_000_000n });
  const stop = owner();
  const streamed = createStreamedStore({ accounts: store, usage: stream, keys, shardOf: () => '0' });
  const end = (audioMs: number) => endOf([lineOf(audioMs, PRICE)]);
  await store.settleSession(headOf(who, 'req_1'), end(60_000));
  expect((await streamed.settleSession(headOf(who, 'req_1'), end(30_000))).costMicroUsd).toBe(30_001n);
  expect((await streamed.settleExactly!(headOf(who, 'req_1'), end(30_000))).costMicroUsd).toBe(60_001n);
  failing.set('settleSession', 'unreachable');
  expect((await streamed.settleExactly!(headOf(who, 'req_1'), end(30_000))).costMicroUsd).toBe(30_001n);
  stream.isAway = true;
  await expect(streamed.settleSession(headOf(who, 'req_2'), end(1))).rejects.toThrow(StoreError);
  stop();
});

/** What the next start of that node would find, with the processes before it gone. */
async function recovered(
  directory: string,
  { settleSession }: Pick<ReservationStore, 'settleSession'>,
): Promise<number> {
  const journals = readdirSync(directory).filter((name) => name.endsWith(JOURNAL_SUFFIX));
  const found = journals.flatMap((name) => unsettledIn(recordsOf(readFileSync(join(directory, name), 'utf8')).records));
  for (const { head, end } of found) await settleSession(head, end);
  return found.length;
}

const SEEDS = drawn(50);
const SESSIONS = 20;

test(`${SEEDS} histories of nodes that are killed, a stream that goes away and repeats, and an owner that dies: no micro-dollar lost or doubled`, async () => {
  let recoveries = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = seeded(seed);
    const { stream, owner, ledger, store, customer } = world(seed);
    stream.faults = { unanswered: 0.2, forgotten: 0.1 };
    const who = customer({ credit: 10_000_000n });
    const directory = temporaryDirectory();
    const clock = new SimulatedClock();
    const streamed = createStreamedStore({ accounts: store, usage: stream, keys, shardOf: () => '0' });
    let nodes = 0;
    const open = () =>
      new Reservations({
        store: streamed,
        clock,
        wallNow: () => new Date(clock.now()),
        node: `node${nodes++}`,
        settings: { directory, journalSyncMs: 4_000, graceMs: 0, historyDays: 0 },
        onFault: () => {},
      });
    const close = (each: Reservations) => {
      const closing = each.close(0);
      clock.increment(1);
      return closing;
    };
    let reservations = open();
    let stop = owner();
    let wanted = 0n;
    for (let session = 0; session < SESSIONS; session++) {
      const audioMs = random.integer(1, 100_000);
      wanted += costMicroUsd(PRICE, audioMs);
      void reservations.settle(headOf(who, `ses_${session}`), endOf([lineOf(audioMs, PRICE)]));
      if (random.next() < 0.2) stream.isAway = !stream.isAway;
      if (random.next() < 0.3) {
        stop();
        stop = owner();
      }
      if (random.next() < 0.5) await settle();
      if (random.next() < 0.2) {
        // What it could not tell is in its journal, and another reservations finds it there.
        await close(reservations);
        reservations = open();
      }
    }
    stream.isAway = false;
    stream.faults = { unanswered: 0, forgotten: 0 };
    for (let second = 0; second < 15; second++) {
      clock.increment(1_000);
      await settle();
    }
    recoveries += await recovered(directory, streamed);
    await stream.hand();
    await settle();
    await stream.hand();
    expect([seed, 10_000_000n - ledger.balanceOf(who.organisationId).balanceMicroUsd]).toEqual([seed, wanted]);
    expect(ledger.auditLedger()).toMatchObject({ ok: true, sessions: SESSIONS });
    stop();
    await close(reservations);
  }
  expect(recoveries).toBeGreaterThan(SEEDS / 10);
}, 120_000);
