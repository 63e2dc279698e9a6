// Who may write to a database: the highest revision counts, and whoever had it before writes nothing more.
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { applyCalls } from '../../src/node/store/group-commit.ts';
import type { Call } from '../../src/node/store/protocol.ts';
import type { StoreError } from '../../src/store/store-error.ts';
import { databaseIn, OPERATOR, openTables } from '../fakes/store/data-directory.ts';
import { directTables } from '../fakes/store/direct-tables.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

/** Two processes on one file. */
function begin() {
  const file = databaseIn(temporaryDirectory());
  const one = openTables(file);
  const other = openTables(file);
  const answers = (
    { target, time }: Pick<ReturnType<typeof openTables>, 'target' | 'time'>,
    ...calls: Omit<Call, 'id'>[]
  ) =>
    applyCalls(target, { nowMs: time.nowMs, calls: calls.map((call, id) => ({ id, ...call })) }).map((answer) =>
      'rejection' in answer ? answer.rejection.reason : 'done',
    );
  return { one, other, answers };
}

const claim = (revision: number, holder: string, shard = '0'): Omit<Call, 'id'> => ({
  name: 'claimOwnership',
  args: [shard, revision, holder],
});
const write = (): Omit<Call, 'id'> => ({
  name: 'createOrganisation',
  args: ['Acme', null, OPERATOR],
  drawn: { ids: [randomUUID()] },
});
const read: Omit<Call, 'id'> = { name: 'listOrganisations', args: [] };

const reasonOf = (work: () => void): string => {
  try {
    work();
    return 'done';
  } catch (error) {
    return (error as StoreError).reason;
  }
};

describe('the owner of a database', () => {
  test('keeps the last claim', () => {
    const { one, other } = begin();
    expect(one.tables.findOwnership()).toBeUndefined();
    one.tables.claimOwnership('0', 7, 'a');
    const at = new Date(one.time.nowMs).toISOString();
    expect(other.tables.findOwnership()).toEqual({ shard: '0', revision: 7, holder: 'a', at });
  });

  test.each<[string, number, string, string]>([
    ['a higher revision', 8, 'b', 'done'],
    ['the same of the same holder', 7, 'a', 'done'],
    ['the same of another user', 7, 'b', 'superseded'],
    ['a lower one', 6, 'a', 'superseded'],
  ])('%s', (_, revision, holder, outcome) => {
    const { one, other } = begin();
    one.tables.claimOwnership('0', 7, 'a');
    expect(reasonOf(() => other.tables.claimOwnership('0', revision, holder))).toBe(outcome);
    expect(one.tables.findOwnership()?.revision).toBe(outcome === 'done' ? revision : 7);
  });

  test('belongs to one shard', () => {
    const { one, other } = begin();
    one.tables.claimOwnership('0', 7, 'a');
    expect(reasonOf(() => other.tables.claimOwnership('1', 8, 'b'))).toBe('conflict');
  });

  test('leaves the former owner with reads only, until it claims again', () => {
    const { one, other, answers } = begin();
    expect(answers(one, claim(7, 'a'), write(), read)).toEqual(['done', 'done', 'done']);
    expect(answers(other, claim(8, 'b'), write())).toEqual(['done', 'done']);
    expect(answers(one, write(), read, claim(7, 'a'))).toEqual(['superseded', 'done', 'superseded']);
    expect(answers(one, claim(9, 'a'), write())).toEqual(['done', 'done']);
    expect(answers(other, write(), read)).toEqual(['superseded', 'done']);
    expect(one.tables.listOrganisations()).toHaveLength(3);
  });

  test('lets a process without a claim write, such as a command of the operator', () => {
    const { one, other, answers } = begin();
    answers(one, claim(7, 'a'));
    expect(answers(other, write())).toEqual(['done']);
  });

  test('stays recorded, and its revision never falls', () => {
    const { one } = begin();
    one.tables.claimOwnership('0', 7, 'a');
    expect(() => one.database.exec('DELETE FROM ownership')).toThrow('never forgotten');
    expect(() => one.database.exec('UPDATE ownership SET revision = 6')).toThrow('never falls');
  });

  test('blocks no process by a claim that was not committed', () => {
    const { one, answers } = begin();
    const lost = directTables(one.database, () => one.time.nowMs);
    one.database.exec('BEGIN');
    lost.tables.claimOwnership('0', 7, 'a');
    one.database.exec('ROLLBACK');
    expect(answers({ ...one, target: lost.target }, write())).toEqual(['done']);
    expect(one.tables.findOwnership()).toBeUndefined();
  });
});
