// To have live transcription for nothing: interims are read as they come, and the session is ended by a frame that is not
// allowed before any final is due.
import { expect, it } from 'vitest';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import type { LiveClient } from '../fakes/processes/live-gateway.ts';
import { type Attacked, startAttacked } from './rig/rig.ts';

const RATE = 16_000;
const MODEL = 'loopback/numbered';
/** A turn without an end, as with endpointing off. */
const ENDLESS = { model: MODEL, provider_params: JSON.stringify({ turn_seconds: 600 }) };
const SECONDS = 12;
const minute = { [MODEL]: { live: { unit: 'minute', amount: '0.60' } } } as const;
/** Small enough to be sent too much of. */
const env = { VOXGATE_BINARY_FRAME_BYTES_MAX: '1048576' };
const session = { [MODEL]: { live: { unit: 'session', amount: '0.15' } } } as const;

/** Sends the audio, and waits until interims have shown all of it. */
async function listen(client: LiveClient): Promise<void> {
  await client.event('session_started');
  client.send(numberedAudio(0, SECONDS * RATE));
  await client.event('transcript', ({ is_final, end }) => !is_final && end >= SECONDS - 1);
}

/** Everything is settled then. */
async function stop({ gateway }: Attacked): Promise<void> {
  gateway.stop();
  await gateway.ended;
}

const ABORTS: Record<string, (client: LiveClient) => void> = {
  'a text frame over the limit': (client) => client.socket.send('x'.repeat(70_000)),
  'a binary frame over the limit': (client) => client.socket.send(new Uint8Array(2_000_000)),
  'the same after close': (client) => {
    client.send({ type: 'close' });
    client.socket.send('x'.repeat(70_000));
  },
};

it.each(Object.entries(ABORTS))('%s costs what was transcribed', async (_, abort) => {
  const attacked = await startAttacked({ prices: minute, env });
  const customer = await attacked.customer(1_000_000n);
  const client = customer.connect(ENDLESS);
  await listen(client);
  abort(client);
  await client.close();
  await stop(attacked);
  const { balanceMicroUsd } = await customer.balance();
  const paid = 1_000_000n - balanceMicroUsd;
  expect(paid).toBeGreaterThanOrEqual(110_000n);
  expect(paid).toBeLessThanOrEqual(120_000n);
  expect(await attacked.audit()).toMatchObject({ ok: true });
});

it('charges a session price as well', async () => {
  const attacked = await startAttacked({ prices: session });
  const customer = await attacked.customer(1_000_000n);
  const client = customer.connect(ENDLESS);
  await listen(client);
  client.socket.send('x'.repeat(70_000));
  await client.close();
  await stop(attacked);
  expect((await customer.balance()).balanceMicroUsd).toBe(850_000n);
});

it('gives no more than a balance for 12.5 seconds, over any number of sessions', async () => {
  const attacked = await startAttacked({ prices: minute });
  const customer = await attacked.customer(125_000n);
  let heardSeconds = 0;
  for (let round = 0; round < 4; round++) {
    const client = customer.connect(ENDLESS);
    const ended = client.close();
    const isOpen = client.event('session_started').then(() => true);
    if (!(await Promise.race([isOpen, client.refused().then(() => false)]))) break;
    client.send(numberedAudio(0, SECONDS * RATE));
    await Promise.race([client.event('transcript', ({ end }) => end >= SECONDS - 1), ended]);
    client.socket.send('x'.repeat(70_000));
    await ended;
    heardSeconds += Math.max(0, ...client.events.map((event) => (event.type === 'transcript' ? event.end : 0)));
  }
  await stop(attacked);
  expect(heardSeconds).toBeLessThanOrEqual(12.5);
  expect((await customer.balance()).balanceMicroUsd).toBeGreaterThanOrEqual(0n);
  expect(await attacked.audit()).toMatchObject({ ok: true });
});
