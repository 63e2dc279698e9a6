// Jobs that nobody waits for: their turns, their ends, and what happens when the store or their node is away.
import { beforeEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { apiError } from '../../src/api/errors.ts';
import { type Deferred, deferred } from '../../src/http/deferred.ts';
import { toApiError } from '../../src/http/router.ts';
import { JOB_LIMITS, OWN_DIALECT } from '../../src/jobs/calls.ts';
import { DetachedJobs, type Work, type WorkEnd } from '../../src/jobs/detached-jobs.ts';
import { JOBS_QUEUED_MAX } from '../../src/jobs/job-lines.ts';
import { JOB_LEASE_MS, JobRecords, RENEW_MS, TRANSCRIPT_CHARACTERS_MAX } from '../../src/jobs/job-records.ts';
import { StaleJobs } from '../../src/jobs/stale-jobs.ts';
import { transcribeKept } from '../../src/jobs/transcribe-kept.ts';
import { StoreError } from '../../src/store/store-error.ts';
import type { ShownFile, ShownJob } from '../../src/vendors/compat/jobs.ts';
import { type DirectStore, directStore } from '../fakes/store/direct-store.ts';

type Heard = Awaited<ReturnType<Work['run']>>;

const SECRET = Buffer.from('a secret of thirty-two characters');
const FILE: ShownFile = { id: 'f', filename: 'a.wav', bytes: 1, createdAt: new Date(0), fields: new Map() };
const HEARD = { transcription: { text: 'vox', duration: 3, words: [{ word: 'vox' }] } } as Heard;
const full = () => Promise.reject(apiError('too_many_sessions', 'Full.'));

let rig: DirectStore;
let clock: SimulatedClock;
let jobs: DetachedJobs;
let OWNER: { organisationId: string; keyId: string; dialect: string };
let forgotten: number;
let storeFaults: unknown[];
let endedElsewhere: unknown[];
let askedElsewhere: unknown[];
/** Nodes that stored the end of a job with callbacks. */
let reported: string[];
let place: Deferred<void>;
let isPlaceLeft: boolean;

/** Another node of the gateway. */
function nodeOf(node: string, secrets: { secret: Uint8Array; previousSecret?: Uint8Array } = { secret: SECRET }) {
  return new DetachedJobs({
    ...{ clock, node },
    records: new JobRecords({ store: rig.store, ...secrets, node, nodeName: `name of ${node}` }),
    endElsewhere: (...about) => endedElsewhere.push(about),
    cancelElsewhere: async (...about) => void endedElsewhere.push(about),
    progressElsewhere: async (...about) => {
      askedElsewhere.push(about);
      return { done: 7, parts: 8 };
    },
    onReported: () => reported.push(node),
    onFault: toApiError,
    onStoreFault: (error) => storeFaults.push(error),
    onForgotten: (count) => {
      forgotten += count;
    },
  });
}

beforeEach(() => {
  rig = directStore();
  OWNER = { ...rig.customer(), dialect: 'soniox' };
  forgotten = 0;
  storeFaults = [];
  endedElsewhere = [];
  askedElsewhere = [];
  reported = [];
  isPlaceLeft = false;
  place = deferred();
  place.promise.then(() => {
    isPlaceLeft = true;
  });
  clock = new SimulatedClock();
  jobs = nodeOf('node-a');
});

const free = () => () => place.resolve();

/** Work that ends when it is told to. */
function work(owner = OWNER) {
  const done = deferred<Heard>();
  done.promise.catch(() => {});
  const begun = deferred<void>();
  const ended = deferred<WorkEnd>();
  const end = new AbortController();
  end.signal.addEventListener('abort', () => done.reject(end.signal.reason));
  const run = () => {
    begun.resolve();
    return done.promise;
  };
  const told: Work = { owner, file: FILE, asked: { model: 'm' }, end, run, ended: ended.resolve };
  return { work: told, done, begun: begun.promise, ended: ended.promise, end };
}

/** Of a job that is done at once. */
async function finished(owner = OWNER, heard = HEARD): Promise<ShownJob> {
  const one = work(owner);
  const { id } = await jobs.begin(one.work, free);
  one.done.resolve(heard);
  await one.ended;
  return jobs.find(owner, id);
}

const codeOf = (failed: Promise<unknown>) =>
  failed.then(
    () => 'none',
    ({ code }) => code as string,
  );

/** What was asked for is under way as far as it goes without the clock. */
const calm = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

async function advance(ms: number): Promise<void> {
  rig.clock.nowMs += ms;
  clock.increment(ms);
  await calm();
}

describe('a job', () => {
  it('runs, and then has the transcript', async () => {
    const one = work();
    const { id } = await jobs.begin(one.work, free);
    await one.begun;
    expect(await jobs.find(OWNER, id)).toMatchObject({
      state: { type: 'processing' },
      asked: { model: 'm' },
      file: FILE,
    });
    rig.clock.nowMs += 5;
    one.done.resolve(HEARD);
    await one.ended;
    const endedAt = new Date(rig.clock.nowMs);
    expect(await jobs.find(OWNER, id)).toMatchObject({ state: { type: 'done', heard: HEARD }, endedAt });
  });

  it('shows how many of its parts are done, on its node and on others, while it runs', async () => {
    const one = work();
    const report = deferred<Parameters<Work['run']>[1]>();
    const run: Work['run'] = (_, onProgress) => {
      report.resolve(onProgress);
      return one.done.promise;
    };
    const { id } = await jobs.begin({ ...one.work, run }, free);
    const onProgress = await report.promise;
    const shown = async (on = jobs) => on.progressOf(OWNER, await jobs.find(OWNER, id));
    expect(await shown()).toBeUndefined();
    onProgress({ done: 1, parts: 4 });
    expect([await shown(), jobs.progressHere({ keyId: 'another' }, id)]).toEqual([{ done: 1, parts: 4 }, undefined]);
    expect(await shown(nodeOf('node-b'))).toEqual({ done: 7, parts: 8 });
    expect(askedElsewhere).toEqual([['node-a', OWNER, id]]);
    one.done.resolve(HEARD);
    await one.ended;
    expect([await shown(), askedElsewhere.length]).toEqual([undefined, 1]);
  });

  it('reports its end where its client named an address for it', async () => {
    const [plain, one] = [work(), work()];
    const callbacks = [{ url: 'https://a.example/', param: 'webhook_url', method: 'POST', headers: [] }] as const;
    await jobs.begin(plain.work, free);
    plain.done.resolve(HEARD);
    await plain.ended;
    expect(reported).toEqual([]);
    await jobs.begin({ ...one.work, callbacks }, free);
    one.done.resolve(HEARD);
    await one.ended;
    expect(reported).toEqual(['node-a']);
    // An owner of the accounts that is not updated yet does not know the call, and one whose replicas are not refuses it.
    for (const reason of ['invalid', 'conflict'] as const) {
      rig.failing.set('createReportedJob', reason);
      expect(await codeOf(jobs.begin({ ...work().work, callbacks }, free))).toBe('overloaded');
      expect(jobs.size).toBe(0);
    }
  });

  it('reports its end from its own node where the accounts cannot share such a job yet', async () => {
    const callbacks = [{ url: 'https://a.example/', param: 'webhook_url', method: 'POST', headers: [] }] as const;
    const owner = { ...OWNER, dialect: OWN_DIALECT };
    rig.failing.set('createSharedReportedJob', 'conflict');
    const one = work(owner);
    const { id } = await jobs.begin({ ...one.work, callbacks, isShared: true }, free);
    one.done.resolve(HEARD);
    await one.ended;
    expect([reported, (await rig.store.findJob(owner, id))?.isShared]).toEqual([['node-a'], 0]);
    rig.failing.clear();
    const other = work(owner);
    const shared = await jobs.begin({ ...other.work, callbacks, isShared: true }, free);
    expect((await rig.store.findJob(owner, shared.id))?.isShared).toBe(1);
    other.done.resolve(HEARD);
    await other.ended;
    expect(reported).toHaveLength(2);
  });

  it.each([
    ['a refusal', apiError('unsupported_audio', 'No audio.'), 'unsupported_audio'],
    ['a fault', new Error('secret'), 'internal_error'],
  ])('gives the reason when it failed by %s', async (_, error, code) => {
    const one = work();
    const { id } = await jobs.begin(one.work, free);
    one.done.reject(error);
    await one.ended;
    expect((await jobs.find(OWNER, id)).state).toMatchObject({ type: 'failed', refusal: { code } });
  });

  it('fails when its transcript has no room', async () => {
    const large = { transcription: { text: 'x'.repeat(TRANSCRIPT_CHARACTERS_MAX) } } as Heard;
    expect((await finished(OWNER, large)).state).toMatchObject({ type: 'failed', refusal: { code: 'file_too_large' } });
  });

  it('waits without a slot where its key has no other job, and is refused for another reason', async () => {
    const one = work();
    const slots = { left: 0 };
    const take = () => (slots.left > 0 ? () => {} : full());
    const { id, state } = await jobs.begin(one.work, take);
    await advance(2_000);
    expect([state.type, (await jobs.find(OWNER, id)).state.type]).toEqual(['queued', 'queued']);
    slots.left = 1;
    await advance(2_000);
    await one.begun;
    one.done.resolve(HEARD);
    await one.ended;
    const revoked = () => Promise.reject(apiError('key_revoked', 'Revoked.'));
    expect(await codeOf(jobs.begin(work().work, revoked))).toBe('key_revoked');
    expect(jobs.size).toBe(0);
  });

  it('waits without a slot for that of another job, and takes it over', async () => {
    const [one, other] = [work(), work()];
    await jobs.begin(one.work, free);
    const { id, state } = await jobs.begin(other.work, full);
    expect(state).toEqual({ type: 'queued' });
    one.done.resolve(HEARD);
    await other.begun;
    expect([(await jobs.find(OWNER, id)).state.type, isPlaceLeft]).toEqual(['processing', false]);
    other.done.resolve(HEARD);
    await other.ended;
    await place.promise;
  });

  it('ends and disappears when it is removed', async () => {
    const one = work();
    const { id } = await jobs.begin(one.work, free);
    await one.begun;
    await jobs.remove(OWNER, id);
    await one.ended;
    expect(one.end.signal.aborted).toBe(true);
    expect(await codeOf(jobs.find(OWNER, id))).toBe('not_found');
  });

  it('never begins when it is removed while it waits', async () => {
    const [one, other, third] = [work(), work(), work()];
    await jobs.begin(one.work, free);
    const { id } = await jobs.begin(other.work, full);
    await jobs.begin(third.work, full);
    await jobs.remove(OWNER, id);
    await other.ended;
    one.done.resolve(HEARD);
    await third.begun;
    expect(jobs.size).toBe(1);
  });

  it.each([
    ['key', { keyId: 'key_2' }],
    ['dialect', { dialect: 'gladia' }],
  ])('looks unknown to another %s', async (_, of) => {
    const { id } = await finished();
    const other = { ...OWNER, ...of };
    expect([await codeOf(jobs.find(other, id)), await codeOf(jobs.remove(other, id))]).toEqual([
      'not_found',
      'not_found',
    ]);
    expect([await jobs.of(other), (await jobs.of(OWNER)).map((job) => job.id)]).toEqual([[], [id]]);
  });

  it('expires after its time', async () => {
    const { id } = await finished();
    await advance(JOB_LIMITS.keptMs - 1);
    expect((await jobs.find(OWNER, id)).id).toBe(id);
    await advance(1);
    expect(await codeOf(jobs.find(OWNER, id))).toBe('not_found');
    expect(forgotten).toBe(0);
  });

  it('is listed without its words, newest first, with any number of others', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 201; count++) {
      rig.clock.nowMs++;
      ids.push((await finished()).id);
    }
    const listed = await jobs.of(OWNER);
    expect(listed.map(({ id }) => id)).toEqual(ids.reverse());
    expect(listed[0]).toMatchObject({
      file: FILE,
      state: { type: 'done', heard: { transcription: { text: '', duration: 3 } } },
    });
    expect(JSON.stringify(listed)).not.toContain('vox');
  });

  it('comes back whole with a transcript of several MB, in pieces', async () => {
    const text = Array.from({ length: 600_000 }, (_, at) => `${(at * 7919) % 1_000_003}`).join(' ');
    const { id, state } = await finished(OWNER, { transcription: { ...HEARD.transcription, text } });
    expect(state).toMatchObject({ type: 'done', heard: { transcription: { text } } });
    const pieces = rig.database.prepare('SELECT count(*) FROM pieces').pluck();
    expect(pieces.get()).toBeGreaterThan(2);
    await jobs.remove(OWNER, id);
    expect(pieces.get()).toBe(0);
  });

  it('leaves nothing readable in the database, and opens with the former secret', async () => {
    const { id } = await finished(OWNER, { transcription: { ...HEARD.transcription, text: 'hush' } });
    const rows = JSON.stringify(rig.database.prepare('SELECT * FROM jobs').all());
    expect([rows.includes('hush'), rows.includes('a.wav')]).toEqual([false, false]);
    const secret = Buffer.from('another secret of 32 characters.');
    const renewed = nodeOf('node-b', { secret, previousSecret: SECRET });
    expect((await renewed.find(OWNER, id)).state.type).toBe('done');
    const changed = nodeOf('node-c', { secret });
    expect((await changed.find(OWNER, id)).state).toMatchObject({
      type: 'failed',
      refusal: { code: 'internal_error' },
    });
  });
});

describe('a job on another node', () => {
  it('is found, listed and removed there, and its work ends', async () => {
    const other = nodeOf('node-b');
    const one = work();
    const { id } = await jobs.begin(one.work, free);
    expect((await other.find(OWNER, id)).state.type).toBe('processing');
    expect((await other.of(OWNER)).map((job) => job.id)).toEqual([id]);
    await other.remove(OWNER, id);
    expect(endedElsewhere).toEqual([['node-a', OWNER, id]]);
    jobs.end({ keyId: 'key_of_another' }, id);
    expect(one.end.signal.aborted).toBe(false);
    jobs.end(OWNER, id);
    await one.ended;
    expect([one.end.signal.aborted, jobs.size]).toEqual([true, 0]);
  });

  it('stays removed when its node finishes it later', async () => {
    const one = work();
    const { id } = await jobs.begin(one.work, free);
    await nodeOf('node-b').remove(OWNER, id);
    one.done.resolve(HEARD);
    await one.ended;
    expect(await codeOf(jobs.find(OWNER, id))).toBe('not_found');
  });

  it('fails once its node has not renewed its lease, and not before', async () => {
    const lost: number[] = [];
    const stale = new StaleJobs({
      ...{ store: rig.store, clock },
      onLost: (count) => lost.push(count),
      onFault: (error) => storeFaults.push(error),
    });
    const { id } = await jobs.begin(work().work, free);
    const killed = nodeOf('node-b');
    const { id: other } = await killed.begin(work({ ...OWNER, keyId: 'key_2' }).work, free);
    rig.failing.set('renewJobs', 'unreachable');
    await advance(RENEW_MS);
    rig.failing.clear();
    for (let ms = 0; ms < 3 * JOB_LEASE_MS; ms += 5_000) {
      await advance(5_000);
      // It cannot say so any more.
      rig.database
        .prepare("UPDATE job_nodes SET lease_until_ms = min(lease_until_ms, ?) WHERE node = 'node-b'")
        .run(rig.clock.nowMs - ms);
    }
    expect(lost).toEqual([1]);
    expect((await jobs.find(OWNER, id)).state.type).toBe('processing');
    const { state } = await jobs.find({ ...OWNER, keyId: 'key_2' }, other);
    expect(state).toMatchObject({ type: 'failed', refusal: { message: expect.stringContaining('stopped') } });
    stale.close();
  });
});

describe('a store that does not answer', () => {
  it('refuses a new job, and nothing of it is left', async () => {
    rig.failing.set('createJob', 'unreachable');
    const one = work();
    expect(await codeOf(jobs.begin(one.work, free))).toBe('ledger_unavailable');
    await one.ended;
    await place.promise;
    expect([jobs.size, one.end.signal.aborted]).toEqual([0, true]);
    rig.failing.clear();
    expect((await finished()).state.type).toBe('done');
  });

  it('gets the transcript once it answers again, and its own node shows the job meanwhile', async () => {
    const one = work();
    const { id } = await jobs.begin(one.work, free);
    for (const name of ['finishJob', 'findJob'] as const) rig.failing.set(name, 'unreachable');
    one.done.resolve(HEARD);
    await calm();
    expect((await jobs.find(OWNER, id)).state.type).toBe('processing');
    await advance(60_000);
    rig.failing.clear();
    await advance(2_000);
    await one.ended;
    expect((await jobs.find(OWNER, id)).state.type).toBe('done');
  });

  it('is asked again for a while, then the client gets an error', async () => {
    const { id } = await finished();
    rig.failing.set('findJob', 'unreachable');
    const soon = jobs.find(OWNER, id);
    await calm();
    rig.failing.clear();
    await advance(500);
    expect((await soon).state.type).toBe('done');
    rig.failing.set('findJob', 'unreachable');
    const late = codeOf(jobs.find(OWNER, id));
    await calm();
    for (const ms of [500, 1_000, 2_000, 4_000]) await advance(ms);
    expect(await late).toBe('ledger_unavailable');
  });

  it.each(['invalid', 'conflict'] as const)('fails the job when it refuses the transcript as %s', async (reason) => {
    const one = work();
    const { id } = await jobs.begin(one.work, free);
    rig.failing.set('finishJob', reason);
    one.done.resolve(HEARD);
    await one.ended;
    expect(storeFaults).toHaveLength(2);
    rig.failing.clear();
    // It is never over otherwise.
    await advance(JOB_LIMITS.unfinishedMs);
    expect(rig.ledger.failLostJobs()).toBe(1);
    expect((await jobs.find(OWNER, id)).state.type).toBe('failed');
  });
});

describe('a job that its node has no room for', () => {
  const places = (max: number) => {
    let taken = 0;
    return () => {
      if (taken >= max) throw apiError('too_many_sessions', 'Full.');
      taken++;
      return () => void taken--;
    };
  };

  /** Durable work, for which there is room for so many at a time. */
  function roomFor(max: number, refusal: Error = apiError('overloaded', 'Full.')) {
    const begun: { done: Deferred<Heard>; ended: Promise<WorkEnd> }[] = [];
    const room = { max, tries: 0, most: 0, active: 0 };
    const make = () => {
      const one = work();
      const run = async () => {
        room.tries++;
        if (room.active >= room.max) throw refusal;
        room.most = Math.max(room.most, ++room.active);
        const done = deferred<Heard>();
        begun.push({ done, ended: one.ended });
        one.end.signal.addEventListener('abort', () => done.reject(one.end.signal.reason));
        return done.promise.finally(() => room.active--);
      };
      return { ...one, work: { ...one.work, isDurable: true, run } };
    };
    const endOne = async () => {
      const first = begun.shift();
      first?.done.resolve(HEARD);
      await first?.ended;
      await calm();
    };
    return { room, make, endOne };
  }

  it.each([
    ['it is overloaded', apiError('overloaded', 'Full.')],
    ['its organisation has its share', apiError('too_many_sessions', 'Full.')],
    ['a model of it is full', apiError('rate_limit_exceeded', 'Full.', { isBusy: true })],
  ])('waits while %s, and is done when there is room', async (_, refusal) => {
    const { room, make, endOne } = roomFor(0, refusal);
    const one = make();
    const { id } = await jobs.begin(one.work, places(9));
    await calm();
    for (let count = 0; count < 5; count++) await advance(2_000);
    expect([room.tries, (await jobs.find(OWNER, id)).state.type]).toEqual([6, 'processing']);
    room.max = 1;
    await advance(2_000);
    await endOne();
    await one.ended;
    expect((await jobs.find(OWNER, id)).state).toMatchObject({ type: 'done', heard: HEARD });
    expect(jobs.size).toBe(0);
  });

  it('fails by a refusal of its key, as when its money of the day is spent', async () => {
    const { make } = roomFor(0, apiError('rate_limit_exceeded', 'Spent.', { retryAfterSeconds: 3_600 }));
    const one = make();
    const { id } = await jobs.begin(one.work, places(9));
    await one.ended;
    expect((await jobs.find(OWNER, id)).state).toMatchObject({ type: 'failed', refusal: { message: 'Spent.' } });
  });

  it('takes its turn with the others of its key, as many at a time as there is room for', async () => {
    const { room, make, endOne } = roomFor(3);
    const all = Array.from({ length: 20 }, make);
    const place = places(20);
    for (const each of all) await jobs.begin(each.work, place);
    await calm();
    const { tries } = room;
    for (let count = 0; count < 10; count++) await endOne();
    // Each that ended made room for the next, which was not refused.
    expect([room.active, room.tries]).toEqual([3, tries + 10]);
    room.max = 5;
    for (let count = 0; count < 4; count++) await advance(2_000);
    // One more is tried each time.
    expect([room.active, room.tries]).toEqual([5, tries + 14]);
    while (room.active > 0) await endOne();
    await Promise.all(all.map(({ ended }) => ended));
    expect([room.most, jobs.size]).toEqual([5, 0]);
    expect(place()).toBeTypeOf('function');
  });

  it('ends at once when it is cancelled or removed, and waits for the next start when the node stops', async () => {
    const { make } = roomFor(0);
    const [one, other, third] = [make(), make(), make()] as const;
    const place = places(9);
    const { id } = await jobs.begin(one.work, place);
    const { id: otherId } = await jobs.begin(other.work, place);
    await jobs.begin(third.work, place);
    await calm();
    expect((await jobs.cancel(OWNER, id)).state).toMatchObject({ refusal: { code: 'job_cancelled' } });
    await jobs.remove(OWNER, otherId);
    expect([await one.ended, await other.ended, jobs.size]).toEqual(['over', 'over', 1]);
    await jobs.close();
    expect([await third.ended, jobs.size]).toEqual(['waits', 0]);
  });

  it('waits as well where its audio does not outlive the node, and ends with the node', async () => {
    const { room, make, endOne } = roomFor(0);
    const [one, other] = [make(), make()] as const;
    const { id } = await jobs.begin({ ...one.work, isDurable: false }, places(1));
    await calm();
    await advance(2_000);
    expect([room.tries, (await jobs.find(OWNER, id)).state.type]).toEqual([2, 'processing']);
    room.max = 1;
    await advance(2_000);
    await endOne();
    await one.ended;
    expect((await jobs.find(OWNER, id)).state).toMatchObject({ type: 'done', heard: HEARD });
    room.max = 0;
    await jobs.begin({ ...other.work, isDurable: false }, places(1));
    await jobs.close();
    expect([await other.ended, jobs.size]).toEqual(['over', 0]);
  });
});

describe('a key with free slots', () => {
  it('works on jobs that waited for one as soon as there are more', async () => {
    const slots = { left: 1 };
    const take = () => {
      if (slots.left === 0) throw apiError('too_many_sessions', 'Full.');
      slots.left--;
      return () => void slots.left++;
    };
    const all = Array.from({ length: 4 }, () => work());
    for (const each of all) await jobs.begin({ ...each.work, isDurable: true }, take);
    await calm();
    slots.left = 2;
    await advance(2_000);
    await Promise.all(all.slice(0, 3).map(({ begun }) => begun));
    expect(slots.left).toBe(0);
  });
});

describe('bounds on jobs', () => {
  it(`hold ${JOBS_QUEUED_MAX} waiting jobs of a key`, async () => {
    await jobs.begin(work().work, free);
    for (let count = 0; count < JOBS_QUEUED_MAX; count++) await jobs.begin(work().work, full);
    expect(await codeOf(jobs.begin(work().work, full))).toBe('too_many_sessions');
    expect(jobs.size).toBe(JOBS_QUEUED_MAX + 1);
  });

  it('keep room for other organisations: one that has its share of the store is refused', async () => {
    const store = rig.store as { findJobShortage: unknown };
    store.findJobShortage = async () => 'share';
    expect(await codeOf(jobs.begin(work().work, free))).toBe('too_many_sessions');
    store.findJobShortage = async () => 'full';
    expect(await codeOf(jobs.begin(work().work, free))).toBe('overloaded');
    // A node of an earlier version keeps the accounts.
    store.findJobShortage = () => Promise.reject(new StoreError('invalid', 'No such call.'));
    expect((await finished()).state.type).toBe('done');
    expect(jobs.size).toBe(0);
  });

  it('count jobs that made room', async () => {
    for (let count = 0; count <= JOB_LIMITS.key.jobs; count++) await finished();
    expect([(await jobs.of(OWNER)).length, forgotten]).toEqual([JOB_LIMITS.key.jobs, 1]);
  });

  it('end with the node only once a finished transcript is stored', async () => {
    const one = work();
    const { id } = await jobs.begin(one.work, free);
    rig.failing.set('finishJob', 'unreachable');
    one.done.resolve(HEARD);
    await calm();
    const closed = jobs.close();
    rig.failing.clear();
    await advance(2_000);
    await closed;
    expect((await nodeOf('node-b').find(OWNER, id)).state).toMatchObject({ type: 'done', heard: HEARD });
  });

  it('end with the node after seven seconds, though the store does not answer', async () => {
    const one = work();
    await jobs.begin(one.work, free);
    for (const name of ['finishJob', 'failJobsOf'] as const) rig.failing.set(name, 'unreachable');
    one.done.resolve(HEARD);
    await calm();
    const closed = jobs.close();
    await advance(5_000);
    await advance(2_000);
    await closed;
    expect(jobs.size).toBe(0);
  });

  it('end with the node, and all jobs in progress have failed', async () => {
    const [one, other] = [work(), work()];
    const { id } = await jobs.begin(one.work, free);
    await jobs.begin(other.work, full);
    const { id: done } = await finished({ ...OWNER, keyId: 'key_2' });
    await jobs.close();
    await Promise.all([one.ended, other.ended]);
    expect([jobs.size, await codeOf(jobs.begin(work().work, free))]).toEqual([0, 'overloaded']);
    const later = nodeOf('node-b');
    expect((await later.find(OWNER, id)).state.type).toBe('failed');
    expect((await later.find({ ...OWNER, keyId: 'key_2' }, done)).state.type).toBe('done');
  });
});

it('never begins a job whose key may no longer transcribe', async () => {
  const by = { caller: { organisationId: 'org_1', keyId: 'key_1' }, requestId: 'req_1', traceparent: undefined };
  const asked: unknown[] = [];
  const authenticator = { holds: async (...who: unknown[]) => asked.push(who) < 0 };
  const begun = transcribeKept({} as never, {} as never, by as never, new AbortController().signal, {
    authenticator,
  } as never);
  expect(await codeOf(begun)).toBe('key_revoked');
  expect(asked).toEqual([[by.caller, 'transcribe']]);
});
