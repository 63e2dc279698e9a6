// The machine that sends deliveries, with a clock that stands: what is sent again and when, what a kill costs, and who waits for whom.
import { describe, expect, it } from 'vitest';
import type { PostOutcome } from '../../src/webhooks/post.ts';
import { RETRY_MS } from '../../src/webhooks/schedule.ts';
import { WebhookSeal } from '../../src/webhooks/seal.ts';
import { endOf, headOf, OPERATOR } from '../fakes/store/ledger.ts';
import { idle, SECRET, SIGNING, webhookRig } from './rig.ts';

const DAY_MS = 86_400_000;

async function started(options?: Parameters<typeof webhookRig>[0]) {
  const rig = webhookRig(options);
  const { organisationId, keyId } = rig.customer({ credit: 10_000_000n });
  const endpoint = rig.create(organisationId);
  const deliverer = rig.start();
  const list = () => rig.ledger.listWebhookDeliveries(organisationId, endpoint, 100);
  const emit = (count = 1) =>
    Promise.all(Array.from({ length: count }, (_, job) => rig.queue.emit(organisationId, 'job.completed', { job })));
  await idle();
  return { ...rig, organisationId, keyId, endpoint, deliverer, list, emit };
}

const fails = (): PostOutcome => ({ status: 500 });

describe('a delivery', () => {
  it('is sent within a second, signed, and recorded', async () => {
    const { emit, pass, sent, list, wall } = await started();
    const at = new Date(wall.nowMs);
    await emit();
    await pass(1_000);
    const [{ headers, body, url }] = sent as [(typeof sent)[0]];
    expect([url, body]).toEqual([
      'https://a.example/',
      { type: 'job.completed', timestamp: at.toISOString(), data: { job: 0 } },
    ]);
    expect(headers['webhook-id']).toBe(list()[0]?.id);
    expect(headers['webhook-timestamp']).toBe(`${at.getTime() / 1000 + 1}`);
    expect(headers['webhook-signature']).toMatch(/^v1,[\w+/]{43}=$/);
    expect(list()).toMatchObject([{ state: 'delivered', attempts: 1, latest: [{ status: 204, error: null }] }]);
  });

  it('is tried again for three days, then has failed', async () => {
    const { emit, pass, sent, list, answers, wall } = await started();
    answers.set('https://a.example/', fails);
    await emit();
    await pass(1_000);
    const fromMs = wall.nowMs;
    for (const [index, waitMs] of RETRY_MS.entries()) {
      expect(sent).toHaveLength(index + 1);
      await pass(waitMs - 1_000);
      expect(sent).toHaveLength(index + 1);
      await pass(2_000);
    }
    expect(list()).toMatchObject([{ state: 'failed', attempts: RETRY_MS.length + 1, nextAtMs: null }]);
    expect((wall.nowMs - fromMs) / DAY_MS).toBeCloseTo(3, 1);
    expect(new Set(sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(sent.map(({ text }) => text)).size).toBe(1);
  });

  it.each<[string, PostOutcome, string]>([
    ['a redirect', { status: 302 }, 'pending'],
    ['a client error', { status: 404 }, 'pending'],
    ['no answer', { error: 'timeout' }, 'pending'],
    ['a receiver that is gone', { status: 410 }, 'failed'],
    ...Array.from({ length: 100 }, (_, more): [string, PostOutcome, string] => [
      `status ${200 + more}`,
      { status: 200 + more },
      'delivered',
    ]),
  ])('is %s', async (_, answer, state) => {
    const { emit, pass, answers, list } = await started();
    answers.set('https://a.example/', () => answer);
    await emit();
    await pass(1_000);
    expect(list()[0]).toMatchObject({
      state,
      latest: [{ status: answer.status ?? null, error: answer.error ?? null }],
    });
  });

  it('is signed with both secrets while they overlap', async () => {
    const { emit, pass, sent, ledger, seal, organisationId, endpoint } = await started();
    const secret = seal.seal({ organisationId, id: endpoint }, 'whsec_AAAA');
    ledger.rollWebhookSecret(organisationId, endpoint, secret, DAY_MS, OPERATOR);
    await emit();
    await pass(1_000);
    await pass(DAY_MS);
    await emit();
    await pass(1_000);
    const count = (at: number) => sent[at]?.headers['webhook-signature']?.split(' ').length;
    expect([count(0), count(1)]).toEqual([2, 1]);
  });

  it('is sent again with the same id after a kill between sending and recording', async () => {
    const { emit, pass, sent, start, deliverer, answers, list } = await started();
    // It was sent, and the process ended before anything could be recorded.
    answers.set('https://a.example/', () => {
      deliverer.close();
      return { status: 200 };
    });
    await emit();
    await pass(1_000);
    expect([sent.length, list()[0]?.state]).toEqual([1, 'pending']);
    answers.clear();
    start();
    await pass(1_000);
    expect(sent).toHaveLength(1);
    await pass(30_000);
    await pass(1_000);
    expect(sent.map(({ headers }) => headers['webhook-id'])).toEqual([list()[0]?.id, list()[0]?.id]);
    expect(list()).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  });

  it('is sent again where the database could not record it', async () => {
    const { emit, pass, sent, failing, list, events } = await started();
    failing.set('recordWebhookAttempt', 'busy');
    await emit();
    await pass(1_000);
    expect(events.some(({ type }) => type === 'fault')).toBe(true);
    failing.clear();
    await pass(31_000);
    expect([sent.length, list()[0]?.state]).toEqual([2, 'delivered']);
  });

  it('is sent by one of two processes', async () => {
    const { emit, pass, sent, start } = await started();
    start();
    await emit(20);
    await pass(1_000);
    expect(sent).toHaveLength(20);
  });
});

describe('fairness', () => {
  it('keeps receivers that hang from delaying other organisations and other endpoints', async () => {
    const { emit, pass, sent, answers, customer, create, queue, organisationId, deliverer } = await started();
    answers.set('https://a.example/', () => new Promise(() => {}));
    create(organisationId, 'https://own.example/');
    await emit(30);
    const other = customer().organisationId;
    create(other, 'https://other.example/');
    await queue.emit(other, 'job.completed', {});
    await pass(1_000);
    const count = (url: string) => sent.filter((each) => each.url === url).length;
    expect([count('https://a.example/'), count('https://own.example/'), count('https://other.example/')]).toEqual([
      4, 30, 1,
    ]);
    expect(deliverer.inProgress).toBe(4);
  });

  it('sends to each endpoint of an organisation though all of its others hang', async () => {
    const { emit, pass, sent, answers, create, organisationId, deliverer } = await started();
    const urls = Array.from({ length: 8 }, (_, number) => `https://${number}.example/`);
    for (const url of ['https://a.example/', ...urls]) answers.set(url, () => new Promise(() => {}));
    for (const url of urls) create(organisationId, url);
    await emit(4);
    await pass(1_000);
    expect(deliverer.inProgress).toBeLessThanOrEqual(8 + urls.length);
    create(organisationId, 'https://last.example/');
    await emit(3);
    await pass(1_000);
    await pass(1_000);
    expect(sent.filter(({ url }) => url === 'https://last.example/')).toHaveLength(3);
  });

  it('reaches every endpoint in turn where all others hang', async () => {
    const bounds = { max: 4, perOrganisationMax: 2, perEndpointMax: 2 };
    const { emit, pass, sent, answers, customer, create, queue } = await started({ bounds });
    const hung: (() => void)[] = [];
    const hang = () => new Promise<PostOutcome>((resolve) => hung.push(() => resolve({ error: 'timeout' })));
    answers.set('https://a.example/', hang);
    await emit(10);
    for (let each = 0; each < 6; each++) {
      const { organisationId } = customer();
      const url = `https://${each}.example/`;
      create(organisationId, url);
      if (each < 5) answers.set(url, hang);
      await Promise.all([
        queue.emit(organisationId, 'job.completed', {}),
        queue.emit(organisationId, 'job.completed', {}),
      ]);
    }
    await pass(1_000);
    for (let round = 0; round < 5; round++) {
      for (const end of hung.splice(0)) end();
      await pass(1_000);
    }
    expect(sent.filter(({ url }) => url === 'https://5.example/')).toHaveLength(2);
  });

  it('tries an endpoint that fails with one delivery at a time', async () => {
    const { emit, pass, answers, deliverer } = await started();
    let outcome: PostOutcome | Promise<PostOutcome> = { status: 500 };
    answers.set('https://a.example/', () => outcome);
    await emit();
    await pass(1_000);
    outcome = new Promise(() => {});
    await emit(10);
    await pass(1_000);
    expect(deliverer.inProgress).toBe(1);
  });
});

describe('facts', () => {
  it('are posted once, with what there is to say of them', async () => {
    const { ledger, organisationId, keyId, pass, sent, start } = await started();
    start();
    const who = { organisationId, keyId };
    ledger.settleSession(headOf(who, 'ses_1'), endOf([], { reason: 'client_closed', audioMs: 1_500 }));
    ledger.revokeKey(organisationId, keyId, OPERATOR);
    await pass(1_000);
    await pass(10_000);
    expect(sent.map(({ body }) => body).sort((one, other) => one.type.localeCompare(other.type))).toEqual([
      {
        type: 'key.revoked',
        timestamp: expect.any(String),
        data: { id: keyId, name: 'key', display: expect.any(String), revoked_at: expect.any(String) },
      },
      {
        type: 'session.ended',
        timestamp: '2026-11-21T12:05:00.000Z',
        data: {
          id: 'ses_1',
          model: 'loopback/script',
          key_id: keyId,
          opened_at: '2026-11-21T12:00:00.000Z',
          ended_at: '2026-11-21T12:05:00.000Z',
          reason: 'client_closed',
          code: null,
          audio_seconds: 1.5,
          cost_usd: '0.00',
        },
      },
    ]);
  });
});

describe('the end of a session whose transcript is wanted', () => {
  const spoken = { turns: [{ start: 0.5, end: 1.5, text: 'Grüße' }], isCut: false };

  async function ended() {
    const rig = await started();
    rig.create(rig.organisationId, 'https://b.example/', ['session.ended'], true);
    const keep = () => {
      const { organisationId, seal, ledger } = rig;
      const sealed = seal.seal({ organisationId, id: 'ses_1' }, JSON.stringify(spoken));
      ledger.keepWebhookTranscript(organisationId, 'ses_1', sealed);
    };
    const end = () => rig.ledger.settleSession(headOf(rig, 'ses_1'), endOf([]));
    const seen = () => rig.sent.map(({ url, body: { data } }) => [url, data.transcript, data.transcript_is_cut]);
    return { ...rig, keep, end, seen };
  }

  it('is posted with it, where the endpoint wants it', async () => {
    const { keep, end, seen, pass } = await ended();
    keep();
    end();
    await pass(1_000);
    expect(seen().sort()).toEqual([
      ['https://a.example/', undefined, undefined],
      ['https://b.example/', spoken.turns, false],
    ]);
  });

  it('waits for it a few seconds, and no other endpoint does', async () => {
    const { keep, end, seen, pass } = await ended();
    end();
    await pass(1_000);
    await pass(3_000);
    expect(seen()).toEqual([['https://a.example/', undefined, undefined]]);
    keep();
    await pass(1_000);
    expect(seen().slice(1)).toEqual([['https://b.example/', spoken.turns, false]]);
  });

  it('is posted without it after ten seconds', async () => {
    const { end, seen, pass } = await ended();
    end();
    await pass(1_000);
    await pass(9_000);
    expect(seen()).toHaveLength(1);
    await pass(1_000);
    expect(seen().slice(1)).toEqual([['https://b.example/', null, undefined]]);
  });
});

describe('facts without a payload', () => {
  it('do not keep other organisations waiting while a hundred and more wait for transcripts', async () => {
    const { create, customer, ledger, organisationId, keyId, pass, sent, simulated } = await started();
    create(organisationId, 'https://b.example/', ['session.ended'], true);
    for (let each = 0; each < 250; each++)
      ledger.settleSession(headOf({ organisationId, keyId }, `ses_${each}`), endOf([]));
    const other = customer();
    create(other.organisationId, 'https://other.example/', ['session.ended']);
    ledger.settleSession(headOf(other, 'ses_other'), endOf([]));
    await pass(1_000);
    const count = (url: string) => sent.filter((each) => each.url === url).length;
    expect([count('https://other.example/'), count('https://b.example/')]).toEqual([1, 0]);
    for (let second = 0; second < 20; second++) await pass(1_000);
    expect(count('https://b.example/')).toBe(250);
    expect(simulated.now()).toBe(21_000);
  });

  it('are left out where they are faulty or too large, and the next ones are posted', async () => {
    const told = (data: object) => ({ at: new Date(0), data });
    const rig = webhookRig({}, async (_, __, id) => {
      if (id === 'job-faulty') throw new TypeError('unreadable');
      return told(id === 'job-large' ? { text: 'x'.repeat(400_000) } : { id });
    });
    const { organisationId } = rig.customer();
    const endpoint = rig.create(organisationId);
    const fact = rig.database.prepare<[string]>(
      "INSERT INTO webhook_facts (endpoint, type, subject, detail) VALUES (1, 'job.completed', ?, 'key_1')",
    );
    for (const id of ['job-faulty', 'job-large', 'job-good']) fact.run(id);
    rig.start();
    await idle();
    expect(rig.sent.map(({ body }) => body.data)).toEqual([{ id: 'job-good' }]);
    expect(rig.ledger.findWebhook(organisationId, endpoint)?.dropped).toBe(1);
    expect(rig.events).toContainEqual({ type: 'fault', action: 'fact', error: new TypeError('unreadable') });
    expect(rig.events).toContainEqual({ type: 'dropped', count: 1 });
  });
});

describe('large payloads', () => {
  it('are added a few at a time, so that each call fits into the log', async () => {
    const { ledger, organisationId, keyId, seal, store, create, pass, sent } = await started();
    create(organisationId, 'https://b.example/', ['session.ended'], true);
    const sizes: number[] = [];
    const { addWebhookDeliveries } = store;
    Object.assign(store, {
      addWebhookDeliveries(deliveries: Parameters<typeof addWebhookDeliveries>[0]) {
        sizes.push(deliveries.reduce((sum, { payload }) => sum + (payload?.length ?? 0), 0));
        return addWebhookDeliveries(deliveries);
      },
    });
    for (let each = 0; each < 6; each++) {
      const id = `ses_${each}`;
      const transcript = { turns: [{ start: 0, end: 1, text: 'a'.repeat(100_000) }], isCut: false };
      ledger.keepWebhookTranscript(organisationId, id, seal.seal({ organisationId, id }, JSON.stringify(transcript)));
      ledger.settleSession(headOf({ organisationId, keyId }, id), endOf([]));
    }
    await pass(1_000);
    expect(sent).toHaveLength(12);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(327_680);
    expect(sizes.length).toBeGreaterThan(1);
  });
});

describe('the secret of the gateway', () => {
  it('may be changed: secrets are sealed again at the start, and payloads open meanwhile', async () => {
    const { emit, pass, sent, deliverer, ledger, start, organisationId, endpoint: id } = await started();
    deliverer.close();
    await emit();
    const secret = new TextEncoder().encode('the next secret');
    const next = new WebhookSeal({ secret });
    const opened = () => ledger.listWebhookSecrets().map((each) => next.open({ organisationId, id }, each.secret));
    expect(opened()).toEqual([undefined]);
    start({ seal: next }).close();
    start({ seal: new WebhookSeal({ secret, previousSecret: SECRET }) });
    await pass(1_000);
    expect([opened(), sent.length]).toEqual([[SIGNING], 1]);
  });

  it('that is lost leaves deliveries that cannot be read, and are not sent', async () => {
    const { emit, pass, sent, list, deliverer, start } = await started();
    deliverer.close();
    await emit();
    start({ seal: new WebhookSeal({ secret: new TextEncoder().encode('another') }) });
    await pass(1_000);
    expect([sent.length, list()[0]?.latest[0]?.error]).toEqual([0, 'unreadable']);
  });
});

describe('events of other parts', () => {
  it('are the same event when they are reported again for the same fact', async () => {
    const { queue, organisationId, pass, sent } = await started();
    for (let each = 0; each < 3; each++) await queue.emit(organisationId, 'job.completed', { each }, 'job job_1');
    await queue.emit(organisationId, 'job.completed', {}, 'job job_2');
    await pass(1_000);
    expect(sent.map(({ body }) => body.data)).toEqual([{ each: 0 }, {}]);
  });

  it('wait for a database that does not answer, and are dropped when it refuses them or too many wait', async () => {
    const { queue, organisationId, pass, failing, list, dropped } = await started();
    failing.set('addWebhookEvent', 'unreachable');
    const kept = Promise.all(Array.from({ length: 1_000 }, () => queue.emit(organisationId, 'job.completed', {})));
    await queue.emit(organisationId, 'job.completed', {});
    expect([queue.size, dropped.count]).toEqual([1_000, 1]);
    failing.clear();
    await idle();
    await pass(250);
    await kept;
    expect([queue.size, list().length]).toEqual([0, 100]);
    failing.set('addWebhookEvent', 'invalid');
    await queue.emit(organisationId, 'job.completed', {});
    expect(dropped.count).toBe(2);
  });
});
