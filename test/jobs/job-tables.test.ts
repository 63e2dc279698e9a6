// Jobs in the database: whose they are, what makes room for them, when they are lost and when they expire.
import { beforeEach, describe, expect, it } from 'vitest';
import {
  ANY_NODE,
  JOB_LIMITS,
  type JobEnd,
  type JobLimits,
  jobContent,
  OWN_DIALECT,
  sharedJobContent,
} from '../../src/jobs/calls.ts';
import { createJobTables } from '../../src/jobs/tables.ts';
import { createPieceTables } from '../../src/store/pieces.ts';
import { ledgerRig } from '../fakes/store/ledger.ts';

const LEASE_MS = 60_000;
const bytes = (count: number) => new Uint8Array(count).fill(1);
const END: JobEnd = { stage: 'done', summary: bytes(2), transcript: bytes(8), pieces: 0 };
const FAILED: JobEnd = { stage: 'failed', summary: bytes(2), transcript: null, pieces: 0 };

function open(limits: Partial<JobLimits> = {}) {
  const rig = ledgerRig();
  const context = { database: rig.database, nowMs: () => rig.clock.nowMs };
  const pieces = createPieceTables(context);
  const tables = createJobTables(context, pieces, { ...JOB_LIMITS, ...limits });
  const who = rig.customer();
  const owner = (keyId = who.keyId, organisationId = who.organisationId) => ({
    ...{ organisationId, keyId, dialect: 'soniox' },
  });
  const job = (id: string, of = owner(), node = 'node-a') => ({
    ...{ ...of, id, node, nodeName: node.slice(0, 6) },
    ...{ stage: 'queued' as const, request: bytes(4) },
  });
  const create = (id: string, of = owner(), node?: string) => tables.createJob(job(id, of, node), LEASE_MS);
  const finished = (id: string, end = END, of = owner()) => {
    create(id, of);
    rig.clock.nowMs++;
    return tables.finishJob(job(id, of), end);
  };
  const ids = (of = owner()) => tables.listJobs(of, undefined, 200).map((each) => each.id);
  const stage = (id: string) => tables.findJob(owner(), id)?.stage;
  const rows = (table: string) => rig.database.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  return { ...rig, ...{ pieces, tables, owner, job, create, finished, ids, stage, rows } };
}

let rig: ReturnType<typeof open>;
beforeEach(() => {
  rig = open();
});

describe('a job', () => {
  it('is queued, runs, and is done, with its transcript in it or in pieces', () => {
    const { tables, job, create, stage, owner, pieces, clock } = rig;
    expect(create('a')).toEqual({ state: 'created', createdAtMs: clock.nowMs, removed: 0 });
    expect([stage('a'), tables.startJob(job('a')), stage('a')]).toEqual(['queued', true, 'processing']);
    expect(tables.finishJob(job('a'), END)).toBe(0);
    expect(tables.findJob(owner(), 'a')).toMatchObject({ stage: 'done', transcript: Buffer.from(bytes(8)), pieces: 0 });
    create('b');
    pieces.putPiece(owner().organisationId, jobContent('b'), 0, bytes(9));
    const inPieces: JobEnd = { ...END, transcript: null, pieces: 2 };
    expect(() => tables.finishJob(job('b'), inPieces)).toThrow('1 of 2 pieces');
    expect(stage('b')).toBe('queued');
    expect(tables.finishJob(job('b'), { ...inPieces, pieces: 1 })).toBe(0);
    expect(tables.findJob(owner(), 'b')).toMatchObject({ stage: 'done', transcript: null, pieces: 1 });
  });

  it('is the same when a call is repeated because its answer was lost', () => {
    const { tables, job, create, finished, stage, clock } = rig;
    const first = create('a');
    clock.nowMs += 5;
    expect(create('a')).toEqual(first);
    expect([tables.startJob(job('a')), tables.startJob(job('a'))]).toEqual([true, true]);
    finished('a');
    expect([tables.finishJob(job('a'), FAILED), stage('a')]).toEqual([0, 'done']);
  });

  it.each([
    ['key', { keyId: 'key_2' }],
    ['dialect', { dialect: 'gladia' }],
    ['organisation', { organisationId: 'org_2' }],
  ])('looks unknown to another %s', (_, other) => {
    const { tables, finished, owner, ids } = rig;
    finished('a');
    const stranger = { ...owner(), ...other };
    expect([tables.findJob(stranger, 'a'), tables.removeJob(stranger, 'a'), ids(stranger)]).toEqual([
      undefined,
      undefined,
      [],
    ]);
    expect(ids()).toEqual(['a']);
  });

  it('leaves nothing behind when it is removed', () => {
    const { tables, job, create, owner, pieces, rows } = rig;
    create('a');
    pieces.putPiece(owner().organisationId, jobContent('a'), 0, bytes(9));
    tables.finishJob(job('a'), { ...END, transcript: null, pieces: 1 });
    expect(tables.removeJob(owner(), 'a')).toEqual({ node: 'node-a', stage: 'done' });
    expect(['jobs', 'pieces'].map(rows)).toEqual([0, 0]);
    expect(rig.database.prepare('SELECT * FROM job_totals').all()).toEqual([{ scope: 'store', jobs: 0, bytes: 0 }]);
    expect([tables.finishJob(job('a'), END), tables.startJob(job('a'))]).toEqual([-1, false]);
  });

  it('is refused for an organisation that is not there, and when it says too much', () => {
    const { tables, job, create } = rig;
    expect(() => tables.createJob({ ...job('a'), organisationId: 'org_none' }, 1)).toThrow('no such organisation');
    const large = bytes(JOB_LIMITS.requestBytesMax + 1);
    expect(() => tables.createJob({ ...job('a'), request: large }, 1)).toThrow('The request of a job has up to');
    create('a');
    expect(() => tables.finishJob(job('a'), { ...END, summary: large })).toThrow('The summary of a job has up to');
  });

  it('expires a day after its end, also when nothing else happens', () => {
    const { tables, finished, create, clock, stage, rows } = rig;
    finished('a');
    create('b');
    clock.nowMs += JOB_LIMITS.keptMs - 1;
    expect(stage('a')).toBe('done');
    clock.nowMs++;
    expect([stage('a'), stage('b')]).toEqual([undefined, 'queued']);
    expect([tables.hasStaleJobs(), tables.failLostJobs(), tables.expireJobs(10)]).toEqual([true, 1, 1]);
    expect([tables.hasStaleJobs(), rows('jobs')]).toEqual([false, 1]);
  });
});

describe('a list of jobs', () => {
  it('comes newest first, page by page', () => {
    const { tables, create, clock, owner } = rig;
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      create(id);
      if (id !== 'c') clock.nowMs++;
    }
    const first = tables.listJobs(owner(), undefined, 2);
    const second = tables.listJobs(owner(), first.at(-1), 2);
    const third = tables.listJobs(owner(), second.at(-1), 2);
    expect([first, second, third].map((page) => page.map(({ id }) => id))).toEqual([['e', 'd'], ['c', 'b'], ['a']]);
  });
});

describe('jobs of a node', () => {
  it('fail when its lease is over, and are done when it finishes one later', () => {
    const { tables, job, create, stage, clock, owner } = rig;
    create('a');
    create('b');
    create('c', owner(), 'node-b');
    clock.nowMs += LEASE_MS - 1;
    tables.renewJobs('node-b', LEASE_MS);
    expect([tables.hasStaleJobs(), tables.failLostJobs()]).toEqual([false, 0]);
    clock.nowMs++;
    expect([tables.hasStaleJobs(), tables.failLostJobs(), tables.hasStaleJobs()]).toEqual([true, 2, false]);
    expect(tables.findJob(owner(), 'a')).toMatchObject({ stage: 'failed', summary: null });
    expect([stage('b'), stage('c')]).toEqual(['failed', 'queued']);
    expect([tables.finishJob(job('a'), END), stage('a')]).toEqual([0, 'done']);
  });

  it('fail at once when it stops, or has started again under its name', () => {
    const { tables, create, stage, owner, finished } = rig;
    create('a');
    create('b', owner(), 'node-b');
    create('c', owner(), 'other-c');
    finished('d');
    expect([tables.failEarlierJobs('node-b', 'node-b'), tables.failEarlierJobs('other-', 'new')]).toEqual([0, 1]);
    expect(tables.failJobsOf('node-a')).toBe(1);
    expect(['a', 'b', 'c', 'd'].map(stage)).toEqual(['failed', 'queued', 'failed', 'done']);
  });

  it('of the gateway itself wait for it to come back, and run on it again', () => {
    const { tables, create, owner, clock } = rig;
    const own = { ...owner(), dialect: OWN_DIALECT };
    create('a', own, 'node-b of before');
    clock.nowMs++;
    create('b', own, 'node-b of before');
    create('c', own, 'other-c');
    clock.nowMs += LEASE_MS;
    const failed = [
      tables.failLostJobs(),
      tables.failJobsOf('node-b of before'),
      tables.failEarlierJobs('node-b', 'new'),
    ];
    expect(failed).toEqual([0, 0, 0]);
    const [first, ...others] = tables.adoptJobs('node-b', 'new', LEASE_MS, 1);
    expect([first, others]).toMatchObject([{ id: 'a', attempts: 1, dialect: OWN_DIALECT }, []]);
    expect(tables.adoptJobs('node-b', 'new', LEASE_MS, 9).map(({ id }) => id)).toEqual(['b']);
    expect(tables.adoptJobs('node-b', 'new', LEASE_MS, 9)).toEqual([]);
    expect(tables.adoptJobs(ANY_NODE, 'new', LEASE_MS, 9).map(({ id }) => id)).toEqual(['c']);
    expect(tables.findJob(own, 'c')).toMatchObject({ node: 'new', attempts: 1, stage: 'queued' });
  });

  it('count an attempt for each node that was killed while it worked on them, and none for one that stopped', () => {
    const { tables, job, create, owner } = rig;
    const own = { ...owner(), dialect: OWN_DIALECT };
    create('a', own, 'node-b of before');
    tables.startJob(job('a', own));
    expect([tables.failJobsOf('node-b of before'), tables.findJob(own, 'a')?.stage]).toEqual([0, 'queued']);
    expect(tables.adoptJobs('node-b', 'second', LEASE_MS, 9)).toMatchObject([{ attempts: 1 }]);
    tables.startJob(job('a', own));
    expect(tables.adoptJobs('node-b', 'third', LEASE_MS, 9)).toMatchObject([{ attempts: 2 }]);
  });

  it('of the gateway itself fail as others do where the node has no name', () => {
    const { tables, create, owner, clock } = rig;
    create('a', { ...owner(), dialect: OWN_DIALECT }, 'node-a');
    clock.nowMs += LEASE_MS;
    expect(tables.failLostJobs()).toBe(1);
  });

  it('fail when they are not over within a day, though it renews its lease', () => {
    const { tables, create, stage, clock } = rig;
    create('a');
    clock.nowMs += JOB_LIMITS.unfinishedMs;
    tables.renewJobs('node-a', LEASE_MS);
    expect([tables.failLostJobs(), stage('a')]).toEqual([1, 'failed']);
  });
});

describe('jobs whose audio other nodes can have', () => {
  const rigOf = () => {
    const { tables, job, owner, clock, ...others } = rig;
    const own = { ...owner(), dialect: OWN_DIALECT };
    const create = (id: string, node = 'node-a', of = own) =>
      tables.createSharedJob({ ...job(id, of, node), nodeName: node }, LEASE_MS);
    const adopt = (max = 9, except: string[] = []) => tables.adoptLostJobs('other', 'other', LEASE_MS, max, except);
    return { ...others, tables, job: (id: string) => job(id, own), own, create, adopt, clock };
  };

  it('are adopted once, and only when the lease of their node is over', () => {
    const { tables, create, adopt, clock, job, own } = rigOf();
    create('a');
    create('b');
    tables.startSharedJob(job('a'), 'node-a');
    clock.nowMs += LEASE_MS - 1;
    expect([tables.hasLostSharedJobs('other', []), adopt()]).toEqual([false, []]);
    clock.nowMs++;
    expect([tables.hasLostSharedJobs('node-a', []), tables.hasLostSharedJobs('other', [])]).toEqual([false, true]);
    expect(adopt(1)).toMatchObject([{ id: 'a', attempts: 2, isShared: 1 }]);
    expect(tables.adoptLostJobs('third', 'third', LEASE_MS, 9, [])).toMatchObject([{ id: 'b', attempts: 1 }]);
    expect([adopt(), tables.hasLostSharedJobs('other', [])]).toEqual([[], false]);
    expect(tables.findJob(own, 'a')).toMatchObject({ node: 'other', stage: 'queued', isShared: 1 });
    clock.nowMs += LEASE_MS;
    expect(adopt().map(({ id }) => id)).toEqual(['b']);
  });

  it('are reported at the end that another node brings them to', () => {
    const { tables, adopt, clock, job, own } = rigOf();
    const reported = { ...job('a'), nodeName: 'node-a', callbacks: 1 };
    tables.createSharedReportedJob(reported, LEASE_MS);
    expect(() => tables.createSharedReportedJob({ ...reported, id: 'b', callbacks: 9 }, LEASE_MS)).toThrow('addresses');
    clock.nowMs += LEASE_MS;
    expect(adopt()).toMatchObject([{ id: 'a', isShared: 1 }]);
    const end = { stage: 'done', summary: bytes(1), transcript: bytes(1), pieces: 0 } as const;
    expect([tables.finishSharedJob(job('a'), 'node-a', end), tables.readDueCallbacks('', 9, 9).due]).toEqual([-1, []]);
    expect(tables.finishSharedJob(job('a'), 'other', end)).toBe(0);
    const [due] = tables.readDueCallbacks('', 9, 9).due;
    expect(tables.takeCallback(due?.number ?? 0, LEASE_MS)).toMatchObject({ ...own, id: 'a', position: 0 });
  });

  it('neither start nor end on a node that has lost them', () => {
    const { tables, create, adopt, clock, job, own } = rigOf();
    create('a');
    expect(tables.jobsNotOn('node-a', ['a', 'b'])).toEqual(['b']);
    clock.nowMs += LEASE_MS;
    adopt();
    expect(tables.jobsNotOn('node-a', ['a'])).toEqual(['a']);
    expect([tables.startSharedJob(job('a'), 'node-a'), tables.finishSharedJob(job('a'), 'node-a', END)]).toEqual([
      false,
      -1,
    ]);
    expect(tables.startSharedJob(job('a'), 'other')).toBe(true);
    expect(tables.findJob(own, 'a')).toMatchObject({ stage: 'processing' });
    expect([
      tables.finishSharedJob(job('a'), 'other', END),
      tables.finishSharedJob(job('a'), 'node-a', FAILED),
    ]).toEqual([0, -1]);
    expect(tables.findJob(own, 'a')).toMatchObject({ stage: 'done' });
    expect(tables.jobsNotOn('other', ['a'])).toEqual(['a']);
  });

  it('keep the transcript in pieces of the node that has them', () => {
    const { tables, create, adopt, clock, job, own, pieces, rows } = rigOf();
    create('a');
    clock.nowMs += LEASE_MS;
    adopt();
    for (const node of ['node-a', 'other'])
      pieces.putPiece(own.organisationId, sharedJobContent('a', node), 0, bytes(node === 'other' ? 9 : 5));
    const inPieces: JobEnd = { ...END, transcript: null, pieces: 1 };
    expect(tables.finishSharedJob(job('a'), 'other', inPieces)).toBe(0);
    tables.removeJob(own, 'a');
    expect(rows('pieces')).toBe(1);
  });

  it('do not fail with a node that has no name, and are free at once when it stops', () => {
    const { tables, create, adopt, clock, own } = rigOf();
    create('a');
    create('b', 'named node');
    expect(tables.failJobsOf('node-a')).toBe(0);
    expect(adopt().map(({ id }) => id)).toEqual(['a']);
    clock.nowMs += LEASE_MS;
    expect([tables.failLostJobs(), tables.findJob(own, 'b')?.stage]).toEqual([0, 'queued']);
    clock.nowMs += JOB_LIMITS.unfinishedMs;
    expect(tables.failLostJobs()).toBe(2);
  });

  it('are adopted by turns of their keys, and not those of keys that have enough', () => {
    const { create, adopt, clock, own } = rigOf();
    for (const id of ['a', 'b', 'c']) create(id);
    create('d', 'node-a', { ...own, keyId: 'key_2' });
    clock.nowMs += LEASE_MS;
    expect(adopt(2).map(({ id }) => id)).toEqual(['a', 'd']);
    expect(adopt(9, [own.keyId])).toEqual([]);
    expect(adopt().map(({ id }) => id)).toEqual(['b', 'c']);
  });

  it('are adopted one by one, too, and never while their node is there', () => {
    const { tables, create, clock, job, own } = rigOf();
    create('a');
    const adopt = () => tables.adoptLostJob(job('a'), 'other', 'other', LEASE_MS);
    expect(adopt()).toBe(false);
    clock.nowMs += LEASE_MS;
    expect([adopt(), adopt(), tables.findJob(own, 'a')?.node]).toEqual([true, false, 'other']);
  });

  it('run on a node again that came back before another one adopted them', () => {
    const { tables, create, clock } = rigOf();
    create('a', 'node-b');
    clock.nowMs += LEASE_MS;
    expect(tables.adoptJobs('node-b', 'node-b again', LEASE_MS, 9)).toMatchObject([{ id: 'a', isShared: 1 }]);
    expect(tables.hasLostSharedJobs('other', [])).toBe(false);
  });
});

describe('room for jobs', () => {
  const bound = (jobs: number, room = 1e9) => ({ jobs, bytes: room });

  it('of a key is made by its own finished jobs, failed ones first', () => {
    const { finished, ids, owner } = open({ key: bound(3) });
    finished('other', END, owner('key_2'));
    finished('a');
    finished('b', FAILED);
    finished('c');
    expect(finished('d')).toBe(0);
    expect(ids()).toEqual(['d', 'c', 'a']);
    finished('e');
    expect([ids(), ids(owner('key_2'))]).toEqual([['e', 'd', 'c'], ['other']]);
  });

  it('of a key is made by bytes, too: the oldest transcripts go', () => {
    const { finished, ids } = open({ key: bound(9, 40) });
    expect([finished('a'), finished('b'), finished('c')]).toEqual([0, 0, 1]);
    expect(ids()).toEqual(['c', 'b']);
  });

  it('of an organisation is refused when no job of it is over', () => {
    const { create, owner, finished, ids } = open({ organisation: bound(2) });
    finished('a');
    create('b', owner('key_2'));
    expect(create('c', owner('key_3'))).toMatchObject({ state: 'created', removed: 1 });
    expect(create('d', owner('key_4'))).toEqual({ state: 'full', of: 'organisation' });
    expect(ids()).toEqual([]);
  });

  it('of the store is made by the organisation that has most', () => {
    const { create, finished, ids, owner, customer } = open({ store: bound(4) });
    const [small, large] = [customer(), customer()].map(({ keyId, organisationId }) => owner(keyId, organisationId));
    finished('a', END, small);
    for (const id of ['b', 'c', 'd']) finished(id, END, large);
    finished('e');
    expect([ids(small), ids(large), ids()]).toEqual([['a'], ['d', 'c'], ['e']]);
    for (const id of ['f', 'g', 'h', 'i']) create(id);
    expect(create('j')).toEqual({ state: 'full', of: 'store' });
  });

  it('of the store is shared by jobs that are not over: an organisation has as many as it leaves free', () => {
    const { create, owner, customer, tables } = open({ store: bound(16) });
    const all = Array.from({ length: 6 }, () => customer());
    const fill = ({ keyId, organisationId }: (typeof all)[0]): number => {
      let count = 0;
      for (; tables.findJobShortage(organisationId) === undefined; count++)
        create(`${organisationId} ${count}`, owner(keyId, organisationId));
      return count;
    };
    expect(all.map(fill)).toEqual([8, 4, 2, 1, 1, 0]);
    expect(all.map(({ organisationId }) => tables.findJobShortage(organisationId))).toEqual(all.map(() => 'full'));
  });

  it('of the store is not taken by jobs that are over', () => {
    const { finished, owner, customer, tables, create } = open({ store: bound(4) });
    const other = customer();
    for (const id of ['a', 'b', 'c', 'd']) finished(id);
    expect(tables.findJobShortage(other.organisationId)).toBeUndefined();
    const theirs = owner(other.keyId, other.organisationId);
    for (const id of ['e', 'f']) expect(create(id, theirs)).toMatchObject({ state: 'created', removed: 1 });
    expect([tables.findJobShortage(other.organisationId), tables.findJobShortage(owner().organisationId)]).toEqual([
      'share',
      undefined,
    ]);
  });

  it('keeps totals equal to the rows', () => {
    const { create, finished, tables, owner, database } = open({ key: bound(5), organisation: bound(6, 200) });
    for (let at = 0; at < 40; at++) {
      const of = owner(`key_${at % 3}`);
      if (at % 4 === 0) create(`${at}`, of);
      else finished(`${at}`, at % 5 === 0 ? FAILED : END, of);
      if (at % 7 === 0) tables.removeJob(of, `${at}`);
      const counted = database.prepare('SELECT count(*) AS jobs, coalesce(sum(bytes), 0) AS bytes FROM jobs').get();
      const kept = database.prepare("SELECT jobs, bytes FROM job_totals WHERE scope = 'store'").get();
      expect(kept).toEqual(counted);
    }
  });
});
