// Webhooks in the database: who subscribes to what, what makes room, when an endpoint is disabled, and which facts are noted.
import { beforeEach, describe, expect, it } from 'vitest';
import type { WebhookEvent } from '../../src/api/webhooks.ts';
import { type AttemptedDelivery, WEBHOOK_LIMITS, type WebhookLimits } from '../../src/webhooks/store/calls.ts';
import { createWebhookTables } from '../../src/webhooks/store/tables.ts';
import { creditOf, endOf, headOf, ledgerRig, lineOf, OPERATOR, perMinute } from '../fakes/store/ledger.ts';

const DAY_MS = 86_400_000;
const bytes = (count: number) => new Uint8Array(count).fill(1);
const ALL: readonly WebhookEvent[] = ['job.completed', 'session.ended', 'balance.low', 'key.revoked'];

function open(limits: Partial<WebhookLimits> = {}) {
  const rig = ledgerRig();
  const { database, clock, ledger } = rig;
  const context = {
    ...{ database, audit: () => {}, nowMs: () => clock.nowMs },
    nowText: () => new Date(clock.nowMs).toISOString(),
    outbox: (type: string, params: object) => mails.push({ type, ...params }),
  };
  const mails: object[] = [];
  const tables = createWebhookTables(context, { ...WEBHOOK_LIMITS, ...limits });
  const who = rig.customer({ credit: 10_000_000n });
  const { organisationId } = who;
  const create = (id: string, events: readonly WebhookEvent[] = ALL, of = organisationId) =>
    tables.createWebhook(
      of,
      {
        id: `we_${id}`,
        url: 'https://a.example/x',
        events,
        description: '',
        balanceLowMicroUsd: 5_000_000n,
        transcripts: true,
        secret: bytes(4),
      },
      OPERATOR,
    );
  const emit = (id: string, type: WebhookEvent = 'job.completed', of = organisationId, size = 4) =>
    tables.addWebhookEvent({ organisationId: of, id: `msg_${id}`, type, payload: bytes(size) });
  const list = (endpoint = 'a', of = organisationId) => tables.listWebhookDeliveries(of, `we_${endpoint}`, 100);
  const ids = (endpoint?: string, of?: string) => list(endpoint, of).map(({ id }) => id.slice(4));
  const due = () => tables.readWebhookWork(0, 100, 100, 0).due;
  const facts = () => tables.readWebhookWork(0, 1, 1, 0).facts;
  const attempt = (number: number, outcome: AttemptedDelivery['outcome'], retryAfterMs: number | null = null) =>
    tables.recordWebhookAttempt({
      ...{ number, outcome, retryAfterMs },
      attempt: { atMs: clock.nowMs, status: outcome === 'delivered' ? 204 : 500, error: null, durationMs: 1 },
    });
  return { ...rig, ledger, mails, tables, who, organisationId, create, emit, list, ids, due, facts, attempt };
}

let rig: ReturnType<typeof open>;
beforeEach(() => {
  rig = open();
});

describe('an endpoint', () => {
  it('is created once, changed, and deleted with its deliveries', () => {
    const { tables, create, emit, organisationId, clock } = rig;
    expect(create('a')).toMatchObject({ id: 'we_a', state: 'enabled', reason: null, createdAtMs: clock.nowMs });
    expect(create('a')).toEqual(tables.findWebhook(organisationId, 'we_a'));
    const change = { url: 'https://b.example/', events: ['key.revoked'] as const };
    expect(tables.changeWebhook(organisationId, 'we_a', change, OPERATOR)).toMatchObject(change);
    tables.changeWebhook(organisationId, 'we_a', { events: ['job.completed'] }, OPERATOR);
    emit('1');
    expect(tables.removeWebhook(organisationId, 'we_a', OPERATOR)).toBe(true);
    expect(tables.removeWebhook(organisationId, 'we_a', OPERATOR)).toBe(false);
    expect([tables.listWebhooks(organisationId), rig.list()]).toEqual([[], []]);
  });

  it('belongs to its organisation alone', () => {
    const { tables, create, customer } = rig;
    create('a');
    const other = customer().organisationId;
    expect(tables.findWebhook(other, 'we_a')).toBeUndefined();
    expect(tables.changeWebhook(other, 'we_a', { state: 'disabled' }, OPERATOR)).toBeUndefined();
    expect(tables.rollWebhookSecret(other, 'we_a', bytes(3), 0, OPERATOR)).toBeUndefined();
    expect(tables.removeWebhook(other, 'we_a', OPERATOR)).toBe(false);
    expect(() => create('a', ALL, other)).toThrow('used once');
  });

  it('is one of up to ten of an organisation', () => {
    for (let each = 0; each < 10; each++) rig.create(`${each}`);
    expect(() => rig.create('10')).toThrow('up to 10 webhooks');
  });

  it.each([
    ['URL', { url: 'ftp://a.example' }],
    ['events', { events: [] }],
    ['events', { events: ['nothing'] as never }],
    ['description', { description: 'x'.repeat(201) }],
    ['micro-USD', { balanceLowMicroUsd: -1n }],
  ])('is refused with a wrong value: %s', (words, change) => {
    rig.create('a');
    expect(() => rig.tables.changeWebhook(rig.organisationId, 'we_a', change, OPERATOR)).toThrow(words);
  });

  it('signs with the former secret as well until the overlap is over', () => {
    const { tables, create, emit, organisationId, due, clock } = rig;
    create('a');
    const untilMs = clock.nowMs + DAY_MS;
    expect(tables.rollWebhookSecret(organisationId, 'we_a', bytes(8), DAY_MS, OPERATOR)?.previousUntilMs).toBe(untilMs);
    // Repeated since its answer was lost.
    tables.rollWebhookSecret(organisationId, 'we_a', bytes(8), DAY_MS, OPERATOR);
    emit('1');
    const { number } = due()[0]!;
    const sizes = () => {
      const { secret, previousSecret } = tables.takeWebhookDelivery(number, 0)!;
      return [secret.length, previousSecret?.length];
    };
    expect(sizes()).toEqual([8, 4]);
    clock.nowMs = untilMs;
    expect(sizes()).toEqual([8, undefined]);
    expect(tables.findWebhook(organisationId, 'we_a')?.previousUntilMs).toBeNull();
  });

  it('has its secrets sealed again, unless they were replaced meanwhile', () => {
    const { tables, create, organisationId } = rig;
    create('a');
    tables.rollWebhookSecret(organisationId, 'we_a', bytes(8), DAY_MS, OPERATOR);
    tables.resealWebhookSecrets([
      { id: 'we_a', from: bytes(4), to: bytes(5) },
      { id: 'we_a', from: bytes(7), to: bytes(9) },
    ]);
    const { secret, previousSecret } = tables.listWebhookSecrets()[0]!;
    expect([secret.length, previousSecret?.length]).toEqual([8, 5]);
  });
});

describe('an event', () => {
  it('goes once to each endpoint that subscribes to it', () => {
    const { tables, create, emit, ids, organisationId } = rig;
    create('a');
    create('b', ['job.failed']);
    create('c');
    tables.changeWebhook(organisationId, 'we_c', { state: 'disabled' }, OPERATOR);
    expect([emit('1'), emit('1')]).toEqual([
      { added: 1, dropped: 0 },
      { added: 0, dropped: 0 },
    ]);
    expect([ids('a'), ids('b'), ids('c')]).toEqual([['1'], [], []]);
  });

  it('is refused with a payload that is too large, or for an organisation that there is none of', () => {
    expect(() => rig.emit('1', 'job.failed', undefined, 320 * 1024 + 1)).toThrow('327680');
    expect(() => rig.emit('1', 'job.failed', 'org_none')).toThrow('no organisation');
  });

  it('makes room: delivered ones go first, then failed ones, then the oldest that wait, which are counted', () => {
    rig = open({ organisation: { deliveries: 3, bytes: 1000 } });
    const { create, emit, ids, due, attempt, tables, organisationId } = rig;
    create('a');
    for (const id of ['1', '2', '3']) emit(id);
    const [, second, third] = due();
    attempt(second!.number, 'failed');
    attempt(third!.number, 'delivered');
    emit('4');
    expect(ids()).toEqual(['4', '2', '1']);
    emit('5');
    expect(ids()).toEqual(['5', '4', '1']);
    expect(emit('6')).toEqual({ added: 1, dropped: 1 });
    expect(ids()).toEqual(['6', '5', '4']);
    expect(emit('7', 'job.completed', organisationId, 995)).toEqual({ added: 1, dropped: 2 });
    expect(ids()).toEqual(['7', '6']);
    expect(tables.findWebhook(organisationId, 'we_a')?.dropped).toBe(3);
  });

  it('never takes the room of what waits for another organisation', () => {
    rig = open({ store: { deliveries: 2, bytes: 1000 } });
    const { create, emit, ids, customer, tables } = rig;
    const other = customer().organisationId;
    create('a');
    create('b', ALL, other);
    emit('1');
    emit('2');
    expect(emit('3', 'job.completed', other)).toEqual({ added: 0, dropped: 1 });
    expect([ids('a'), ids('b', other)]).toEqual([['2', '1'], []]);
    expect(tables.findWebhook(other, 'we_b')?.dropped).toBe(1);
  });
});

describe('a delivery', () => {
  it('is leased while it is sent, tried again as late as said, and delivered', () => {
    const { tables, create, emit, due, attempt, clock, list } = rig;
    create('a');
    emit('1');
    const { number } = due()[0]!;
    expect(tables.takeWebhookDelivery(number, 30_000)).toMatchObject({ id: 'msg_1', endpointId: 'we_a', retries: 0 });
    expect([due(), tables.takeWebhookDelivery(number, 30_000)]).toEqual([[], undefined]);
    attempt(number, 'retry', 5_000);
    expect(list()).toMatchObject([{ state: 'pending', attempts: 1, nextAtMs: clock.nowMs + 5_000, endedAtMs: null }]);
    clock.nowMs += 5_000;
    expect(due()).toMatchObject([{ number, isFailing: true }]);
    attempt(number, 'delivered');
    expect(list()).toMatchObject([{ state: 'delivered', attempts: 2, nextAtMs: null, endedAtMs: clock.nowMs }]);
    expect(list()[0]?.latest.map(({ status }) => status)).toEqual([500, 204]);
  });

  it('is due again when the process that took it was killed before it recorded anything', () => {
    const { tables, create, emit, due, clock } = rig;
    create('a');
    emit('1');
    const { number } = due()[0]!;
    tables.takeWebhookDelivery(number, 30_000);
    clock.nowMs += 30_000;
    expect(tables.takeWebhookDelivery(number, 30_000)?.id).toBe('msg_1');
  });

  it('is sent again by request with the same id, and its retries begin again', () => {
    const { tables, create, emit, due, attempt, organisationId } = rig;
    create('a');
    emit('1');
    const { number } = due()[0]!;
    attempt(number, 'failed');
    expect(due()).toEqual([]);
    const resent = tables.resendWebhookDelivery(organisationId, 'we_a', 'msg_1');
    expect(resent).toMatchObject({ id: 'msg_1', state: 'pending', attempts: 1 });
    expect(tables.takeWebhookDelivery(number, 1)?.retries).toBe(0);
    expect(tables.resendWebhookDelivery(organisationId, 'we_a', 'msg_2')).toBeUndefined();
    tables.changeWebhook(organisationId, 'we_a', { state: 'disabled' }, OPERATOR);
    expect(() => tables.resendWebhookDelivery(organisationId, 'we_a', 'msg_1')).toThrow('disabled');
  });

  it('is listed in pages, and expires a week after its end', () => {
    const { tables, create, emit, due, attempt, clock, organisationId } = rig;
    create('a');
    for (const id of ['1', '2', '3']) emit(id);
    const page = (before?: string) =>
      tables.listWebhookDeliveries(organisationId, 'we_a', 2, before).map(({ id }) => id);
    expect([page(), page('msg_2'), page('msg_1')]).toEqual([['msg_3', 'msg_2'], ['msg_1'], []]);
    expect(() => page('msg_none')).toThrow('There is no such delivery.');
    for (const { number } of due().slice(0, 2)) attempt(number, 'delivered');
    clock.nowMs += 7 * DAY_MS;
    expect(tables.readWebhookWork(0, 1, 1, 0).hasExpired).toBe(true);
    expect([tables.expireWebhookDeliveries(1), tables.expireWebhookDeliveries(5)]).toEqual([1, 1]);
    expect(tables.readWebhookWork(0, 1, 1, 0).hasExpired).toBe(false);
    expect(page()).toEqual(['msg_3']);
  });

  it('of each endpoint is found, from the one after the last', () => {
    const { tables, create, emit, customer } = rig;
    const other = customer().organisationId;
    create('a');
    create('b', ALL, other);
    for (const id of ['1', '2', '3']) emit(id);
    emit('4', 'job.completed', other);
    const endpoints = (after: number, perEndpoint: number, max: number) =>
      tables.readWebhookWork(after, perEndpoint, max, 0).due.map(({ endpoint }) => endpoint);
    expect([endpoints(0, 2, 10), endpoints(1, 2, 10), endpoints(0, 9, 2), endpoints(2, 1, 10)]).toEqual([
      [1, 1, 2],
      [2, 1, 1],
      [1, 1],
      [1, 2],
    ]);
  });
});

describe('an endpoint that fails', () => {
  it('is disabled at once by a receiver that is gone, and what waits for it has failed', () => {
    const { tables, create, emit, due, attempt, organisationId, list } = rig;
    create('a');
    emit('1');
    emit('2');
    expect(attempt(due()[0]!.number, 'gone')).toEqual({ disabled: 'gone' });
    expect(tables.findWebhook(organisationId, 'we_a')).toMatchObject({ state: 'disabled', reason: 'gone' });
    expect(list().map(({ state }) => state)).toEqual(['failed', 'failed']);
  });

  it('is disabled after five days without a success, with a mail to the verified owners', () => {
    const { tables, create, emit, due, attempt, clock, organisationId, mails, database } = rig;
    addOwner(database, organisationId);
    create('a');
    const fail = (id: string) => {
      emit(id);
      return attempt(due().at(-1)!.number, 'retry', 100 * DAY_MS)?.disabled;
    };
    expect(fail('1')).toBeNull();
    clock.nowMs += 3 * DAY_MS;
    emit('good');
    attempt(due()[0]!.number, 'delivered');
    expect(fail('2')).toBeNull();
    clock.nowMs += 5 * DAY_MS - 1;
    expect(fail('3')).toBeNull();
    clock.nowMs += 1;
    expect(fail('4')).toBe('failing');
    expect(mails).toEqual([
      {
        ...{ type: 'mail.webhook-disabled', to: 'ada@example.com' },
        ...{ organisationId, url: 'https://a.example/x', reason: 'failing' },
      },
    ]);
    const again = tables.changeWebhook(organisationId, 'we_a', { state: 'enabled' }, OPERATOR);
    expect(again).toMatchObject({ state: 'enabled', reason: null, failingSinceMs: null });
  });
});

function addOwner(database: ReturnType<typeof ledgerRig>['database'], organisationId: string): void {
  database.exec(`
    INSERT INTO people (id, email, address, password, state, created_at, verified_at) VALUES
      ('per_1', 'ada@example.com', 'ada@example.com', '$a$1$b$c', 'verified', '2026', '2026'),
      ('per_2', 'bob@example.com', 'bob@example.com', '$a$1$b$c', 'unverified', '2026', NULL),
      ('per_3', 'eve@example.com', 'eve@example.com', '$a$1$b$c', 'verified', '2026', '2026');
    INSERT INTO memberships (person_id, organisation_id, role, joined_at_ms) VALUES
      ('per_1', '${organisationId}', 'owner', 1), ('per_2', '${organisationId}', 'owner', 1),
      ('per_3', '${organisationId}', 'admin', 1)`);
}

describe('a transcript', () => {
  it('is kept for ten minutes where an endpoint wants it, once for each session', () => {
    const { tables, create, organisationId, clock, customer } = rig;
    const keep = (session: string, size = 4) => tables.keepWebhookTranscript(organisationId, session, bytes(size));
    const sizes = (...sessions: string[]) =>
      sessions.map((session) => tables.findWebhookTranscript(organisationId, session)?.length);
    keep('ses_1');
    create('a', ['session.ended']);
    expect(tables.wantsTranscripts(organisationId)).toBe(true);
    keep('ses_2');
    keep('ses_2', 9);
    keep('ses_3', 200_000);
    expect(sizes('ses_1', 'ses_2', 'ses_3')).toEqual([undefined, 4, undefined]);
    expect(tables.findWebhookTranscript(customer().organisationId, 'ses_2')).toBeUndefined();
    for (const change of [{ transcripts: false }, { transcripts: true, state: 'disabled' }] as const) {
      tables.changeWebhook(organisationId, 'we_a', change, OPERATOR);
      expect(tables.wantsTranscripts(organisationId)).toBe(false);
    }
    clock.nowMs += 600_000;
    expect(tables.readWebhookWork(0, 1, 1, 0).hasExpired).toBe(true);
    expect([tables.expireWebhookDeliveries(10), sizes('ses_2')]).toEqual([1, [undefined]]);
  });

  it('has no room where too many of the organisation are kept', () => {
    rig = open({ transcriptsOfOrganisation: 1 });
    rig.create('a');
    for (const session of ['ses_1', 'ses_2']) rig.tables.keepWebhookTranscript(rig.organisationId, session, bytes(1));
    expect(rig.tables.findWebhookTranscript(rig.organisationId, 'ses_2')).toBeUndefined();
  });
});

describe('a fact', () => {
  const shown = () => rig.facts().map(({ type, subject }) => [type, subject]);

  it('is not noted without an endpoint for it', () => {
    const { ledger, who, create, organisationId } = rig;
    ledger.settleSession(headOf(who, 'ses_1'), endOf([]));
    create('a', ['job.failed']);
    ledger.settleSession(headOf(who, 'ses_2'), endOf([]));
    ledger.revokeKey(organisationId, who.keyId, OPERATOR);
    expect(shown()).toEqual([]);
  });

  it('is the end of a live session, once', () => {
    const { ledger, who, create, tables, organisationId } = rig;
    create('a');
    create('b');
    const end = () => ledger.settleSession(headOf(who, 'ses_1'), endOf([]));
    end();
    end();
    ledger.settleSession(headOf(who, 'req_1', { mode: 'batch' }), endOf([]));
    expect(shown()).toEqual([
      ['session.ended', 'ses_1'],
      ['session.ended', 'ses_1'],
    ]);
    const deliveries = rig.facts().map(({ number }) => ({ fact: number, id: `msg_${number}`, payload: bytes(3) }));
    expect([tables.addWebhookDeliveries(deliveries), tables.addWebhookDeliveries(deliveries)]).toEqual([0, 0]);
    expect([shown(), rig.list('a').length, rig.list('b').length]).toEqual([[], 1, 1]);
    expect(tables.listWebhookDeliveries(organisationId, 'we_a', 1)[0]?.type).toBe('session.ended');
  });

  it('is a key that is revoked, once, and forgotten where there is nothing to say of it', () => {
    const { ledger, who, create, tables, organisationId } = rig;
    create('a');
    ledger.revokeKey(organisationId, who.keyId, OPERATOR);
    ledger.revokeKey(organisationId, who.keyId, OPERATOR);
    expect(shown()).toEqual([['key.revoked', who.keyId]]);
    tables.addWebhookDeliveries(rig.facts().map(({ number }) => ({ fact: number, id: 'msg_1', payload: undefined })));
    expect([shown(), rig.list()]).toEqual([[], []]);
  });

  it('is a balance that falls below the amount, each time that it does', () => {
    const { ledger, who, create, organisationId } = rig;
    create('a');
    const spend = (id: string, usd: bigint) =>
      ledger.settleSession(headOf(who, id), endOf([lineOf(60_000, perMinute(usd * 1_000_000n))]));
    const lows = () => rig.facts().flatMap(({ type, detail }) => (type === 'balance.low' ? [detail] : []));
    spend('ses_1', 5n);
    expect(lows()).toEqual([]);
    spend('ses_2', 1n);
    spend('ses_3', 1n);
    expect(lows()).toEqual(['4000000']);
    ledger.addCredit(creditOf(organisationId, 5_000_000n), OPERATOR);
    spend('ses_4', 4n);
    expect(lows()).toEqual(['4000000', '4000000']);
  });

  it('is none of an organisation without a credit limit', () => {
    const { ledger, customer, create } = rig;
    const free = customer({ limit: null });
    create('a', ALL, free.organisationId);
    ledger.settleSession(headOf(free, 'ses_1'), endOf([lineOf(60_000, perMinute(9_000_000n))]));
    expect(shown()).toEqual([['session.ended', 'ses_1']]);
  });
});
