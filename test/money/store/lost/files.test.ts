// Files whose process was killed: closed once they hold nothing, found by the audit until then, and charged once when they are tried
// again or told of after all.
import { describe, expect, test } from 'vitest';
import type { SessionEnd } from '../../../../src/money/store/calls.ts';
import { endOf, headOf, holdOf, ledgerRig, lineOf } from '../../../fakes/store/ledger.ts';

const LEASE_MS = 60_000;
const AMONG = 1_000;
const CREDIT = 100_000n;

function begin() {
  const rig = ledgerRig();
  const who = rig.customer({ credit: CREDIT });
  const fileOf = (id: string) => headOf(who, id, { mode: 'batch' });
  const find = (id: string) => rig.ledger.findSession(who.organisationId, id);
  return { ...rig, who, fileOf, find };
}

/** The end of a file that was transcribed. */
const transcribed = (audioMs: number): SessionEnd =>
  endOf([lineOf(audioMs)], { reason: 'completed', file: { audioMs, channels: 1, audioMsMax: audioMs } });

describe('a file whose process was killed', () => {
  test('closes when its hold ends, as of then, and costs nothing', () => {
    const { ledger, clock, fileOf, find, who } = begin();
    ledger.openSession(fileOf('req_1'), holdOf(60_000n, 0n, LEASE_MS));
    clock.nowMs += LEASE_MS;
    expect(ledger.closeLostFiles(clock.nowMs, AMONG)).toBe(0);
    ledger.expireHolds();
    const overAt = new Date(clock.nowMs).toISOString();
    expect(ledger.closeLostFiles(clock.nowMs - 1, AMONG)).toBe(0);
    clock.nowMs += 120_000;
    expect([ledger.closeLostFiles(clock.nowMs - 120_000, AMONG), ledger.closeLostFiles(clock.nowMs, AMONG)]).toEqual([
      1, 0,
    ]);
    expect(find('req_1')).toMatchObject({ reason: 'node_lost', endedAt: overAt, costMicroUsd: 0n, heldMicroUsd: 0n });
    expect(ledger.balanceOf(who.organisationId)).toMatchObject({ balanceMicroUsd: CREDIT, heldMicroUsd: 0n });
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
  });

  test('closes at once where no process is left', () => {
    const { ledger, clock, fileOf, find } = begin();
    for (const id of ['req_1', 'req_2', 'req_3']) ledger.openSession(fileOf(id), holdOf(10_000n, 0n, LEASE_MS));
    ledger.endHolds(clock.nowMs);
    expect(ledger.closeLostFiles(clock.nowMs, AMONG)).toBe(3);
    expect(find('req_2')).toMatchObject({ reason: 'node_lost' });
  });

  test('appears in the audit until it is closed', () => {
    const { ledger, clock, fileOf } = begin();
    ledger.openSession(fileOf('req_1'), holdOf(60_000n, 0n, LEASE_MS));
    clock.nowMs += LEASE_MS;
    ledger.expireHolds();
    clock.nowMs += 899_000;
    expect(ledger.auditLedger().faults).toEqual([]);
    clock.nowMs += 2_000;
    expect(ledger.auditLedger().faults).toEqual([
      expect.stringMatching(/^File req_1 is open and has had no hold for 901 s/),
    ]);
    ledger.closeLostFiles(clock.nowMs, AMONG);
    expect(ledger.auditLedger().faults).toEqual([]);
  });

  test('gets a hold and a charge once, when it is sent again under its id', () => {
    const { ledger, clock, fileOf, find, who } = begin();
    ledger.openSession(fileOf('req_1'), holdOf(60_000n, 60_000n, LEASE_MS));
    ledger.endHolds(clock.nowMs);
    ledger.closeLostFiles(clock.nowMs, AMONG);
    expect(ledger.openSession(fileOf('req_1'), holdOf(60_000n, 60_000n, LEASE_MS))).toEqual({
      heldMicroUsd: 60_000n,
      limitedBy: null,
    });
    expect(ledger.balanceOf(who.organisationId).heldMicroUsd).toBe(60_000n);
    ledger.renewHold(fileOf('req_1'), [], holdOf(60_000n, 0n, LEASE_MS));
    expect(ledger.balanceOf(who.organisationId).heldMicroUsd).toBe(60_000n);
    for (let times = 0; times < 2; times++) {
      expect(ledger.settleSession(fileOf('req_1'), transcribed(30_000))).toMatchObject({ costMicroUsd: 30_000n });
    }
    expect(ledger.openSession(fileOf('req_1'), holdOf(60_000n))).toMatchObject({ settled: true });
    expect(find('req_1:late')).toMatchObject({ reason: 'completed', costMicroUsd: 30_000n });
    expect(ledger.balanceOf(who.organisationId)).toMatchObject({ balanceMicroUsd: CREDIT - 30_000n, heldMicroUsd: 0n });
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [], decisions: [] });
  });

  test('fails without credit when it is sent again', () => {
    const { ledger, clock, fileOf } = begin();
    ledger.openSession(fileOf('req_1'), holdOf(60_000n, 60_000n, LEASE_MS));
    ledger.endHolds(clock.nowMs);
    ledger.closeLostFiles(clock.nowMs, AMONG);
    expect(() => ledger.openSession(fileOf('req_1'), holdOf(200_000n, 200_000n, LEASE_MS))).toThrow(/credit/);
  });

  test('costs extra, once, when it is reported after all', () => {
    const { ledger, clock, fileOf, who } = begin();
    ledger.openSession(fileOf('req_1'), holdOf(60_000n, 0n, LEASE_MS));
    ledger.endHolds(clock.nowMs);
    ledger.closeLostFiles(clock.nowMs, AMONG);
    for (let times = 0; times < 2; times++) ledger.settleSession(fileOf('req_1'), transcribed(30_000));
    expect(ledger.balanceOf(who.organisationId).balanceMicroUsd).toBe(CREDIT - 30_000n);
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
  });
});

test.each<[string, (rig: ReturnType<typeof begin>) => void]>([
  [
    'in progress',
    ({ ledger, clock, fileOf }) => {
      ledger.openSession(fileOf('req_1'), holdOf(60_000n, 0n, LEASE_MS));
      clock.nowMs += LEASE_MS / 2;
      ledger.renewHold(fileOf('req_1'), [], holdOf(60_000n, 0n, LEASE_MS));
      clock.nowMs += LEASE_MS / 2 + 1;
      ledger.expireHolds();
    },
  ],
  [
    'that is settled',
    ({ ledger, fileOf }) => {
      ledger.openSession(fileOf('req_1'), holdOf(60_000n, 0n, LEASE_MS));
      ledger.settleSession(fileOf('req_1'), transcribed(1_000));
    },
  ],
  [
    'that is a live session',
    ({ ledger, clock, who }) => {
      ledger.openSession(headOf(who, 'req_1'), holdOf(60_000n, 0n, LEASE_MS));
      ledger.endHolds(clock.nowMs);
    },
  ],
  [
    'whose hold came back',
    ({ ledger, clock, fileOf }) => {
      ledger.openSession(fileOf('req_1'), holdOf(60_000n, 0n, LEASE_MS));
      clock.nowMs += LEASE_MS;
      ledger.expireHolds();
      ledger.renewHold(fileOf('req_1'), [], holdOf(60_000n, 0n, LEASE_MS));
    },
  ],
])('leaves a file %s unchanged', (_, prepare) => {
  const rig = begin();
  prepare(rig);
  const before = rig.find('req_1');
  expect(rig.ledger.closeLostFiles(rig.clock.nowMs, AMONG)).toBe(0);
  expect(rig.find('req_1')).toEqual(before);
});
