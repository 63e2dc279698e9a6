// To keep connections of a vendor that bills them open for nothing: sessions that send keepalives and no audio.
import { expect, it } from 'vitest';
import { microUsdOf } from '../../src/config/prices/price.ts';
import type { LiveClient } from '../fakes/processes/live-gateway.ts';
import { startAttacked, startProvider } from './rig/rig.ts';

const MODEL = 'assemblyai/universal-streaming-english';
const SESSIONS = 20;
/** At a cent a second. */
const POOR_MICRO_USD = 15_000n;
const RICH_MICRO_USD = 100_000_000n;

async function open(connect: (query: Record<string, string>) => LiveClient): Promise<LiveClient> {
  const client = connect({ model: MODEL });
  await client.event('session_started');
  client.send({ type: 'keepalive' });
  return client;
}

it('keepalives alone are charged for the time of their connections, and end without an overdraft', async () => {
  const provider = await startProvider('assemblyai');
  const attacked = await startAttacked({
    prices: { [MODEL]: { live: { unit: 'minute', amount: '0.60' } } },
    env: { VOXGATE_ASSEMBLYAI_URL: provider.url, ASSEMBLYAI_API_KEY: 'simulated' },
  });
  const rich = await attacked.customer(RICH_MICRO_USD);
  const clients: LiveClient[] = [];
  for (let session = 0; session < SESSIONS; session++) clients.push(await open((query) => rich.connect(query)));
  const poor = [];
  for (let each = 0; each < SESSIONS; each++) {
    const customer = await attacked.customer(POOR_MICRO_USD);
    poor.push({ customer, client: await open((query) => customer.connect(query)) });
  }
  for (const { client } of poor) {
    await client.close();
    expect(client.events.at(-1)).toMatchObject({ type: 'session_ended', reason: 'credit', audio_seconds: 0 });
  }
  for (const client of clients) client.send({ type: 'close' });
  for (const client of clients) await client.close();
  attacked.gateway.stop();
  await attacked.gateway.ended;
  for (const { customer } of poor) {
    const { balanceMicroUsd } = await customer.balance();
    expect(balanceMicroUsd).toBeGreaterThanOrEqual(0n);
    expect(balanceMicroUsd).toBeLessThan(POOR_MICRO_USD / 10n);
  }
  const told = clients.map((client) => client.events.find(({ type }) => type === 'session_ended'));
  const paid = told.map((event) => (event?.type === 'session_ended' ? microUsdOf(event.cost_usd) : 0n));
  // They were open for as long as the others could pay.
  for (const each of paid) expect(each).toBeGreaterThan(POOR_MICRO_USD / 2n);
  expect(RICH_MICRO_USD - (await rich.balance()).balanceMicroUsd).toBe(paid.reduce((sum, each) => sum + each, 0n));
  expect(provider.server.connections).toBe(0);
  expect(await attacked.audit()).toMatchObject({ ok: true, faults: [] });
});
