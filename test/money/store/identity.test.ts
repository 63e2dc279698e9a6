// Which ledger a database holds: made up once, the same in every copy, further on with whatever is written, and never back.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { applyCalls } from '../../../src/node/store/group-commit.ts';
import type { Call } from '../../../src/node/store/protocol.ts';
import { restoreDatabase } from '../../../src/node/store/restore.ts';
import type { LedgerIdentity } from '../../../src/store/identity.ts';
import { databaseIn, OPERATOR, openTables } from '../../fakes/store/data-directory.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const begin = () => {
  const directory = temporaryDirectory();
  return { directory, ...openTables(databaseIn(directory)) };
};

test('differs between two databases, and stays the same for every opener', () => {
  const [one, other] = [begin(), begin()];
  const identity = one.tables.findLedger();
  expect(identity).toEqual({
    id: expect.stringMatching(/^led_[0-9a-f]{24}$/),
    generation: 1,
    replaces: null,
    sequence: 0,
  });
  expect(other.tables.findLedger().id).not.toBe(identity.id);
  expect(openTables(databaseIn(one.directory)).tables.findLedger()).toEqual(identity);
});

test('advances only after a write, by this process or another', () => {
  const { directory, tables } = begin();
  const first = tables.noteLedger().sequence;
  const noted = () => tables.noteLedger().sequence - first;
  expect([noted(), noted()]).toEqual([0, 0]);
  tables.createOrganisation('Acme', null, OPERATOR);
  expect([noted(), noted()]).toEqual([1, 1]);
  openTables(databaseIn(directory)).tables.createOrganisation('Other', null, OPERATOR);
  expect([noted(), noted()]).toEqual([2, 2]);
});

test('advances for each write before a note, also within one commit, and not for calls that change nothing', () => {
  const { target, time, tables } = begin();
  const sequencesOf = (...names: ('write' | 'nothing' | 'refused' | 'note')[]) => {
    const calls = names.map((name, id): Call => {
      if (name === 'note') return { id, name: 'noteLedger', args: [] };
      if (name === 'nothing') return { id, name: 'expireHolds', args: [] };
      const args = [name === 'write' ? 'Acme' : '', null, OPERATOR];
      return { id, name: 'createOrganisation', args, drawn: { ids: [randomUUID()] } };
    });
    const answers = applyCalls(target, { nowMs: time.nowMs, calls });
    return answers.flatMap((answer) =>
      'value' in answer && names[answer.id] === 'note' ? [(answer.value as LedgerIdentity).sequence - first] : [],
    );
  };
  const first = tables.noteLedger().sequence;
  expect(sequencesOf('note', 'nothing', 'refused', 'note')).toEqual([0, 0]);
  expect(sequencesOf('write', 'note', 'note', 'write', 'nothing', 'note', 'write')).toEqual([1, 1, 2]);
  expect(sequencesOf('note')).toEqual([3]);
  expect(sequencesOf('note')).toEqual([3]);
});

test('stays when it is read: an older copy does not catch up', () => {
  const { tables } = begin();
  tables.createOrganisation('Acme', null, OPERATOR);
  for (let time = 0; time < 5; time++) expect(tables.findLedger().sequence).toBe(0);
});

test('survives in a backup, which counts as activated when it is restored', () => {
  const { directory, tables } = begin();
  const copy = join(directory, 'copy.db');
  const before = tables.noteLedger();
  tables.backup(copy);
  const file = databaseIn(join(temporaryDirectory(), 'restored'));
  restoreDatabase(copy, file, false);
  const restored = openTables(file).tables.findLedger();
  expect(restored).toMatchObject({ id: before.id, replaces: null });
  expect(restored.generation).toBeGreaterThan(before.generation);
});

test('replaces another by a person’s order, each time with a higher count', () => {
  const { tables, time } = begin();
  const { id } = tables.findLedger();
  const other = `led_${'0'.repeat(24)}`;
  const first = tables.acceptLedger(other);
  expect(first).toMatchObject({ id, replaces: other, generation: time.nowMs });
  // Its own older content.
  expect(tables.acceptLedger(id)).toMatchObject({ replaces: other, generation: time.nowMs + 1 });
  for (const name of ['', 'led_1', `${other}0`, 'org_1', "led_'"]) {
    expect(() => tables.acceptLedger(name)).toThrow('A ledger is `led_` and 24');
  }
});

test('cannot be changed, removed or set back, not by SQL either', () => {
  const { database, tables } = begin();
  tables.noteLedger();
  for (const sql of [
    `UPDATE ledger_identity SET id = 'led_${'0'.repeat(24)}'`,
    'UPDATE ledger_identity SET generation = 0',
    'UPDATE ledger_identity SET sequence = 0',
    'DELETE FROM ledger_identity',
  ]) {
    expect(() => database.exec(sql)).toThrow();
  }
});
