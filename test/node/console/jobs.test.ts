// Jobs on the console: who sees, cancels and deletes those of a key, and who sees their text.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { ConsoleRoute } from '../../../src/accounts/console-login/console-route.ts';
import { ROLES, type Role } from '../../../src/accounts/team/calls.ts';
import type { JobView, JobViewList } from '../../../src/api/console/jobs.ts';
import { apiError } from '../../../src/api/errors.ts';
import type { VerboseTranscription } from '../../../src/api/transcriptions.ts';
import { consoleJobRoutes } from '../../../src/jobs/console-routes.ts';
import { DetachedJobs } from '../../../src/jobs/detached-jobs.ts';
import { JobRecords } from '../../../src/jobs/job-records.ts';
import { ownerOf } from '../../../src/jobs/own-jobs.ts';
import type { Owner } from '../../../src/jobs/owner.ts';
import type { JobState } from '../../../src/vendors/compat/jobs.ts';
import {
  type Browser,
  type ConsoleRig,
  openAccount,
  openConsoleRig,
  PASSWORD,
  SECRET,
  storeOver,
} from '../../accounts/people/console-rig.ts';
import { ledgerRig, OPERATOR } from '../../fakes/store/ledger.ts';
import { inviteTo } from './tenants-rig.ts';

const FILE = { id: 'f', filename: 'a.wav', bytes: 1, createdAt: new Date(), fields: new Map() };
const NODE = 'abc123';
const READERS: readonly Role[] = ['read_only'];
const fault = (error: unknown) => {
  throw error;
};

let rig: ConsoleRig;
let jobs: DetachedJobs;
let records: JobRecords;
let owner: Owner;
const people = {} as Record<Role, Browser>;

beforeAll(async () => {
  const ledger = ledgerRig();
  ledger.clock.nowMs = Date.now();
  const store = storeOver(ledger);
  records = new JobRecords({ store, secret: SECRET, node: NODE, nodeName: 'node' });
  jobs = new DetachedJobs({
    ...{ records, clock: new SimulatedClock(), node: NODE, endElsewhere: fault, onFault: fault, onReported: () => {} },
    ...{ cancelElsewhere: fault, progressElsewhere: fault, onStoreFault: fault, onForgotten: fault },
  });
  afterAll(() => jobs.close());
  const further = [(route: ConsoleRoute) => consoleJobRoutes(route, { store, detachedJobs: jobs })];
  rig = await openConsoleRig({ store, further });
  people.owner = await openAccount(rig, 'owner@example.com');
  const me = (await people.owner.get('/console/api/me')).json() as unknown as { organisation: { id: string } };
  const organisationId = me.organisation.id;
  for (const role of ROLES.filter((each) => each !== 'owner')) {
    people[role] = rig.browser();
    await people[role].submit(await inviteTo(rig, organisationId, `${role}@example.com`, role), { password: PASSWORD });
  }
  owner = ownerOf({ organisationId, keyId: (await store.createKey(organisationId, {}, OPERATOR)).key.id });
});

/** One whose key has no slot free. */
async function queued(): Promise<string> {
  const work = { owner, file: FILE, asked: { model: 'a/b', tags: '{"customer":"acme"}' }, end: new AbortController() };
  const busy = () => {
    throw apiError('too_many_sessions', 'All slots are in use.');
  };
  return (await jobs.begin({ ...work, run: async () => fault('not run'), ended: () => {} }, busy)).id;
}

let made = 0;
async function ended(state: Extract<JobState, { type: 'done' | 'failed' }>): Promise<string> {
  const id = `job-${++made}`;
  await records.create(owner, id, 'processing', { file: FILE, asked: { model: 'a/b' } });
  await records.finish(owner, id, state);
  return id;
}

const completed = () => {
  const usage = { type: 'duration', seconds: 2.5, cost_usd: '0.0025', byok: false };
  return ended({ type: 'done', heard: { transcription: { text: 'nine', usage } as VerboseTranscription } });
};
const failed = () => ended({ type: 'failed', refusal: apiError('audio_too_long', 'The audio is too long.') });

const at = (path = '', more = '', keyId = owner.keyId) => `jobs${path}?key=${keyId}${more}`;
const get = (browser: Browser, path: string) => browser.get(`/console/api/${path}`);
const listed = async (browser: Browser, more = '') =>
  (await get(browser, at('', more))).json() as unknown as JobViewList;

describe('a job of a key', () => {
  test.each(ROLES)('is listed for the role %s with its cost or error, and without its text', async (role) => {
    const [done, broken, waiting] = [await completed(), await failed(), await queued()];
    const { data } = await listed(people[role], '&limit=100');
    const byId = new Map(data.map((job) => [job.id, job]));
    expect(byId.get(done)).toMatchObject({ status: 'completed', seconds: 2.5, cost_usd: '0.0025', attempts: 1 });
    expect(byId.get(broken)).toMatchObject({ status: 'failed', error: { code: 'audio_too_long' } });
    expect(byId.get(waiting)).toMatchObject({ status: 'queued', tags: { customer: 'acme' }, ended_at: null });
    expect(JSON.stringify(data)).not.toContain('nine');
  });

  test('is found by status and tag, page by page', async () => {
    for (let each = 0; each < 3; each++) await failed();
    const first = await listed(people.owner, '&limit=2&status=failed');
    expect([first.data.map(({ status }) => status), first.has_more]).toEqual([['failed', 'failed'], true]);
    const second = await listed(people.owner, `&limit=2&status=failed&before=${first.next}`);
    expect(second.data[0]!.status).toBe('failed');
    expect(first.data.map(({ id }) => id)).not.toContain(second.data[0]!.id);
    const id = await queued();
    expect((await listed(people.owner, '&tag=customer:acme')).data.map((job) => job.id)).toContain(id);
    expect((await listed(people.owner, '&tag=customer:other')).data).toEqual([]);
  });

  test('shows its text to every role only while the organisation shows transcripts', async () => {
    const id = await completed();
    const textFor = async (role: Role) =>
      ((await get(people[role], at(`/${id}`))).json() as unknown as JobView).text ?? 'hidden';
    const texts = () => Promise.all(ROLES.map(textFor));
    expect(new Set(await texts())).toEqual(new Set(['hidden']));
    await people.owner.call('PATCH', 'organisation', { show_transcripts: true });
    expect(new Set(await texts())).toEqual(new Set(['nine']));
    expect(JSON.stringify(await listed(people.owner, '&limit=100'))).not.toContain('nine');
    await people.owner.call('PATCH', 'organisation', { show_transcripts: false });
    expect(new Set(await texts())).toEqual(new Set(['hidden']));
  });

  test.each(ROLES)('is cancelled and deleted by the role %s, unless it may only read', async (role) => {
    const [id, other] = [await queued(), await completed()];
    const cancelled = await people[role].call('POST', at(`/${id}/cancel`));
    const deleted = await people[role].call('DELETE', at(`/${other}`));
    const after = await records.find(owner, other);
    if (READERS.includes(role)) {
      expect([cancelled.code, deleted.code]).toEqual(['role_not_allowed', 'role_not_allowed']);
      expect((await jobs.find(owner, id)).state.type).toBe('queued');
      expect(after?.state.type).toBe('done');
    } else {
      expect([cancelled.status, cancelled.json()]).toEqual([200, expect.objectContaining({ status: 'cancelled' })]);
      expect([deleted.status, after]).toEqual([204, undefined]);
    }
  });

  test('stays as it is when it is cancelled after its end', async () => {
    const id = await completed();
    const { status, json } = await people.owner.call('POST', at(`/${id}/cancel`));
    expect([status, json()]).toEqual([200, expect.objectContaining({ status: 'completed' })]);
  });

  test('is still seen and deleted after its key was revoked', async () => {
    const { key } = await rig.store.createKey(owner.organisationId, {}, OPERATOR);
    const work = { owner: { ...owner, keyId: key.id }, file: FILE, asked: { model: 'a/b' } };
    await records.create(work.owner, 'job-of-revoked', 'processing', work);
    const refusal = apiError('audio_too_long', 'The audio is too long.');
    await records.finish(work.owner, 'job-of-revoked', { type: 'failed', refusal });
    await rig.store.revokeKey(owner.organisationId, key.id, OPERATOR);
    const { data } = (await get(people.read_only, at('', '', key.id))).json() as unknown as JobViewList;
    expect(data.map(({ id, status }) => [id, status])).toEqual([['job-of-revoked', 'failed']]);
    expect((await people.owner.call('DELETE', at('/job-of-revoked', '', key.id))).status).toBe(204);
  });

  test('is hidden under another key of the organisation', async () => {
    const id = await completed();
    const { key } = await rig.store.createKey(owner.organisationId, {}, OPERATOR);
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const) {
      const to = at(`/${id}${path}`, '', key.id);
      const answer = method === 'GET' ? await get(people.owner, to) : await people.owner.call(method, to);
      expect([answer.status, answer.code]).toEqual([404, 'not_found']);
    }
  });
});

describe('a list of jobs', () => {
  test.each([
    ['jobs', 400, 'invalid_request', 'key'],
    ['jobs?key=', 400, 'invalid_request', 'key'],
    ['jobs?key=key_never', 404, 'not_found', 'key'],
    ['jobs/x', 400, 'invalid_request', 'key'],
    ['jobs/x?key=key_never', 404, 'not_found', 'key'],
  ])('refuses %s', async (path, status, code, param) => {
    const answer = await get(people.owner, path);
    expect([answer.status, answer.code, answer.param]).toEqual([status, code, param]);
  });

  test.each([
    ['&status=gone', 400, 'status'],
    ['&limit=0', 400, 'limit'],
    ['&from=2026-02-01&to=2026-01-01', 400, 'from'],
    ['&owner=me', 400, 'owner'],
    ['&before=job-never', 404, 'before'],
  ])('refuses the query %s by its parameter', async (more, status, param) => {
    const answer = await get(people.owner, at('', more));
    expect([answer.status, answer.param]).toEqual([status, param]);
  });

  test('is refused for the key of another organisation as for an unknown one', async () => {
    const other = await openAccount(rig, 'other@example.com');
    const [foreign, never] = [await get(other, at()), await get(other, at('', '', 'key_never'))];
    const essence = ({ status, text }: typeof foreign) => [status, text.replace(/req_\w+/, '')];
    expect(essence(foreign)).toEqual(essence(never));
    expect(foreign.status).toBe(404);
  });
});
