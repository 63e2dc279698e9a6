// Idempotency keys in the database: one holder at a time, a lease that ends, a day of answers, and bounds that hold.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIdempotencyTables, IDEMPOTENCY_LIMITS, type IdempotencyAttempt } from '../../src/store/idempotency.ts';
import { createPieceTables } from '../../src/store/pieces.ts';
import { ledgerRig } from '../fakes/store/ledger.ts';

const LEASE_MS = 60_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const PRINT = new Uint8Array(32).fill(7);
const bytes = (count: number) => new Uint8Array(count).fill(1);

function open(limits: Partial<typeof IDEMPOTENCY_LIMITS> = {}) {
  const rig = ledgerRig();
  const context = { database: rig.database, nowMs: () => rig.clock.nowMs };
  const pieces = createPieceTables(context);
  const tables = createIdempotencyTables(context, pieces, { ...IDEMPOTENCY_LIMITS, ...limits });
  const { organisationId } = rig.customer();
  const attempt = (key: number, attemptId: string, owner = organisationId): IdempotencyAttempt => ({
    organisationId: owner,
    keyHash: new Uint8Array(32).fill(key),
    attemptId,
  });
  const totals = () =>
    rig.database.prepare('SELECT keys, answers, bytes FROM idempotency_totals').all() as {
      keys: number;
      answers: number;
      bytes: number;
    }[];
  return { ...rig, tables, pieces, organisationId, attempt, totals };
}

describe('a key', () => {
  it('passes to the next attempt when its process is gone; younger keys and answers stay', () => {
    const { tables, attempt, clock } = open();
    tables.claimIdempotency(attempt(1, 'killed'), LEASE_MS);
    tables.claimIdempotency(attempt(2, 'answered'), LEASE_MS);
    tables.finishIdempotency(attempt(2, 'answered'), PRINT, bytes(3));
    const untilMs = clock.nowMs++;
    tables.claimIdempotency(attempt(3, 'works'), LEASE_MS);
    expect([tables.endIdempotency(untilMs), tables.endIdempotency(untilMs)]).toEqual([1, 0]);
    expect(tables.claimIdempotency(attempt(1, 'b'), LEASE_MS)).toEqual({ state: 'claimed', chargeId: 'killed' });
    expect(tables.claimIdempotency(attempt(2, 'b'), LEASE_MS)).toMatchObject({ state: 'done' });
    expect(tables.claimIdempotency(attempt(3, 'b'), LEASE_MS)).toMatchObject({ state: 'running' });
  });

  it('belongs to one attempt until its lease ends; the next charges under its id', () => {
    const { tables, attempt, clock } = open();
    expect(tables.claimIdempotency(attempt(1, 'a'), LEASE_MS)).toEqual({ state: 'claimed', chargeId: 'a' });
    clock.nowMs += LEASE_MS - 1;
    expect(tables.claimIdempotency(attempt(1, 'b'), LEASE_MS)).toEqual({ state: 'running', leaseMs: 1 });
    clock.nowMs += 1;
    expect(tables.claimIdempotency(attempt(1, 'b'), LEASE_MS)).toEqual({ state: 'claimed', chargeId: 'a' });
    expect(tables.renewIdempotency(attempt(1, 'a'), LEASE_MS)).toBe(false);
    expect(tables.finishIdempotency(attempt(1, 'a'), PRINT, bytes(5))).toBe(false);
    tables.releaseIdempotency(attempt(1, 'a'));
    expect(tables.claimIdempotency(attempt(1, 'c'), LEASE_MS).state).toBe('running');
  });

  it('expires in time although the clock was set back', () => {
    const { tables, attempt, clock } = open();
    tables.claimIdempotency(attempt(1, 'a'), LEASE_MS);
    clock.nowMs -= 3_600_000;
    expect(tables.claimIdempotency(attempt(1, 'b'), LEASE_MS)).toEqual({ state: 'claimed', chargeId: 'a' });
  });

  it('stays when it is renewed', () => {
    const { tables, attempt, clock } = open();
    tables.claimIdempotency(attempt(1, 'a'), LEASE_MS);
    clock.nowMs += LEASE_MS - 1;
    expect(tables.renewIdempotency(attempt(1, 'a'), LEASE_MS)).toBe(true);
    clock.nowMs += LEASE_MS - 1;
    expect(tables.claimIdempotency(attempt(1, 'b'), LEASE_MS).state).toBe('running');
  });

  it('starts fresh when released, unless an earlier attempt may have been charged', () => {
    const { tables, attempt, clock, totals } = open();
    tables.claimIdempotency(attempt(1, 'a'), LEASE_MS);
    tables.releaseIdempotency(attempt(1, 'a'));
    expect(totals()).toEqual([{ keys: 0, answers: 0, bytes: 0 }]);
    expect(tables.claimIdempotency(attempt(1, 'b'), LEASE_MS)).toEqual({ state: 'claimed', chargeId: 'b' });
    clock.nowMs += LEASE_MS;
    expect(tables.claimIdempotency(attempt(1, 'c'), LEASE_MS)).toEqual({ state: 'claimed', chargeId: 'b' });
    tables.releaseIdempotency(attempt(1, 'c'));
    expect(tables.claimIdempotency(attempt(1, 'd'), LEASE_MS)).toEqual({ state: 'claimed', chargeId: 'b' });
  });

  it('belongs to one organisation', () => {
    const { tables, attempt, customer } = open();
    const other = customer().organisationId;
    tables.claimIdempotency(attempt(1, 'a'), LEASE_MS);
    expect(tables.claimIdempotency(attempt(1, 'b', other), LEASE_MS)).toEqual({ state: 'claimed', chargeId: 'b' });
    expect(() => tables.claimIdempotency(attempt(1, 'c', 'org_nobody'), LEASE_MS)).toThrow('no such organisation');
  });

  it('keeps its answer for a day from the claim on', () => {
    const { tables, attempt, clock } = open();
    tables.claimIdempotency(attempt(1, 'a'), LEASE_MS);
    clock.nowMs += 1_000;
    expect(tables.finishIdempotency(attempt(1, 'a'), PRINT, bytes(5))).toBe(true);
    const sealed = Buffer.from(bytes(5));
    const answer = { state: 'done', attemptId: 'a', fingerprint: Buffer.from(PRINT), sealed, pieces: 0 };
    clock.nowMs += DAY_MS - 1_001;
    expect(tables.claimIdempotency(attempt(1, 'b'), LEASE_MS)).toEqual(answer);
    tables.releaseIdempotency(attempt(1, 'a'));
    expect(tables.claimIdempotency(attempt(1, 'b'), LEASE_MS)).toEqual(answer);
    clock.nowMs += 1;
    expect(tables.claimIdempotency(attempt(1, 'b'), LEASE_MS)).toEqual({ state: 'claimed', chargeId: 'b' });
  });
});

describe('an answer in pieces', () => {
  const content = (attemptId: string) => `answer ${attemptId}`;

  it('is there as a whole or not at all', () => {
    const { tables, pieces, attempt, organisationId, totals } = open();
    tables.claimIdempotency(attempt(1, 'a'), LEASE_MS);
    pieces.putPiece(organisationId, content('a'), 0, bytes(5));
    expect(() => tables.finishIdempotencyInPieces(attempt(1, 'a'), PRINT, 2)).toThrow('1 of 2 pieces');
    expect(tables.claimIdempotency(attempt(1, 'b'), LEASE_MS).state).toBe('running');
    pieces.putPiece(organisationId, content('a'), 1, bytes(3));
    expect(tables.finishIdempotencyInPieces(attempt(1, 'a'), PRINT, 2)).toBe(true);
    expect(tables.claimIdempotency(attempt(1, 'b'), LEASE_MS)).toMatchObject({
      state: 'done',
      sealed: null,
      pieces: 2,
    });
    expect(totals()).toEqual([{ keys: 1, answers: 1, bytes: 8 }]);
    expect(tables.finishIdempotencyInPieces(attempt(1, 'a'), PRINT, 2)).toBe(false);
    expect(pieces.findPiece(organisationId, content('a'), 1)).toHaveLength(3);
  });

  it('leaves nothing behind when it makes room, or its day is over', () => {
    const { tables, pieces, attempt, organisationId, database, clock, totals } = open({ answersMax: 1 });
    for (const key of [1, 2]) {
      tables.claimIdempotency(attempt(key, `a${key}`), LEASE_MS);
      pieces.putPiece(organisationId, content(`a${key}`), 0, bytes(5));
      tables.finishIdempotencyInPieces(attempt(key, `a${key}`), PRINT, 1);
    }
    const count = () => database.prepare('SELECT count(*) FROM pieces').pluck().get();
    expect([count(), totals()]).toEqual([1, [{ keys: 2, answers: 1, bytes: 5 }]]);
    clock.nowMs += DAY_MS;
    tables.claimIdempotency(attempt(3, 'c'), LEASE_MS);
    expect([count(), totals()]).toEqual([0, [{ keys: 1, answers: 0, bytes: 0 }]]);
  });

  it('is refused when it is too large to be kept, and its pieces expire', () => {
    const { tables, pieces, attempt, organisationId, database, clock } = open({ answerBytesMax: 4 });
    tables.claimIdempotency(attempt(1, 'a'), LEASE_MS);
    pieces.putPiece(organisationId, content('a'), 0, bytes(5));
    expect(() => tables.finishIdempotencyInPieces(attempt(1, 'a'), PRINT, 1)).toThrow('Up to 4 are kept');
    clock.nowMs += 600_000;
    expect([pieces.hasExpiredPieces(), pieces.expirePieces(9), pieces.hasExpiredPieces()]).toEqual([true, 1, false]);
    expect(database.prepare('SELECT count(*) FROM pieces').pluck().get()).toBe(0);
  });
});

describe('bounds', () => {
  it('drops an answer that is too large, but remembers it', () => {
    const { tables, attempt, totals } = open({ answerBytesMax: 10 });
    tables.claimIdempotency(attempt(1, 'a'), LEASE_MS);
    expect(tables.finishIdempotency(attempt(1, 'a'), PRINT, bytes(11))).toBe(true);
    expect(tables.claimIdempotency(attempt(1, 'b'), LEASE_MS)).toMatchObject({ state: 'done', sealed: null });
    expect(totals()).toEqual([{ keys: 1, answers: 0, bytes: 0 }]);
  });

  it.each([
    ['their number', { answersMax: 2 }],
    ['their bytes', { bytesMax: 20 }],
  ])('drops the oldest answers by %s, but remembers them', (_, limits) => {
    const { tables, attempt, totals } = open(limits);
    for (const key of [1, 2, 3]) {
      tables.claimIdempotency(attempt(key, `a${key}`), LEASE_MS);
      tables.finishIdempotency(attempt(key, `a${key}`), PRINT, bytes(10));
    }
    const kept = [1, 2, 3].map((key) => tables.claimIdempotency(attempt(key, 'b'), LEASE_MS));
    expect(kept.map((claim) => claim.state === 'done' && claim.sealed?.length)).toEqual([undefined, 10, 10]);
    expect(totals()).toEqual([{ keys: 3, answers: 2, bytes: 20 }]);
  });

  it('drops the oldest finished keys for new ones, and never one in use', () => {
    const { tables, attempt, totals } = open({ keysMax: 3 });
    tables.claimIdempotency(attempt(1, 'working'), LEASE_MS);
    for (const key of [2, 3]) {
      tables.claimIdempotency(attempt(key, 'a'), LEASE_MS);
      tables.finishIdempotency(attempt(key, 'a'), PRINT, bytes(10));
    }
    tables.claimIdempotency(attempt(4, 'a'), LEASE_MS);
    expect(totals()).toMatchObject([{ keys: 3 }]);
    expect(tables.claimIdempotency(attempt(1, 'b'), LEASE_MS).state).toBe('running');
    expect(tables.claimIdempotency(attempt(2, 'b'), LEASE_MS).state).toBe('claimed');
  });

  it('sweeps a few expired keys of any organisation with each claim, and none in use', () => {
    const { tables, attempt, clock, totals } = open({ sweptMax: 2 });
    for (const key of [1, 2, 3]) {
      tables.claimIdempotency(attempt(key, 'a'), LEASE_MS);
      tables.finishIdempotency(attempt(key, 'a'), PRINT, bytes(10));
    }
    tables.claimIdempotency(attempt(4, 'a'), 2 * DAY_MS);
    clock.nowMs += DAY_MS;
    tables.claimIdempotency(attempt(5, 'a'), LEASE_MS);
    expect(totals()).toEqual([{ keys: 3, answers: 1, bytes: 10 }]);
    tables.claimIdempotency(attempt(6, 'a'), LEASE_MS);
    expect(totals()).toEqual([{ keys: 3, answers: 0, bytes: 0 }]);
    expect(tables.claimIdempotency(attempt(4, 'b'), LEASE_MS).state).toBe('running');
  });

  it('keep totals equal to the rows after any sequence', () => {
    const step = fc.record({
      call: fc.constantFrom('claim', 'finish', 'release', 'renew', 'wait' as const),
      key: fc.integer({ min: 1, max: 4 }),
      attempt: fc.constantFrom('a', 'b'),
      size: fc.integer({ min: 1, max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const rig = open({ answerBytesMax: 25, bytesMax: 50, answersMax: 3, keysMax: 3 });
        for (const { call, key, attempt, size } of steps) {
          const who = rig.attempt(key, attempt);
          if (call === 'claim') rig.tables.claimIdempotency(who, LEASE_MS);
          else if (call === 'finish') rig.tables.finishIdempotency(who, PRINT, bytes(size));
          else if (call === 'release') rig.tables.releaseIdempotency(who);
          else if (call === 'renew') rig.tables.renewIdempotency(who, LEASE_MS);
          else rig.clock.nowMs += size * 1_000_000;
          const counted = rig.database
            .prepare(
              'SELECT count(*) AS keys, count(sealed) AS answers, coalesce(sum(length(sealed)), 0) AS bytes FROM idempotency_keys',
            )
            .get() as { answers: number; bytes: number };
          expect(rig.totals()[0] ?? { keys: 0, answers: 0, bytes: 0 }).toEqual(counted);
          expect(counted.answers <= 3 && counted.bytes <= 50).toBe(true);
        }
        rig.database.close();
      }),
      { numRuns: 100, seed: 7 },
    );
  });
});
