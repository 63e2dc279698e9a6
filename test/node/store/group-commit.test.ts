// Calls that wait beside each other: one commit for all, each whole or nothing, and what the disk or a lock makes of them.
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { drawFor } from '../../../src/node/store/draw.ts';
import { applyCalls, applyEntry } from '../../../src/node/store/group-commit.ts';
import type { Answer, Call } from '../../../src/node/store/protocol.ts';
import type { StoreCalls } from '../../../src/node/store/store.ts';
import { keepDatabase } from '../../../src/store/keep-database.ts';
import { databaseIn, OPERATOR, openStore, openTables } from '../../fakes/store/data-directory.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

function callOf<Name extends keyof StoreCalls>(name: Name, ...args: Parameters<StoreCalls[Name]>): Call {
  const { drawn } = drawFor(name, Date.UTC(2026, 0, 1));
  return drawn === undefined ? { id: 0, name, args } : { id: 0, name, args, drawn };
}

const numbered = (calls: readonly Call[]): Call[] => calls.map((call, index) => ({ ...call, id: index + 1 }));

/** `ok`, or the reason why it was rejected. */
const outcomeOf = (answer: Answer): string => ('value' in answer ? 'ok' : answer.rejection.reason);

/** Tables with an organisation, and a way to apply calls together. */
function begin() {
  const { file, database, tables, target, time } = openTables();
  const { organisation, key } = tables.bootstrap()!;
  const create = (name: string) => callOf('createKey', organisation.id, { name }, OPERATOR);
  const apply = (...calls: Call[]) => applyCalls(target, { nowMs: time.nowMs, calls: numbered(calls) });
  const names = () => tables.listKeys().map(({ name }) => name);
  return { file, database, tables, target, organisation, key, create, apply, names };
}

describe('calls that wait together', () => {
  test('commit once, answer in order, and see what earlier ones did', () => {
    const { database, create, apply } = begin();
    const exec = vi.spyOn(database, 'exec');
    const answers = apply(callOf('listKeys'), create('a'), callOf('listKeys'), create('b'), callOf('listKeys'));
    expect(exec.mock.calls.filter(([sql]) => sql === 'COMMIT')).toHaveLength(1);
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
    const seen = [0, 2, 4].map((index) => (answers[index] as { value: unknown[] }).value.length);
    expect(seen).toEqual([1, 2, 3]);
  });

  test('begin no transaction when they only read', () => {
    const { database, apply } = begin();
    const exec = vi.spyOn(database, 'exec');
    expect(apply(callOf('listKeys'), callOf('listOrganisations')).map(outcomeOf)).toEqual(['ok', 'ok']);
    expect(exec).not.toHaveBeenCalled();
  });

  test('wait for the disk, unless all that they write are notes, which a failure of the power may take', () => {
    const { database, key, create, apply } = begin();
    const NORMAL = 1;
    const FULL = 2;
    const note = callOf('noteKeysUsed', key.organisationId, [{ keyId: key.id, atMs: 1 }]);
    const waitingAfter = (...calls: Call[]) => {
      expect(apply(...calls).map(outcomeOf)).toEqual(calls.map(() => 'ok'));
      return database.pragma('synchronous', { simple: true });
    };
    expect(waitingAfter(callOf('listKeys'))).toBe(FULL);
    expect(waitingAfter(note, callOf('listKeys'))).toBe(NORMAL);
    expect(waitingAfter(note, create('a'))).toBe(FULL);
    expect(waitingAfter(note)).toBe(NORMAL);
    expect(waitingAfter(create('b'))).toBe(FULL);
  });

  test('stand although one of them is rejected, which changed nothing', () => {
    const { database, tables, create, apply, names } = begin();
    // Rejected after its key was written, and before its entry in the audit log was.
    database.exec(`CREATE TEMP TRIGGER half BEFORE INSERT ON audit_log WHEN new.detail LIKE '%"half"%'
                   BEGIN SELECT raise(ABORT, 'no'); END`);
    const answers = apply(
      create('a'),
      create('half'),
      create(''),
      callOf('revokeKey', null, 'key_no', OPERATOR),
      create('b'),
    );
    expect(answers.map(outcomeOf)).toEqual(['ok', 'failed', 'invalid', 'ok', 'ok']);
    expect(names()).toEqual(['First key', 'a', 'b']);
    expect(tables.listAudit(null, 2).map(({ detail }) => detail.name)).toEqual(['b', 'a']);
    expect(database.inTransaction).toBe(false);
  });

  test('come to what they would come to one by one, however they are grouped', () => {
    type Act = { kind: 'create' | 'revoke' | 'roll' | 'rename'; key: number; name: string };
    const acts = fc.record<Act>({
      kind: fc.constantFrom('create', 'revoke', 'roll', 'rename'),
      key: fc.nat({ max: 5 }),
      name: fc.constantFrom('x', 'y', '', 'a\nb'),
    });
    const live = (groups: readonly (readonly Act[])[]) => {
      const { tables, organisation, create, apply, key } = begin();
      // Keys are known by their place; what is made on the way is found by later groups only, so all are made before.
      const ids = [key.id, ...apply(...Array.from({ length: 5 }, () => create('old'))).map(idOf)];
      const toCall = ({ kind, key: place, name }: Act): Call => {
        const id = ids[place]!;
        if (kind === 'create') return create(name);
        if (kind === 'revoke') return callOf('revokeKey', null, id, OPERATOR);
        if (kind === 'roll') return callOf('rollKey', organisation.id, id, name === 'x' ? 0 : 1000, OPERATOR);
        return callOf('changeKey', organisation.id, id, { name }, OPERATOR);
      };
      const outcomes = groups.flatMap((group) => apply(...group.map(toCall)).map(outcomeOf));
      const keys = tables.listKeys().map((each) => [each.name, each.revokedAt === null, each.rolledTo === null]);
      return { outcomes, keys, audit: tables.listAudit(null, 1000).map(({ action }) => action) };
    };
    fc.assert(
      fc.property(fc.array(fc.array(acts, { maxLength: 6 }), { maxLength: 5 }), (groups) => {
        expect(live(groups)).toEqual(live(groups.flat().map((act) => [act])));
      }),
      { seed: 1, numRuns: 25 },
    );
  });

  test('share their commits in the thread too', async () => {
    const directory = temporaryDirectory();
    const store = await openStore(directory);
    const { organisation } = (await store.bootstrap())!;
    const log = `${databaseIn(directory)}-wal`;
    const other = keepDatabase(new Database(databaseIn(directory)));
    const before = commitsIn(log);
    // The first of them waits for the lock, the others beside it.
    other.exec('BEGIN IMMEDIATE');
    const calls = Array.from({ length: 100 }, (_, index) =>
      store.createKey(organisation.id, { name: `${index}` }, OPERATOR),
    );
    other.exec('ROLLBACK');
    await Promise.all(calls);
    expect(commitsIn(log) - before).toBeLessThanOrEqual(3);
    const made = (await store.listKeys()).slice(1);
    expect(made.map(({ name }) => name)).toEqual(calls.map((_, index) => `${index}`));
    expect(new Set(made.map(({ createdAt }) => createdAt)).size).toBeLessThanOrEqual(3);
    other.close();
  });
});

describe('an entry', () => {
  test('has one time for all of its calls', () => {
    const { target, create, tables, organisation } = begin();
    const nowMs = Date.UTC(2030, 0, 1);
    const until = new Date(nowMs + 1000).toISOString();
    const expiring = callOf('createKey', organisation.id, { name: 'expiring', expiresAt: until }, OPERATOR);
    applyEntry(target, { nowMs, calls: numbered([create('a'), expiring, create('b')]) });
    const [, ...made] = tables.listKeys();
    expect(new Set(made.map(({ createdAt }) => createdAt))).toEqual(new Set([new Date(nowMs).toISOString()]));
    expect(tables.listAudit(null, 3).map(({ at }) => at)).toEqual(made.map(({ createdAt }) => createdAt));
  });

  test('throws for a full disk and a lock with nothing applied, and refuses single calls otherwise', () => {
    const { file, database, target, create, names } = begin();
    const answersOf = (...calls: Call[]) => applyEntry(target, { nowMs: 1, calls: numbered(calls) }).map(outcomeOf);
    expect(answersOf(create('a'), create(''), callOf('findKey', null, 'key_no'))).toEqual(['ok', 'invalid', 'ok']);

    database.pragma(`max_page_count = ${database.pragma('page_count', { simple: true })}`);
    const big = Array.from({ length: 200 }, (_, index) => create(`${index} ${'x'.repeat(90)}`));
    expect(() => answersOf(...big)).toThrow('full');
    database.pragma('max_page_count = 1000000');

    const other = keepDatabase(new Database(file));
    other.exec('BEGIN IMMEDIATE');
    expect(() => answersOf(create('b'))).toThrow('locked');
    other.exec('ROLLBACK');
    other.close();

    expect(names()).toEqual(['First key', 'a']);
    expect(database.inTransaction).toBe(false);
    expect(answersOf(create('b'))).toEqual(['ok']);
  });
});

describe('a full disk', () => {
  test('refuses the whole group with nothing of it applied, answers those that read, and is over when there is room', () => {
    const { database, tables, key, create, apply, names } = begin();
    database.pragma(`max_page_count = ${database.pragma('page_count', { simple: true })}`);
    const big = Array.from({ length: 200 }, (_, index) => create(`${index} ${'x'.repeat(90)}`));
    const noted = callOf('noteKeysUsed', key.organisationId, [{ keyId: key.id, atMs: 60_000 }]);
    const answers = apply(noted, callOf('listKeys'), ...big, callOf('listKeys'));
    const [first, list, ...rest] = answers;
    expect(outcomeOf(first!)).toBe('failed');
    expect(rest.slice(0, -1).every((answer) => outcomeOf(answer) === 'failed')).toBe(true);
    expect(first).toMatchObject({ rejection: { message: expect.stringMatching(/^[^\n]*SQLITE_FULL[^\n]*\.$/) } });
    for (const read of [list!, rest.at(-1)!]) expect(read).toMatchObject({ value: [{ id: key.id, lastUsedAt: null }] });
    expect(names()).toEqual(['First key']);
    expect(tables.listAudit(null, 10)).toHaveLength(2);
    expect(database.inTransaction).toBe(false);

    // What needs no room goes through, also while the disk is full.
    expect(apply(noted).map(outcomeOf)).toEqual(['ok']);
    database.pragma('max_page_count = 1000000');
    expect(new Set(apply(noted, ...big).map(outcomeOf))).toEqual(new Set(['ok']));
    expect(names()).toHaveLength(201);
  });

  test('leaves whole groups behind, wherever it becomes full', () => {
    const { database, create, apply, names } = begin();
    let count = 0;
    for (let room = 0; room < 12; room++) {
      database.pragma(`max_page_count = ${Number(database.pragma('page_count', { simple: true })) + (room % 3)}`);
      const outcomes = apply(...Array.from({ length: 7 }, (_, index) => create(`${index} ${'y'.repeat(80)}`))).map(
        outcomeOf,
      );
      expect(new Set(outcomes).size).toBe(1);
      if (outcomes[0] === 'ok') count += 7;
      expect(names()).toHaveLength(1 + count);
    }
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(12 * 7);
  });
});

describe('a lock held by another connection', () => {
  test('rejects writes within about half a second, and answers the reads among them', () => {
    const { file, create, apply, names } = begin();
    const other = keepDatabase(new Database(file));
    other.exec('BEGIN IMMEDIATE');
    const beganAt = performance.now();
    const answers = apply(callOf('listKeys'), create('a'), callOf('listKeys'), create('b'));
    const tookMs = performance.now() - beganAt;
    expect(answers.map(outcomeOf)).toEqual(['ok', 'busy', 'ok', 'busy']);
    expect(tookMs).toBeGreaterThan(300);
    expect(tookMs).toBeLessThan(2000);
    other.exec('ROLLBACK');
    other.close();
    expect(names()).toEqual(['First key']);
    expect(apply(create('a')).map(outcomeOf)).toEqual(['ok']);
  });
});

function idOf(answer: Answer): string {
  return (answer as { value: { key: { id: string } } }).value.key.id;
}

/** Commits in a write-ahead log: frames whose header gives the size of the database after them. */
function commitsIn(log: string): number {
  const bytes = readFileSync(log);
  const frameBytes = 24 + bytes.readUInt32BE(8);
  const salt = bytes.subarray(16, 24);
  let commits = 0;
  for (let at = 32; at + frameBytes <= bytes.length; at += frameBytes) {
    if (bytes.subarray(at + 8, at + 16).equals(salt) && bytes.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return commits;
}
