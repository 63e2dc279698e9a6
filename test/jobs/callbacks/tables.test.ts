// Callbacks of jobs in the database: when they are due, whose turn it is, and what becomes of them with their job.
import { beforeEach, describe, expect, it } from 'vitest';
import { CALLBACKS_MAX } from '../../../src/api/bounds.ts';
import { JOB_LIMITS, type JobEnd } from '../../../src/jobs/calls.ts';
import { createJobTables } from '../../../src/jobs/tables.ts';
import { createPieceTables } from '../../../src/store/pieces.ts';
import { ledgerRig } from '../../fakes/store/ledger.ts';

const LEASE_MS = 30_000;
const bytes = (count: number) => new Uint8Array(count).fill(1);
const DONE: JobEnd = { stage: 'done', summary: bytes(2), transcript: bytes(8), pieces: 0 };
const FAILED: JobEnd = { stage: 'failed', summary: bytes(2), transcript: null, pieces: 0 };

function open() {
  const rig = ledgerRig();
  const context = { database: rig.database, nowMs: () => rig.clock.nowMs };
  const tables = createJobTables(context, createPieceTables(context), JOB_LIMITS);
  const first = rig.customer();
  const jobOf = (id: string, who = first) => ({
    ...{ ...who, dialect: 'soniox', id, node: 'node-a', nodeName: 'node-a' },
    ...{ stage: 'processing' as const, request: bytes(4) },
  });
  const create = (id: string, callbacks = 1, who = first) =>
    tables.createReportedJob({ ...jobOf(id, who), callbacks }, 60_000);
  const due = (after = '', perOrganisation = 10, max = 100) => tables.readDueCallbacks(after, perOrganisation, max).due;
  /** Takes and records the first one that is due. */
  const attempt = (status: number | null, retryAfterMs: number | null, isForgotten = false) => {
    const { number } = due()[0] as { number: number };
    const taken = tables.takeCallback(number, LEASE_MS);
    if (taken === undefined) throw new Error('It is not due.');
    tables.recordCallback({ number, endedAtMs: taken.endedAtMs, status, retryAfterMs, isForgotten });
    return taken;
  };
  const rows = (table: string) => rig.database.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  return { ...rig, ...{ tables, first, jobOf, create, due, attempt, rows } };
}

let rig: ReturnType<typeof open>;
beforeEach(() => {
  rig = open();
});

describe('a callback', () => {
  it('is due when its job is over, and not before', () => {
    const { tables, create, due, jobOf, first } = rig;
    create('a');
    expect([due(), tables.readDueCallbacks('', 10, 100).isUsed]).toEqual([[], true]);
    tables.finishJob(jobOf('a'), DONE);
    expect(due()).toMatchObject([{ organisationId: first.organisationId, isLarge: false }]);
  });

  it.each([
    ['done', DONE],
    ['failed', FAILED],
  ] as const)('is taken by one process at a time, of a job that is %s', (_, end) => {
    const { tables, create, due, jobOf, clock, first } = rig;
    create('a');
    tables.finishJob(jobOf('a'), end);
    const { number } = due()[0] as { number: number };
    expect(tables.takeCallback(number, LEASE_MS)).toEqual({
      ...{ organisationId: first.organisationId, keyId: first.keyId, dialect: 'soniox', id: 'a' },
      ...{ position: 0, attempts: 0, endedAtMs: clock.nowMs },
    });
    expect([tables.takeCallback(number, LEASE_MS), due()]).toEqual([undefined, []]);
    clock.nowMs += LEASE_MS;
    expect(due()).toHaveLength(1);
  });

  it('is due again after its wait, then no more', () => {
    const { create, tables, jobOf, attempt, due, clock, first } = rig;
    create('a');
    tables.finishJob(jobOf('a'), DONE);
    attempt(500, 5_000);
    expect(due()).toEqual([]);
    clock.nowMs += 5_000;
    expect(attempt(204, null).attempts).toBe(1);
    clock.nowMs += 1e9;
    expect(due()).toEqual([]);
    clock.nowMs -= 1e9;
    expect(tables.findJob({ ...first, dialect: 'soniox' }, 'a')?.callbackStatus).toBe(204);
  });

  it('of a lost job begins again when the job is done after all', () => {
    const { create, tables, jobOf, attempt, due, clock } = rig;
    create('a');
    clock.nowMs += 60_000;
    expect(tables.failLostJobs()).toBe(1);
    const { number } = due()[0] as { number: number };
    const taken = tables.takeCallback(number, LEASE_MS);
    clock.nowMs++;
    tables.finishJob(jobOf('a'), DONE);
    // What came of the attempt that said that the job was lost changes nothing.
    const attempted = { number, status: 200, retryAfterMs: null, isForgotten: false };
    tables.recordCallback({ ...attempted, endedAtMs: taken?.endedAtMs as number });
    expect(attempt(200, null)).toMatchObject({ attempts: 0, endedAtMs: clock.nowMs });
    expect(due()).toEqual([]);
  });

  it('goes with its job', () => {
    const { create, tables, jobOf, due, rows, first } = rig;
    create('a', 2);
    create('b');
    for (const id of ['a', 'b']) tables.finishJob(jobOf(id), DONE);
    const { number } = due()[0] as { number: number };
    tables.removeJob({ ...first, dialect: 'soniox' }, 'a');
    expect([due().length, rows('job_callbacks'), tables.takeCallback(number, LEASE_MS)]).toEqual([1, 1, undefined]);
    rig.clock.nowMs += JOB_LIMITS.keptMs;
    tables.expireJobs(10);
    expect([due(), rows('job_callbacks'), tables.readDueCallbacks('', 1, 1).isUsed]).toEqual([[], 0, false]);
  });

  it('takes its job along once all were reported, where nothing else asks for it', () => {
    const { create, tables, jobOf, attempt, rows } = rig;
    create('a', 2);
    tables.finishJob(jobOf('a'), DONE);
    attempt(200, null, true);
    expect(rows('jobs')).toBe(1);
    attempt(500, 1_000, true);
    expect(rows('jobs')).toBe(1);
    rig.clock.nowMs += 1_000;
    attempt(200, null, true);
    expect([rows('jobs'), rows('job_callbacks')]).toEqual([0, 0]);
  });

  it('is there once when the call that made it is repeated', () => {
    const { create, rows } = rig;
    expect(create('a')).toEqual(create('a'));
    expect(rows('job_callbacks')).toBe(1);
  });

  it.each([-1, CALLBACKS_MAX + 1, Number.NaN])('is refused in the number %s', (callbacks) => {
    expect(() => rig.create('a', callbacks)).toThrow(`up to ${CALLBACKS_MAX} addresses`);
    expect(rig.rows('jobs')).toBe(0);
  });
});

describe('a look at what is due', () => {
  it('gives every organisation its turn, from where the last look ended', () => {
    const { create, tables, jobOf, due } = rig;
    const others = [rig.first, rig.customer(), rig.customer()];
    for (const who of others)
      for (const id of ['a', 'b', 'c']) {
        create(`${id}${who.keyId}`.slice(0, 20), 1, who);
        tables.finishJob(jobOf(`${id}${who.keyId}`.slice(0, 20), who), DONE);
      }
    const ids = others.map(({ organisationId }) => organisationId).sort();
    const turns = (after: string, per: number, max: number) =>
      due(after, per, max).map(({ organisationId }) => ids.indexOf(organisationId));
    expect(turns('', 2, 100)).toEqual([0, 0, 1, 1, 2, 2]);
    expect(turns(ids[0] as string, 2, 100)).toEqual([1, 1, 2, 2, 0, 0]);
    expect(turns(ids[1] as string, 2, 3)).toEqual([2, 2, 0]);
    expect(turns(ids[2] as string, 1, 100)).toEqual([0, 1, 2]);
  });

  it('marks jobs with a large transcript', () => {
    const { create, tables, jobOf, due } = rig;
    create('a');
    create('b');
    tables.finishJob(jobOf('a'), { ...DONE, transcript: bytes(300_000) });
    tables.finishJob(jobOf('b'), DONE);
    expect(due().map(({ isLarge }) => isLarge)).toEqual([true, false]);
  });
});
