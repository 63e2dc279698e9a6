// What an attack works with: a real gateway with prices and simulated providers, customers with prepaid money and keys of their
// own, and what the ledger says afterwards.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { KeySettings } from '../../../src/accounts/keys/calls.ts';
import type { LedgerAudit } from '../../../src/money/store/calls.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import type { Store } from '../../../src/node/store/store.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { type Customer, createCustomer } from './customers.ts';

export type { Customer };

export interface AttackedOptions {
  /** As in `VOXGATE_PRICES_FILE`: USD by slug and mode. */
  prices?: Record<string, Partial<Record<'batch' | 'live', { unit: 'minute' | 'session'; amount: string }>>>;
  env?: Record<string, string>;
}

export interface Attacked extends LiveGateway {
  customer(creditMicroUsd: bigint, settings?: Partial<KeySettings>): Promise<Customer>;
  audit(): Promise<LedgerAudit>;
}

const opened: (Store | SimulatorServer)[] = [];
// Registered on import, before the gateways are: they have ended and their directories are there until then.
afterAll(async () => {
  for (const each of opened.splice(0)) await each.close();
});

/** A gateway to attack; it is stopped after the tests of the file. */
export async function startAttacked({ prices = {}, env = {} }: AttackedOptions = {}): Promise<Attacked> {
  const directory = temporaryDirectory();
  const file = join(directory, 'prices.json');
  writeFileSync(file, JSON.stringify(prices));
  const live = await startLiveGateway({ VOXGATE_DATA_DIRECTORY: directory, VOXGATE_PRICES_FILE: file, ...env });
  const store = await openSqliteStore({ directory });
  opened.push(store);
  return Object.assign(live, {
    audit: () => store.auditLedger(),
    customer: (creditMicroUsd: bigint, settings: Partial<KeySettings> = {}) =>
      createCustomer({ url: live.url, store }, creditMicroUsd, settings),
  });
}

/** The URL of a simulated provider that says one sentence again and again; it is closed after the tests of the file. */
export async function startProvider(
  provider: string,
  options: { faults?: string[]; turns?: { text: string; seconds: number }[] } = {},
): Promise<{ url: string; server: SimulatorServer }> {
  const simulator = simulators.find((each) => each.provider === provider);
  if (simulator === undefined) throw new Error(`There is no simulator of ${provider}.`);
  const ear = scriptEar({ turns: options.turns ?? [{ text: 'what was said', seconds: 1 }] });
  const server = await SimulatorServer.start({ simulator, ear, clock: systemClock, faults: options.faults ?? [] });
  opened.push(server);
  return { url: server.url, server };
}
