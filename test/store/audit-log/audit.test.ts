// The audit log: it only grows, and is read newest first, page by page.
import { describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../../src/store/audit-log.ts';
import { OPERATOR, openTables } from '../../fakes/store/data-directory.ts';

const entry = (action: string, organisationId: string | null = 'org_1'): AuditEntry => ({
  by: OPERATOR,
  organisationId,
  action,
  target: null,
  detail: {},
});

test('logs prices when they differ from those of the last start', () => {
  const { tables } = openTables();
  for (const version of ['a', 'a', 'b', 'b', 'a']) tables.notePrices(version);
  expect(tables.listAudit(null, 10).map(({ by, action, detail }) => [by.id, action, detail])).toEqual([
    ['gateway', 'prices.changed', { version: 'a', before: 'b' }],
    ['gateway', 'prices.changed', { version: 'b', before: 'a' }],
    ['gateway', 'prices.changed', { version: 'a', before: null }],
  ]);
});

describe('the audit log', () => {
  test('keeps person, action, time and address as received', () => {
    const { tables } = openTables();
    const told: AuditEntry = {
      by: { type: 'person', id: 'per_1', address: '2001:db8::1' },
      organisationId: 'org_1',
      action: 'key.created',
      target: 'key_1',
      detail: { name: 'ü 漢 🎤', list: [1, null, { deep: true }], quote: `'"; DROP TABLE audit_log; --` },
    };
    tables.recordAudit(told);
    tables.recordAudit({ ...told, by: OPERATOR, organisationId: null, target: null });
    expect(tables.listAudit(null, 10)).toEqual([
      { ...told, by: OPERATOR, organisationId: null, target: null, number: 2, at: '2026-06-15T12:00:30.500Z' },
      { ...told, number: 1, at: '2026-06-15T12:00:30.500Z' },
    ]);
  });

  test.each([
    ["UPDATE audit_log SET actor_id = 'somebody else'"],
    ['UPDATE audit_log SET number = 7'],
    ['DELETE FROM audit_log'],
    ['DELETE FROM audit_log WHERE number = 1'],
    [
      `REPLACE INTO audit_log (number, at, actor_type, actor_id, action, detail)
      VALUES (1, 'now', 'system', 'x', 'nothing', '{}')`,
    ],
  ])('refuses: %s', (sql) => {
    const { tables, database } = openTables();
    tables.recordAudit(entry('key.created'));
    const before = tables.listAudit(null, 10);
    expect(() => database.exec(sql)).toThrow('the audit log only grows');
    expect(tables.listAudit(null, 10)).toEqual(before);
  });

  test('pages newest first, without gap or repetition while it grows', () => {
    const { tables } = openTables();
    const actions = Array.from({ length: 25 }, (_, index) => `action.${index}`);
    for (const action of actions) tables.recordAudit(entry(action));
    const read: string[] = [];
    let before: number | undefined;
    for (;;) {
      const page = tables.listAudit(null, 10, before);
      if (page.length === 0) break;
      read.push(...page.map(({ action }) => action));
      before = page.at(-1)!.number;
      tables.recordAudit(entry('meanwhile'));
    }
    expect(read).toEqual(actions.reverse());
  });

  test('shows an organisation its own entries alone', () => {
    const { tables } = openTables();
    for (const [action, organisationId] of [
      ['a', 'org_1'],
      ['b', 'org_2'],
      ['c', null],
      ['d', 'org_1'],
    ] as const) {
      tables.recordAudit(entry(action, organisationId));
    }
    const actionsOf = (organisationId: string | null, before?: number) =>
      tables.listAudit(organisationId, 10, before).map(({ action }) => action);
    expect(actionsOf('org_1')).toEqual(['d', 'a']);
    expect(actionsOf('org_1', 4)).toEqual(['a']);
    expect(actionsOf('org_2')).toEqual(['b']);
    expect(actionsOf('org_3')).toEqual([]);
    expect(actionsOf(null)).toEqual(['d', 'c', 'b', 'a']);
  });

  test.each([
    [0, 0],
    [-1, 0],
    [1, 1],
    [5000, 1000],
  ])('returns for %i at most %i entries', (limit, most) => {
    const { tables, database } = openTables();
    database.transaction(() => {
      for (let index = 0; index < 1001; index++) tables.recordAudit(entry('a'));
    })();
    expect(tables.listAudit(null, limit)).toHaveLength(most);
  });

  test('rolls back together with the change that it records', () => {
    const { tables, database } = openTables();
    const both = database.transaction(() => {
      tables.createOrganisation('x', null, OPERATOR);
      throw new Error('changed my mind');
    });
    expect(both).toThrow('changed my mind');
    expect(tables.listAudit(null, 10)).toEqual([]);
    expect(tables.listOrganisations()).toEqual([]);
  });
});
