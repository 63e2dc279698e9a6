// Sessions by what they were: each filter and all together against the same filter in plain words, page after page; and that a
// search among many walks the index and looks at no more than it may.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SessionSearch } from '../../../src/money/store/calls.ts';
import { LOOKED_AT_MAX, SEARCH } from '../../../src/money/store/records.ts';
import { endOf, headOf, holdOf, type LedgerRig, ledgerRig, lineOf } from '../../fakes/store/ledger.ts';

const MODELS = ['deepgram/nova-3', 'deepgram/nova-2', 'deep/gram', 'local/commands-en'] as const;
const ENDS = [undefined, { reason: 'idle', code: 'session_idle' }, { reason: 'client_closed', code: null }] as const;
type Made = { id: string; openedAt: string; model: string; heard: string; end: (typeof ENDS)[number]; keyId: string };

/** Two sessions a minute of each kind there is, in an order that has nothing to do with it. */
function filled(): { rig: LedgerRig; organisationId: string; made: Made[] } {
  const rig = ledgerRig();
  const one = rig.customer({ limit: null });
  const other = rig.customer({ limit: null });
  const made: Made[] = [];
  const kinds = MODELS.flatMap((model) => ENDS.flatMap((end) => ['a', 'b'].map((node) => ({ model, end, node }))));
  for (const [at, { model, end, node }] of kinds.entries()) {
    const openedAt = `2026-11-21T12:${String((at * 7) % 12).padStart(2, '0')}:00.000Z`;
    const keyId = at % 3 === 0 ? 'key_another' : one.keyId;
    const heard = at % 4 === 0 ? 'openai/whisper-1' : model;
    const head = headOf({ ...one, keyId: one.keyId }, `ses_${node}${at}`, { openedAt, model, keyId });
    if (end === undefined) rig.ledger.openSession({ ...head, keyId: one.keyId }, holdOf(0n));
    else rig.ledger.settleSession(head, endOf([{ ...lineOf(1_000), model: heard }], { ...end, endedAt: openedAt }));
    rig.ledger.settleSession(headOf(other, `ses_other${at}`, { openedAt, model }), endOf([lineOf(1_000)]));
    made.push({ id: head.id, openedAt, model, heard, end, keyId: end === undefined ? one.keyId : keyId });
  }
  // Newest first; of one minute, the one that was told later.
  const order = made.map((each, told) => ({ ...each, told }));
  order.sort((a, b) => b.openedAt.localeCompare(a.openedAt) || b.told - a.told);
  return { rig, organisationId: one.organisationId, made: order };
}

const { rig, organisationId, made } = filled();

const isOf = (slug: string, wanted: string) => slug === wanted || slug.startsWith(`${wanted}/`);

const fits = (each: Made, { state, model, keyId, from, to, reason, idPrefix }: Omit<SessionSearch, 'limit'>): boolean =>
  (state === undefined || (state === 'live') === (each.end === undefined)) &&
  (model === undefined || isOf(each.model, model) || (each.end !== undefined && isOf(each.heard, model))) &&
  (keyId === undefined || each.keyId === keyId) &&
  (from === undefined || each.openedAt >= from) &&
  (to === undefined || each.openedAt < to) &&
  (reason === undefined || each.end?.reason === reason || each.end?.code === reason) &&
  (idPrefix === undefined || each.id.startsWith(idPrefix));

function paged(search: Omit<SessionSearch, 'limit'>, limit: number): string[] {
  const ids: string[] = [];
  let before: string | null | undefined;
  while (before !== null) {
    const page = rig.ledger.searchSessions(organisationId, { ...search, limit, ...(before ? { before } : {}) });
    expect(page.sessions.length).toBeLessThanOrEqual(limit);
    ids.push(...page.sessions.map(({ id }) => id));
    before = page.next;
  }
  return ids;
}

describe('a search', () => {
  const searches = fc.record(
    {
      state: fc.constantFrom('live' as const, 'ended' as const),
      model: fc.constantFrom<string>(...MODELS, 'deepgram', 'deep', 'openai', 'deepgram/nova', '%', '_'),
      keyId: fc.constantFrom('key_another', made[1]!.keyId, 'key_never'),
      from: fc.constantFrom('2026-11-21T12:03:00.000Z', '2026-11-21T12:09:00.000Z'),
      to: fc.constantFrom('2026-11-21T12:03:00.000Z', '2026-11-21T12:09:00.000Z'),
      reason: fc.constantFrom('idle', 'session_idle', 'client_closed', 'never'),
      idPrefix: fc.constantFrom('ses_a', 'ses_b1', 'ses_', 's%', made[0]!.id),
    },
    { requiredKeys: [] },
  );

  test('finds what is as wanted and no other, newest first, page after page', () => {
    fc.assert(
      fc.property(searches, fc.integer({ min: 1, max: 30 }), (search, limit) => {
        const wanted = made.filter((each) => fits(each, search)).map(({ id }) => id);
        expect(paged(search, limit)).toEqual(wanted);
      }),
      { numRuns: 300 },
    );
  });

  test('fails after another organisation’s session, as after an unknown one', () => {
    for (const before of ['ses_other1', 'ses_never']) {
      expect(() => rig.ledger.searchSessions(organisationId, { limit: 1, before })).toThrow(
        `has no session "${before}"`,
      );
    }
  });
});

describe('among 25,000 sessions', () => {
  const many = ledgerRig();
  const { organisationId: whose, keyId } = many.customer({ limit: null });
  const add = many.database.prepare(
    `INSERT INTO sessions (id, organisation_id, key_id, mode, model, opened_at) VALUES (?, ?, ?, 'live', ?, ?)`,
  );
  const COUNT = 25_000;
  many.database.transaction(() => {
    for (let at = 0; at < COUNT; at++) {
      const model = at === 0 ? 'rare/model' : 'deepgram/nova-3';
      add.run(`ses_${at}`, whose, keyId, model, new Date(Date.UTC(2026, 0, 1) + at * 1_000).toISOString());
    }
  })();

  test('walks the index in order, without sorting or a full scan', () => {
    const plan = many.database
      .prepare<Record<string, unknown>, { detail: string }>(`EXPLAIN QUERY PLAN ${SEARCH}`)
      .all({
        organisationId: whose,
        state: 'live',
        model: 'rare',
        keyId: null,
        reason: null,
        idPrefix: null,
        tagPath: '$."customer"',
        tagValue: 'acme',
        fromAt: '~',
        fromNumber: 0n,
        toAt: '',
        toNumber: 0n,
        limit: 51,
      })
      .map(({ detail }) => detail);
    expect(plan[0]).toMatch(
      /^SEARCH sessions USING INDEX sessions_by_organisation \(organisation_id=\? AND opened_at>\? AND opened_at<\?\)$/,
    );
    expect(plan.filter((line) => /^SCAN|TEMP B-TREE/.test(line))).toEqual([]);
  });

  test('finds rare sessions in bounded steps, each of which says where to continue', () => {
    const steps: [found: string[], next: string | null][] = [];
    let before: string | null | undefined;
    while (before !== null) {
      const found = many.ledger.searchSessions(whose, { limit: 50, model: 'rare', ...(before ? { before } : {}) });
      steps.push([found.sessions.map(({ id }) => id), found.next]);
      before = found.next;
    }
    expect(steps).toEqual([
      [[], `ses_${COUNT - LOOKED_AT_MAX}`],
      [[], `ses_${COUNT - 2 * LOOKED_AT_MAX}`],
      [['ses_0'], null],
    ]);
  });

  test('needs one step for a time range that ends within it', () => {
    const from = new Date(Date.UTC(2026, 0, 1) + (COUNT - 100) * 1_000).toISOString();
    expect(many.ledger.searchSessions(whose, { limit: 50, model: 'rare', from })).toEqual({ sessions: [], next: null });
    const to = new Date(Date.UTC(2026, 0, 1) + 5_000).toISOString();
    const found = many.ledger.searchSessions(whose, { limit: 50, to });
    expect([found.sessions.map(({ id }) => id), found.next]).toEqual([
      ['ses_4', 'ses_3', 'ses_2', 'ses_1', 'ses_0'],
      null,
    ]);
  });
});
