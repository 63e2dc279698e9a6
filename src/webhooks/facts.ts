// What an endpoint is told of a fact that the database noted.
import type { KeyStore } from '../accounts/keys/calls.ts';
import { usdOf } from '../config/prices/price.ts';
import type { LedgerStore, SessionRecord } from '../money/store/calls.ts';
import { bodyOf, newMessageId } from './events.ts';
import type { WebhookSeal } from './seal.ts';
import type { FactDelivery, WebhookFact } from './store/calls.ts';

export interface FactsDependencies {
  store: Pick<LedgerStore, 'findSession'> & Pick<KeyStore, 'findKey'>;
  seal: WebhookSeal;
  wallNow(): Date;
}

interface Told {
  at: Date;
  data: object;
}

/** Rejects when the store does not answer. */
export const deliveryOf =
  (dependencies: FactsDependencies) =>
  async (fact: WebhookFact): Promise<FactDelivery> => {
    const { seal, wallNow } = dependencies;
    const { number, organisationId, type } = fact;
    const id = newMessageId(wallNow().getTime());
    const told = await toldOf(dependencies, fact);
    const payload = told && seal.seal({ organisationId, id }, bodyOf(type, told.at, told.data));
    return { fact: number, id, payload };
  };

async function toldOf(
  { store, wallNow }: FactsDependencies,
  { organisationId, type, subject, detail }: WebhookFact,
): Promise<Told | undefined> {
  switch (type) {
    case 'session.ended': {
      const session = await store.findSession(organisationId, subject);
      return session && { at: new Date(session.endedAt ?? wallNow()), data: sessionOf(session) };
    }
    case 'key.revoked': {
      const key = await store.findKey(organisationId, subject);
      if (key?.revokedAt == null) return undefined;
      const { id, name, display, revokedAt } = key;
      return { at: new Date(revokedAt), data: { id, name, display, revoked_at: revokedAt } };
    }
    case 'balance.low':
      return { at: wallNow(), data: { balance_usd: usdOf(BigInt(detail)), currency: 'USD' } };
    default:
      return undefined;
  }
}

const sessionOf = ({ id, model, keyId, openedAt, endedAt, reason, code, audioMs, costMicroUsd }: SessionRecord) => ({
  ...{ id, model, key_id: keyId, opened_at: openedAt, ended_at: endedAt, reason, code },
  audio_seconds: audioMs / 1000,
  cost_usd: usdOf(costMicroUsd),
});
