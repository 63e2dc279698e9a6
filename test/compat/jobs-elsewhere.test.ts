// Requests that one node passes on to the node that has the file: what arrives, what comes back, and what is refused.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiError, apiError } from '../../src/api/errors.ts';
import { type Bus, type BusBody, BusError } from '../../src/cluster/bus/bus.ts';
import { MemoryBus } from '../../src/cluster/bus/memory.ts';
import { KEPT_JOBS } from '../../src/cluster/bus/subjects.ts';
import { JobsElsewhere, type JobsHere } from '../../src/compat/jobs/elsewhere.ts';
import { type Deferred, deferred } from '../../src/http/deferred.ts';
import { readJson } from '../../src/http/json-body.ts';
import type { RouteContext } from '../../src/http/router.ts';
import type { ShownFile } from '../../src/vendors/compat/jobs.ts';

const OWNER = { organisationId: 'org_1', keyId: 'key_1', dialect: 'soniox' };
const CALLER = { organisationId: 'org_1', keyId: 'key_1', key: { dailySpendMicroUsdMax: 10n }, via: 'key' } as never;
const PLACE = ['soniox', 'POST /v1/transcriptions'] as const;
const FILE: ShownFile = {
  ...{ id: 'f', filename: 'a.wav', bytes: 1, createdAt: new Date(5), fields: new Map([['a', 'b']]) },
  audio: { seconds: undefined, channels: 2 },
};

const [here, there] = [new MemoryBus({ node: 'here11' }), new MemoryBus({ node: 'there2' })];
const faults: unknown[] = [];
let elsewhere: JobsElsewhere;
let asked: { context: RouteContext; caller: unknown; body: unknown }[];
let answer: () => Promise<{ status: number; headers: Record<string, string>; body: string }>;
let ended: unknown[];
let cancelled: unknown[];
let hasEnded: Deferred<void>;
let stop: () => void;

const bus: Pick<Bus, 'node' | 'address' | 'requestOf' | 'serve'> = {
  node: here.node,
  address: (id) => here.address(id),
  serve: (service, handler) => here.serve(service, handler),
  requestOf(node, ...request) {
    if (node === 'silent') return Promise.reject(new BusError('timeout', 'No answer.'));
    return (node === there.node ? there : here).requestOf(node, ...request);
  },
};

beforeEach(() => {
  asked = [];
  ended = [];
  cancelled = [];
  hasEnded = deferred();
  faults.length = 0;
  answer = async () => ({ status: 201, headers: { 'X-Made': 'yes' }, body: 'made' });
  const options = {
    nodes: () => [here.node, there.node, 'gone33', 'silent'],
    onFault: (error: unknown) => faults.push(error),
  };
  elsewhere = new JobsElsewhere({ bus, ...options });
  const jobs: JobsHere = {
    async answer(_, __, context, caller) {
      asked.push({ context, caller, body: await readJson(context.request, 1e9) });
      return answer();
    },
    filesOf: () => [FILE],
    end: (...about) => {
      ended.push(about);
      hasEnded.resolve();
    },
    cancel: async (...about) => void cancelled.push(about),
    progressOf: (_, id) => (id === 'long' ? { done: 2, parts: 9 } : undefined),
  };
  stop = new JobsElsewhere({ bus: there, ...options }).serve(jobs);
});

afterEach(() => stop());

const context = (headers: Record<string, string> = {}): RouteContext => ({
  request: {
    ...{
      method: 'POST',
      path: '/compat/soniox/v1/transcriptions',
      query: 'a=b',
      isTls: true,
      remoteAddress: '192.0.2.1',
    },
    headers: new Map(Object.entries({ host: 'voice.example.com', 'content-type': 'application/json', ...headers })),
    signal: new AbortController().signal,
    body: () => {
      throw new Error('It was read already.');
    },
  },
  requestId: 'req_1',
  params: { id: 'x' },
});

const pass = (node: string, body?: unknown) =>
  elsewhere.pass(node, PLACE, context({ authorization: 'Bearer secret' }), CALLER, body);

const refusalOf = (failed: Promise<unknown>): Promise<ApiError> =>
  failed.then(
    () => Promise.reject(new Error('It was answered.')),
    (error: ApiError) => error,
  );

describe('a request that is passed on', () => {
  it('arrives with its body, caller and address, and without its credential', async () => {
    expect(await pass(there.node, { file_id: 'f' })).toEqual({
      status: 201,
      headers: { 'X-Made': 'yes' },
      body: 'made',
    });
    expect(asked).toMatchObject([
      { body: { file_id: 'f' }, caller: CALLER, context: { requestId: 'req_1', params: { id: 'x' } } },
    ]);
    const { request } = asked[0]!.context;
    expect([request.query, request.isTls, request.headers.get('host')]).toEqual(['a=b', true, 'voice.example.com']);
    expect(request.headers.has('authorization')).toBe(false);
    await pass(there.node);
    expect(asked[1]?.body).toBeUndefined();
  });

  it('gets the refusal of the other node', async () => {
    answer = () => Promise.reject(apiError('too_many_sessions', 'Wait.', { retryAfterSeconds: 30 }));
    const refusal = await refusalOf(pass(there.node));
    expect([refusal instanceof ApiError, refusal.code, refusal.message, refusal.extras, faults]).toEqual([
      ...[true, 'too_many_sessions', 'Wait.', { retryAfterSeconds: 30 }],
      [],
    ]);
  });

  it('says nothing of a fault of the other node, which logs it', async () => {
    answer = () => Promise.reject(new Error('secret'));
    const refusal = await refusalOf(pass(there.node));
    expect([refusal.code, refusal.message.includes('secret'), faults]).toEqual([
      'internal_error',
      false,
      [new Error('secret')],
    ]);
  });

  it.each([
    ['has stopped', 'gone33', 'not_found', /Upload it again/],
    ['does not answer', 'silent', 'overloaded', /Try again/],
  ])('is refused when the node %s', async (_, node, code, words) => {
    expect(await refusalOf(pass(node))).toMatchObject({ code, message: expect.stringMatching(words) });
  });

  it('is refused when it is too large to be passed on', async () => {
    const body = { vocabulary: randomBytes(600_000).toString('base64') };
    expect(await refusalOf(pass(there.node, body))).toMatchObject({ code: 'file_too_large' });
    expect(asked).toEqual([]);
  });
});

it('lists the files of all nodes that answer', async () => {
  expect(await elsewhere.filesOf(OWNER)).toEqual([FILE]);
});

it('ends a job on another node, and does not mind one that is gone', async () => {
  elsewhere.end(there.node, OWNER, 'job');
  elsewhere.end('gone33', OWNER, 'job');
  await hasEnded.promise;
  expect(ended).toEqual([[OWNER, 'job']]);
});

it('cancels a job on another node, and does not mind one that is gone', async () => {
  await elsewhere.cancel('gone33', OWNER, 'job');
  await elsewhere.cancel(there.node, OWNER, 'job');
  expect(cancelled).toEqual([[OWNER, 'job']]);
});

it('learns from another node how far a job is, where that node knows and answers', async () => {
  const asked = [
    [there.node, 'long'],
    [there.node, 'short'],
    ['gone33', 'long'],
    ['silent', 'long'],
  ] as const;
  expect(await Promise.all(asked.map(([node, id]) => elsewhere.progressOf(node, OWNER, id)))).toEqual([
    { done: 2, parts: 9 },
    undefined,
    undefined,
    undefined,
  ]);
});

it.each([[{}], [{ content: 5 }]])('does nothing for a message without a content: %j', async (content) => {
  const body = { type: KEPT_JOBS, ...content } as BusBody;
  expect(await there.requestOf(there.node, KEPT_JOBS, there.address('x'), body, 1_000)).toHaveProperty('content');
  expect([asked, ended]).toEqual([[], []]);
});
