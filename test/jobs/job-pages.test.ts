// Pages of jobs: which there are, and how many jobs are opened for one.
import { beforeEach, describe, expect, it } from 'vitest';
import { apiError } from '../../src/api/errors.ts';
import { JobRecords, type WantedJobs } from '../../src/jobs/job-records.ts';
import type { Owner } from '../../src/jobs/owner.ts';
import type { Heard, ShownFile } from '../../src/vendors/compat/jobs.ts';
import { type DirectStore, directStore } from '../fakes/store/direct-store.ts';

const JOBS = 450;
const FILE: ShownFile = { id: 'f', filename: 'a.wav', bytes: 1, createdAt: new Date(0), fields: new Map() };
const HEARD = { transcription: { text: 'vox', duration: 3 } } as Heard;
const ALL = {
  before: undefined,
  fromMs: Number.NEGATIVE_INFINITY,
  toMs: Number.POSITIVE_INFINITY,
  stages: undefined,
  isWanted: undefined,
};

let rig: DirectStore;
let records: JobRecords;
let owner: Owner;
/** Rows that the store returned, and those of them that were opened. */
let counts: { rows: number; opened: number };

beforeEach(async () => {
  rig = directStore();
  owner = { ...rig.customer(), dialect: 'voxgate' };
  counts = { rows: 0, opened: 0 };
  const listJobs: DirectStore['store']['listJobs'] = async (...args) => {
    const rows = await rig.store.listJobs(...args);
    counts.rows += rows.length;
    return rows.map((row) => countingOpened(row));
  };
  const store = { ...rig.store, listJobs };
  records = new JobRecords({ store, secret: Buffer.alloc(32, 1), node: 'node-a', nodeName: 'a' });
  // Of ten jobs one has failed, and one other has the number 5.
  for (let at = 0; at < JOBS; at++) {
    const id = idOf(at);
    rig.clock.nowMs += 1_000;
    await records.create(owner, id, 'processing', { file: FILE, asked: { digit: at % 10 } });
    if (at % 10 === 0) await records.finish(owner, id, { type: 'failed', refusal: apiError('internal_error', 'No.') });
    else await records.finish(owner, id, { type: 'done', heard: HEARD });
  }
});

function countingOpened<Row extends { request: Uint8Array }>(row: Row): Row {
  const { request } = row;
  const get = () => {
    counts.opened++;
    return request;
  };
  return Object.defineProperty({ ...row }, 'request', { get });
}

const idOf = (at: number) => `job-${String(at).padStart(3, '0')}`;

async function page(wanted: Partial<WantedJobs> & { limit: number }): Promise<(number | boolean)[]> {
  const { jobs = [], hasMore = false } = (await records.page(owner, { ...ALL, ...wanted })) ?? {};
  return [...jobs.map(({ id }) => Number(id.slice('job-'.length))), hasMore];
}

const down = (from: number, count: number, by = 1) => Array.from({ length: count }, (_, at) => from - at * by);

describe('a page of jobs', () => {
  it('opens one job more than it has', async () => {
    expect(await page({ limit: 20 })).toEqual([...down(449, 20), true]);
    expect(counts).toEqual({ rows: 21, opened: 21 });
  });

  it('is found after any job without the ones before it', async () => {
    expect(await page({ limit: 100, before: idOf(120) })).toEqual([...down(119, 100), true]);
    expect(counts).toEqual({ rows: 101, opened: 101 });
    expect(await page({ limit: 100, before: idOf(20) })).toEqual([...down(19, 20), false]);
    expect(await records.page(owner, { ...ALL, limit: 1, before: 'none' })).toBeUndefined();
  });

  it('of some time opens the jobs of that time alone', async () => {
    const all = await records.page(owner, { ...ALL, limit: 100, before: idOf(300) });
    const atMs = (at: number) => all?.jobs.find(({ id }) => id === idOf(at))?.createdAt.getTime() as number;
    counts = { rows: 0, opened: 0 };
    const span = { fromMs: atMs(250), toMs: atMs(260) };
    expect(await page({ limit: 100, ...span })).toEqual([...down(259, 10), false]);
    expect(counts.opened).toBe(10);
    expect(await page({ limit: 4, ...span, before: idOf(257) })).toEqual([...down(256, 4), true]);
    expect(await page({ limit: 4, ...span, before: idOf(251) })).toEqual([250, false]);
    expect(await page({ limit: 4, ...span, before: idOf(250) })).toEqual([false]);
  });

  it('of one stage opens no job of another one', async () => {
    expect(await page({ limit: 30, stages: ['failed'] })).toEqual([...down(440, 30, 10), true]);
    expect(counts).toEqual({ rows: 400, opened: 31 });
    expect(await page({ limit: 30, stages: ['queued'] })).toEqual([false]);
    expect(counts.opened).toBe(31);
  });

  it('of what is known of opened jobs alone stops as soon as it is full', async () => {
    const isWanted: WantedJobs['isWanted'] = ({ asked }) => asked.digit === 5;
    expect(await page({ limit: 3, isWanted })).toEqual([...down(445, 3, 10), true]);
    expect(counts).toEqual({ rows: 200, opened: 40 });
    expect(await page({ limit: 100, isWanted })).toEqual([...down(445, 45, 10), false]);
    expect(counts).toEqual({ rows: 200 + JOBS, opened: 40 + JOBS });
  });
});
