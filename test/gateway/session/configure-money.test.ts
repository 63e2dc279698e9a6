// A session that costs nothing is changed to a model that costs: its money is asked for before the change, as for a new session, and
// where there is none the change is refused and nothing is lost.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import type { Store } from '../../../src/node/store/store.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { numberedEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { LiveClient, type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { gapsIn } from '../../simulation/whole.ts';

const BY = { type: 'operator', id: 'test' } as const;
const FREE = 'deepgram/nova-2';
const PAID = 'deepgram/nova-3';
const RATE = 16_000;

let simulator: SimulatorServer;
let live: LiveGateway;
let store: Store;

beforeAll(async () => {
  const found = simulators.find(({ provider }) => provider === 'deepgram')!;
  const ear = numberedEar({ turnSeconds: 0.7 });
  simulator = await SimulatorServer.start({ simulator: found, ear, clock: systemClock });
  const prices = join(temporaryDirectory(), 'prices.json');
  const free = { unit: 'minute', amount: '0', free: true };
  const paid = { unit: 'minute', amount: '0.6' };
  writeFileSync(prices, JSON.stringify({ [FREE]: { live: free }, [PAID]: { live: paid } }));
  live = await startLiveGateway({
    VOXGATE_DEEPGRAM_URL: simulator.url,
    DEEPGRAM_API_KEY: 'credential-of-the-gateway',
    VOXGATE_PRICES_FILE: prices,
  });
  store = await openSqliteStore({ directory: live.directory });
});
afterAll(async () => {
  store.close();
  await simulator.close();
});

interface Money {
  credit?: bigint;
  /** What the key may spend in a day. */
  daily?: bigint;
}

async function customer({ credit = 0n, daily }: Money) {
  const { id } = await store.createOrganisation('A customer', 0n, BY);
  const gift = { organisationId: id, kind: 'top_up', microUsd: credit, uniqueKey: id, note: 'for the test' } as const;
  if (credit > 0n) await store.addCredit(gift, BY);
  const limit = daily === undefined ? {} : { dailySpendMicroUsdMax: daily };
  const { secret } = await store.createKey(id, limit, BY);
  const connect = (path: string) =>
    new LiveClient(`${live.url.replace('http', 'ws')}${path}`, [], { headers: { Authorization: `Bearer ${secret}` } });
  return { id, connect, held: async () => (await store.balanceOf(id)).heldMicroUsd };
}

const listening = (parameters: Record<string, string>): string =>
  `/v1/listen?${new URLSearchParams({ sample_rate: String(RATE), ...parameters })}`;

async function ended(client: LiveClient) {
  client.send({ type: 'close' });
  expect(await client.close()).toMatchObject({ code: 1000 });
  return client.of('session_ended')[0]!;
}

describe('a change to a model that costs, in a session that is free so far', () => {
  it.concurrent.each<[string, Money, { status: number; code: string }]>([
    ['without credit', {}, { status: 402, code: 'insufficient_credit' }],
    ['with less than a second costs', { credit: 9_999n }, { status: 402, code: 'insufficient_credit' }],
    [
      'of a key that may spend no more',
      { credit: 9_000_000n, daily: 0n },
      { status: 429, code: 'rate_limit_exceeded' },
    ],
  ])('fails %s like a new session, and the session continues unchanged', async (_, money, { status, code }) => {
    const { connect, held } = await customer(money);
    const refused = connect(listening({ model: PAID }));
    await refused.refused();
    const { error: body } = JSON.parse(refused.refusal!.body);
    expect([refused.refusal!.status, body.code]).toEqual([status, code]);

    const client = connect(listening({ model: FREE }));
    await client.event('session_started');
    client.send(numberedAudio(0, RATE));
    client.send({ type: 'configure', model: PAID });
    const { error, fatal } = await client.event('error');
    expect([error.code, error.message, fatal]).toEqual([code, body.message, false]);
    expect(await held()).toBe(0n);
    client.send(numberedAudio(RATE, 2 * RATE));
    // What was refused is no part of what comes after.
    client.send({ type: 'configure', language: 'en' });
    expect(await client.event('configured')).toMatchObject({ model: FREE });
    client.send(numberedAudio(2 * RATE, 3 * RATE));
    expect(await ended(client)).toMatchObject({ audio_seconds: 3, cost_usd: '0.00' });
    expect(gapsIn(client.finals, 3 * RATE, RATE, [FREE])).toEqual([]);
    expect(client.of('configured')).toHaveLength(1);
    expect(client.of('error')).toHaveLength(1);
  });

  it.concurrent('succeeds with credit, which is held once and released', async () => {
    const { id, connect, held } = await customer({ credit: 1_000_000n });
    const client = connect(listening({ model: FREE }));
    await client.event('session_started');
    client.send(numberedAudio(0, RATE));
    await client.event('transcript', ({ is_final }) => is_final);
    client.send({ type: 'configure', model: PAID });
    client.send(numberedAudio(RATE, 2 * RATE));
    await client.event('configured');
    client.send(numberedAudio(2 * RATE, 3 * RATE));
    // A minute of it, and no more.
    expect(await held()).toBeLessThanOrEqual(600_001n);
    expect(await held()).toBeGreaterThan(500_000n);
    const { usage, cost_usd } = await ended(client);
    expect(usage.map(({ model }) => model)).toEqual([FREE, PAID]);
    expect(gapsIn(client.finals, 3 * RATE, RATE, [FREE, PAID])).toEqual([]);
    await vi.waitFor(async () => expect(await held()).toBe(0n));
    const { balanceMicroUsd } = await store.balanceOf(id);
    expect(balanceMicroUsd).toBe(1_000_000n - BigInt(Math.round(Number(cost_usd) * 1_000_000)));
  });

  it.concurrent('succeeds for a paid fallback of a free model, like a new session', async () => {
    const { connect, held } = await customer({});
    const client = connect(listening({ model: FREE }));
    await client.event('session_started');
    client.send({ type: 'configure', fallbacks: [PAID] });
    expect(await client.event('configured')).toMatchObject({ model: FREE, fallbacks: [PAID] });
    expect(await held()).toBe(0n);
    await ended(client);
  });

  it.concurrent('fails for another vendor’s client in that vendor’s format', async () => {
    const { connect, held } = await customer({});
    const client = connect(`/compat/openai/v1/realtime?intent=transcription&sample_rate=${RATE}`);
    await client.opened();
    const told = client.events as unknown as { type: string; error?: { code: string } }[];
    const heard = (type: string) => client.until(() => told.find((each) => each.type === type), type);
    const update = (transcription: object) => {
      const input = { transcription, turn_detection: null };
      client.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
    };
    update({ model: FREE });
    await heard('session.updated');
    update({ model: PAID });
    expect((await heard('error')).error).toMatchObject({ code: 'insufficient_quota' });
    expect(await held()).toBe(0n);
    client.send({ type: 'input_audio_buffer.append', audio: Buffer.from(numberedAudio(0, RATE)).toString('base64') });
    client.send({ type: 'input_audio_buffer.commit' });
    await heard('conversation.item.input_audio_transcription.completed');
    expect(client.closed).toBeUndefined();
    client.socket.close();
    await client.close();
  });
});
