// A gateway with ceilings on spend, as its clients meet them: refused over HTTP and on the socket, with the time until they may try again.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { silentWav } from '../fakes/audio/audio-files.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const NUMBERED = 'loopback/numbered';
const PRICE = { unit: 'minute', amount: '0.6' };

let live: LiveGateway;
beforeAll(async () => {
  const file = join(temporaryDirectory(), 'prices.json');
  writeFileSync(file, JSON.stringify({ [NUMBERED]: { live: PRICE }, 'loopback/script': { batch: PRICE } }));
  live = await startLiveGateway({
    VOXGATE_PRICES_FILE: file,
    VOXGATE_SPEND_CEILINGS: 'loopback:0.005/hour,100/month',
    VOXGATE_LEDGER_GRACE_MS: '0',
  });
});

it('refuses a live session that has less than a second left', async () => {
  const { status, headers, body } = await live.connect({ model: NUMBERED }).refused();
  expect([status, JSON.parse(body)]).toMatchObject([
    429,
    {
      error: {
        code: 'spend_ceiling_reached',
        type: 'billing_error',
        message: "The gateway's spend ceiling for the hour at loopback is reached. Try again in the next hour (UTC).",
      },
    },
  ]);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(headers['retry-after'])).toBeLessThanOrEqual(3_600);
});

it('refuses a file that costs more than is left, and accepts a shorter one', async () => {
  const send = async (seconds: number) => {
    const form = new FormData();
    form.append('model', 'loopback/script');
    form.append('file', new Blob([silentWav(seconds)]), 'a.wav');
    const response = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
    const { error } = (await response.json()) as { error?: { code: string } };
    return [response.status, error?.code];
  };
  expect(await send(2)).toEqual([429, 'spend_ceiling_reached']);
  expect(await send(0.4)).toEqual([200, undefined]);
  expect(await send(0.4)).toEqual([429, 'spend_ceiling_reached']);
});

it('leaves models up to a price once the ceiling is reached, and refuses where none is left', async () => {
  const file = join(temporaryDirectory(), 'prices.json');
  const free = { unit: 'minute', amount: '0', free: true };
  writeFileSync(file, JSON.stringify({ 'loopback/script': { live: PRICE, batch: PRICE }, [NUMBERED]: { live: free } }));
  const soft = await startLiveGateway({
    VOXGATE_PRICES_FILE: file,
    VOXGATE_SPEND_CEILINGS: '0/day:only_up_to=0.01',
  });
  const client = soft.connect({ model: 'loopback/script', fallbacks: NUMBERED });
  const { chain } = await client.event('session_started');
  expect(chain.map(({ model }) => model)).toEqual([NUMBERED]);
  const { message } = await client.event('warning', ({ code }) => code === 'model_left_out');
  expect(message).toContain('loopback/script is left out');
  client.send(numberedAudio(0, 16_000));
  client.send({ type: 'close' });
  expect(await client.close()).toMatchObject({ code: 1000 });
  expect(client.of('session_ended')[0]).toMatchObject({ cost_usd: '0.00', usage: [{ model: NUMBERED }] });
  const alone = await soft.connect({ model: 'loopback/script' }).refused();
  expect(JSON.parse(alone.body)).toMatchObject({
    error: { code: 'spend_ceiling_reached', message: expect.stringContaining('Models up to 0.01 USD a minute may') },
  });
});
