// A job that cannot be begun again because the accounts are away: how often it is tried, for how long, and that it stays in the store.
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { JOB_LIMITS } from '../../src/jobs/calls.ts';
import type { ResumedJob } from '../../src/jobs/job-records.ts';
import { OwnJobs, type OwnJobsDependencies } from '../../src/jobs/own-jobs.ts';
import { StoreError } from '../../src/store/store-error.ts';

const CREATED_MS = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
const JOB = {
  ...{ id: 'a', owner: { organisationId: 'o', keyId: 'k', dialect: 'voxgate' }, attempts: 1, isShared: false },
  ...{ createdAt: new Date(CREATED_MS), asked: {}, file: { id: '', filename: '', bytes: 0, fields: new Map() } },
} as unknown as ResumedJob;

function open() {
  const clock = new SimulatedClock();
  const state = { isAway: true, isClosed: false, tries: 0, finished: [] as string[], faults: [] as unknown[] };
  const jobs = new OwnJobs({
    clock,
    wallNow: () => new Date(CREATED_MS + clock.now()),
    newRequestId: () => 'req_1',
    onJobFault: (error: unknown) => state.faults.push(error),
    detachedJobs: {
      get isClosed() {
        return state.isClosed;
      },
    },
    jobRecords: {
      adopt: async () => [JOB],
      adoptLost: async () => [JOB],
      finish: async (_: unknown, id: string) => state.finished.push(id),
    },
    store: {
      // A key that is gone ends the job at once.
      findKey: async () => {
        state.tries++;
        if (state.isAway) throw new StoreError('unreachable', 'The accounts are away.');
        return undefined;
      },
    },
  } as unknown as OwnJobsDependencies);
  const pass = async (ms: number, stepMs = 1_000) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      clock.increment(stepMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { jobs, state, pass };
}

it('is tried less and less often, and is begun when the accounts are back', async () => {
  const { jobs, state, pass } = open();
  await jobs.resume(true);
  await pass(62_000);
  // At 0, 2, 6, 14, 30 and 62 s.
  expect([state.tries, state.finished, state.faults.length]).toEqual([6, [], 1]);
  await pass(60 * MINUTE_MS);
  expect(state.tries).toBe(66);
  state.isAway = false;
  await pass(MINUTE_MS);
  expect([state.tries, state.finished]).toEqual([67, ['a']]);
  await pass(10 * MINUTE_MS);
  expect([state.tries, state.faults.length]).toEqual([67, 1]);
});

it('is given up where the store has failed it for its age, and counts no more among those that were taken over', async () => {
  const { jobs, state, pass } = open();
  await jobs.takeOver(1, []);
  await pass(JOB_LIMITS.unfinishedMs - MINUTE_MS, 10_000);
  expect(jobs.adopted).toEqual(new Map([['k', 1]]));
  await pass(2 * MINUTE_MS);
  expect([jobs.adopted, state.faults]).toMatchObject([
    new Map(),
    [{}, { message: expect.stringContaining('too old') }],
  ]);
  const { tries } = state;
  await pass(60 * MINUTE_MS, 10_000);
  expect([state.tries, state.finished]).toEqual([tries, []]);
});

it('is left to the next start when the node stops', async () => {
  const { jobs, state, pass } = open();
  await jobs.resume(true);
  state.isClosed = true;
  await pass(10 * MINUTE_MS);
  expect([state.tries, state.finished, state.faults.length]).toEqual([1, [], 1]);
});
