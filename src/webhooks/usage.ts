// `usage.recorded`: the charge of one settlement. What is settled is never changed, so the sum of these events is the bill. Those of one
// endpoint that wait together become one batch.
import { tagsOfText } from '../api/tags.ts';
import { usageRow, usdOf } from '../config/prices/price.ts';
import type { SessionRecord } from '../money/store/calls.ts';
import { lateId } from '../money/store/lost.ts';
import type { WebhookFact } from './store/calls.ts';

/** Events of one batch. */
export const BATCH_MAX = 100;
/** Of their texts, so that the sealed batch is no larger than a payload may be. */
export const BATCH_BYTES_MAX = 200 * 1024;
/** How long facts are gathered for an endpoint that fails, so that an outage of days makes hundreds of deliveries and not thousands. */
export const GATHER_MS = 300_000;
/** All that waits is taken then, for so long: facts of several endpoints that fail may be mixed. */
export const FLUSH_MS = 10_000;

const LATE = lateId('');

/** @param settledAt when it was settled, which decides the bill that it is on */
export function usageOf(session: SessionRecord, settledAt: string) {
  const { id, organisationId, keyId, mode, model, openedAt, endedAt, reason, code } = session;
  const { audioMs, lines, costMicroUsd, tags, redactions } = session;
  const providers = new Set(lines.length === 0 ? [providerOf(model)] : lines.map((line) => providerOf(line.model)));
  const [provider] = providers;
  return {
    id,
    session_id: id.endsWith(LATE) ? id.slice(0, -LATE.length) : id,
    organisation_id: organisationId,
    key_id: keyId,
    ...{ mode, model, provider: providers.size === 1 ? provider : null },
    ...{ opened_at: openedAt, ended_at: endedAt, settled_at: settledAt, reason, code },
    ...(tags === undefined ? {} : { tags: tagsOfText(tags) }),
    audio_seconds: audioMs / 1000,
    billed_seconds: lines.reduce((sum, line) => sum + Math.max(line.audioMs, line.connectionMs ?? 0), 0) / 1000,
    cost_usd: usdOf(costMicroUsd),
    cost_micro_usd: Number(costMicroUsd),
    currency: 'USD',
    ...(redactions === undefined ? {} : { redactions }),
    usage: lines.map((line) => ({
      ...usageRow(line),
      provider: providerOf(line.model),
      cost_micro_usd: Number(line.costMicroUsd),
    })),
  };
}

const providerOf = (slug: string): string => slug.split('/', 1)[0] as string;

/** Which facts of an endpoint are put into one batch. */
export const isBatched = ({ type, format }: WebhookFact): boolean =>
  type === 'usage.recorded' && format === 'cloudevents';

/** When facts of an endpoint that fails were seen first. */
export class Gathering {
  readonly #sinceMs = new Map<number, number>();

  /** False for a few that wait for more: the endpoint fails, and would receive them later anyway. */
  isReady(facts: readonly WebhookFact[], nowMs: number): boolean {
    const [{ endpoint, isFailing }] = facts as [WebhookFact];
    const sinceMs = this.#sinceMs.get(endpoint) ?? nowMs;
    const waitedMs = nowMs - sinceMs;
    if (!isFailing || waitedMs >= GATHER_MS + FLUSH_MS) this.#sinceMs.delete(endpoint);
    else this.#sinceMs.set(endpoint, sinceMs);
    this.#forgetOld(nowMs);
    return !isFailing || facts.length >= BATCH_MAX || waitedMs >= GATHER_MS;
  }

  /** Those whose endpoint is gone. The oldest are first. */
  #forgetOld(nowMs: number): void {
    for (const [endpoint, sinceMs] of this.#sinceMs) {
      if (nowMs - sinceMs < 2 * GATHER_MS) break;
      this.#sinceMs.delete(endpoint);
    }
  }
}

/** The facts that are batched, by endpoint, as many together as one batch may have. */
export function batchesOf(facts: readonly WebhookFact[]): WebhookFact[][] {
  const batches = new Map<number, WebhookFact[][]>();
  for (const fact of facts) {
    const ofEndpoint = batches.get(fact.endpoint) ?? [[]];
    batches.set(fact.endpoint, ofEndpoint);
    if ((ofEndpoint.at(-1) as WebhookFact[]).length >= BATCH_MAX) ofEndpoint.push([]);
    ofEndpoint.at(-1)?.push(fact);
  }
  return [...batches.values()].flat();
}

export interface Written {
  fact: number;
  text: string;
}

/** Parts of a batch that are no larger than one may be. */
export function partsOf(written: readonly Written[]): Written[][] {
  const parts: Written[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const each of written) {
    const size = Buffer.byteLength(each.text);
    bytes += size;
    if (bytes > BATCH_BYTES_MAX) {
      parts.push([]);
      bytes = size;
    }
    parts.at(-1)?.push(each);
  }
  return parts;
}
