// What an organisation is told of its usage, its balance and its sessions, by a real ledger.

import { Value } from '@sinclair/typebox/value';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiError } from '../../../src/api/errors.ts';
import { BalanceAnswer, SessionAnswer, SessionList, USAGE_ROWS_MAX, UsageList } from '../../../src/api/usage.ts';
import type { RouteContext } from '../../../src/http/router.ts';
import type { Reply } from '../../../src/http/server.ts';
import { getSession, getSessions } from '../../../src/money/routes/sessions.ts';
import { getBalance, getUsage } from '../../../src/money/routes/usage.ts';
import { type DirectStore, directStore } from '../../fakes/store/direct-store.ts';
import { endOf, headOf, holdOf, lineOf, perMinute } from '../../fakes/store/ledger.ts';

let rig: DirectStore;
let us: { organisationId: string; keyId: string };
let them: { organisationId: string; keyId: string };
/** Sessions that are live on this node. */
let live: Map<string, { state: string; legs: { model: string; state: string }[] }>;

beforeEach(() => {
  rig = directStore();
  us = rig.customer({ credit: 10_000_000n });
  them = rig.customer({ credit: 10_000_000n });
  live = new Map();
});

const wallNow = () => new Date(rig.clock.nowMs);
const at = (query: string, params: Record<string, string> = {}) =>
  ({ request: { query }, params, requestId: 'req_1' }) as unknown as RouteContext;
const jsonOf = (reply: Reply) => JSON.parse(reply.body as string);
const usage = async (query = '', who = us) => {
  const answer = jsonOf(await getUsage({ store: rig.store, wallNow })(at(query), who));
  expect(Value.Check(UsageList, answer)).toBe(true);
  return answer;
};
const sessions = async (query = '', who = us) => {
  const answer = jsonOf(await getSessions({ store: rig.store, describeSession: (id) => live.get(id) })(at(query), who));
  expect(Value.Check(SessionList, answer)).toBe(true);
  return answer;
};
const session = async (id: string, who = us) => {
  const dependencies = { store: rig.store, describeSession: (name: string) => live.get(name) };
  const answer = jsonOf(await getSession(dependencies)(at('', { id }), who));
  expect(Value.Check(SessionAnswer, answer)).toBe(true);
  return answer;
};

/** A session of so many milliseconds at one model. */
function heard(
  id: string,
  ms: number,
  { model = 'loopback/script', own = false, who = us, mode = 'live' as const } = {},
) {
  const now = wallNow().toISOString();
  const head = headOf(who, id, { openedAt: now, model, mode });
  return rig.ledger.settleSession(head, endOf([lineOf(ms, perMinute(60_000n), { model, own })], { endedAt: now }));
}

const refusal = (code: string, param?: string) => expect.objectContaining({ code, extras: { param } }) as ApiError;

describe('GET /v1/usage', () => {
  it('covers the month so far, by model, with an exact total', async () => {
    heard('a', 60_000);
    heard('b', 30_001, { model: 'deepgram/nova-3' });
    heard('c', 1_500, { model: 'deepgram/nova-3', own: true });
    heard('d', 60_000, { who: them });
    rig.clock.nowMs += 1_000;
    expect(await usage()).toEqual({
      object: 'list',
      from: '2026-11-01T00:00:00.000Z',
      to: '2026-11-21T12:00:01.000Z',
      group_by: 'model',
      data: [
        { group: 'deepgram/nova-3', byok: false, sessions: 1, audio_seconds: 30.001, cost_usd: '0.030001' },
        { group: 'deepgram/nova-3', byok: true, sessions: 1, audio_seconds: 1.5, cost_usd: '0.00' },
        { group: 'loopback/script', byok: false, sessions: 1, audio_seconds: 60, cost_usd: '0.06' },
      ],
      total: { audio_seconds: 91.501, cost_usd: '0.090001' },
    });
  });

  it.each([
    ['model', ['deepgram/nova-3', 'loopback/script']],
    ['provider', ['deepgram', 'loopback']],
    ['day', ['2026-11-21']],
  ])('groups by %s', async (group, names) => {
    heard('a', 60_000);
    heard('b', 60_000, { model: 'deepgram/nova-3' });
    rig.clock.nowMs += 1;
    const { data } = await usage(`group_by=${group}`);
    expect(data.map((row: { group: string }) => row.group)).toEqual(names);
  });

  it('covers one key of the organisation, and refuses another’s', async () => {
    heard('a', 60_000);
    rig.clock.nowMs += 1;
    expect((await usage(`key=${us.keyId}&group_by=key`)).data).toMatchObject([{ group: us.keyId, sessions: 1 }]);
    await expect(usage(`key=${them.keyId}`)).rejects.toEqual(refusal('not_found', 'key'));
    await expect(usage('key=key_never')).rejects.toEqual(refusal('not_found', 'key'));
  });

  it.each<[string, string, string]>([
    ['from=2026-11-01&to=2026-11-02', '2026-11-01T00:00:00.000Z', '2026-11-02T00:00:00.000Z'],
    ['to=2026-03-01', '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ['from=2026-11-20T10:30', '2026-11-20T10:30:00.000Z', '2026-11-21T12:00:00.000Z'],
    ['from=2026-11-20T10:30:00.5Z', '2026-11-20T10:30:00.500Z', '2026-11-21T12:00:00.000Z'],
    ['from=2026-11-20T10:30:00%2B02:00', '2026-11-20T08:30:00.000Z', '2026-11-21T12:00:00.000Z'],
    ['from=2026-11-20T10:30:00+02:00', '2026-11-20T08:30:00.000Z', '2026-11-21T12:00:00.000Z'],
    ['from=2025-11-21&to=2026-11-22', '2025-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
  ])('%s is from %s to %s', async (query, from, to) => {
    expect(await usage(query)).toMatchObject({ from, to });
  });

  it.each([
    ['from=2026-11-31', 'from'],
    ['from=2026-02-29', 'from'],
    ['from=yesterday', 'from'],
    ['from=1700000000', 'from'],
    ['from=', 'from'],
    ['to=2026-11-01T25:00', 'to'],
    ['to=2026-13-01', 'to'],
    ['from=2026-11-02&to=2026-11-02', 'from'],
    ['from=2027-01-01', 'from'],
    ['from=2025-11-20&to=2026-11-22', 'from'],
    ['group_by=organisation', 'group_by'],
    ['organisation_id=org_1', 'organisation_id'],
    ['%3Cscript%3E=1', '<script>'],
  ])('%s is refused, naming %s', async (query, param) => {
    await expect(usage(query)).rejects.toEqual(refusal('invalid_request', param));
  });

  it('adds up by a tag, or of one, in a CSV too, and exactly', async () => {
    const tagged = (id: string, ms: number, tags: object) =>
      rig.ledger.settleSession(
        headOf(us, id, { openedAt: wallNow().toISOString(), tags: JSON.stringify(tags) }),
        endOf([lineOf(ms)]),
      );
    tagged('a', 30_001, { customer: 'acme' });
    tagged('b', 1, { customer: '@SUM(A1)', project: 'x' });
    heard('c', 60_000);
    rig.clock.nowMs += 1;
    const { data, total, group_by: by } = await usage('group_by=tag:customer');
    expect([by, data.map(({ group, cost_usd }: { group: string; cost_usd: string }) => [group, cost_usd])]).toEqual([
      'tag:customer',
      [
        ['@SUM(A1)', '0.000001'],
        ['acme', '0.030001'],
        [null, '0.06'],
      ],
    ]);
    expect(total).toEqual((await usage()).total);
    expect((await usage('tag=customer:acme')).total).toEqual({ audio_seconds: 30.001, cost_usd: '0.030001' });
    const csv = await getUsage({ store: rig.store, wallNow })(at('group_by=tag:customer&format=csv'), us);
    expect([csv.headers?.['Content-Disposition'], csv.body]).toEqual([
      'attachment; filename="voxgate-usage-2026-11-01.csv"',
      [
        'tag:customer,byok,sessions,audio_seconds,connection_seconds,cost_usd',
        "'@SUM(A1),false,1,0.001,,0.000001",
        'acme,false,1,30.001,,0.030001',
        ',false,1,60,,0.06',
        '',
      ].join('\r\n'),
    ]);
  });

  it('refuses more values of a tag than an answer holds, rather than leave some out', async () => {
    const row = { group: 'x', own: false, sessions: 1, audioMs: 0, connectionMs: 0, costMicroUsd: 0n };
    const answering = (count: number) =>
      getUsage({ store: { ...rig.store, usageOf: async () => Array(count).fill(row) }, wallNow })(
        at('group_by=tag:call'),
        us,
      );
    expect(jsonOf(await answering(USAGE_ROWS_MAX)).data).toHaveLength(USAGE_ROWS_MAX);
    await expect(answering(USAGE_ROWS_MAX + 1)).rejects.toEqual(refusal('invalid_request', 'group_by'));
  });

  it('fails while the ledger is away, with that reason', async () => {
    rig.failing.set('usageOf', 'busy');
    await expect(usage()).rejects.toMatchObject({ code: 'ledger_unavailable', status: 503 });
  });
});

describe('GET /v1/balance', () => {
  const balance = async (who = us) => {
    const answer = jsonOf(await getBalance({ store: rig.store })(at(''), who));
    expect(Value.Check(BalanceAnswer, answer)).toBe(true);
    return answer;
  };

  it('says what there is, what is held, and what is left', async () => {
    heard('a', 60_000);
    rig.ledger.openSession(headOf(us, 'b'), holdOf(1_000_000n));
    expect(await balance()).toEqual({
      object: 'balance',
      currency: 'USD',
      balance_usd: '9.94',
      held_usd: '1.00',
      available_usd: '8.94',
      credit_limit_usd: '0.00',
    });
  });

  it('may be below zero, and without a limit', async () => {
    const open = rig.customer({ limit: null });
    heard('a', 60_000, { who: open });
    expect(await balance(open)).toMatchObject({ balance_usd: '-0.06', available_usd: null, credit_limit_usd: null });
  });
});

describe('GET /v1/sessions', () => {
  it('lists the connections of an ended session billed at another model, while kept', async () => {
    heard('ses_other', 60_000);
    const now = wallNow().toISOString();
    const lines = [lineOf(1_000), lineOf(2_000, perMinute(60_000n), { model: 'deepgram/nova-3' })];
    rig.ledger.settleSession(headOf(us, 'ses_both', { openedAt: now }), endOf(lines, { endedAt: now }));
    const find = (id: string, data: { id: string }[]) => data.find((each) => each.id === id);
    expect(find('ses_both', (await sessions()).data)).not.toHaveProperty('legs');
    const legs = [
      { model: 'loopback/script', state: 'upstream_closed' },
      { model: 'deepgram/nova-3', state: 'closed' },
    ];
    const frames = [{ kind: 'ended', sequence: 1, at: now, reason: 'client_closed', turns: 1, failovers: 1, legs }];
    for (const id of ['ses_other', 'ses_both'])
      await rig.store.keepSessionEvents(us.organisationId, id, JSON.stringify(frames));
    const { data } = await sessions();
    expect(find('ses_both', data)).toMatchObject({ failovers: 1, legs });
    expect(find('ses_other', data)).not.toHaveProperty('legs');
  });

  it('describes a live session, with its legs where they are on this node', async () => {
    rig.ledger.openSession(headOf(us, 'ses_1'), holdOf(1_000_000n));
    expect(await session('ses_1')).toMatchObject({ state: 'live', ended_at: null, held_usd: '1.00', usage: [] });
    live.set('ses_1', { state: 'streaming', legs: [{ model: 'loopback/script', state: 'ready' }] });
    expect(await session('ses_1')).toMatchObject({
      phase: 'streaming',
      legs: [{ model: 'loopback/script', state: 'ready' }],
    });
  });

  it('describes an ended session or file, with its cost', async () => {
    heard('req_1', 60_000, { mode: 'batch' as never });
    live.set('req_1', { state: 'never asked', legs: [] });
    expect(await session('req_1')).toEqual({
      object: 'session',
      id: 'req_1',
      mode: 'batch',
      state: 'ended',
      model: 'loopback/script',
      key_id: us.keyId,
      opened_at: '2026-11-21T12:00:00.000Z',
      ended_at: '2026-11-21T12:00:00.000Z',
      reason: 'client_closed',
      code: null,
      audio_seconds: 60,
      usage: [{ model: 'loopback/script', seconds: 60, cost_usd: '0.06', byok: false }],
      cost_usd: '0.06',
      held_usd: '0.00',
    });
  });

  it('hides sessions of another organisation', async () => {
    heard('ses_1', 60_000, { who: them });
    const answers = await Promise.allSettled([session('ses_1'), session('ses_never'), sessions('before=ses_1')]);
    const words = answers.map((answer) => answer.status === 'rejected' && [answer.reason.code, answer.reason.message]);
    expect(words[0]).toEqual(words[1]);
    expect(words.map((each) => (each === false ? undefined : each[0]))).toEqual([
      'not_found',
      'not_found',
      'not_found',
    ]);
  });

  it('lists sessions newest first, page by page', async () => {
    for (let number = 0; number < 5; number++) {
      heard(`ses_${number}`, 1_000);
      rig.clock.nowMs += 1_000;
    }
    heard('ses_theirs', 1_000, { who: them });
    const first = await sessions('limit=2');
    const second = await sessions(`limit=2&before=${first.data[1].id}`);
    const third = await sessions(`limit=2&before=${second.data[1].id}`);
    const ids = [first, second, third].map(({ data }) => data.map(({ id }: { id: string }) => id));
    expect(ids).toEqual([['ses_4', 'ses_3'], ['ses_2', 'ses_1'], ['ses_0']]);
    expect([first, second, third].map(({ has_more }) => has_more)).toEqual([true, true, false]);
    expect([first, second, third].map(({ next }) => next)).toEqual(['ses_3', 'ses_1', null]);
  });

  it('lists the requested sessions', async () => {
    heard('ses_1', 1_000, { model: 'deepgram/nova-3' });
    heard('req_2', 1_000, { model: 'deepgram/nova-3' });
    rig.clock.nowMs += 86_400_000;
    heard('ses_3', 1_000, { model: 'openai/whisper-1' });
    rig.ledger.openSession(headOf(us, 'ses_4', { openedAt: wallNow().toISOString() }), holdOf(1_000n));
    heard('ses_theirs', 1_000, { who: them, model: 'deepgram/nova-3' });
    const found = async (query: string) => (await sessions(query)).data.map(({ id }: { id: string }) => id);
    expect(await found('state=live')).toEqual(['ses_4']);
    expect(await found('state=ended&model=deepgram')).toEqual(['req_2', 'ses_1']);
    expect(await found('model=openai/whisper-1&reason=client_closed')).toEqual(['ses_3']);
    expect(await found('from=2026-11-22')).toEqual(['ses_4', 'ses_3']);
    expect(await found('to=2026-11-22&id=ses_')).toEqual(['ses_1']);
    expect(await found(`key=${us.keyId}&limit=2`)).toEqual(['ses_4', 'ses_3']);
    expect(await found(`key=${them.keyId}`)).toEqual([]);
    const long = 'x'.repeat(201);
    for (const wrong of ['state=gone', 'model=', `reason=${long}`, 'from=yesterday', `id=${long}`]) {
      await expect(sessions(wrong)).rejects.toEqual(refusal('invalid_request', wrong.slice(0, wrong.indexOf('='))));
    }
  });

  it.each(['limit=0', 'limit=101', 'limit=1.5', 'limit=', 'limit=-1', 'limit=1e1'])('%s is refused', async (query) => {
    await expect(sessions(query)).rejects.toEqual(refusal('invalid_request', 'limit'));
  });
});
