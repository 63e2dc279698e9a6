// Files of two processes that share one database: what one of them believes of a key's money never lends more than there is, and
// what was done is charged once, whatever became of the key meanwhile.
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { type FileCandidate, FileReservations } from '../../../src/files/money/file-reservations.ts';
import { Reservations } from '../../../src/money/ledger/reservations.ts';
import { openSqliteStore, type SqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { creditOf, OPERATOR } from '../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const DEAR: FileCandidate = {
  slug: 'b/dear',
  own: false,
  price: { unit: 'minute', microUsd: 60_000n, minimumMicroUsd: 0n },
  channels: 1,
};
const MINUTE = 60_000n;
/** With what is held for rounding. */
const HELD = MINUTE + 1n;
const heard = { member: DEAR, seconds: 60 };

interface Process {
  store: SqliteStore;
  clock: SimulatedClock;
  files: FileReservations;
}

const opened: { store: SqliteStore; reservations: Reservations }[] = [];
afterEach(async () => {
  for (const { store, reservations } of opened.splice(0)) {
    await reservations.close(0);
    await store.close();
  }
});

async function start(directory: string, node: string): Promise<Process> {
  const store = await openSqliteStore({ directory });
  const clock = new SimulatedClock();
  const wallNow = () => new Date();
  const settings = { directory: join(directory, 'usage'), journalSyncMs: 4_000, graceMs: 0, historyDays: 0 };
  const reservations = new Reservations({ store, clock, wallNow, node, settings, onFault: () => {} });
  opened.push({ store, reservations });
  return { store, clock, files: new FileReservations({ reservations, clock, wallNow }) };
}

/** Two processes, and files of one minute of one key. */
async function world(customer: { credit?: bigint; limit?: bigint | null; dailySpendMicroUsdMax?: bigint }) {
  const directory = temporaryDirectory();
  const [one, other] = [await start(directory, 'aaaaaa'), await start(directory, 'bbbbbb')];
  const { credit = 0n, limit = 0n, ...settings } = customer;
  const { id: organisationId } = await one.store.createOrganisation('Customer', limit, OPERATOR);
  const { key } = await one.store.createKey(organisationId, settings, OPERATOR);
  if (credit > 0n) await one.store.addCredit(creditOf(organisationId, credit), OPERATOR);
  const who = { organisationId, keyId: key.id };
  const file = (id: string, again = false) => ({
    ...{ id, ...who, model: DEAR.slug, members: [DEAR], secondsMax: 60, again },
  });
  const before = await one.store.balanceOf(organisationId);
  /** What was spent, once all that was told to either is written. */
  const spent = async () => {
    await other.store.balanceOf(organisationId);
    const { balanceMicroUsd, heldMicroUsd } = await one.store.balanceOf(organisationId);
    expect((await one.store.auditLedger()).faults).toEqual([]);
    return { spent: before.balanceMicroUsd - balanceMicroUsd, held: heldMicroUsd };
  };
  return { one, other, who, file, spent };
}

it.each([
  ['a balance that suffices for one', { credit: HELD + MINUTE }, 'insufficient_credit'],
  [
    'a cap of the day that suffices for one',
    { limit: null, dailySpendMicroUsdMax: HELD + MINUTE },
    'rate_limit_exceeded',
  ],
])(
  '%s more file is lent to one of two processes, each of which was granted its last hold',
  async (_, customer, code) => {
    const { one, other, who, file, spent } = await world({ ...customer });
    for (const [index, { files, store }] of [one, other].entries()) {
      await (await files.reserve(file(`req_before_${index}`))).release();
      // Given back behind the answer: what is asked of this store now waits for it.
      await store.balanceOf(who.organisationId);
    }
    await (await one.files.reserve(file('req_first'))).settle(heard);
    await spent();
    const outcomes = await Promise.allSettled([one.files.reserve(file('req_a')), other.files.reserve(file('req_b'))]);
    const granted = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []));
    expect([granted.length, refused]).toEqual([1, [code]]);
    expect(await spent()).toEqual({ spent: MINUTE, held: HELD });
    await granted[0]?.settle(heard);
    expect(await spent()).toEqual({ spent: 2n * MINUTE, held: 0n });
  },
);

it('applies a limit set by another process within a second, and charges work in progress', async () => {
  const { one, other, who, file, spent } = await world({ limit: null });
  await (await one.files.reserve(file('req_first'))).settle(heard);
  const brief = await one.files.reserve(file('req_brief'));
  await other.store.setCreditLimit(who.organisationId, 0n, OPERATOR);
  await brief.settle(heard);
  expect(await spent()).toEqual({ spent: 2n * MINUTE, held: 0n });
  one.clock.increment(1_000);
  const last = await one.files.reserve(file('req_last'));
  await spent();
  await expect(one.files.reserve(file('req_refused'))).rejects.toMatchObject({ code: 'insufficient_credit' });
  await last.settle(heard);
  expect(await spent()).toEqual({ spent: 3n * MINUTE, held: 0n });
});

it.each([
  ['whose credit has an end', { credit: 1_000_000n }],
  ['whose credit has no end', { limit: null }],
])('charges a file of an organisation %s once, although its key was revoked before the retry', async (_, customer) => {
  const { one, other, who, file, spent } = await world(customer);
  await (await one.files.reserve(file('req_first'))).release();
  const reserved = await one.files.reserve(file('req_again'));
  await other.store.revokeKey(who.organisationId, who.keyId, OPERATOR);
  expect(await reserved.settle(heard)).toBe(MINUTE);
  expect(await spent()).toEqual({ spent: MINUTE, held: 0n });
  const again = await other.files.reserve(file('req_again', true));
  expect(await again.settle({ ...heard, seconds: 30 })).toBe(MINUTE);
  expect(await spent()).toEqual({ spent: MINUTE, held: 0n });
});

it('holds and charges nothing for a killed process’s short file, until its retry pays in full', async () => {
  const { one, other, file, spent } = await world({ limit: null });
  await (await one.files.reserve(file('req_first'))).release();
  await one.files.reserve(file('req_killed'));
  expect(await spent()).toEqual({ spent: 0n, held: 0n });
  const again = await other.files.reserve(file('req_killed', true));
  expect(await spent()).toEqual({ spent: 0n, held: HELD });
  expect(await again.settle(heard)).toBe(MINUTE);
  expect(await spent()).toEqual({ spent: MINUTE, held: 0n });
});
