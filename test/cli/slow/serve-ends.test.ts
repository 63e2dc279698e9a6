// How a process ends, with live sessions in it: asked to, and killed.
import { expect, it } from 'vitest';
import { ServedProcess } from '../../deploy/served-process.ts';
import { expectWhole } from '../../fakes/audio/numbered-finals.ts';
import { Serving } from '../../fakes/processes/serving.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const SESSIONS = 200;
const MANY = { VOXGATE_SESSIONS_PER_KEY_MAX: '1000', VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '1000' };
/** One turn and a half. */
const SAMPLES = 24_000;

it(`drains ${SESSIONS} sessions on SIGTERM: no new ones, every final, 4200 for each, and 0`, {
  timeout: 90_000,
}, async () => {
  const serving = await Serving.start({ env: MANY });
  const speaking = await Promise.all(Array.from({ length: SESSIONS }, () => serving.speak(SAMPLES)));
  await Promise.all(speaking.map(({ client }) => client.event('transcript', ({ is_final }) => is_final)));
  const ended = serving.end('SIGTERM');
  await Promise.all(speaking.map(({ client }) => client.event('warning', ({ code }) => code === 'node_draining')));
  expect((await serving.request('/readyz')).status).toBe(503);
  const { status, body } = await serving.connect().refused();
  expect([status, JSON.parse(body).error.code]).toEqual([503, 'node_draining']);
  // The turn that was open is said to its end.
  for (const one of speaking) one.send(8_000);
  const closes = await Promise.all(speaking.map(({ client }) => client.close()));
  expect(new Set(closes.map(({ code }) => code))).toEqual(new Set([4200]));
  for (const { client, samples } of speaking) {
    expectWhole(client.finals, samples);
    expect(client.events.at(-1)).toMatchObject({ type: 'session_ended', reason: 'draining', audio_seconds: 2 });
  }
  expect(await ended).toEqual([0, null]);
});

it('closes sessions at once on a second SIGTERM, with exit code 0', async () => {
  const serving = await Serving.start();
  const speaking = await serving.speak(SAMPLES);
  await speaking.client.event('transcript', ({ is_final }) => is_final);
  serving.child.kill('SIGTERM');
  await speaking.client.event('warning');
  const ended = serving.end('SIGTERM');
  expect((await speaking.client.close()).code).toBe(4200);
  expectWhole(speaking.client.finals, 16_000);
  expect(speaking.client.events.at(-1)).toMatchObject({ type: 'session_ended', reason: 'draining' });
  expect(await ended).toEqual([0, null]);
});

it('SIGKILL: clients see 1006 at once, and the next process starts on what is left, with a ledger that agrees', async () => {
  const serving = await Serving.start();
  const speaking = await Promise.all(Array.from({ length: 20 }, () => serving.speak(SAMPLES)));
  await Promise.all(speaking.map(({ client }) => client.event('transcript', ({ is_final }) => is_final)));
  const env = { VOXGATE_DATA_DIRECTORY: serving.directory };
  expect(await serving.end('SIGKILL')).toEqual([null, 'SIGKILL']);
  const closes = await Promise.all(speaking.map(({ client }) => client.close()));
  expect(new Set(closes.map(({ code }) => code))).toEqual(new Set([1006]));
  const next = await Serving.start({ env });
  const answer = await next.request('/v1/sessions?limit=100', { headers: { Authorization: `Bearer ${serving.key}` } });
  const { data } = (await answer.json()) as { data: { audio_seconds: number }[] };
  expect(data.map(({ audio_seconds }) => audio_seconds <= SAMPLES / 16_000)).toEqual(Array(20).fill(true));
  expect(await next.end('SIGTERM')).toEqual([0, null]);
  expect((await voxgate(['ledger', 'audit'], env)).code).toBe(0);
});

it('exits with 0 on SIGTERM right after listening, while the first key is created', async () => {
  const served = await ServedProcess.start(['serve'], { VOXGATE_DATA_DIRECTORY: temporaryDirectory() });
  expect(await served.end('SIGTERM')).toEqual({ code: 0, signal: null });
});
