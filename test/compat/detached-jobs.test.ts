// Jobs that nobody waits for: their turns, their ends, and how many there may be.
import { beforeEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { apiError } from '../../src/api/errors.ts';
import { DetachedJobs, JOB_KEPT_MS, JOBS_QUEUED_MAX, type Work } from '../../src/compat/jobs/detached-jobs.ts';
import {
  KEY_CHARACTERS_MAX,
  KEY_JOBS_MAX,
  NODE_CHARACTERS_MAX,
  NODE_JOBS_MAX,
  ORGANISATION_CHARACTERS_MAX,
  ORGANISATION_JOBS_MAX,
} from '../../src/compat/jobs/kept-jobs.ts';
import { transcribeKept } from '../../src/compat/jobs/routes.ts';
import { type Deferred, deferred } from '../../src/http/deferred.ts';
import { toApiError } from '../../src/http/router.ts';
import type { ShownFile, ShownJob } from '../../src/vendors/compat/jobs.ts';

type Heard = Awaited<ReturnType<Work['run']>>;

const OWNER = { organisationId: 'org_1', keyId: 'key_1', dialect: 'soniox' };
const FILE: ShownFile = { id: 'f', filename: 'a.wav', bytes: 1, createdAt: new Date(0), fields: new Map() };
const HEARD = { transcription: { text: 'vox' } } as Heard;
const full = () => Promise.reject(apiError('too_many_sessions', 'Full.'));

let clock: SimulatedClock;
let jobs: DetachedJobs;
let forgotten: number;
let place: Deferred<void>;
let isPlaceLeft: boolean;

beforeEach(() => {
  forgotten = 0;
  isPlaceLeft = false;
  place = deferred();
  place.promise.then(() => {
    isPlaceLeft = true;
  });
  clock = new SimulatedClock();
  const onForgotten = () => void forgotten++;
  jobs = new DetachedJobs({ clock, wallNow: () => new Date(clock.now()), onFault: toApiError, onForgotten });
});

const free = () => () => place.resolve();

/** Work that ends when it is told to. */
function work(owner = OWNER) {
  const done = deferred<Heard>();
  done.promise.catch(() => {});
  const begun = deferred<void>();
  const ended = deferred<void>();
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

/** Of a job that fails at once. */
async function failed(owner = OWNER): Promise<string> {
  const one = work(owner);
  const { id } = await jobs.begin(one.work, free);
  one.done.reject(apiError('unsupported_audio', 'No audio.'));
  await one.ended;
  return id;
}

/** So many of an organisation, by as many keys as it takes. */
async function many(organisationId: string, count: number, one: (owner: typeof OWNER) => Promise<unknown>) {
  for (let at = 0; at < count; at++)
    await one({ ...OWNER, organisationId, keyId: `${organisationId}_${Math.floor(at / JOBS_QUEUED_MAX)}` });
}

const isHere = (owner: typeof OWNER, id: string): boolean => jobs.of(owner).some((job) => job.id === id);

const codeOf = (failed: Promise<unknown>) =>
  failed.then(
    () => 'none',
    ({ code }) => code as string,
  );

describe('a job', () => {
  it('runs, and then has the transcript', async () => {
    const one = work();
    const { id } = await jobs.begin(one.work, free);
    await one.begun;
    expect(jobs.find(OWNER, id)).toMatchObject({ state: { type: 'processing' }, asked: { model: 'm' }, file: FILE });
    clock.increment(5);
    one.done.resolve(HEARD);
    await one.ended;
    expect(jobs.find(OWNER, id)).toMatchObject({ state: { type: 'done', heard: HEARD }, endedAt: new Date(5) });
  });

  it.each([
    ['a refusal', apiError('unsupported_audio', 'No audio.'), 'unsupported_audio'],
    ['a fault', new Error('secret'), 'internal_error'],
  ])('gives the reason when it failed by %s', async (_, error, code) => {
    const one = work();
    const { id } = await jobs.begin(one.work, free);
    one.done.reject(error);
    await one.ended;
    expect(jobs.find(OWNER, id).state).toMatchObject({ type: 'failed', refusal: { code } });
  });

  it('fails when its transcript has no room', async () => {
    const large = { transcription: { text: 'x'.repeat(KEY_CHARACTERS_MAX) } } as Heard;
    expect((await finished(OWNER, large)).state).toMatchObject({ type: 'failed', refusal: { code: 'file_too_large' } });
  });

  it('fails without a slot where its key has no other job', async () => {
    expect(await codeOf(jobs.begin(work().work, full))).toBe('too_many_sessions');
    expect(jobs.size).toBe(0);
  });

  it('waits without a slot for that of another job, and takes it over', async () => {
    const [one, other] = [work(), work()];
    await jobs.begin(one.work, free);
    const { id, state } = await jobs.begin(other.work, full);
    expect(state).toEqual({ type: 'queued' });
    one.done.resolve(HEARD);
    await other.begun;
    expect([jobs.find(OWNER, id).state.type, isPlaceLeft]).toEqual(['processing', false]);
    other.done.resolve(HEARD);
    await other.ended;
    await place.promise;
    expect(await codeOf(jobs.begin(work().work, full))).toBe('too_many_sessions');
  });

  it('ends and disappears when it is removed', async () => {
    const one = work();
    const { id } = await jobs.begin(one.work, free);
    await one.begun;
    jobs.remove(OWNER, id);
    await one.ended;
    expect(one.end.signal.aborted).toBe(true);
    expect(() => jobs.find(OWNER, id)).toThrow(expect.objectContaining({ code: 'not_found' }));
  });

  it('never begins when it is removed while it waits', async () => {
    const [one, other, third] = [work(), work(), work()];
    await jobs.begin(one.work, free);
    const { id } = await jobs.begin(other.work, full);
    await jobs.begin(third.work, full);
    jobs.remove(OWNER, id);
    await other.ended;
    one.done.resolve(HEARD);
    await third.begun;
    expect(jobs.size).toBe(2);
  });

  it.each([
    ['key', { ...OWNER, keyId: 'key_2' }],
    ['dialect', { ...OWNER, dialect: 'gladia' }],
  ])('looks unknown to another %s', async (_, other) => {
    const { id } = await finished();
    expect(() => jobs.find(other, id)).toThrow(expect.objectContaining({ code: 'not_found' }));
    expect(() => jobs.remove(other, id)).toThrow(expect.objectContaining({ code: 'not_found' }));
    expect([jobs.of(other), jobs.of(OWNER).map((job) => job.id)]).toEqual([[], [id]]);
  });

  it('expires after its time', async () => {
    const { id } = await finished();
    clock.increment(JOB_KEPT_MS - 1);
    expect(jobs.find(OWNER, id).id).toBe(id);
    clock.increment(1);
    expect(() => jobs.find(OWNER, id)).toThrow(expect.objectContaining({ code: 'not_found' }));
    expect(forgotten).toBe(0);
  });
});

describe('bounds on jobs', () => {
  it(`hold ${JOBS_QUEUED_MAX} waiting jobs of a key`, async () => {
    await jobs.begin(work().work, free);
    for (let count = 0; count < JOBS_QUEUED_MAX; count++) await jobs.begin(work().work, full);
    expect(await codeOf(jobs.begin(work().work, full))).toBe('too_many_sessions');
    expect(jobs.size).toBe(JOBS_QUEUED_MAX + 1);
  });

  it(`hold ${KEY_JOBS_MAX} jobs of a key, and drop its oldest finished one`, async () => {
    const { id: other } = await finished({ ...OWNER, keyId: 'key_2' });
    const { id: first } = await finished();
    for (let count = 1; count < KEY_JOBS_MAX; count++) await finished();
    expect(jobs.find(OWNER, first).id).toBe(first);
    await finished();
    expect(() => jobs.find(OWNER, first)).toThrow();
    expect([jobs.of(OWNER).length, forgotten, jobs.size]).toEqual([KEY_JOBS_MAX, 1, KEY_JOBS_MAX + 1]);
    expect(jobs.find({ ...OWNER, keyId: 'key_2' }, other).id).toBe(other);
  });

  it('characters of a key than it may have: the oldest are forgotten', async () => {
    const large = { transcription: { text: 'x'.repeat(KEY_CHARACTERS_MAX / 2 - 1_000) } } as Heard;
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.push((await finished(OWNER, large)).id);
    expect(
      jobs
        .of(OWNER)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids.slice(1).sort());
  });

  it(`hold ${ORGANISATION_JOBS_MAX} jobs of an organisation, and drop its failed ones first`, async () => {
    const other = { ...OWNER, organisationId: 'org_2', keyId: 'key_2' };
    const { id: paid } = await finished(other);
    const { id: first } = await finished();
    const early = await failed();
    const late = await failed();
    await many('org_1', ORGANISATION_JOBS_MAX - 3, finished);
    expect([isHere(OWNER, early), forgotten]).toEqual([true, 0]);
    const there: boolean[][] = [];
    for (let count = 0; count < 3; count++) {
      await finished({ ...OWNER, keyId: 'key_3' });
      there.push([first, early, late].map((id) => isHere(OWNER, id)));
    }
    expect(there).toEqual([
      [true, false, true],
      [true, false, false],
      [false, false, false],
    ]);
    expect([isHere(other, paid), forgotten, jobs.size]).toEqual([true, 3, ORGANISATION_JOBS_MAX + 1]);
  });

  it('hold the node’s limit, and drop jobs of the organisation that has most', async () => {
    const owner = { ...OWNER, organisationId: 'org_b', keyId: 'key_b' };
    const { id } = await finished(owner);
    const organisations = NODE_JOBS_MAX / ORGANISATION_JOBS_MAX;
    for (let at = 0; at < organisations; at++) await many(`org_a${at}`, ORGANISATION_JOBS_MAX + 10, failed);
    await finished({ ...OWNER, organisationId: 'org_c', keyId: 'key_c' });
    expect([jobs.size, isHere(owner, id)]).toEqual([NODE_JOBS_MAX, true]);
    expect(forgotten).toBe(organisations * 10 + 2);
  });

  it.each([
    ['an organisation', () => 'org_1', ORGANISATION_CHARACTERS_MAX],
    ['the node', (at: number) => `org_${Math.floor(at / 2)}`, NODE_CHARACTERS_MAX],
  ])('characters of %s than it may have, and others lose nothing', async (_, organisationOf, charactersMax) => {
    const small = { ...OWNER, organisationId: 'org_small', keyId: 'key_small' };
    const { id } = await finished(small);
    const large = { transcription: { text: 'x'.repeat(KEY_CHARACTERS_MAX - 1_000) } } as Heard;
    const count = charactersMax / KEY_CHARACTERS_MAX + 1;
    for (let at = 0; at < count; at++)
      await finished({ ...OWNER, organisationId: organisationOf(at), keyId: `key_${at}` }, large);
    await finished(small);
    expect([jobs.size, forgotten, isHere(small, id)]).toEqual([count + 1, 1, true]);
  });

  it(`hold ${ORGANISATION_JOBS_MAX} unfinished jobs of an organisation, and ${NODE_JOBS_MAX} of the node`, async () => {
    const begun = async (owner: typeof OWNER) => {
      const code = await codeOf(jobs.begin(work(owner).work, free));
      if (code !== 'none') refused.push(code);
    };
    const refused: string[] = [];
    const organisations = NODE_JOBS_MAX / ORGANISATION_JOBS_MAX;
    for (let at = 0; at < organisations; at++) await many(`org_${at}`, ORGANISATION_JOBS_MAX, begun);
    expect([refused, jobs.size]).toEqual([[], NODE_JOBS_MAX]);
    await many('org_0', 1, begun);
    await many('org_new', 1, begun);
    expect([refused, jobs.size]).toEqual([['too_many_sessions', 'overloaded'], NODE_JOBS_MAX]);
  });

  it('end with the node, and all jobs in progress with them', async () => {
    const [one, other] = [work(), work()];
    await jobs.begin(one.work, free);
    await jobs.begin(other.work, full);
    await finished();
    jobs.close();
    await Promise.all([one.ended, other.ended]);
    expect(jobs.size).toBe(0);
    expect(await codeOf(jobs.begin(work().work, free))).toBe('overloaded');
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
