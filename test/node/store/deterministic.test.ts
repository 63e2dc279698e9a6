// Operations that write depend on their entry and the rows alone: copies of one database that apply the same entries have the same rows
// and gave the same answers, at any time, in any time zone, in any groups, and after a restart.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Call } from '../../../src/node/store/protocol.ts';
import { CALL_NAMES, type CallName, kindOf } from '../../../src/node/store/store.ts';
import { createTables } from '../../../src/node/store/tables.ts';
import { plainOfText, textOfPlain } from '../../../src/runtime/plain-data.ts';
import { EntryContext } from '../../../src/store/entry.ts';
import { keepDatabase, onPrepared } from '../../../src/store/keep-database.ts';
import { drawn } from '../../fakes/drawn.ts';
import { seeded } from '../../fakes/random.ts';
import { everyWrite } from '../../fakes/store/every-write.ts';
import { purely } from '../../fakes/store/purely.ts';
import { ARGUMENTS, randomCall, World } from '../../fakes/store/random-write.ts';
import { answersOf, type Replica, replicas, rowsOf, textOfEntry } from '../../fakes/store/replay.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { emptyDatabase } from '../../setup/empty-database.ts';

const WRITES = CALL_NAMES.filter((name) => kindOf(name) === 'writes' || kindOf(name) === 'notes').sort();
const zone = process.env.TZ;

afterEach(() => {
  vi.useRealTimers();
  if (zone === undefined) Reflect.deleteProperty(process.env, 'TZ');
  else process.env.TZ = zone;
});

/** Another day, on a machine in another time zone. */
function elsewhere(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2031, 1, 3, 4, 5, 6) });
  process.env.TZ = 'Asia/Kolkata';
}

/** Applies the calls in entries of the given sizes and returns their answers. */
function apply(replica: Replica, nowMs: number, calls: readonly Call[], sizes: () => number): string {
  const texts: string[] = [];
  for (let from = 0; from < calls.length; ) {
    const size = Math.max(1, sizes());
    texts.push(...answersOf(replica.apply(textOfEntry(nowMs, calls.slice(from, from + size)))).map(textOfPlain));
    from += size;
  }
  return texts.join('\n');
}

/** Draws as the product does, by a name imported earlier. */
const drawSomething = (): Uint8Array => randomBytes(16);

const bytesOf = ({ database }: Replica): Buffer => {
  const file = join(temporaryDirectory(), 'copy.db');
  database.prepare('VACUUM INTO ?').run(file);
  return readFileSync(file);
};

describe('every operation that writes', () => {
  test('has a case that changes rows, and random arguments', () => {
    const [replica] = replicas('plain') as [Replica];
    const changes = replica.database.prepare<[], number>('SELECT total_changes()').pluck();
    const done = new Set<CallName>();
    for (const { nowMs, calls } of everyWrite()) {
      for (const call of calls) {
        const before = changes.get();
        const [answer] = answersOf(replica.apply(textOfEntry(nowMs, [call])));
        if ('value' in answer! && changes.get() !== before) done.add(call.name);
      }
    }
    expect([...done].sort()).toEqual(WRITES);
    expect(Object.keys(ARGUMENTS).sort()).toEqual(WRITES);
  });

  test.each<[string, () => () => number]>([
    ['all in one entry', () => () => Number.POSITIVE_INFINITY],
    ['in one entry each', () => () => 1],
    [
      'in entries of several',
      () => {
        const random = seeded(7);
        return () => random.integer(1, 9);
      },
    ],
  ])('gives two copies of the database the same rows and bytes, %s', (_, sizes) => {
    const [here, there] = replicas('plain', 'odd') as [Replica, Replica];
    const periods = everyWrite();
    const answers = periods.map(({ nowMs, calls }) => apply(here, nowMs, calls, () => 4));
    elsewhere();
    const size = sizes();
    expect(periods.map(({ nowMs, calls }) => apply(there, nowMs, calls, size))).toEqual(answers);
    expect(rowsOf(there)).toEqual(rowsOf(here));
    expect(bytesOf(there).equals(bytesOf(here))).toBe(true);
  });

  test('has arguments that survive a log', () => {
    for (const { nowMs, calls } of everyWrite()) {
      const text = textOfEntry(nowMs, calls);
      expect(plainOfText(text)).toEqual({ nowMs, calls });
      expect(textOfPlain(plainOfText(text))).toBe(text);
    }
  });

  test('gives the same rows and answers in random sequences that are replayed from a log', () => {
    const step = fc.record({
      waitMs: fc.oneof(
        { weight: 5, arbitrary: fc.nat({ max: 2_000 }) },
        { weight: 1, arbitrary: fc.nat({ max: 86_400_000 }) },
      ),
      calls: fc.array(fc.tuple(fc.constantFrom(...WRITES, ...MONEY, ...MONEY, ...RARE), fc.nat()), {
        minLength: 1,
        maxLength: 12,
      }),
    });
    const outcomes = new Set<string>();
    const property = fc.property(fc.array(step, { minLength: 8, maxLength: 20 }), (steps) => {
      const [here, there] = replicas('plain', 'odd') as [Replica, Replica];
      const world = new World();
      const groups = steps.map(({ waitMs, calls }) => {
        world.nowMs += waitMs;
        return { nowMs: world.nowMs, calls: calls.map(([name, seed], id) => randomCall(name, seed, world, id)) };
      });
      const log = [world.beginning, ...groups].map(({ nowMs, calls }) => {
        const entry = textOfEntry(nowMs, calls);
        return { entry, answers: here.apply(entry) };
      });
      elsewhere();
      for (const { entry, answers } of log) expect(there.apply(entry)).toBe(answers);
      vi.useRealTimers();
      expect(rowsOf(there)).toEqual(rowsOf(here));
      for (const { database } of [here, there]) database.close();
      for (const answer of log.flatMap(({ answers }) => answersOf(answers))) {
        outcomes.add('value' in answer ? 'done' : answer.rejection.reason);
      }
    });
    fc.assert(property, { seed: 26, numRuns: drawn(200) });
    const expected = ['done', 'not_found', 'invalid', 'conflict', 'insufficient_credit', 'superseded', 'failed'];
    expect(expected.filter((outcome) => !outcomes.has(outcome))).toEqual([]);
  });
});

/** Drawn more often, since two of them in one sequence are needed for a refusal. */
const RARE = ['claimOwnership'] as const;
/** Drawn more often, since most of them meet each other's rows. */
const MONEY = ['openSession', 'renewHold', 'settleSession', 'closeLost', 'addCredit'] as const;

describe('the statements of the tables', () => {
  test('use no function of SQLite that differs between copies', () => {
    const database = keepDatabase(new Database(emptyDatabase({ isInMemory: true })));
    const sources: string[] = [];
    onPrepared(database, (statement) => sources.push((statement as { source: string }).source));
    createTables(database, new EntryContext());
    const impure =
      /\b(?:random|randomblob|changes|total_changes|last_insert_rowid|sqlite_version)\s*\(|'now'|'localtime'|\bCURRENT_|\bPRAGMA\b/i;
    expect(sources.length).toBeGreaterThan(150);
    // Used between the operations, to mark the ledger as written.
    expect(sources.filter((source) => impure.test(source))).toEqual(['SELECT total_changes()']);
  });
});

describe('the guard of these tests', () => {
  test.each<[string, () => unknown]>([
    ['Date.now', () => Date.now()],
    ['new Date()', () => new Date()],
    ['a local time', () => new Date('2026-06-15T12:00:00')],
    ['Math.random', () => Math.random()],
    ['performance.now', () => performance.now()],
    ['crypto.randomUUID', () => globalThis.crypto.randomUUID()],
    ['setTimeout', () => setTimeout(() => {}, 0)],
    ['a draw', () => drawSomething()],
  ])('reports %s', (_, work) => {
    let caught: unknown;
    const { used } = purely(() => {
      try {
        work();
      } catch (error) {
        caught = error;
      }
    });
    expect(used).toHaveLength(1);
    expect(caught).toBeInstanceOf(Error);
  });

  test('allows given times, and restores everything', () => {
    const { result, used } = purely(() => [new Date(0).toISOString(), Date.parse('2026-06-15T12:00:00Z')]);
    expect([result, used]).toEqual([['1970-01-01T00:00:00.000Z', Date.UTC(2026, 5, 15, 12)], []]);
    expect(Date.now()).toBeGreaterThan(0);
    expect(Math.random()).toBeLessThan(1);
    expect(drawSomething()).toHaveLength(16);
  });
});
