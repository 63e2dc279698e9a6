// Sessions that are opened and settled at a store, as many beside each other as asked, or at a pace.
import type { Store } from '../src/node/store/store.ts';

const OPERATOR = { type: 'operator', id: 'bench' } as const;
const LEASE_MS = 60_000;
const MODEL = 'loopback/script';
const PRICE = { unit: 'minute', microUsd: 4_300n, minimumMicroUsd: 0n } as const;
const WANTED = { wantedMicroUsd: 4_300n, leastMicroUsd: 1_000n, leaseMs: LEASE_MS };

export interface Payer {
  organisationId: string;
  keyId: string;
}

/** An organisation with a key and more credit than a bench can spend. */
export async function createPayer(store: Store): Promise<Payer> {
  const { id: organisationId } = await store.createOrganisation('Bench', 0n, OPERATOR);
  const { key } = await store.createKey(organisationId, {}, OPERATOR);
  await store.addCredit(
    { organisationId, kind: 'top_up', microUsd: 10n ** 12n, uniqueKey: 'bench', note: '' },
    OPERATOR,
  );
  return { organisationId, keyId: key.id };
}

/** Opens a session, renews its hold that often, and settles it. Resolves with the milliseconds until it was open. */
export async function settleOne(store: Store, payer: Payer, name: string, renewals = 0): Promise<number> {
  const head = { id: `ses_${name}`, ...payer, mode: 'live', model: MODEL, openedAt: new Date().toISOString() } as const;
  const line = (audioMs: number) => [{ model: MODEL, own: false, audioMs, price: PRICE }];
  const startedMs = performance.now();
  await store.openSession(head, WANTED);
  const openMs = performance.now() - startedMs;
  for (let renewal = 1; renewal <= renewals; renewal++) {
    await store.renewHold(head, line(renewal * 10_000), WANTED);
  }
  const audioMs = 10_000 * renewals + 5_000;
  await store.settleSession(head, {
    ...{ endedAt: new Date().toISOString(), reason: 'client_closed', code: null, audioMs },
    lines: line(audioMs),
  });
  return openMs;
}

export interface Crowd {
  name: string;
  inFlight: number;
  renewals: number;
  count: number;
}

/** Sessions settled a second, each by one of so many that run beside each other. */
export async function settledPerSecond(store: Store, payer: Payer, crowd: Crowd): Promise<number> {
  const { name, inFlight, renewals, count } = crowd;
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) {
      await settleOne(store, payer, `${name}_${index}`, renewals);
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: inFlight }, worker));
  return Math.round((count * 1000) / (performance.now() - startedMs));
}
