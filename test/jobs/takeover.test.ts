// Jobs of a node that is lost, or was paused: another node adopts them, and whatever the first one does then, each has one end.
import { beforeEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { type Deferred, deferred } from '../../src/http/deferred.ts';
import { toApiError } from '../../src/http/router.ts';
import { OWN_DIALECT } from '../../src/jobs/calls.ts';
import { DetachedJobs, type Work, type WorkEnd } from '../../src/jobs/detached-jobs.ts';
import { JOB_LEASE_MS, JobRecords, RENEW_MS } from '../../src/jobs/job-records.ts';
import { ADOPTED_AT_ONCE, ADOPTED_MAX, ADOPTED_OF_KEY_MAX, Takeover } from '../../src/jobs/takeover.ts';
import type { ShownFile } from '../../src/vendors/compat/jobs.ts';
import { type DirectStore, directStore } from '../fakes/store/direct-store.ts';

type Heard = Awaited<ReturnType<Work['run']>>;

const SECRET = Buffer.from('a secret of thirty-two characters');
const FILE: ShownFile = { id: 'f', filename: 'a.wav', bytes: 1, createdAt: new Date(0), fields: new Map() };
const heardBy = (node: string) => ({ transcription: { text: node } }) as Heard;

/** What was requested is under way as far as it goes without the clock. */
const calm = async () => {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
};

let rig: DirectStore;
let owner: { organisationId: string; keyId: string; dialect: string };
let charged: string[];

beforeEach(() => {
  rig = directStore();
  owner = { ...rig.customer(), dialect: OWN_DIALECT };
  charged = [];
});

/** A node with a clock of its own, which stands still while it is paused. */
function nodeOf(node: string) {
  const clock = new SimulatedClock();
  const removed: string[] = [];
  const records = new JobRecords({ store: rig.store, secret: SECRET, node, nodeName: node });
  const jobs = new DetachedJobs({
    ...{ clock, node, records },
    endElsewhere: () => {},
    cancelElsewhere: async () => {},
    removeShared: (id) => removed.push(id),
    onFault: toApiError,
    onStoreFault: () => {},
    onForgotten: () => {},
    progressElsewhere: async () => undefined,
    onReported: () => {},
  });
  /** Work that is charged when it is done, unless the job is another node's. */
  const work = () => {
    const done: Deferred<void> = deferred();
    const ended = deferred<WorkEnd>();
    const end = new AbortController();
    done.promise.catch(() => {});
    end.signal.addEventListener('abort', () => done.reject(end.signal.reason));
    const told: Work = {
      ...{ owner, file: FILE, asked: {}, end, isDurable: true, isShared: true, ended: ended.resolve },
      run: async (_, __, requireOwn) => {
        await done.promise;
        await requireOwn();
        charged.push(node);
        return heardBy(node);
      },
    };
    return { work: told, done, end, ended: ended.promise };
  };
  const begin = async () => {
    const one = work();
    const { id } = await jobs.begin(one.work, () => () => {});
    return { ...one, id };
  };
  const adopt = async () => {
    const [job] = await records.adoptLost(1, []);
    if (job === undefined) return undefined;
    const one = work();
    jobs.resume(job, one.work, () => () => {});
    clock.increment(2_000);
    await calm();
    return { ...one, ...job };
  };
  const stateOf = async (id: string) => (await jobs.find(owner, id)).state;
  return { clock, jobs, records, begin, adopt, stateOf, removed };
}

const pass = (ms: number) => {
  rig.clock.nowMs += ms;
};

describe('a job of a node that was paused, which another one has adopted,', () => {
  it('is charged once, and has the transcript of the other one', async () => {
    const [paused, other] = [nodeOf('paused'), nodeOf('other')];
    const first = await paused.begin();
    pass(JOB_LEASE_MS);
    const second = await other.adopt();
    expect(second).toMatchObject({ id: first.id, attempts: 2 });
    // It is done before it notices.
    first.done.resolve();
    expect(await first.ended).toBe('lost');
    expect([charged, first.end.signal.aborted, paused.jobs.size]).toEqual([[], true, 0]);
    second?.done.resolve();
    expect(await second?.ended).toBe('over');
    expect(charged).toEqual(['other']);
    expect(await paused.stateOf(first.id)).toMatchObject({ type: 'done', heard: heardBy('other') });
  });

  it('keeps its end when the first node is done later', async () => {
    const [paused, other] = [nodeOf('paused'), nodeOf('other')];
    const first = await paused.begin();
    pass(JOB_LEASE_MS);
    const second = await other.adopt();
    second?.done.resolve();
    await second?.ended;
    first.done.resolve();
    expect([await first.ended, charged]).toEqual(['lost', ['other']]);
    expect(await paused.stateOf(first.id)).toMatchObject({ heard: heardBy('other') });
  });

  it('is given up by the first node when it renews its lease', async () => {
    const [paused, other] = [nodeOf('paused'), nodeOf('other')];
    const first = await paused.begin();
    const kept = nodeOf('kept');
    const theirs = await kept.begin();
    pass(RENEW_MS);
    kept.clock.increment(RENEW_MS);
    await calm();
    pass(JOB_LEASE_MS - RENEW_MS);
    expect((await other.adopt())?.id).toBe(first.id);
    expect(await other.adopt()).toBeUndefined();
    for (const node of [paused, kept]) node.clock.increment(RENEW_MS);
    await calm();
    expect([await first.ended, first.end.signal.aborted, theirs.end.signal.aborted]).toEqual(['lost', true, false]);
  });

  it('continues on it when no other node was quicker', async () => {
    const [paused, other] = [nodeOf('paused'), nodeOf('other')];
    const first = await paused.begin();
    pass(2 * JOB_LEASE_MS);
    paused.clock.increment(RENEW_MS);
    await calm();
    expect(await other.adopt()).toBeUndefined();
    first.done.resolve();
    expect([await first.ended, charged]).toEqual(['over', ['paused']]);
  });

  it('is not charged by the first node when it was cancelled on the other', async () => {
    const [paused, other] = [nodeOf('paused'), nodeOf('other')];
    const first = await paused.begin();
    pass(JOB_LEASE_MS);
    const second = await other.adopt();
    await other.jobs.cancelHere(owner, first.id);
    expect(await second?.ended).toBe('over');
    first.done.resolve();
    await first.ended;
    expect([charged, (await other.stateOf(first.id)).type]).toEqual([[], 'failed']);
  });

  it('waits for the accounts before it is charged', async () => {
    const node = nodeOf('paused');
    const first = await node.begin();
    rig.failing.set('jobsNotOn', 'unreachable');
    first.done.resolve();
    await calm();
    expect(charged).toEqual([]);
    rig.failing.clear();
    node.clock.increment(2_000);
    expect([await first.ended, charged]).toEqual(['over', ['paused']]);
  });
});

describe('a job of a node that is lost', () => {
  it('is cancelled by another node, and adopted by none', async () => {
    const [lost, other] = [nodeOf('lost'), nodeOf('other')];
    const { id } = await lost.begin();
    expect((await other.jobs.cancel(owner, id)).endedAt).toBeUndefined();
    pass(JOB_LEASE_MS);
    expect((await other.jobs.cancel(owner, id)).state).toMatchObject({ refusal: { code: 'job_cancelled' } });
    expect([await other.adopt(), other.removed]).toEqual([undefined, [id]]);
  });

  it('is removed by another node with its audio', async () => {
    const [lost, other] = [nodeOf('lost'), nodeOf('other')];
    const { id } = await lost.begin();
    await other.jobs.remove(owner, id);
    pass(JOB_LEASE_MS);
    expect([await other.adopt(), other.removed]).toEqual([undefined, [id]]);
  });

  it('waits for it where the accounts do not know such jobs', async () => {
    const [lost, other] = [nodeOf('lost'), nodeOf('other')];
    for (const name of ['createSharedJob', 'hasLostSharedJobs'] as const) rig.failing.set(name, 'invalid');
    const { id, done, ended } = await lost.begin();
    pass(JOB_LEASE_MS);
    expect([await other.records.hasLost([]), (await other.jobs.find(owner, id)).state.type]).toEqual([
      false,
      'processing',
    ]);
    done.resolve();
    expect([await ended, charged]).toEqual(['over', ['lost']]);
  });
});

describe('a node that looks for jobs of lost nodes', () => {
  function looking(found: (exceptKeys: readonly string[]) => boolean = () => true) {
    const clock = new SimulatedClock();
    const adopted = new Map<string, number>();
    const asked: [max: number, exceptKeys: readonly string[]][] = [];
    const faults: unknown[] = [];
    let looks = 0;
    const takeover = new Takeover({
      ...{ clock, leaseMs: JOB_LEASE_MS, random: () => 0.5, adopted: () => adopted },
      hasLost: async (exceptKeys) => {
        looks++;
        return found(exceptKeys);
      },
      adopt: async (max, exceptKeys) => {
        asked.push([max, exceptKeys]);
        return max;
      },
      onAdopted: () => {},
      onFault: (error) => faults.push(error),
    });
    const advance = async (ms: number) => {
      for (let left = ms; left > 0; left -= 1_000) {
        clock.increment(Math.min(1_000, left));
        await calm();
      }
    };
    return { clock, takeover, adopted, asked, faults, advance, looks: () => looks };
  }

  it('adopts none before other nodes had the time to renew their leases', async () => {
    const { asked, advance, takeover } = looking();
    await advance(JOB_LEASE_MS - 1_000);
    expect(asked).toEqual([]);
    await advance(16_000);
    expect(asked.length).toBeGreaterThan(0);
    takeover.postpone();
    const { length } = asked;
    await advance(JOB_LEASE_MS - 1_000);
    expect(asked).toHaveLength(length);
  });

  it('begins this wait again after a fault, and after its own pause', async () => {
    let isAway = true;
    const { asked, advance, faults, clock } = looking(() => {
      if (isAway) throw new Error('away');
      return true;
    });
    await advance(2 * JOB_LEASE_MS);
    expect(faults.length).toBeGreaterThan(0);
    isAway = false;
    await advance(JOB_LEASE_MS - 16_000);
    expect(asked).toEqual([]);
    await advance(32_000);
    expect(asked.length).toBeGreaterThan(0);
    asked.splice(0);
    clock.increment(10 * JOB_LEASE_MS);
    await calm();
    await advance(JOB_LEASE_MS - 1_000);
    expect(asked).toEqual([]);
  });

  it('adopts a few at once, and the next soon, up to its bounds', async () => {
    const { asked, advance, adopted } = looking();
    await advance(JOB_LEASE_MS + 16_000);
    expect(asked[0]).toEqual([ADOPTED_AT_ONCE, []]);
    expect(asked.length).toBeGreaterThan(1);
    adopted.set('busy', ADOPTED_OF_KEY_MAX).set('calm', ADOPTED_OF_KEY_MAX - 1);
    asked.splice(0);
    await advance(1_000);
    expect(asked).toEqual([[ADOPTED_AT_ONCE, ['busy']]]);
    adopted.set('others', ADOPTED_MAX - 2 * ADOPTED_OF_KEY_MAX);
    await advance(1_000);
    expect(asked[1]?.[0]).toBe(1);
    adopted.set('others', ADOPTED_MAX);
    await advance(JOB_LEASE_MS);
    expect(asked).toHaveLength(2);
  });

  it('only reads where there is nothing to adopt', async () => {
    const { asked, advance, looks, takeover } = looking(() => false);
    await advance(4 * JOB_LEASE_MS);
    expect([asked, looks()]).toEqual([[], 16]);
    takeover.close();
    await advance(JOB_LEASE_MS);
    expect(looks()).toBe(16);
  });
});
