// Jobs through the client, on a real gateway: from the upload to the transcript in every format, and what comes of one that fails, is
// cancelled, or is gone.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Job, type JobSettings, type ResponseFormat, Voxgate } from '../../clients/typescript/src/index.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { json, refusal, type ScriptedHttp, startScriptedHttp } from './rig/scripted-http.ts';

const { bytes: file } = sampleAudio('number.wav');
const MODEL = { model: 'local/commands-en' } as const;
const SCRIPT = { model: 'loopback/script' } as const;
const OFTEN = { intervalMs: 100 };
let live: LiveGateway;
let client: Voxgate;
let http: ScriptedHttp;
beforeAll(async () => {
  live = await startLiveGateway({ VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '10000' });
  client = new Voxgate({ apiKey: live.key, baseUrl: live.url });
  http = await startScriptedHttp();
});

const scripted = (...answers: ScriptedHttp['answers']) => {
  http.answers = answers;
  http.arrived.length = 0;
  return new Voxgate({ apiKey: live.key, baseUrl: http.url });
};

/** A job whose model says nothing. */
const stalled = (more: Partial<JobSettings> = {}): Promise<Job> =>
  client.jobs.create({ ...more, ...SCRIPT, file, providerParams: { fail: { how: 'stall' } } });

describe('a job', () => {
  it('is created, waited for, and has its transcript in every format', async () => {
    const { text } = await client.transcribe({ ...MODEL, file });
    const created = await client.jobs.create({
      ...MODEL,
      file,
      fileName: 'number.wav',
      responseFormat: 'srt',
      retentionSeconds: 60,
    });
    expect(created).toMatchObject({ object: 'job', model: MODEL.model, file: { name: 'number.wav' }, ended_at: null });
    const job = await client.jobs.wait(created.id, OFTEN);
    expect(job).toMatchObject({ id: created.id, status: 'completed', response_format: 'srt', result: { text } });
    expect(Date.parse(job.expires_at as string) - Date.parse(job.ended_at as string)).toBe(60_000);
    expect((await client.jobs.result(job.id, { format: 'text' })).trim()).toBe(text);
    expect(await client.jobs.result(job.id, { format: 'srt' })).toMatch(/^1\n00:00:\d\d,\d{3} --> /);
    expect(await client.jobs.result(job.id, { format: 'vtt' })).toMatch(/^WEBVTT\n/);
    expect((await client.jobs.result(job.id, { format: 'json' })).text).toBe(text);
    expect((await client.jobs.result(job.id, { format: 'verbose_json' })).task).toBe('transcribe');
    expect((await client.jobs.result(job.id, { format: 'diarized_json' })).segments).not.toEqual([]);
  });

  it('is one job for two requests with the same idempotency key', async () => {
    const options = { ...MODEL, file, idempotencyKey: 'the same' };
    const [first, second] = [await client.jobs.create(options), await client.jobs.create(options)];
    expect(second.id).toBe(first.id);
  });

  it('rejects with the error that it failed with, which is not requested twice', async () => {
    const { id } = await client.jobs.create({ ...SCRIPT, file, providerParams: { fail: { how: 'refuse' } } });
    const job = await client.jobs.wait(id, OFTEN);
    expect(job).toMatchObject({ status: 'failed', error: { type: 'upstream_error' } });
    const failure = { name: 'UpstreamError', code: job.error?.code };
    await expect(client.jobs.result(id, { format: 'text' })).rejects.toMatchObject(failure);
    const busy = scripted(refusal(502, 'upstream_error', 'upstream_failed'));
    await expect(busy.jobs.result(id, { format: 'text' })).rejects.toMatchObject({ code: 'upstream_failed' });
    expect(http.arrived).toHaveLength(1);
    await expect(busy.jobs.result(id, { format: 'text', retriesMax: 1 })).rejects.toThrow();
    expect(http.arrived).toHaveLength(3);
  });

  it('is cancelled, and has no result before', async () => {
    const { id } = await stalled();
    const notOver = { name: 'InvalidRequestError', status: 409, code: 'job_not_over' };
    await expect(client.jobs.result(id, { format: 'text' })).rejects.toMatchObject(notOver);
    await client.jobs.cancel(id);
    expect(await client.jobs.wait(id, OFTEN)).toMatchObject({ status: 'cancelled', error: { code: 'job_cancelled' } });
    await expect(client.jobs.result(id, { format: 'text' })).rejects.toMatchObject({ code: 'job_cancelled' });
  });

  it('is gone after it is deleted', async () => {
    const { id } = await client.jobs.create({ ...MODEL, file });
    await client.jobs.wait(id, OFTEN);
    expect(await client.jobs.delete(id)).toBeUndefined();
    const gone = { name: 'NotFoundError', status: 404 };
    await expect(client.jobs.retrieve(id)).rejects.toMatchObject(gone);
    await expect(client.jobs.wait(id)).rejects.toMatchObject(gone);
    await expect(client.jobs.result(id, { format: 'text' })).rejects.toMatchObject(gone);
    await expect(client.jobs.cancel(id)).rejects.toMatchObject(gone);
    await expect(client.jobs.delete(id)).rejects.toMatchObject(gone);
  });
});

it('lists jobs by pages, newest first, and by status', async () => {
  const created: string[] = [];
  for (let count = 0; count < 5; count++) created.unshift((await client.jobs.create({ ...MODEL, file })).id);
  await Promise.all(created.map((id) => client.jobs.wait(id, OFTEN)));
  const listed: string[] = [];
  let before: string | undefined;
  do {
    const page = await client.jobs.list({ limit: 2, ...(before === undefined ? {} : { before }) });
    expect(page.data.length).toBeLessThanOrEqual(2);
    expect(page.has_more).toBe(page.next !== null);
    listed.push(...page.data.map(({ id }) => id));
    before = page.next ?? undefined;
  } while (before !== undefined);
  expect(listed.slice(0, 5)).toEqual(created);
  expect(new Set(listed).size).toBe(listed.length);
  const completed = await client.jobs.list({ status: 'completed', limit: 100 });
  expect(completed.data.map(({ id }) => id)).toEqual(expect.arrayContaining(created));
  expect(completed.data.every(({ status, result }) => status === 'completed' && result === undefined)).toBe(true);
  expect((await client.jobs.list({ to: '2020-01-01' })).data).toEqual([]);
  await expect(client.jobs.list({ limit: 101 })).rejects.toMatchObject({ status: 400, param: 'limit' });
});

it('tags jobs, files and live sessions, and adds up what was used by a tag', async () => {
  const tags = { customer: 'Smith, Inc.' };
  const { id } = await client.jobs.create({ ...MODEL, file, tags });
  expect((await client.jobs.wait(id, OFTEN)).tags).toEqual(tags);
  expect((await client.jobs.list({ tag: 'customer:Smith, Inc.' })).data.map((job) => job.id)).toEqual([id]);
  await client.transcribe({ ...MODEL, file, tags });
  const { token } = await client.tokens.mint({ tags });
  const session = new Voxgate({ token, baseUrl: live.url }).listen({ ...SCRIPT, tags: { project: 'x' } });
  const events: unknown[] = [];
  const reading = (async () => {
    for await (const event of session) if (event.type === 'session_started') events.push(event.tags);
  })();
  await session.close();
  await reading;
  expect(events).toEqual([{ ...tags, project: 'x' }]);
  await expect
    .poll(async () => (await client.usage({ groupBy: 'tag:customer', tag: 'customer:Smith, Inc.' })).data)
    .toMatchObject([{ group: 'Smith, Inc.', sessions: 2 }]);
});

it('a job names the webhook that receives its end', async () => {
  const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const { id, webhook_url } = await stalled({ webhookUrl: 'https://example.com/hook?token=t', webhookSecret });
  expect(webhook_url).toBe('https://example.com/hook');
  expect((await client.jobs.retrieve(id)).webhook_status).toBeNull();
  await client.jobs.delete(id);
  const refused = client.jobs.create({ ...MODEL, file, webhookUrl: 'https://10.0.0.1/' });
  await expect(refused).rejects.toMatchObject({ status: 400, param: 'webhook_url' });
});

describe('an option', () => {
  const id = 'some-id';
  it.each<[string, string, (jobs: Voxgate['jobs']) => Promise<unknown>]>([
    ['create', 'stream', (jobs) => jobs.create({ ...MODEL, file, stream: true } as never)],
    ['create', 'retention_seconds', (jobs) => jobs.create({ ...MODEL, file, retention_seconds: 1 } as never)],
    ['retrieve', 'format', (jobs) => jobs.retrieve(id, { format: 'text' } as never)],
    ['list', 'state', (jobs) => jobs.list({ state: 'failed' } as never)],
    ['result', 'responseFormat', (jobs) => jobs.result(id, { format: 'text', responseFormat: 'srt' } as never)],
    ['cancel', 'reason', (jobs) => jobs.cancel(id, { reason: 'x' } as never)],
    ['delete', 'force', (jobs) => jobs.delete(id, { force: true } as never)],
    ['wait', 'interval', (jobs) => jobs.wait(id, { interval: 1 } as never)],
  ])('of %s that does not exist is refused by its name: %s', async (method, param, call) => {
    const failure = call(scripted(json(200, {})).jobs);
    await expect(failure).rejects.toMatchObject({ name: 'InvalidRequestError', code: 'invalid_option', param });
    await expect(failure).rejects.toThrow(`jobs.${method};`);
    expect(http.arrived).toEqual([]);
  });

  it.each<[string, (jobs: Voxgate['jobs']) => Promise<unknown>]>([
    ['intervalMs', (jobs) => jobs.wait(id, { intervalMs: 99 })],
    ['intervalMs', (jobs) => jobs.wait(id, { intervalMs: 60_001 })],
    ['intervalMs', (jobs) => jobs.wait(id, { intervalMs: Number.NaN })],
    ['timeoutMs', (jobs) => jobs.list({ timeoutMs: 0 })],
    ['retriesMax', (jobs) => jobs.result(id, { format: 'text', retriesMax: 11 })],
    ['format', (jobs) => jobs.result(id, {} as { format: ResponseFormat })],
    ['id', (jobs) => jobs.retrieve('')],
    ['id', (jobs) => jobs.wait(undefined as unknown as string)],
    ['file', (jobs) => jobs.create({ ...MODEL } as never)],
  ])('out of its bounds is refused before a request: %s', async (param, call) => {
    await expect(call(scripted(json(200, {})).jobs)).rejects.toMatchObject({ code: 'invalid_option', param });
    expect(http.arrived).toEqual([]);
  });
});

describe('waiting for a job', () => {
  it('ends with the reason of the signal, between two requests', async () => {
    const controller = new AbortController();
    const waiting = scripted(json(200, { ended_at: null }), (response) => {
      json(200, { ended_at: null })(response);
      response.on('close', () => controller.abort(new Error('no longer')));
    });
    const wait = waiting.jobs.wait('some-id', { intervalMs: 100, signal: controller.signal });
    await expect(wait).rejects.toThrow('no longer');
    expect(http.arrived.map(({ url }) => url)).toEqual(['/v1/jobs/some-id', '/v1/jobs/some-id']);
  });

  it('does not begin with an aborted signal', async () => {
    const wait = scripted(json(200, { ended_at: null })).jobs.wait('some-id', { signal: AbortSignal.abort() });
    await expect(wait).rejects.toMatchObject({ name: 'AbortError' });
    expect(http.arrived).toEqual([]);
  });

  it('survives a node that is away for a moment', async () => {
    const away = refusal(503, 'server_error', 'node_draining', { 'Retry-After': '0' });
    const waiting = scripted(away, json(200, { ended_at: null }), away, json(200, { ended_at: '2026-01-01' }));
    expect(await waiting.jobs.wait('some-id', OFTEN)).toEqual({ ended_at: '2026-01-01' });
    expect(http.arrived).toHaveLength(4);
  });
});
