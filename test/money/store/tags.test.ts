// Tags in the ledger: kept with their session, found by, added up without a micro-dollar lost, and never a reason not to bill.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTag } from '../../../src/api/tags.ts';
import type { UsageQuery } from '../../../src/money/store/calls.ts';
import { endOf, headOf, holdOf, type LedgerRig, ledgerRig, lineOf, perMinute } from '../../fakes/store/ledger.ts';

const textOf = (tags: Record<string, string>) => JSON.stringify(tags);
const ACME = { tags: '{"customer":"acme","project":"x"}' };

function customerOf(rig: LedgerRig) {
  return rig.customer({ limit: null });
}

const november = (
  organisationId: string,
  groupBy: UsageQuery['groupBy'],
  more: Partial<UsageQuery> = {},
): UsageQuery => ({
  organisationId,
  from: '2026-11-01T00:00:00Z',
  to: '2026-12-01T00:00:00Z',
  groupBy,
  ...more,
});

describe('a session with tags', () => {
  test('has them from its opening to its record, and in each movement of money', () => {
    const rig = ledgerRig();
    const who = customerOf(rig);
    const head = headOf(who, 'ses_1', ACME);
    rig.ledger.openSession(head, holdOf(10_000n));
    expect(rig.ledger.findSession(who.organisationId, 'ses_1')).toMatchObject(ACME);
    rig.ledger.renewHold(head, [lineOf(1_000)], holdOf(10_000n));
    expect(rig.ledger.settleSession(head, endOf([lineOf(2_000)]))).toMatchObject(ACME);
    rig.ledger.settleSession(headOf(who, 'ses_2'), endOf([lineOf(1_000)]));
    const moved = rig.ledger.exportLedger(0, 10).map(({ sessionId, tags }) => [sessionId, tags]);
    expect(moved).toEqual([
      ['ses_1', ACME.tags],
      ['ses_1', ACME.tags],
      ['ses_2', undefined],
    ]);
    expect(rig.ledger.findSession(who.organisationId, 'ses_2')).not.toHaveProperty('tags');
    expect(rig.ledger.auditLedger()).toMatchObject({ ok: true });
  });

  test('takes them with its end too, for fields that come after a file', () => {
    const rig = ledgerRig();
    const who = customerOf(rig);
    const head = headOf(who, 'req_1', { mode: 'batch' });
    rig.ledger.openSession(head, holdOf(10_000n));
    expect(rig.ledger.settleSession({ ...head, ...ACME }, endOf([lineOf(1_000)]))).toMatchObject(ACME);
    rig.ledger.openSession({ ...head, id: 'req_2', tags: '{"a":"1"}' }, holdOf(10_000n));
    const both = '{"a":"1","b":"2"}';
    expect(rig.ledger.settleSession({ ...head, id: 'req_2', tags: both }, endOf([lineOf(1)])).tags).toBe(both);
  });

  test('keeps them if its node is lost, and for usage that is reported later', () => {
    const rig = ledgerRig();
    const who = customerOf(rig);
    const head = headOf(who, 'ses_abc123a', ACME);
    rig.ledger.openSession(head, holdOf(0n));
    expect(rig.ledger.closeLost('abc123', '2026-11-21T12:01:00.000Z')).toBe(1);
    rig.ledger.settleSession(head, endOf([lineOf(1_000)]));
    expect(rig.ledger.usageOf(november(who.organisationId, 'tag:customer'))).toMatchObject([
      { group: 'acme', costMicroUsd: 1_000n },
    ]);
    expect(rig.ledger.findSession(who.organisationId, 'ses_abc123a:late')).toMatchObject(ACME);
  });

  test.each([
    ['no JSON', 'customer:acme'],
    ['other JSON', '["customer"]'],
    ['none', '{}'],
    ['a key that there cannot be', '{"Customer":"acme"}'],
    ['a value with a control character', textOf({ a: '\u0007' })],
    ['eleven', textOf(Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`k${at}`, 'v'])))],
    ['more than a megabyte', textOf({ a: 'x'.repeat(1_100_000) })],
    ['a number', 7 as unknown as string],
  ])('is billed without tags that are %s', (_, tags) => {
    const rig = ledgerRig();
    const who = customerOf(rig);
    const head = headOf(who, 'ses_1', { tags });
    rig.ledger.openSession(head, holdOf(10_000n));
    const record = rig.ledger.settleSession(head, endOf([lineOf(2_000)]));
    expect(record.costMicroUsd).toBe(2_000n);
    expect(record).not.toHaveProperty('tags');
  });
});

describe('usage by a tag', () => {
  test('has a row for each value, and one without it, which comes last', () => {
    const rig = ledgerRig();
    const [one, other] = [customerOf(rig), customerOf(rig)];
    const settle = (id: string, tags: Record<string, string> | undefined, ms: number, who = one, own = false) =>
      rig.ledger.settleSession(
        headOf(who, id, tags === undefined ? {} : { tags: textOf(tags) }),
        endOf([lineOf(ms, perMinute(60_000n), { own })]),
      );
    settle('ses_1', { customer: 'zeta' }, 1_000);
    settle('ses_2', { customer: 'acme', project: 'x' }, 2_000);
    settle('ses_3', { customer: 'acme' }, 4_000);
    settle('ses_4', { project: 'x' }, 8_000);
    settle('ses_5', undefined, 16_000);
    settle('ses_6', { customer: 'acme' }, 32_000, one, true);
    settle('ses_7', { customer: 'acme' }, 64_000, other);
    const rows = (groupBy: UsageQuery['groupBy'], more: Partial<UsageQuery> = {}) =>
      rig.ledger
        .usageOf(november(one.organisationId, groupBy, more))
        .map(({ group, own, sessions, costMicroUsd }) => [group, own, sessions, costMicroUsd]);
    expect(rows('tag:customer')).toEqual([
      ['acme', false, 2, 6_000n],
      ['acme', true, 1, 0n],
      ['zeta', false, 1, 1_000n],
      [null, false, 2, 24_000n],
    ]);
    expect(rows('tag:project')).toEqual([
      ['x', false, 2, 10_000n],
      [null, false, 3, 21_000n],
      [null, true, 1, 0n],
    ]);
    expect(rows('tag:nothing')).toEqual([
      [null, false, 5, 31_000n],
      [null, true, 1, 0n],
    ]);
    expect(rows('day', { tag: readTag('customer:acme') })).toEqual([
      ['2026-11-21', false, 2, 6_000n],
      ['2026-11-21', true, 1, 0n],
    ]);
    expect(rows('tag:project', { tag: readTag('customer:acme') })).toEqual([
      ['x', false, 1, 2_000n],
      [null, false, 1, 4_000n],
      [null, true, 1, 0n],
    ]);
    expect(rows('model', { tag: readTag('customer:none') })).toEqual([]);
    expect(rows('tag:customer', { limit: 2 })).toHaveLength(2);
    expect(rows('tag:customer', { keyId: 'key_none' })).toEqual([]);
  });

  test.each(['tag', 'tag:', 'tag:A', 'tag:a"b', "tag:a'b", 'tag:$', 'model; DROP TABLE sessions', 'constructor'])(
    'is refused by %s',
    (groupBy) => {
      const rig = ledgerRig();
      const { organisationId } = customerOf(rig);
      const usage = () => rig.ledger.usageOf(november(organisationId, groupBy as UsageQuery['groupBy']));
      expect(usage).toThrow(expect.objectContaining({ reason: 'invalid' }));
    },
  );

  test('adds up to the bill exactly for any tags', () => {
    const key = fc.constantFrom('customer', 'project', 'a.b', '_', '0', '__proto__', 'constructor');
    const value = fc.constantFrom('acme', 'null', '0', '"', '\\', "'", '$."a"', '<b>', 'ä🎧', '%', 'x'.repeat(100));
    const tags = fc.option(fc.uniqueArray(fc.tuple(key, value), { maxLength: 7, selector: ([name]) => name }), {
      nil: undefined,
    });
    const session = fc.record({
      tags,
      audioMs: fc.integer({ min: 0, max: 10_000_000 }),
      own: fc.boolean(),
      price: fc.bigInt(0n, 1_000_000n),
      model: fc.constantFrom('a/x', 'a/y', 'b/x'),
    });
    fc.assert(
      fc.property(fc.array(session, { maxLength: 20 }), key, (sessions, grouped) => {
        const rig = ledgerRig();
        const who = customerOf(rig);
        for (const [at, { tags: pairs, audioMs, own, price, model }] of sessions.entries()) {
          const said = pairs === undefined ? {} : { tags: textOf(Object.fromEntries(pairs)) };
          const lines = [
            lineOf(audioMs, perMinute(price), { own, model }),
            lineOf(audioMs, perMinute(price), { model: 'c/z' }),
          ];
          rig.ledger.settleSession(headOf(who, `ses_${at}`, said), endOf(lines));
        }
        const { totalMicroUsd, lines } = rig.ledger.billOf(who.organisationId, '2026-11');
        const rows = rig.ledger.usageOf(november(who.organisationId, `tag:${grouped}`));
        expect(rows.reduce((sum, row) => sum + row.costMicroUsd, 0n)).toBe(totalMicroUsd);
        const audioOf = (all: readonly { audioMs: number }[]) => all.reduce((sum, { audioMs }) => sum + audioMs, 0);
        expect(audioOf(rows)).toBe(audioOf(lines));
        // Each value on its own gives the same as its row.
        for (const { group, own, costMicroUsd } of rows) {
          if (own) expect(costMicroUsd).toBe(0n);
          if (group === null) continue;
          const tag = { key: grouped, value: group };
          const chosen = rig.ledger.usageOf(november(who.organisationId, 'model', { tag }));
          const same = chosen.filter((row) => row.own === own);
          expect(same.reduce((sum, row) => sum + row.costMicroUsd, 0n)).toBe(costMicroUsd);
        }
      }),
      { numRuns: 60 },
    );
  });
});

test('a search by a tag finds the sessions that have it, page after page, and no other organisation’s', () => {
  const rig = ledgerRig();
  const [one, other] = [customerOf(rig), customerOf(rig)];
  for (let at = 0; at < 9; at++) {
    const openedAt = `2026-11-21T12:00:0${at}.000Z`;
    const tags = at % 3 === 0 ? { tags: textOf({ customer: 'acme', at: `${at}` }) } : {};
    rig.ledger.settleSession(headOf(one, `ses_${at}`, { openedAt, ...tags }), endOf([lineOf(1)]));
    rig.ledger.settleSession(headOf(other, `ses_other${at}`, { openedAt, ...tags }), endOf([lineOf(1)]));
  }
  const found: string[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const search = { limit: 1, tag: readTag('customer:acme'), ...(before === undefined ? {} : { before }) };
    const page = rig.ledger.searchSessions(one.organisationId, search);
    found.push(...page.sessions.map(({ id }) => id));
    before = page.next;
  }
  expect(found).toEqual(['ses_6', 'ses_3', 'ses_0']);
  const none = rig.ledger.searchSessions(one.organisationId, { limit: 10, tag: readTag('customer:acm') });
  expect(none.sessions).toEqual([]);
});
