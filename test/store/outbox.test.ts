// The outbox: what a commit asks to be done elsewhere is given out under a lease until it is done, and told of after the commit.
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/store/open-database.ts';
import { createOutboxTables } from '../../src/store/outbox.ts';
import { seeded } from '../fakes/random.ts';
import { databaseIn, openStore, openTables, runBeside } from '../fakes/store/data-directory.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

/** The outbox alone, which may be written to; the store's calls only take from it. */
function begin(file = databaseIn(temporaryDirectory())) {
  const { database, time } = openTables(file);
  const base = { database, nowMs: () => time.nowMs, nowText: () => new Date(time.nowMs).toISOString() };
  const outbox = createOutboxTables(base);
  const add = (...types: string[]) => {
    for (const type of types) outbox.addToOutbox(type, { to: type });
  };
  const take = (limit = 10, leaseMs = 1000) =>
    outbox.takeOutbox(limit, leaseMs).map(({ type, attempt }) => [type, attempt]);
  return { database, time, outbox, add, take };
}

describe('the outbox', () => {
  test('gives what is due, oldest first, with what was to be said', () => {
    const { outbox, add, take } = begin();
    add('a', 'b', 'c');
    expect(outbox.takeOutbox(1, 1000)).toEqual([{ number: 1, type: 'a', params: { to: 'a' }, attempt: 1 }]);
    expect(take()).toEqual([
      ['b', 1],
      ['c', 1],
    ]);
    expect(take()).toEqual([]);
  });

  test('leases a message exclusively, and offers it again afterwards', () => {
    const { add, take, time } = begin();
    add('a');
    expect(take(10, 1000)).toEqual([['a', 1]]);
    time.nowMs += 999;
    expect(take()).toEqual([]);
    time.nowMs += 1;
    expect(take()).toEqual([['a', 2]]);
  });

  test('forgets a message that is done, and gives its number to no other', () => {
    const { outbox, add, take, database } = begin();
    add('a');
    const { number } = outbox.takeOutbox(1, 1000)[0]!;
    outbox.endOutbox(number, null);
    outbox.endOutbox(number, null);
    outbox.endOutbox(number, 0);
    expect(take()).toEqual([]);
    expect(database.prepare('SELECT count(*) FROM outbox').pluck().get()).toBe(0);
    add('b');
    expect(outbox.takeOutbox(1, 1000)[0]!.number).toBeGreaterThan(number);
  });

  test('gives a message again when its wait is over, however long its lease was', () => {
    const { outbox, add, take, time } = begin();
    add('a');
    const { number } = outbox.takeOutbox(1, 3_600_000)[0]!;
    outbox.endOutbox(number, 5000);
    expect(outbox.nextOutboxDueMs()).toBe(time.nowMs + 5000);
    time.nowMs += 4999;
    expect(take()).toEqual([]);
    time.nowMs += 1;
    expect(take()).toEqual([['a', 2]]);
  });

  test('says when the next is due, those under a lease included', () => {
    const { outbox, add, take, time } = begin();
    expect(outbox.nextOutboxDueMs()).toBeUndefined();
    add('a');
    expect(outbox.nextOutboxDueMs()).toBe(time.nowMs);
    take(1, 700);
    expect(outbox.nextOutboxDueMs()).toBe(time.nowMs + 700);
  });

  test('finishes every message at least once, despite crashes of its holders', () => {
    const { outbox, add, time } = begin();
    const types = Array.from({ length: 30 }, (_, index) => `message ${index}`);
    add(...types);
    const done: string[] = [];
    const random = seeded(3);
    for (let round = 0; outbox.nextOutboxDueMs() !== undefined; round++) {
      for (const { number, type } of outbox.takeOutbox(7, 1000)) {
        const fate = random.pick(['dies before', 'dies after', 'lives']);
        if (fate !== 'dies before') done.push(type);
        if (fate === 'lives') outbox.endOutbox(number, null);
      }
      time.nowMs += 400;
      expect(round).toBeLessThan(200);
    }
    expect(new Set(done)).toEqual(new Set(types));
  });

  test('signals new messages once, by any process, and none that were rolled back', () => {
    const file = databaseIn(temporaryDirectory());
    const { outbox, add, take, database } = begin(file);
    const other = openDatabase(file);
    const theirs = createOutboxTables({ database: other, nowMs: Date.now, nowText: () => '' });
    expect(outbox.hasNews()).toBe(false);
    add('a', 'b');
    expect([outbox.hasNews(), outbox.hasNews()]).toEqual([true, false]);
    theirs.addToOutbox('c', {});
    expect([outbox.hasNews(), outbox.hasNews()]).toEqual([true, false]);
    expect(() =>
      database.transaction(() => {
        add('d');
        throw new Error('no');
      })(),
    ).toThrow('no');
    expect(outbox.hasNews()).toBe(false);
    take();
    expect(outbox.hasNews()).toBe(false);
    other.close();
  });
});

/** Any call whose work has to be mailed. */
const signUp = (name: string) => ({
  email: `${name}@example.com`,
  address: `${name}@example.com`,
  passwordHash: '$scrypt$1$salt$hash',
  organisationName: name,
  verification: { hash: new Uint8Array(32).fill(name.length), sealed: 'sealed' },
  reset: { hash: new Uint8Array(32).fill(100 + name.length), sealed: 'sealed' },
  client: '192.0.2.1',
  clientGroup: '192.0.2.1',
  signUpsPerDayMax: 10,
});

describe('a listener to the store', () => {
  test('receives a message after the call that wrote it was answered', async () => {
    const store = await openStore(temporaryDirectory());
    const heard: string[] = [];
    const told = new Promise<void>((resolve) => {
      store.onOutbox(() => {
        heard.push('outbox');
        resolve();
      });
    });
    await store.signUp(signUp('ada')).then(() => heard.push('answer'));
    await told;
    expect(heard).toEqual(['answer', 'outbox']);
    expect(await store.takeOutbox(10, 1000)).toMatchObject([{ type: 'mail.verification', attempt: 1 }]);
    // Calls without a message, and those that take one, are no news.
    await store.bootstrap();
    await store.listKeys();
    expect(heard).toEqual(['answer', 'outbox']);
  });

  test('receives what another process wrote, without a call', async () => {
    const directory = temporaryDirectory();
    const store = await openStore(directory);
    const heard = new Promise<void>((resolve) => store.onOutbox(resolve));
    const child = runBeside(
      directory,
      `
        const store = await openSqliteStore({ directory });
        const bytes = (value) => new Uint8Array(32).fill(value);
        await store.signUp({
          ...${JSON.stringify({ ...signUp('bob'), verification: undefined, reset: undefined })},
          verification: { hash: bytes(1), sealed: 'sealed' },
          reset: { hash: bytes(2), sealed: 'sealed' },
        });
        await store.close();
      `,
    );
    const exited = new Promise((resolve) => child.once('exit', resolve));
    await heard;
    expect(await store.takeOutbox(10, 1000)).toHaveLength(1);
    expect(await exited).toBe(0);
  });

  test('leaves', async () => {
    const store = await openStore(temporaryDirectory());
    let heard = 0;
    const leave = store.onOutbox(() => {
      heard += 1;
    });
    leave();
    const other = new Promise<void>((resolve) => store.onOutbox(resolve));
    await store.signUp(signUp('ada'));
    await other;
    expect(heard).toBe(0);
  });
});
