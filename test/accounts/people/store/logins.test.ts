// Failed logins and console sessions on the tables, and what holds whatever people do in whatever order.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { NewConsoleSession } from '../../../../src/accounts/people/store/calls.ts';
import { type LedgerRig, ledgerRig, OPERATOR } from '../../../fakes/store/ledger.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const LIMITS = { idleMs: 30 * MINUTE_MS, absoluteMs: 720 * MINUTE_MS };
const PASSWORD = '$test$x$first$';

let rig: LedgerRig;
beforeEach(() => {
  rig = ledgerRig();
});

const digest = (text: string) => new Uint8Array(createHash('sha256').update(text).digest());

let links = 0;

function addPerson(email = 'ada@example.com'): string {
  const link = () => ({ hash: digest(`link ${++links}`), sealed: 'sealed' });
  rig.ledger.signUp({
    email,
    address: email,
    passwordHash: PASSWORD,
    organisationName: 'Ada',
    verification: link(),
    reset: link(),
    client: '192.0.2.1',
    clientGroup: '192.0.2.1',
    signUpsPerDayMax: 1_000_000,
  });
  return rig.database.prepare<[string], string>('SELECT id FROM people WHERE email = ?').pluck().get(email)!;
}

const newSession = (personId: string, name: string, rest: Partial<NewConsoleSession> = {}): NewConsoleSession => ({
  personId,
  hash: digest(name),
  passwordHash: PASSWORD,
  client: '192.0.2.1',
  userAgent: name,
  sessionsMax: 3,
  ...rest,
});

describe.each([
  ['an address with an account', 'ada@example.com'],
  ['an address without one', 'nobody@example.com'],
])('failed logins of %s', (_, address) => {
  beforeEach(() => void addPerson());

  /** Attempts as soon as each is allowed, and how long each had to wait. */
  const waits = (count: number): number[] =>
    Array.from({ length: count }, () => {
      const { retryAfterMs } = rig.ledger.beginLogin(address);
      rig.clock.nowMs += retryAfterMs;
      if (retryAfterMs > 0) expect(rig.ledger.beginLogin(address).retryAfterMs).toBe(0);
      return retryAfterMs / 1000;
    });

  test('wait from the sixth on: 1 s, then twice as long each time, up to 15 minutes', () => {
    expect(waits(18)).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
  });

  test('stop at five at once, for any number', () => {
    const begun = Array.from({ length: 200 }, () => rig.ledger.beginLogin(address));
    expect(begun.filter(({ retryAfterMs }) => retryAfterMs === 0)).toHaveLength(5);
    expect(begun.filter(({ retryAfterMs, person }) => retryAfterMs > 0 && person !== undefined)).toEqual([]);
  });

  test('expire a day after the last', () => {
    waits(12);
    rig.clock.nowMs += DAY_MS;
    expect(waits(5)).toEqual([0, 0, 0, 0, 0]);
  });

  test('wait no longer than 15 minutes when the clock was set back', () => {
    waits(18);
    rig.clock.nowMs -= 300 * DAY_MS;
    expect(rig.ledger.beginLogin(address).retryAfterMs).toBe(15 * MINUTE_MS);
  });
});

describe('a login', () => {
  test('clears earlier failures when it succeeds, and is logged', () => {
    const id = addPerson();
    for (let attempt = 0; attempt < 5; attempt++) rig.ledger.beginLogin('ada@example.com');
    expect(rig.ledger.beginLogin('ada@example.com').retryAfterMs).toBe(1000);
    const session = rig.ledger.openConsoleSession(newSession(id, 'one'))!;
    expect(rig.ledger.beginLogin('ada@example.com').retryAfterMs).toBe(0);
    expect(rig.ledger.listAudit(null, 1)).toMatchObject([
      { action: 'login', target: session.id, by: { type: 'person', id, address: '192.0.2.1' } },
    ]);
  });

  test('may bring the password under a new hash', () => {
    const id = addPerson();
    rig.ledger.openConsoleSession(newSession(id, 'one', { rehashed: '$test$y$better$' }));
    expect(rig.ledger.beginLogin('ada@example.com').person?.passwordHash).toBe('$test$y$better$');
  });
});

describe('a console session', () => {
  const find = (name: string) => rig.ledger.findConsoleSession(digest(name), LIMITS)?.session;

  test('ends when it was not used for so long, and counts from its last use', () => {
    rig.ledger.openConsoleSession(newSession(addPerson(), 'one'));
    rig.clock.nowMs += LIMITS.idleMs - 1;
    rig.ledger.noteConsoleSession(digest('one'));
    rig.clock.nowMs += LIMITS.idleMs - 1;
    expect(find('one')).toBeDefined();
    rig.clock.nowMs += 1;
    expect(find('one')).toBeUndefined();
  });

  test('ends when it is so old, however much it is used', () => {
    const id = addPerson();
    rig.ledger.openConsoleSession(newSession(id, 'one'));
    for (let used = 0; used < 24; used++) {
      expect(find('one')).toBeDefined();
      rig.clock.nowMs += LIMITS.idleMs - 1;
      rig.ledger.noteConsoleSession(digest('one'));
    }
    rig.clock.nowMs += 24;
    expect(find('one')).toBeUndefined();
    expect(rig.ledger.listConsoleSessions(id, LIMITS)).toEqual([]);
  });

  test('more than a person may have ends the oldest of that person', () => {
    const id = addPerson();
    rig.ledger.openConsoleSession(newSession(addPerson('bob@example.com'), 'of bob'));
    for (const name of ['one', 'two', 'three', 'four']) rig.ledger.openConsoleSession(newSession(id, name));
    expect(rig.ledger.listConsoleSessions(id, LIMITS).map(({ userAgent }) => userAgent)).toEqual([
      'four',
      'three',
      'two',
    ]);
    expect([find('one'), find('of bob')?.userAgent]).toEqual([undefined, 'of bob']);
  });

  test('replaces the one before, of any person', () => {
    const [ada, bob] = [addPerson(), addPerson('bob@example.com')];
    rig.ledger.openConsoleSession(newSession(ada, 'one'));
    rig.ledger.openConsoleSession(newSession(bob, 'two', { replaces: digest('one') }));
    expect(find('one')).toBeUndefined();
    expect(rig.ledger.listAudit(null, 2)).toMatchObject([{ action: 'login' }, { action: 'logout', by: { id: ada } }]);
    rig.ledger.openConsoleSession(newSession(ada, 'three', { replaces: digest('two') }));
    expect([find('two'), find('three')?.personId]).toEqual([undefined, ada]);
  });

  test('continues under another id when it is renamed', () => {
    const { id } = rig.ledger.openConsoleSession(newSession(addPerson(), 'one'))!;
    expect(rig.ledger.renameConsoleSession(digest('one'), digest('other'))).toBe(true);
    expect([find('one'), find('other')?.id]).toEqual([undefined, id]);
    expect(rig.ledger.renameConsoleSession(digest('one'), digest('third'))).toBe(false);
  });

  test('ends by its own person only', () => {
    const [ada, bob] = [addPerson(), addPerson('bob@example.com')];
    const { id } = rig.ledger.openConsoleSession(newSession(ada, 'one'))!;
    expect(rig.ledger.endConsoleSession(bob, id, '192.0.2.1')).toBe(false);
    expect(find('one')).toBeDefined();
    expect(rig.ledger.endConsoleSession(ada, id, '192.0.2.1')).toBe(true);
    expect(rig.ledger.endConsoleSession(ada, id, '192.0.2.1')).toBe(false);
    expect(rig.ledger.listAudit(null, 1)).toMatchObject([{ action: 'logout', target: id }]);
  });

  test('counts as confirmed at the time of the password', () => {
    const { confirmedAtMs } = rig.ledger.openConsoleSession(newSession(addPerson(), 'one'))!;
    expect(confirmedAtMs).toBe(rig.clock.nowMs);
    rig.clock.nowMs += MINUTE_MS;
    expect(rig.ledger.confirmConsoleSession(digest('one'), '$test$x$wrong$')).toBe(false);
    expect(find('one')?.confirmedAtMs).toBe(confirmedAtMs);
    expect(rig.ledger.confirmConsoleSession(digest('one'), PASSWORD)).toBe(true);
    expect(find('one')?.confirmedAtMs).toBe(rig.clock.nowMs);
  });
});

test('gives one address one credit in any sequence, with consistent states and money', () => {
  const addresses = ['a@example.com', 'b@example.com', 'c@example.com'];
  const address = fc.constantFrom(...addresses);
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant('sign-up'), address }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('use-link'), address, pick: fc.nat(1000) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('delete', 'suspend', 'reinstate', 'move'), address }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('wait'), address, pick: fc.nat(30) }) },
  );
  let credits = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      rig = ledgerRig();
      const links: Uint8Array[] = [];
      const link = () => {
        links.push(digest(`link ${links.length}`));
        return { hash: links.at(-1)!, sealed: 'sealed' };
      };
      const idOf = (wanted: string) =>
        rig.database.prepare<[string], string>('SELECT id FROM people WHERE address = ?').pluck().get(wanted) ?? '';
      for (const each of steps) {
        const pick = 'pick' in each ? each.pick : 0;
        const id = idOf(each.address);
        if (each.do === 'sign-up') {
          const [verification, reset] = [link(), link()];
          const who = { email: each.address, address: each.address, passwordHash: PASSWORD, organisationName: 'x' };
          const from = { client: '', clientGroup: '', signUpsPerDayMax: 1000 };
          rig.ledger.signUp({ ...who, ...from, verification, reset });
        } else if (each.do === 'use-link' && links.length > 0) {
          rig.ledger.verifyAddress(links[pick % links.length]!, PASSWORD, 2_000_000n, '');
        } else if (each.do === 'delete') rig.ledger.deletePerson(id, OPERATOR);
        else if (each.do === 'suspend') rig.ledger.moveAccount(id, 'account.suspend', OPERATOR);
        else if (each.do === 'reinstate') rig.ledger.moveAccount(id, 'account.reinstate', OPERATOR);
        else if (each.do === 'move') {
          const to = addresses[(addresses.indexOf(each.address) + 1) % addresses.length]!;
          rig.ledger.requestAddressChange(id, to, to, link(), '');
        } else rig.clock.nowMs += pick * 60 * MINUTE_MS;
      }
      const given = rig.ledger.exportLedger(0, 1000);
      credits += given.length;
      // One for each address that was ever proved by a verification.
      expect(given.length).toBeLessThanOrEqual(addresses.length);
      expect(new Set(given.map(({ id }) => id)).size).toBe(given.length);
      expect(given.every(({ microUsd, kind }) => microUsd === 2_000_000n && kind === 'welcome')).toBe(true);
      expect(rig.ledger.auditLedger()).toMatchObject({ ok: true });
      for (const wanted of addresses) {
        const person = rig.ledger.findPerson(idOf(wanted));
        if (person === undefined) continue;
        const organisation = rig.ledger.findOrganisation(person.organisationId)!;
        expect(organisation.suspendedAt !== null).toBe(person.state === 'suspended');
        expect(person.verifiedAt !== null).toBe(person.state !== 'unverified');
      }
      rig.database.close();
    }),
    { numRuns: 150, seed: 20_261_121 },
  );
  expect(credits).toBeGreaterThan(50);
});
