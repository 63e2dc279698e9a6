// `usage.recorded`: one event for each settlement, with an id that stays, whose sum is the bill; alone, or as CloudEvents in batches.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usdOf } from '../../src/config/prices/price.ts';
import type { UsageLine } from '../../src/money/store/calls.ts';
import { webhookHeaders } from '../../src/runtime/outbound/signature.ts';
import { messageIdOf } from '../../src/webhooks/events.ts';
import type { WebhookFact } from '../../src/webhooks/store/calls.ts';
import {
  BATCH_BYTES_MAX,
  BATCH_MAX,
  batchesOf,
  FLUSH_MS,
  GATHER_MS,
  Gathering,
  partsOf,
} from '../../src/webhooks/usage.ts';
import { endOf, headOf, lineOf, perMinute, perSession } from '../fakes/store/ledger.ts';
import { SIGNING, webhookRig } from './rig.ts';

const URL = 'https://meter.example/';
const ONE = 'application/cloudevents+json; charset=utf-8';
const MANY = 'application/cloudevents-batch+json; charset=utf-8';

interface CloudEvent {
  specversion: string;
  id: string;
  source: string;
  type: string;
  subject: string;
  time: string;
  data: { id: string; cost_micro_usd: number; cost_usd: string; audio_seconds: number; [member: string]: unknown };
}

function started(format: 'cloudevents' | 'standard' = 'cloudevents') {
  const rig = webhookRig();
  const who = rig.customer({ credit: 10_000_000_000n });
  const endpoint = rig.create(who.organisationId, URL, ['usage.recorded'], false, format);
  const settle = (id: string, lines: readonly UsageLine[] = [lineOf(60_000)], tags?: string) =>
    rig.ledger.settleSession(headOf(who, id, tags === undefined ? {} : { tags }), endOf(lines));
  const events = () => rig.sent.flatMap(({ body }) => body as unknown as CloudEvent | CloudEvent[]);
  const facts = () => rig.ledger.readWebhookWork(0, 1, 1, 0).facts;
  return { ...rig, who, endpoint, settle, events, facts };
}

describe('usage.recorded', () => {
  it('has how often each class was redacted, never what', async () => {
    const { start, pass, events, who, ledger } = started();
    start();
    ledger.settleSession(headOf(who, 'ses_1'), endOf([lineOf(60_000)], { redactions: { card: 2 } }));
    await pass(6_000);
    expect(events()).toMatchObject([{ data: { id: 'ses_1', redactions: { card: 2 } } }]);
  });

  it('is a CloudEvent in structured mode, signed over what is sent', async () => {
    const { start, settle, pass, sent, events, who, wall } = started();
    start();
    settle('ses_1', [lineOf(60_000), lineOf(30_000, perMinute(0n), { model: 'deepgram/nova-3', own: true })]);
    await pass(6_000);
    const [{ headers, text }] = sent as [(typeof sent)[0]];
    expect(headers['Content-Type']).toBe(ONE);
    const at = new Date(Number(headers['webhook-timestamp']) * 1000);
    expect(headers['webhook-signature']).toBe(
      webhookHeaders([SIGNING], headers['webhook-id'] as string, at, text)['webhook-signature'],
    );
    expect(events()).toEqual([
      {
        specversion: '1.0',
        id: headers['webhook-id'],
        source: `urn:voxgate:${who.organisationId}`,
        type: 'usage.recorded',
        subject: who.organisationId,
        time: new Date(wall.nowMs - 6_000).toISOString(),
        datacontenttype: 'application/json',
        data: {
          ...{ id: 'ses_1', session_id: 'ses_1', organisation_id: who.organisationId, key_id: who.keyId },
          ...{ mode: 'live', model: 'loopback/script', provider: null, reason: 'client_closed', code: null },
          ...{ opened_at: '2026-11-21T12:00:00.000Z', ended_at: '2026-11-21T12:05:00.000Z' },
          settled_at: new Date(wall.nowMs - 6_000).toISOString(),
          ...{ audio_seconds: 90, billed_seconds: 90, cost_usd: '0.06', cost_micro_usd: 60_000, currency: 'USD' },
          usage: [
            {
              ...{ model: 'deepgram/nova-3', provider: 'deepgram', seconds: 30, byok: true },
              ...{ cost_usd: '0.00', cost_micro_usd: 0 },
            },
            {
              ...{ model: 'loopback/script', provider: 'loopback', seconds: 60, byok: false },
              ...{ cost_usd: '0.06', cost_micro_usd: 60_000 },
            },
          ],
        },
      },
    ]);
  });

  it('has the customer of the tags as its subject', async () => {
    const { start, settle, pass, events } = started();
    start();
    settle('ses_1', undefined, '{"customer":"acme","team":"a"}');
    await pass(6_000);
    expect(events()).toMatchObject([{ subject: 'acme', data: { tags: { customer: 'acme', team: 'a' } } }]);
  });

  it('is posted in the standard format as well, under the same id', async () => {
    const { start, settle, pass, sent, create, who } = started('standard');
    create(who.organisationId, 'https://b.example/', ['usage.recorded'], false, 'cloudevents');
    start();
    settle('ses_1');
    await pass(6_000);
    const [plain, event] = ['https://meter.example/', 'https://b.example/'].map((url) =>
      sent.find((each) => each.url === url),
    );
    expect(plain?.headers['Content-Type']).toBeUndefined();
    expect(plain?.body).toMatchObject({ type: 'usage.recorded', data: { id: 'ses_1', cost_usd: '0.06' } });
    expect(event?.body.id).toBe(plain?.headers['webhook-id']);
  });

  it('comes once for a settlement that is repeated, and again for what a lost session used beyond its bill', async () => {
    const { start, settle, pass, events, ledger, who, wall } = started();
    const head = headOf(who, 'ses_abc123_1');
    ledger.openSession(head, { wantedMicroUsd: 0n, leastMicroUsd: 0n, leaseMs: 1_000 });
    ledger.renewHold(head, [lineOf(60_000)], { wantedMicroUsd: 0n, leastMicroUsd: 0n, leaseMs: 1_000 });
    ledger.closeLost('abc123', new Date(wall.nowMs).toISOString());
    settle('ses_abc123_1', [lineOf(90_000)]);
    settle('ses_abc123_1', [lineOf(90_000)]);
    start();
    await pass(6_000);
    expect(events().map(({ data }) => [data.id, data.session_id, data.cost_micro_usd])).toEqual([
      ['ses_abc123_1', 'ses_abc123_1', 60_000],
      ['ses_abc123_1:late', 'ses_abc123_1', 30_000],
    ]);
  });

  it('has an id that depends on the settlement alone, so that a restored ledger gives the same one', async () => {
    const { start, settle, pass, events, who } = started();
    start();
    settle('ses_1');
    await pass(6_000);
    expect(events()[0]?.id).toBe(messageIdOf(who.organisationId, 'usage.recorded', 'ses_1'));
  });

  it('costs an organisation without such an endpoint no row', () => {
    const { ledger, customer, facts } = started();
    const other = customer({ credit: 1_000_000n });
    ledger.settleSession(headOf(other, 'ses_2'), endOf([lineOf(1_000)]));
    expect(facts()).toEqual([]);
  });

  it('adds up to the bill, with one event for each settlement, over repeated settlements, outages and lost nodes', async () => {
    const line = fc.record({
      model: fc.constantFrom('loopback/script', 'deepgram/nova-3', 'openai/whisper-1'),
      own: fc.boolean(),
      audioMs: fc.integer({ min: 0, max: 3_600_000 }),
      price: fc.constantFrom(perMinute(4_300n), perMinute(1n, 7n), perSession(999n)),
    });
    const session = fc.record({
      lines: fc.uniqueArray(line, { maxLength: 3, selector: ({ model, own }) => `${model} ${own}` }),
      again: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(session, { minLength: 1, maxLength: 30 }), fc.boolean(), async (sessions, isDown) => {
        const { start, settle, pass, events, answers, ledger, who } = started();
        if (isDown) answers.set(URL, () => ({ status: 500 }));
        const deliverer = start();
        for (const [index, { lines, again }] of sessions.entries()) {
          for (let time = again ? 2 : 1; time > 0; time--) settle(`ses_${index}`, lines);
          if (index % 7 === 6) await pass(1_000);
        }
        await pass(6_000);
        // The node is lost, and the receiver is there again.
        deliverer.close();
        answers.clear();
        start();
        await pass(GATHER_MS + 60_000);
        await pass(60_000);
        const received = new Map(events().map((event) => [event.id, event]));
        const bill = ledger.billOf(who.organisationId, '2026-11');
        const sum = [...received.values()].reduce((total, { data }) => total + BigInt(data.cost_micro_usd), 0n);
        expect(received.size).toBe(sessions.length);
        expect(sum).toBe(bill.totalMicroUsd);
        for (const { data } of received.values()) expect(data.cost_usd).toBe(usdOf(BigInt(data.cost_micro_usd)));
      }),
      { numRuns: 10 },
    );
  });
});

describe('a batch', () => {
  it('has what waits together, and is delivered whole after a process took some of its facts', async () => {
    const { start, settle, pass, sent, events, ledger, facts } = started();
    for (let each = 0; each < 250; each++) settle(`ses_${each}`);
    // Another process, which was slower.
    const taken = facts()[0]?.number as number;
    start();
    await pass(6_000);
    expect(sent.map(({ headers }) => headers['Content-Type'])).toEqual([MANY, MANY, MANY]);
    expect(sent.map(({ body }) => (body as unknown as []).length)).toEqual([BATCH_MAX, BATCH_MAX, 50]);
    expect(new Set(events().map(({ id }) => id)).size).toBe(250);
    expect(ledger.addWebhookBatches([{ facts: [taken], id: 'msg_late', payload: new Uint8Array(1) }])).toBe(0);
    settle('ses_more');
    const [last] = facts();
    ledger.addWebhookBatches([{ facts: [taken, last?.number as number], id: 'msg_part', payload: new Uint8Array(1) }]);
    expect(facts()).toEqual([]);
  });

  it('is one of another organisation never', async () => {
    const { start, settle, pass, sent, customer, create, ledger } = started();
    const other = customer({ credit: 1_000_000n });
    create(other.organisationId, 'https://other.example/', ['usage.recorded'], false, 'cloudevents');
    for (let each = 0; each < 3; each++) {
      settle(`ses_${each}`);
      ledger.settleSession(headOf(other, `ses_o${each}`), endOf([lineOf(1_000)]));
    }
    start();
    await pass(6_000);
    for (const { url, text } of sent) {
      const isOther = url === 'https://other.example/';
      expect(text.includes(other.organisationId)).toBe(isOther);
      expect(JSON.parse(text)).toHaveLength(3);
    }
    expect(sent).toHaveLength(2);
  });

  it('waits for more while its endpoint fails, and is sent at once when it works again', async () => {
    const { start, settle, pass, sent, answers, ledger, who, endpoint } = started();
    answers.set(URL, () => ({ status: 500 }));
    start();
    settle('ses_first');
    await pass(6_000);
    for (let each = 0; each < 20; each++) {
      settle(`ses_${each}`);
      await pass(5_000);
    }
    const list = () => ledger.listWebhookDeliveries(who.organisationId, endpoint, 100);
    expect(list()).toHaveLength(1);
    await pass(GATHER_MS);
    expect(list()).toHaveLength(2);
    answers.clear();
    await pass(3_600_000);
    settle('ses_last');
    await pass(5_000);
    await pass(5_000);
    expect(list().map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered']);
    expect(sent.at(-1)?.headers['Content-Type']).toBe(ONE);
  });

  it('is split by count and by bytes, in order', () => {
    const fact = (number: number, endpoint = 1) => ({ number, endpoint }) as WebhookFact;
    const facts = Array.from({ length: 205 }, (_, number) => fact(number, number % 50 === 0 ? 2 : 1));
    const batches = batchesOf(facts);
    expect(batches.map(({ length }) => length)).toEqual([5, 100, 100]);
    const large = Array.from({ length: 3 }, (_, each) => ({ fact: each, text: 'x'.repeat(BATCH_BYTES_MAX / 2) }));
    expect(partsOf(large).map((part) => part.map((each) => each.fact))).toEqual([[0, 1], [2]]);
    expect(partsOf([])).toEqual([]);
  });

  it('takes all that waits after five minutes, also where facts of endpoints that fail are mixed', async () => {
    const { start, settle, pass, answers, customer, create, ledger, facts } = started();
    const other = customer({ credit: 1_000_000_000n });
    create(other.organisationId, 'https://other.example/', ['usage.recorded'], false, 'cloudevents');
    for (const url of [URL, 'https://other.example/']) answers.set(url, () => ({ status: 500 }));
    start();
    const both = (each: number) => {
      settle(`ses_${each}`);
      ledger.settleSession(headOf(other, `ses_o${each}`), endOf([lineOf(1_000)]));
    };
    both(0);
    await pass(6_000);
    for (let each = 1; each <= 200; each++) both(each);
    await pass(2_000);
    expect(facts().length).toBeGreaterThan(0);
    await pass(GATHER_MS);
    await pass(2_000);
    expect(facts()).toEqual([]);
    both(201);
    await pass(FLUSH_MS);
    both(202);
    await pass(2_000);
    expect(facts().length).toBeGreaterThan(0);
  });

  it('forgets endpoints that are gone', () => {
    const gathering = new Gathering();
    const of = (endpoint: number) => [{ endpoint, isFailing: true } as WebhookFact];
    expect(gathering.isReady(of(1), 0)).toBe(false);
    expect(gathering.isReady(of(2), 3 * GATHER_MS)).toBe(false);
    expect(gathering.isReady(of(1), 3 * GATHER_MS)).toBe(false);
  });
});
