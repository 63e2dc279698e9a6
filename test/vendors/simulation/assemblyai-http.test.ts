// The simulated AssemblyAI over HTTP: temporary tokens, uploads and jobs, each kept to its rules.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { simulator } from '../../../src/vendors/assemblyai/simulator/index.ts';
import { numberedEar } from '../../../src/vendors/simulation/ears.ts';
import type { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { dial } from './assemblyai-client.ts';
import { closeAll, serve } from './client.ts';

afterEach(closeAll);

const start = (clock = new SimulatedClock()) => serve({ simulator, ear: numberedEar(), clock });

describe('a token', () => {
  const token = (server: SimulatorServer, query: string, key = 'key-1') =>
    fetch(`${server.url}/v3/token?${query}`, { headers: { Authorization: key } });

  it('opens one session, and may shorten it', async () => {
    const clock = new SimulatedClock();
    const server = await start(clock);
    const answer = (await (
      await token(server, 'expires_in_seconds=60&max_session_duration_seconds=60')
    ).json()) as Record<string, string>;
    expect(answer).toEqual({ token: expect.any(String), expires_in_seconds: 60 });
    const client = dial(server, { token: answer.token as string }, '');
    await client.message('Begin');
    const again = dial(server, { token: answer.token as string });
    expect((await again.closed).code).toBe(1008);
    clock.increment(60_000);
    expect((await client.closed).code).toBe(3008);
  });

  it.each([
    ['expires_in_seconds=0', 'key-1', 422],
    ['expires_in_seconds=601', 'key-1', 422],
    ['', 'key-1', 422],
    ['expires_in_seconds=60&max_session_duration_seconds=59', 'key-1', 422],
    ['expires_in_seconds=60', 'bad', 401],
  ])('fails with %s and the key %s', async (query, key, status) => {
    expect((await token(await start(), query, key)).status).toBe(status);
  });
});

describe('a request', () => {
  let server: SimulatorServer;
  beforeEach(async () => {
    server = await start();
  });
  const ask = async (path: string, init: RequestInit & { key?: string } = {}) => {
    const response = await fetch(`${server.url}${path}`, { ...init, headers: { Authorization: init.key ?? 'key-1' } });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  const job = (json: object, key = 'key-1') =>
    ask('/v2/transcript', { method: 'POST', body: JSON.stringify(json), key });

  it.each<[string, object, number]>([
    ['without a file', {}, 400],
    ['with a language and its detection', { audio_url: 'x', language_code: 'en', language_detection: true }, 400],
    ['with redaction of nothing in particular', { audio_url: 'x', redact_pii: true }, 400],
  ])('fails for a job %s', async (_, json, status) => {
    expect((await job(json)).status).toBe(status);
  });

  it('fails for an upload of another account', async () => {
    const { json } = await ask('/v2/upload', { method: 'POST', body: new Uint8Array(8) });
    expect((await job({ audio_url: json.upload_url }, 'key-2')).status).toBe(403);
    expect((await ask('/v2/upload', { method: 'POST' })).status).toBe(422);
  });

  it('works for a job until it is deleted', async () => {
    const { json } = await job({ audio_url: 'https://example.test/gone' });
    const path = `/v2/transcript/${json.id}`;
    expect((await ask(path)).json).toMatchObject({
      status: 'error',
      error: expect.stringContaining('unable to download'),
    });
    expect((await ask(path, { method: 'DELETE' })).json).toMatchObject({ id: json.id, text: 'Deleted by user.' });
    expect([(await ask(path)).status, (await ask('/v2/nonsense')).status]).toEqual([404, 404]);
  });

  it('fails according to the key', async () => {
    for (const [key, status] of [
      ['', 401],
      ['Bearer key-1', 401],
      ['bad', 401],
      ['broke', 400],
      ['limited', 429],
    ] as const)
      expect((await ask('/v2/transcript/t-1', { key })).status).toBe(status);
  });

  it('keeps a limited number of uploads', async () => {
    const first = await ask('/v2/upload', { method: 'POST', body: new Uint8Array(1) });
    for (let upload = 0; upload < 200; upload++) await ask('/v2/upload', { method: 'POST', body: new Uint8Array(1) });
    const { json } = await job({ audio_url: first.json.upload_url });
    expect((await ask(`/v2/transcript/${json.id}`)).json).toMatchObject({
      error: expect.stringContaining('unable to download'),
    });
  });
});
