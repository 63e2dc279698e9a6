// Tags as a customer uses them: set by keys, tokens and requests, seen wherever a session, file or job is, and never another's.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobAnswer, JobList } from '../../src/api/jobs.ts';
import type { SessionAnswer, SessionList, UsageList } from '../../src/api/usage.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import type { Store } from '../../src/node/store/store.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';

const BY = { type: 'operator', id: 'test' } as const;
const SCRIPT = 'loopback/script';
const FILE_MODEL = 'local/commands-en';
/** Short: recognising it is most of the work of these tests. */
const { bytes: WAV } = sampleAudio('times/time.wav');

let live: LiveGateway;
let store: Store;
let organisationId: string;
/** Without tags, and with one. */
let plain: string;
let tagged: string;

beforeAll(async () => {
  live = await startLiveGateway({ VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '10000' });
  store = await openSqliteStore({ directory: live.directory });
  organisationId = (await store.createOrganisation('Tagged', null, BY)).id;
  plain = await keyWith({ scopes: ['listen', 'transcribe', 'tokens', 'tokens_may_upload'] });
  tagged = await keyWith({ tags: { team: 'blue' } });
});
afterAll(() => store.close());

const keyWith = async (settings: Parameters<Store['createKey']>[1], of = organisationId) =>
  (await store.createKey(of, settings, BY)).secret;
const bearer = (credential: string) => ({ Authorization: `Bearer ${credential}` });
const get = async <Answer>(path: string, credential = plain) =>
  (await (await live.request(path, { headers: bearer(credential) })).json()) as Answer;

/** One second of audio in a session, to its end; and its record, once the ledger has it. */
async function listen(query: Record<string, string>, credential = plain, start?: object) {
  const client = live.connect({ model: SCRIPT, ...query }, { authorize: false, headers: bearer(credential) });
  await once(client.socket, 'open');
  if (start !== undefined) client.send({ type: 'start', ...start });
  const started = await client.event('session_started');
  client.socket.send(new Uint8Array(32_000));
  client.send({ type: 'close' });
  expect((await client.close()).code).toBe(1000);
  return { started, record: await recordOf(started.session_id) };
}

async function recordOf(id: string): Promise<SessionAnswer> {
  await expect
    .poll(() => store.findSession(organisationId, id).then((each) => each?.endedAt))
    .toEqual(expect.anything());
  return get<SessionAnswer>(`/v1/sessions/${id}`);
}

async function refused(query: Record<string, string>, credential = plain) {
  const client = live.connect({ model: SCRIPT, ...query }, { authorize: false, headers: bearer(credential) });
  const { status, body } = await client.refused();
  const { code, param } = (JSON.parse(String(body)) as { error: { code: string; param: string } }).error;
  return [status, code, param];
}

async function mint(body: object, credential = plain) {
  const reply = await live.request('/v1/tokens', {
    method: 'POST',
    headers: { ...bearer(credential), 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return {
    status: reply.status,
    ...((await reply.json()) as { token: string; error: { code: string; param: string } }),
  };
}

type Fields = readonly (readonly [string, string] | undefined)[];

/** The file stands where there is no field. */
async function send(path: string, fields: Fields, credential = plain) {
  const form = new FormData();
  for (const field of [['model', FILE_MODEL] as const, ...fields]) {
    if (field === undefined) form.append('file', new Blob([WAV], { type: 'audio/wav' }), 'time.wav');
    else form.append(...(field as [string, string]));
  }
  const reply = await live.request(path, { method: 'POST', headers: bearer(credential), body: form });
  const answer = (await reply.json()) as JobAnswer & { error: { code: string; param: string } };
  return { status: reply.status, id: reply.headers.get('x-request-id') ?? '', answer };
}
const FILES = '/v1/audio/transcriptions';

describe('a live session', () => {
  it.each<[string, Record<string, string>, object | undefined]>([
    ['as pairs in the URL', { tags: 'customer:acme,project:x' }, undefined],
    ['as JSON in the URL', { tags: '{"project":"x","customer":"acme"}' }, undefined],
    ['as an object in the start message', { start: 'message' }, { tags: { customer: 'acme', project: 'x' } }],
    ['as pairs in the start message', { start: 'message' }, { tags: 'customer:acme,project:x' }],
  ])('has its tags %s', async (_, query, start) => {
    const { started, record } = await listen(query, plain, start);
    expect(started.tags).toEqual({ customer: 'acme', project: 'x' });
    expect(record.tags).toEqual(started.tags);
  });

  it('has no tags if none are set', async () => {
    const { started, record } = await listen({});
    expect([started, record].every((each) => !('tags' in each))).toBe(true);
  });

  it('has those of its key and its token too, which its request cannot change', async () => {
    expect((await listen({ tags: 'customer:acme' }, tagged)).record.tags).toEqual({ customer: 'acme', team: 'blue' });
    const { token } = await mint({ tags: { customer: 'acme', note: 'Smith, "Inc."' } });
    const all = { customer: 'acme', note: 'Smith, "Inc."', project: 'x' };
    expect((await listen({ tags: 'project:x,customer:acme' }, token)).record.tags).toEqual(all);
    const contradiction = [400, 'invalid_request', 'tags'];
    expect(await refused({ tags: 'team:red' }, tagged)).toEqual(contradiction);
    expect(await refused({ tags: 'customer:other' }, token)).toEqual(contradiction);
  });

  it.each(['customer', 'Customer:acme', 'a:x\ny', '{"a":1}'])('is refused for %j', async (tags) => {
    expect(await refused({ tags })).toEqual([400, 'invalid_request', 'tags']);
  });

  it('cannot change them while it is open', async () => {
    const client = live.connect({ model: SCRIPT, tags: 'customer:acme' }, { authorize: false, headers: bearer(plain) });
    await client.event('session_started');
    client.send({ type: 'configure', tags: { customer: 'other' } });
    expect(await client.event('error')).toMatchObject({
      error: { code: 'invalid_request', param: 'tags' },
    });
    client.send({ type: 'close' });
    await client.close();
  });

  it('has them on each of its channels', async () => {
    const { started } = await listen({ tags: 'customer:channels', channels: '2' });
    for (const id of started.channel_sessions ?? [])
      expect((await recordOf(id)).tags).toEqual({ customer: 'channels' });
    expect(started.channel_sessions).toHaveLength(2);
  });

  it('has them in the log when it begins and ends', async () => {
    const { started } = await listen({ tags: 'customer:logged' });
    const lines = live.log.filter((line) => line.includes(started.session_id) && line.includes('"customer":"logged"'));
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['session opened', 'session ended']);
  });
});

describe('a token', () => {
  it('is minted with tags that fit, and refused with others', async () => {
    expect((await mint({ tags: {} })).status).toBe(200);
    expect((await mint({ ttl_seconds: 10, tags: { a: 'b' } })).status).toBe(200);
    const odd = JSON.parse('{"tags":{"__proto__":"x","constructor":"y"}}') as object;
    const { token } = await mint(odd);
    expect(JSON.stringify((await listen({}, token)).record.tags)).toBe('{"__proto__":"x","constructor":"y"}');
  });

  it.each<[string, unknown]>([
    ['a list', ['customer:acme']],
    ['a text', 'customer:acme'],
    ['null', null],
    ['a number as a value', { customer: 7 }],
    ['a key that there cannot be', { 'my customer': 'a' }],
    ['a value that cannot be shown', { customer: 'x\u202ey' }],
    ['eleven', Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`k${at}`, 'v']))],
    ['more than a header carries', { a: 'é'.repeat(100), b: 'é'.repeat(100), c: 'é'.repeat(100) }],
  ])('is refused with %s', async (_, tags) => {
    const { status, error } = await mint({ tags });
    expect([status, error.code, error.param]).toEqual([400, 'invalid_request', 'tags']);
  });

  it('is refused where it contradicts its key', async () => {
    const { status, error } = await mint({ tags: { team: 'red' } }, tagged);
    expect([status, error.param]).toEqual([400, 'tags']);
  });
});

describe('a file', () => {
  it.each<[string, Fields]>([
    ['pairs', [['tags', 'customer:file,project:x'], undefined]],
    ['JSON', [['tags', '{"customer":"file","project":"x"}'], undefined]],
    ['a field of each', [['tags[customer]', 'file'], ['tags[project]', 'x'], undefined]],
    ['pairs behind the file', [undefined, ['tags', 'customer:file,project:x']]],
  ])('has its tags from %s', async (_, fields) => {
    const { status, id } = await send(FILES, fields);
    expect(status).toBe(200);
    expect((await recordOf(id)).tags).toEqual({ customer: 'file', project: 'x' });
  });

  it('has those of its key and its token too, which its request cannot change', async () => {
    const { token } = await mint({ tags: { customer: 'token' } });
    const { id } = await send(FILES, [['tags', 'project:x'], undefined], token);
    expect((await recordOf(id)).tags).toEqual({ customer: 'token', project: 'x' });
    for (const [credential, tags] of [
      [token, 'customer:other'],
      [tagged, 'team:red'],
    ] as const) {
      const { status, answer } = await send(FILES, [['tags', tags], undefined], credential);
      expect([status, answer.error.code, answer.error.param]).toEqual([400, 'invalid_request', 'tags']);
    }
  });

  it.each<[string, Fields]>([
    ['given twice', [['tags', 'a:b'], ['tags', 'c:d'], undefined]],
    ['given whole and one by one', [['tags', 'a:b'], ['tags[c]', 'd'], undefined]],
    ['with a member twice', [['tags[a]', 'b'], ['tags[a]', 'c'], undefined]],
    ['in each other', [['tags[a][b]', 'c'], undefined]],
    ['of the wrong form', [['tags', 'acme'], undefined]],
  ])('is refused with tags %s', async (_, fields) => {
    const { status, answer } = await send(FILES, fields);
    expect([status, answer.error.param]).toEqual([400, expect.stringMatching(/^tags/)]);
  });
});

describe('a job', () => {
  const inEnd = async (id: string, credential = plain) => {
    const job = () => get<JobAnswer>(`/v1/jobs/${id}`, credential);
    await expect.poll(async () => (await job()).ended_at, { timeout: 20_000 }).not.toBeNull();
    return job();
  };

  it('has the tags that were decided when it was accepted, and so has its charge', async () => {
    const { status, answer } = await send('/v1/jobs', [['tags', 'customer:job'], undefined], tagged);
    expect([status, answer.tags]).toEqual([202, { customer: 'job', team: 'blue' }]);
    const done = await inEnd(answer.id, tagged);
    expect([done.status, done.tags]).toEqual(['completed', { customer: 'job', team: 'blue' }]);
    expect((await recordOf(`job_${answer.id}`)).tags).toEqual({ customer: 'job', team: 'blue' });
  });

  it('is listed by a tag', async () => {
    const key = await keyWith({});
    const ids: string[] = [];
    for (const tags of ['customer:a', 'customer:b', 'customer:a,project:x'])
      ids.unshift((await send('/v1/jobs', [['tags', tags], undefined], key)).answer.id);
    ids.unshift((await send('/v1/jobs', [undefined], key)).answer.id);
    for (const id of ids) await inEnd(id, key);
    const listed = async (query: string) =>
      (await get<JobList>(`/v1/jobs?${query}`, key)).data.map(({ id }) => ids.indexOf(id));
    expect(await listed('')).toEqual([0, 1, 2, 3]);
    expect(await listed('tag=customer:a')).toEqual([1, 3]);
    expect(await listed('tag=customer:a&limit=1')).toEqual([1]);
    expect(await listed(`tag=customer:a&before=${ids[1]}`)).toEqual([3]);
    expect(await listed('tag=customer:c')).toEqual([]);
    expect(await listed('tag=constructor:x')).toEqual([]);
  });

  it('is refused if its tags contradict its key or are malformed', async () => {
    for (const tags of ['team:red', 'acme']) {
      const { status, answer } = await send('/v1/jobs', [['tags', tags], undefined], tagged);
      expect([status, answer.error.param]).toEqual([400, 'tags']);
    }
  });
});

it('usage, its CSV and the list of sessions are those of a tag in one organisation', async () => {
  const { id } = await store.createOrganisation('Counted', null, BY);
  const [ours, theirs] = [await keyWith({ tags: { customer: '=cmd()' } }, id), await keyWith({}, organisationId)];
  const other = await keyWith({}, id);
  const heard = async (query: Record<string, string>, credential: string) => {
    const client = live.connect({ model: SCRIPT, ...query }, { authorize: false, headers: bearer(credential) });
    const { session_id: session } = await client.event('session_started');
    client.socket.send(new Uint8Array(32_000));
    client.send({ type: 'close' });
    await client.close();
    return session;
  };
  const sessions = [
    await heard({}, ours),
    await heard({ tags: 'customer:acme' }, other),
    await heard({ tags: 'customer:acme,project:x' }, other),
    await heard({}, other),
  ];
  await heard({ tags: 'customer:acme' }, theirs);
  const settled = async () => (await store.listSessions(id, 10)).filter(({ endedAt }) => endedAt !== null).length;
  await expect.poll(settled).toBe(4);
  const { data, total } = await get<UsageList>('/v1/usage?group_by=tag:customer', other);
  expect(data.map(({ group, sessions: count, audio_seconds }) => [group, count, audio_seconds])).toEqual([
    ['=cmd()', 1, 1],
    ['acme', 2, 2],
    [null, 1, 1],
  ]);
  expect(total).toEqual((await get<UsageList>('/v1/usage', other)).total);
  const csv = await live.request('/v1/usage?group_by=tag:customer&format=csv', { headers: bearer(other) });
  expect(csv.headers.get('content-type')).toContain('text/csv');
  expect((await csv.text()).split('\r\n')).toEqual([
    'tag:customer,byok,sessions,audio_seconds,connection_seconds,cost_usd',
    "'=cmd(),false,1,1,,0.00",
    'acme,false,2,2,,0.00',
    ',false,1,1,,0.00',
    '',
  ]);
  const found = await get<SessionList>('/v1/sessions?tag=customer:acme', other);
  expect(found.data.map((each) => each.id)).toEqual([sessions[2], sessions[1]]);
  expect((await get<UsageList>('/v1/usage?tag=customer:acme', theirs)).data).toHaveLength(1);
});

it.each([
  ['usage?group_by=tag', 'group_by'],
  ['usage?group_by=tag:', 'group_by'],
  ['usage?group_by=tag:A', 'group_by'],
  ['usage?group_by=tag:a"b', 'group_by'],
  ['usage?tag=acme', 'tag'],
  ['usage?format=html', 'format'],
  ['sessions?tag=acme', 'tag'],
  ['sessions?tag=', 'tag'],
])('GET /v1/%s is refused by name', async (path, param) => {
  const { error } = await get<{ error: { code: string; param: string } }>(`/v1/${path}`);
  expect([error.code, error.param]).toEqual(['invalid_request', param]);
});
