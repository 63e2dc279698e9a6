// Somebody with a prepaid balance and a key, at a gateway that is attacked.
import type { KeySettings } from '../../../src/accounts/keys/calls.ts';
import type { Store } from '../../../src/node/store/store.ts';
import { type ConnectOptions, LiveClient } from '../../fakes/processes/live-gateway.ts';

const OPERATOR = { type: 'operator', id: 'attack' } as const;

export interface Customer {
  organisationId: string;
  keyId: string;
  key: string;
  connect(query: Record<string, string>, options?: ConnectOptions): LiveClient;
  request(path: string, init?: RequestInit): Promise<Response>;
  /** In micro-USD. */
  balance(): Promise<{ balanceMicroUsd: bigint; heldMicroUsd: bigint }>;
}

export async function createCustomer(
  { url, store }: { url: string; store: Store },
  creditMicroUsd: bigint,
  settings: Partial<KeySettings> = {},
): Promise<Customer> {
  const { id: organisationId } = await store.createOrganisation('A customer', 0n, OPERATOR);
  const uniqueKey = `credit of ${organisationId}`;
  if (creditMicroUsd > 0n) {
    const credit = { organisationId, kind: 'top_up', microUsd: creditMicroUsd, uniqueKey, note: '' } as const;
    await store.addCredit(credit, OPERATOR);
  }
  const made = await store.createKey(organisationId, settings, OPERATOR);
  const authorization = { Authorization: `Bearer ${made.secret}` };
  return {
    organisationId,
    keyId: made.key.id,
    key: made.secret,
    connect: (query, { protocols = [], authorize: _, ...options } = {}) =>
      new LiveClient(`${url.replace('http', 'ws')}/v1/listen?${new URLSearchParams(query)}`, protocols, {
        ...options,
        headers: { ...authorization, ...options.headers },
      }),
    request: (path, init = {}) =>
      fetch(`${url}${path}`, {
        ...init,
        headers: { ...authorization, ...(init.headers as Record<string, string>) },
      }),
    balance: () => store.balanceOf(organisationId),
  };
}
