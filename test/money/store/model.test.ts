// Random sequences of calls, repeated and out of order, beside a model written from the promises alone: the same answers, the
// same balances, nothing lent that is not there, and books that balance after every sequence.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LedgerPrice, UsageLine } from '../../../src/money/store/calls.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { drawn } from '../../fakes/drawn.ts';
import {
  endOf,
  headOf,
  holdOf,
  type LedgerRig,
  ledgerRig,
  OPERATOR,
  perMinute,
  perSession,
  START_MS,
} from '../../fakes/store/ledger.ts';

const SEQUENCES = drawn(1_000);
const SESSIONS = 6;

const CUSTOMERS = [
  { limit: 0n },
  { limit: 0n, dailyMax: 40_000n },
  { limit: 30_000n },
  { limit: null, dailyMax: 90_000n },
  { limit: null },
] as const;

const MODELS: readonly { model: string; own: boolean; rate?: number; price: LedgerPrice }[] = [
  { model: 'a/minute', own: false, price: perMinute(60_001n) },
  { model: 'a/minute', own: false, rate: 1, price: perMinute(90_007n) },
  { model: 'b/session', own: false, price: perSession(7_000n) },
  { model: 'c/minimum', own: false, price: perMinute(4_300n, 2_500n) },
  { model: 'c/minimum', own: true, price: perMinute(4_300n, 2_500n) },
];

/** What a line costs, in exact parts of a micro-dollar until the last step. */
function expectedCost({ unit, microUsd, minimumMicroUsd }: LedgerPrice, own: boolean, audioMs: number): bigint {
  if (own || audioMs === 0) return 0n;
  const exact = unit === 'session' ? microUsd * 60_000n : microUsd * BigInt(audioMs);
  const [whole, rest] = [exact / 60_000n, exact % 60_000n];
  const rounded = rest >= 30_000n ? whole + 1n : whole;
  return rounded < minimumMicroUsd ? minimumMicroUsd : rounded;
}

interface Session {
  customer: number;
  first: { heldMicroUsd: bigint; limitedBy: string | null };
  audioMs: number[];
  hold: { microUsd: bigint; endMs: number } | undefined;
  isSettled: boolean;
}

class Model {
  nowMs: number;
  readonly sessions = new Map<number, Session>();
  readonly balances = CUSTOMERS.map(() => 0n);
  readonly spent = new Map<string, bigint>();
  readonly credits = new Set<number>();

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  held(customer: number): bigint {
    return [...this.sessions.values()]
      .filter((session) => session.customer === customer)
      .reduce((sum, { hold }) => sum + (hold?.microUsd ?? 0n), 0n);
  }

  available(customer: number): bigint | null {
    const { limit } = CUSTOMERS[customer]!;
    return limit === null ? null : this.balances[customer]! - this.held(customer) + limit;
  }

  day(customer: number): string {
    return `${customer} ${new Date(this.nowMs).toISOString().slice(0, 10)}`;
  }

  /** The largest hold there may be, or undefined when it is less than the least. */
  offer(
    customer: number,
    wanted: bigint,
    least: bigint,
  ): { heldMicroUsd: bigint; limitedBy: string | null; unlimited?: true } {
    const bounds: [bigint, string | null][] = [[wanted, null]];
    const available = this.available(customer);
    if (available !== null) bounds.push([available, 'credit']);
    const { dailyMax } = { dailyMax: undefined, ...CUSTOMERS[customer]! };
    if (dailyMax !== undefined) {
      bounds.push([dailyMax - (this.spent.get(this.day(customer)) ?? 0n) - this.held(customer), 'daily_spend']);
    }
    if (wanted === 0n) return { heldMicroUsd: 0n, limitedBy: null };
    if (bounds.length === 1) return { heldMicroUsd: wanted, limitedBy: null, unlimited: true };
    const [amount, limitedBy] = bounds.reduce((lowest, bound) => (bound[0] < lowest[0] ? bound : lowest));
    const isEnough = limitedBy === null || (amount >= least && amount > 0n);
    return { heldMicroUsd: isEnough ? amount : 0n, limitedBy };
  }

  post(session: Session, audioMs: readonly number[]): void {
    MODELS.forEach(({ price, own }, index) => {
      const before = session.audioMs[index]!;
      const after = Math.max(before, audioMs[index]!);
      const more = expectedCost(price, own, after) - expectedCost(price, own, before);
      session.audioMs[index] = after;
      this.balances[session.customer]! -= more;
      const day = this.day(session.customer);
      this.spent.set(day, (this.spent.get(day) ?? 0n) + more);
    });
  }

  expire(): number {
    const over = [...this.sessions.values()].filter(({ hold }) => hold !== undefined && hold.endMs <= this.nowMs);
    for (const session of over) session.hold = undefined;
    return over.length;
  }
}

interface Real extends LedgerRig {
  customers: { organisationId: string; keyId: string }[];
}

type Step = fc.Command<Model, Real>;

function step(text: string, run: (model: Model, real: Real) => void): Step {
  return {
    check: () => true,
    toString: () => text,
    run(model, real) {
      run(model, real);
      real.customers.forEach(({ organisationId }, index) => {
        expect(real.ledger.balanceOf(organisationId)).toEqual({
          balanceMicroUsd: model.balances[index],
          heldMicroUsd: model.held(index),
          creditLimitMicroUsd: CUSTOMERS[index]!.limit,
          availableMicroUsd: model.available(index),
        });
      });
    },
  };
}

/** The answer, or why there is none. */
function outcome(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    if (error instanceof StoreError) return error.reason;
    throw error;
  }
}

const customerOf = (id: number) => id % CUSTOMERS.length;
const head = (real: Real, id: number) => headOf(real.customers[customerOf(id)]!, `ses_${id}`);
const linesOf = (audioMs: readonly number[]): UsageLine[] =>
  MODELS.map((line, index) => ({ ...line, audioMs: audioMs[index]! }));

function requireCovered(model: Model, customer: number, heldMicroUsd: bigint): void {
  if (heldMicroUsd > 0n) expect(model.available(customer) ?? 0n).toBeGreaterThanOrEqual(0n);
}

function open(id: number, wanted: bigint, least: bigint, leaseMs: number): Step {
  return step(`open ${id} ${wanted} ${least} ${leaseMs}`, (model, real) => {
    const answer = outcome(() => real.ledger.openSession(head(real, id), holdOf(wanted, least, leaseMs)));
    const before = model.sessions.get(id);
    if (before !== undefined) return openedAgain(model, before, answer, { wanted, least, leaseMs });
    const customer = customerOf(id);
    const first = model.offer(customer, wanted, least);
    if (first.limitedBy !== null && first.heldMicroUsd < least) {
      return expect(answer).toBe(first.limitedBy === 'credit' ? 'insufficient_credit' : 'daily_spend');
    }
    expect(answer).toEqual(first);
    const hold = first.heldMicroUsd === 0n ? undefined : { microUsd: first.heldMicroUsd, endMs: model.nowMs + leaseMs };
    model.sessions.set(id, { customer, first, audioMs: MODELS.map(() => 0), hold, isSettled: false });
    requireCovered(model, customer, first.heldMicroUsd);
  });
}

const SETTLED = { heldMicroUsd: 0n, limitedBy: null, settled: true };

/** The rules for a session that is known: what is held and enough stays, and anything else is held anew or refused. */
function openedAgain(
  model: Model,
  session: Session,
  answer: unknown,
  { wanted, least, leaseMs }: { wanted: bigint; least: bigint; leaseMs: number },
): void {
  const { customer, hold, isSettled } = session;
  const isEnough = hold !== undefined && hold.endMs > model.nowMs && hold.microUsd >= wanted;
  if (isSettled || isEnough) {
    expect(answer).toEqual(isSettled ? SETTLED : { heldMicroUsd: hold?.microUsd, limitedBy: null });
    return;
  }
  session.hold = undefined;
  const grant = model.offer(customer, wanted, least);
  if (grant.limitedBy !== null && grant.heldMicroUsd < least) {
    session.hold = hold;
    expect(answer).toBe(grant.limitedBy === 'credit' ? 'insufficient_credit' : 'daily_spend');
    return;
  }
  expect(answer).toEqual(grant);
  if (grant.heldMicroUsd > 0n) session.hold = { microUsd: grant.heldMicroUsd, endMs: model.nowMs + leaseMs };
  requireCovered(model, customer, grant.heldMicroUsd);
}

function renew(id: number, audioMs: number[], wanted: bigint, least: bigint, leaseMs: number): Step {
  return step(`renew ${id} [${audioMs}] ${wanted} ${least} ${leaseMs}`, (model, real) => {
    const answer = outcome(() =>
      real.ledger.renewHold(head(real, id), linesOf(audioMs), { ...holdOf(wanted, least, leaseMs), onTrust: true }),
    );
    const session = model.sessions.get(id);
    if (session === undefined) return expect(answer).toBe('not_found');
    if (session.isSettled) return expect(answer).toEqual(SETTLED);
    if (audioMs.some((each, index) => each < session.audioMs[index]!)) return expect(answer).toBe('invalid');
    model.post(session, audioMs);
    session.hold = undefined;
    const grant = model.offer(session.customer, wanted, least);
    expect(answer).toEqual(grant);
    if (grant.heldMicroUsd > 0n) session.hold = { microUsd: grant.heldMicroUsd, endMs: model.nowMs + leaseMs };
    requireCovered(model, session.customer, grant.heldMicroUsd);
  });
}

function settle(id: number, audioMs: number[]): Step {
  return step(`settle ${id} [${audioMs}]`, (model, real) => {
    const answer = real.ledger.settleSession(head(real, id), endOf(linesOf(audioMs), { onTrust: true }));
    const customer = customerOf(id);
    const first = { heldMicroUsd: 0n, limitedBy: null };
    const fresh = { customer, first, audioMs: MODELS.map(() => 0), hold: undefined, isSettled: false };
    const session: Session = model.sessions.get(id) ?? fresh;
    if (!session.isSettled) {
      model.post(session, audioMs);
      model.sessions.set(id, Object.assign(session, { hold: undefined, isSettled: true }));
    }
    const costs = MODELS.map(({ price, own }, index) => expectedCost(price, own, session.audioMs[index]!));
    expect(answer.lines.map(({ model, own, rate, audioMs }) => [model, own, rate, audioMs])).toEqual(
      MODELS.map(({ model, own, rate }, index) => [model, own, rate, session.audioMs[index]]),
    );
    expect(answer.lines.map(({ costMicroUsd }) => costMicroUsd)).toEqual(costs);
    expect(answer.costMicroUsd).toBe(costs.reduce((sum, cost) => sum + cost));
  });
}

function credit(customer: number, uniqueKey: number, microUsd: bigint): Step {
  return step(`credit ${customer} ${uniqueKey} ${microUsd}`, (model, real) => {
    const { organisationId } = real.customers[customer]!;
    const kind = microUsd < 0n ? 'adjustment' : uniqueKey === 0 ? 'welcome' : 'top_up';
    const given = { organisationId, kind, microUsd, uniqueKey: `credit ${uniqueKey}`, note: '' } as const;
    expect(real.ledger.addCredit(given, OPERATOR)).toBe(!model.credits.has(uniqueKey));
    if (model.credits.has(uniqueKey)) return;
    model.credits.add(uniqueKey);
    model.balances[customer]! += microUsd;
  });
}

const expire = (): Step =>
  step('expire', (model, real) => {
    expect(real.ledger.expireHolds()).toBe(model.expire());
    const ends = [...model.sessions.values()].flatMap(({ hold }) => (hold === undefined ? [] : [hold.endMs]));
    expect(real.ledger.nextLeaseEndMs()).toBe(ends.length === 0 ? undefined : Math.min(...ends));
  });

const wait = (ms: number): Step =>
  step(`wait ${ms}`, (model, real) => {
    model.nowMs += ms;
    real.clock.nowMs += ms;
  });

const session = fc.integer({ min: 0, max: SESSIONS - 1 });
const amount = fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 60_000n }));
const lease = fc.integer({ min: 1, max: 90_000 });
// Few values, so that statements are repeated, grow, and come in the wrong order.
const audio = fc.array(fc.constantFrom(0, 1, 999, 10_000, 20_000, 29_999, 60_000), {
  minLength: MODELS.length,
  maxLength: MODELS.length,
});
const credits = fc.oneof(fc.bigInt({ min: 1n, max: 200_000n }), fc.bigInt({ min: -20_000n, max: -1n }));

const steps = [
  fc.tuple(session, amount, amount, lease).map((args) => open(...args)),
  fc.tuple(session, audio, amount, amount, lease).map((args) => renew(...args)),
  fc.tuple(session, audio).map((args) => settle(...args)),
  fc.tuple(fc.integer({ min: 0, max: CUSTOMERS.length - 1 }), fc.nat(7), credits).map((args) => credit(...args)),
  fc.constant(null).map(expire),
  fc.oneof(fc.integer({ min: 0, max: 60_000 }), fc.constant(12 * 3_600_000)).map(wait),
];

test(`${SEQUENCES} sequences of calls answer like the model, lend nothing that is not there, and balance`, () => {
  // One ledger for all, which is taken back after each: most of the time would go into preparing the statements of so many.
  const rig = ledgerRig();
  const property = fc.property(fc.commands(steps, { maxCommands: 40, size: 'max' }), (commands) => {
    rig.clock.nowMs = START_MS;
    rig.database.exec('SAVEPOINT sequence');
    try {
      const customers = CUSTOMERS.map((options) => rig.customer(options));
      const model = new Model(rig.clock.nowMs);
      fc.modelRun(() => ({ model, real: { ...rig, customers } }), commands);
      rig.ledger.expireHolds();
      model.expire();
      const audit = rig.ledger.auditLedger();
      expect(audit).toMatchObject({ sumMicroUsd: 0n, sessions: model.sessions.size });
      // Some sequences take days.
      expect(audit.faults.filter((fault) => !fault.includes('has been open for more than'))).toEqual([]);
    } finally {
      rig.database.exec('ROLLBACK TO sequence; RELEASE sequence');
    }
  });
  fc.assert(property, { numRuns: SEQUENCES, seed: 20_261_121 });
}, 240_000);
