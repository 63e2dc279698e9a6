// What an endpoint is told of a fact that the database noted.
import type { KeyStore } from '../accounts/keys/calls.ts';
import { tagsOfText } from '../api/tags.ts';
import { usdOf } from '../config/prices/price.ts';
import type { LedgerStore, SessionRecord } from '../money/store/calls.ts';
import { StoreError } from '../store/store-error.ts';
import { bodyOf, messageIdOf, newMessageId } from './events.ts';
import type { BatchedPayload } from './format.ts';
import type { WebhookSeal } from './seal.ts';
import { toldOfSpend } from './spend.ts';
import type { FactBatch, FactDelivery, WebhookFact, WebhookStore } from './store/calls.ts';
import type { Transcript } from './transcripts.ts';
import { batchesOf, Gathering, isBatched, partsOf, usageOf, type Written } from './usage.ts';

/** The node of a session keeps its transcript while it settles the session. Without it, the event is sent after this time. */
const TRANSCRIPT_WAIT_MS = 10_000;

export interface FactsDependencies {
  store: Pick<LedgerStore, 'findSession'> & Pick<KeyStore, 'findKey'> & Pick<WebhookStore, 'findWebhookTranscript'>;
  /** A job of the key as its webhook shows it; undefined when it is not there any more. */
  findJob(organisationId: string, keyId: string, id: string): Promise<Told | undefined>;
  seal: WebhookSeal;
  wallNow(): Date;
  /** A fact is left out. */
  onFault(error: unknown): void;
}

export interface DeliveriesOfFacts {
  deliveries: FactDelivery[];
  batches: FactBatch[];
}

export interface Told {
  at: Date;
  data: object;
}

export class Facts {
  readonly #dependencies: FactsDependencies;
  /** When a fact was seen first whose transcript was not there. */
  readonly #waiting = new Map<number, number>();
  readonly #gathering = new Gathering();

  constructor(dependencies: FactsDependencies) {
    this.#dependencies = dependencies;
  }

  /** The deliveries of facts, without those that wait for a transcript or for others. Rejects when the store does not answer. */
  async deliveriesOf(facts: readonly WebhookFact[]): Promise<DeliveriesOfFacts> {
    this.#forgetOld();
    const nowMs = this.#dependencies.wallNow().getTime();
    const together = batchesOf(facts.filter(isBatched)).filter((each) => this.#gathering.isReady(each, nowMs));
    const alone = facts.filter((fact) => !isBatched(fact));
    const deliveries = await Promise.all(alone.map((fact) => this.#deliveryOf(fact)));
    const batches = await Promise.all(together.map((each) => this.#batchOf(each)));
    return {
      deliveries: [...deliveries, ...batches.flatMap((each) => each.deliveries)].filter((each) => each !== undefined),
      batches: batches.flatMap((each) => each.batches),
    };
  }

  /** A fact that has no other with it is a delivery like others. */
  async #batchOf(facts: readonly WebhookFact[]): Promise<DeliveriesOfFacts> {
    const [first, ...others] = facts as [WebhookFact, ...WebhookFact[]];
    if (others.length === 0) {
      const delivery = await this.#deliveryOf(first);
      return { deliveries: delivery === undefined ? [] : [delivery], batches: [] };
    }
    const { seal, wallNow } = this.#dependencies;
    const { organisationId } = first;
    const written = await Promise.all(facts.map((fact) => this.#batched(fact)));
    const nothing = facts.filter((_, at) => written[at] === undefined);
    return {
      deliveries: nothing.map(({ number }) => ({
        fact: number,
        id: newMessageId(wallNow().getTime()),
        payload: undefined,
      })),
      batches: partsOf(written.filter((each) => each !== undefined)).map((part) => {
        const id = newMessageId(wallNow().getTime());
        const payload = seal.seal({ organisationId, id }, `[${part.map(({ text }) => text).join(',')}]`);
        return { facts: part.map(({ fact }) => fact), id, payload };
      }),
    };
  }

  async #batched(fact: WebhookFact): Promise<Written | undefined> {
    const told = await this.#toldOf(fact).catch((error: unknown) => this.#untold(error));
    if (told === undefined || told === 'later') return undefined;
    const { type } = fact;
    const event: BatchedPayload = {
      id: this.#idOf(fact),
      type,
      timestamp: told.at.toISOString(),
      data: { ...told.data },
    };
    return { fact: fact.number, text: JSON.stringify(event) };
  }

  /**
   * A settlement has the same id for every endpoint, and again if the ledger is restored and told of it anew; a ceiling that is
   * reached has that of a node which reports it as well.
   */
  #idOf({ organisationId, type, subject }: WebhookFact): string {
    return type === 'usage.recorded' || type === 'spend.reached'
      ? messageIdOf(organisationId, type, subject)
      : newMessageId(this.#dependencies.wallNow().getTime());
  }

  async #deliveryOf(fact: WebhookFact): Promise<FactDelivery | undefined> {
    const { seal } = this.#dependencies;
    const { number, organisationId, type } = fact;
    const id = this.#idOf(fact);
    const told = await this.#toldOf(fact).catch((error: unknown) => this.#untold(error));
    if (told === 'later') return undefined;
    this.#waiting.delete(number);
    const payload = told && seal.seal({ organisationId, id }, bodyOf(type, told.at, told.data));
    return { fact: number, id, payload };
  }

  /** Those whose endpoint is gone. */
  #forgetOld(): void {
    const nowMs = this.#dependencies.wallNow().getTime();
    for (const [number, sinceMs] of this.#waiting) {
      if (nowMs - sinceMs < 2 * TRANSCRIPT_WAIT_MS) break;
      this.#waiting.delete(number);
    }
  }

  /** A fact that cannot be told must not keep the others waiting. Throws where the store does not answer. */
  #untold(error: unknown): undefined {
    if (error instanceof StoreError) throw error;
    this.#dependencies.onFault(error);
  }

  /** Undefined where there is nothing to say of it any more. */
  async #toldOf(fact: WebhookFact): Promise<Told | 'later' | undefined> {
    const { store, wallNow, findJob } = this.#dependencies;
    const { organisationId, type, subject, detail } = fact;
    switch (type) {
      case 'session.ended': {
        const session = await store.findSession(organisationId, subject);
        if (session === undefined) return undefined;
        const transcript = fact.hasTranscript ? await this.#transcriptOf(fact) : {};
        if (transcript === 'later') return 'later';
        return { at: new Date(session.endedAt ?? wallNow()), data: { ...sessionOf(session), ...transcript } };
      }
      case 'usage.recorded': {
        const session = await store.findSession(organisationId, subject);
        return session && { at: new Date(detail), data: usageOf(session, detail) };
      }
      case 'key.revoked': {
        const key = await store.findKey(organisationId, subject);
        if (key?.revokedAt == null) return undefined;
        const { id, name, display, revokedAt } = key;
        return { at: new Date(revokedAt), data: { id, name, display, revoked_at: revokedAt } };
      }
      case 'balance.low':
        return { at: wallNow(), data: { balance_usd: usdOf(BigInt(detail)), currency: 'USD' } };
      case 'spend.reached':
        return toldOfSpend(detail);
      case 'job.completed':
      case 'job.failed':
        return findJob(organisationId, detail, subject);
      default:
        return undefined;
    }
  }

  async #transcriptOf({ number, organisationId, subject: id }: WebhookFact): Promise<object | 'later'> {
    const { store, seal, wallNow } = this.#dependencies;
    const sealed = await store.findWebhookTranscript(organisationId, id);
    const text = sealed && seal.open({ organisationId, id }, sealed);
    if (text !== undefined) {
      const { turns, isCut } = JSON.parse(text) as Transcript;
      return { transcript: turns, transcript_is_cut: isCut };
    }
    const nowMs = wallNow().getTime();
    const sinceMs = this.#waiting.get(number) ?? nowMs;
    this.#waiting.set(number, sinceMs);
    return nowMs - sinceMs < TRANSCRIPT_WAIT_MS ? 'later' : { transcript: null };
  }
}

const sessionOf = ({
  id,
  model,
  keyId,
  openedAt,
  endedAt,
  reason,
  code,
  audioMs,
  costMicroUsd,
  tags,
}: SessionRecord) => ({
  ...{ id, model, key_id: keyId, opened_at: openedAt, ended_at: endedAt, reason, code },
  ...(tags === undefined ? {} : { tags: tagsOfText(tags) }),
  audio_seconds: audioMs / 1000,
  cost_usd: usdOf(costMicroUsd),
});
