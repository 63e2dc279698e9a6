// The receivers of the guide, run as they are written there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newWebhookSecret, webhookHeaders } from '../../src/runtime/outbound/signature.ts';
import { freePorts } from '../fakes/free-ports.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const guide = readFileSync(new URL('../../docs/guides/webhooks.md', import.meta.url), 'utf8');
const [program = '', metering = ''] = [...guide.matchAll(/```js\n([\s\S]*?)```/g)].map(([, text = '']) => text);
const secret = newWebhookSecret();
const body = JSON.stringify({ type: 'session.ended', timestamp: '2026-11-21T12:00:00.000Z', data: { id: 'ses_ü' } });

/** Starts a program of the guide; `output` grows with what it prints. */
async function started(text: string) {
  const file = join(temporaryDirectory(), 'receiver.mjs');
  // Reports that it listens.
  writeFileSync(file, text.replace(/\.listen\((.*)\);\n$/, ".listen($1, () => console.log('listens'));\n"));
  const [port] = await freePorts(1);
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const receiver = { url: `http://127.0.0.1:${port}/`, output: '', stop: () => child.kill() };
  child.stdout.setEncoding('utf8').on('data', (printed: string) => {
    receiver.output += printed;
  });
  while (!receiver.output.includes('listens')) await once(child.stdout, 'data');
  return receiver;
}

let receiver: Awaited<ReturnType<typeof started>>;
let meter: Awaited<ReturnType<typeof started>>;
afterAll(() => {
  receiver.stop();
  meter.stop();
});
beforeAll(async () => {
  [receiver, meter] = await Promise.all([started(program), started(metering)]);
});

const post = async (headers: Record<string, string>, sent = body) =>
  (await fetch(receiver.url, { method: 'POST', headers, body: sent })).status;

test('has about twenty lines', () => {
  expect(program.trim().split('\n').length).toBeLessThan(24);
});

test('accepts a signed post, once, and one that is signed with the former secret as well', async () => {
  const signed = webhookHeaders([secret], 'msg_1', new Date(), body);
  expect([await post(signed), await post(signed)]).toEqual([204, 204]);
  const both = webhookHeaders([newWebhookSecret(), secret], 'msg_2', new Date(), body);
  expect(await post(both)).toBe(204);
  await expect.poll(() => receiver.output.split('\n').filter((line) => line.endsWith(body))).toHaveLength(2);
});

test('refuses another secret, a changed body, an old post, and one without a signature', async () => {
  const now = new Date();
  expect([
    await post(webhookHeaders([newWebhookSecret()], 'msg_3', now, body)),
    await post(webhookHeaders([secret], 'msg_3', now, body), body.replace('ü', 'u')),
    await post(webhookHeaders([secret], 'msg_3', new Date(now.getTime() - 600_000), body)),
    await post(webhookHeaders([], 'msg_3', now, body)),
  ]).toEqual([401, 401, 401, 401]);
});

test('adds up events of usage, one or a batch, each once', async () => {
  const usage = (id: string, cost: number) => ({
    ...{ specversion: '1.0', id, type: 'usage.recorded', subject: 'acme' },
    data: { cost_micro_usd: cost },
  });
  for (const sent of [usage('1', 60), [usage('1', 60), usage('2', 30)], { ...usage('3', 9), type: 'session.ended' }]) {
    const { status } = await fetch(meter.url, { method: 'POST', body: JSON.stringify(sent) });
    expect(status).toBe(204);
  }
  await expect.poll(() => meter.output.trim().split('\n').at(-1)).toBe('{"acme":90}');
});
