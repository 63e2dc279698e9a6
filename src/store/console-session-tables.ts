// Console sessions and failed logins on an open database. How long a session lives and how many there may be is said by the
// caller; what a login has to wait is decided here, alike for addresses that have an account and for those that have none.
import { createHash } from 'node:crypto';
import { uuidv7 } from '../runtime/uuid.ts';
import type { AccountCalls, ConsoleSession, LoginAttempt, NewConsoleSession } from './account-calls.ts';
import { type PeopleRows, personOf } from './account-people.ts';
import type { Actor } from './audit-calls.ts';
import type { TableContext } from './table-context.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Failed logins in a row before the first wait. */
const FREE_ATTEMPTS = 5;
const WAIT_MS_MAX = 15 * MINUTE_MS;
/** Addresses whose failed logins are remembered; past it those of the longest ago are forgotten. Looked after now and then. */
const ADDRESSES_MAX = 100_000;
const ADDRESSES_LOOKED_AFTER = 1000;
const USER_AGENT_MAX = 200;

type SessionCalls = Pick<
  AccountCalls,
  | 'beginLogin'
  | 'openConsoleSession'
  | 'findConsoleSession'
  | 'noteConsoleSession'
  | 'confirmConsoleSession'
  | 'renameConsoleSession'
  | 'listConsoleSessions'
  | 'endConsoleSession'
>;

export interface ConsoleSessionTables {
  calls: SessionCalls;
  /** The rest joins the caller's transaction. */
  open(session: NewConsoleSession): ConsoleSession;
  endAll(personId: string): void;
  forgetAttempts(address: string): void;
}

const SELECT = `
  SELECT id, person_id AS personId, client, user_agent AS userAgent, created_at_ms AS createdAtMs, seen_at_ms AS seenAtMs,
         confirmed_at_ms AS confirmedAtMs
  FROM console_sessions`;

interface Ages {
  idleSinceMs: number;
  createdSinceMs: number;
}

export function createConsoleSessionTables(context: TableContext, people: PeopleRows): ConsoleSessionTables {
  const { database, nowMs } = context;
  const attempts = createLoginAttempts(context);
  const alive = 'seen_at_ms > @idleSinceMs AND created_at_ms > @createdSinceMs';
  const byHash = database.prepare<Ages & { hash: Uint8Array }, ConsoleSession>(
    `${SELECT} WHERE hash = @hash AND ${alive}`,
  );
  const ofPerson = database.prepare<Ages & { personId: string }, ConsoleSession>(
    `${SELECT} WHERE person_id = @personId AND ${alive} ORDER BY number DESC`,
  );
  const insert = database.prepare<ConsoleSession & { hash: Uint8Array }>(
    `INSERT INTO console_sessions (id, hash, person_id, client, user_agent, created_at_ms, seen_at_ms, confirmed_at_ms)
     VALUES (@id, @hash, @personId, @client, @userAgent, @createdAtMs, @seenAtMs, @confirmedAtMs)`,
  );
  const keepNewest = database.prepare<[string, string, number]>(
    `DELETE FROM console_sessions WHERE person_id = ? AND number NOT IN
       (SELECT number FROM console_sessions WHERE person_id = ? ORDER BY number DESC LIMIT ?)`,
  );
  const note = database.prepare<[number, Uint8Array]>('UPDATE console_sessions SET seen_at_ms = ? WHERE hash = ?');
  const confirm = database.prepare<[number, Uint8Array, string]>(
    `UPDATE console_sessions SET confirmed_at_ms = ? WHERE hash = ?
     AND (SELECT password FROM people WHERE id = person_id) = ?`,
  );
  const ownerOf = database
    .prepare<[Uint8Array], string>('SELECT person_id FROM console_sessions WHERE hash = ?')
    .pluck();
  const rename = database.prepare<[Uint8Array, Uint8Array]>('UPDATE console_sessions SET hash = ? WHERE hash = ?');
  const endByHash = database.prepare<[Uint8Array, string]>(
    'DELETE FROM console_sessions WHERE hash = ? AND person_id = ?',
  );
  const endById = database.prepare<[string, string]>('DELETE FROM console_sessions WHERE id = ? AND person_id = ?');
  const endAll = database.prepare<[string]>('DELETE FROM console_sessions WHERE person_id = ?');

  const agesOf = ({ idleMs, absoluteMs }: { idleMs: number; absoluteMs: number }): Ages => ({
    idleSinceMs: nowMs() - idleMs,
    createdSinceMs: nowMs() - absoluteMs,
  });
  const audit = (personId: string, client: string, action: string, target: string): void => {
    const by: Actor = { type: 'person', id: personId, address: client };
    context.audit({ by, organisationId: people.byId(personId)?.organisationId ?? null, action, target, detail: {} });
  };

  function open({ personId, hash, replaces, client, userAgent, sessionsMax }: NewConsoleSession): ConsoleSession {
    const now = nowMs();
    const session: ConsoleSession = {
      id: `con_${uuidv7(now)}`,
      personId,
      client,
      userAgent: userAgent.slice(0, USER_AGENT_MAX),
      createdAtMs: now,
      seenAtMs: now,
      confirmedAtMs: now,
    };
    if (replaces !== undefined) endByHash.run(replaces, personId);
    insert.run({ ...session, hash });
    keepNewest.run(personId, personId, sessionsMax);
    return session;
  }

  const login = database.transaction((wanted: NewConsoleSession): ConsoleSession | undefined => {
    const person = people.byId(wanted.personId);
    if (person === undefined || person.state === 'suspended' || person.passwordHash !== wanted.passwordHash) {
      return undefined;
    }
    if (wanted.rehashed !== undefined) people.setPassword(person.id, wanted.rehashed);
    attempts.forget(person.address);
    const session = open(wanted);
    audit(person.id, wanted.client, 'login', session.id);
    return session;
  });

  const begin = database.transaction((address: string): LoginAttempt => {
    const retryAfterMs = attempts.take(address);
    const person = people.byAddress(address);
    if (retryAfterMs > 0 || person === undefined) return { retryAfterMs, person: undefined };
    const { id, state, passwordHash } = person;
    return { retryAfterMs, person: { id, state, passwordHash } };
  });

  const confirmed = database.transaction((hash: Uint8Array, passwordHash: string): boolean => {
    if (confirm.run(nowMs(), hash, passwordHash).changes === 0) return false;
    const person = people.byId(ownerOf.get(hash)!);
    if (person !== undefined) attempts.forget(person.address);
    return true;
  });

  const end = database.transaction((personId: string, sessionId: string, client: string): boolean => {
    if (endById.run(sessionId, personId).changes === 0) return false;
    audit(personId, client, 'logout', sessionId);
    return true;
  });

  return {
    calls: {
      beginLogin: (address) => begin.immediate(address),
      openConsoleSession: (session) => login.immediate(session),
      findConsoleSession(hash, limits) {
        const session = byHash.get({ hash, ...agesOf(limits) });
        const person = session === undefined ? undefined : people.byId(session.personId);
        return session === undefined || person === undefined ? undefined : { session, person: personOf(person) };
      },
      noteConsoleSession: (hash) => void note.run(nowMs(), hash),
      confirmConsoleSession: (hash, passwordHash) => confirmed.immediate(hash, passwordHash),
      renameConsoleSession: (hash, renamed) => rename.run(renamed, hash).changes > 0,
      listConsoleSessions: (personId, limits) => ofPerson.all({ personId, ...agesOf(limits) }),
      endConsoleSession: (personId, sessionId, client) => end.immediate(personId, sessionId, client),
    },
    open,
    endAll: (personId) => void endAll.run(personId),
    forgetAttempts: (address) => attempts.forget(address),
  };
}

/** Failed logins by address, whether or not there is such an account. */
function createLoginAttempts({ database, nowMs }: TableContext) {
  const select = database.prepare<[Uint8Array, number], { attempts: number; nextAtMs: number }>(
    'SELECT attempts, next_at_ms AS nextAtMs FROM login_attempts WHERE address_hash = ? AND last_at_ms > ?',
  );
  const upsert = database.prepare<{ hash: Uint8Array; attempts: number; now: number; nextAtMs: number }>(
    `INSERT INTO login_attempts (address_hash, attempts, last_at_ms, next_at_ms) VALUES (@hash, @attempts, @now, @nextAtMs)
     ON CONFLICT (address_hash) DO UPDATE SET attempts = @attempts, last_at_ms = @now, next_at_ms = @nextAtMs`,
  );
  const forget = database.prepare<[Uint8Array]>('DELETE FROM login_attempts WHERE address_hash = ?');
  const prune = database.prepare<[number]>('DELETE FROM login_attempts WHERE last_at_ms <= ?');
  const keepLatest = database.prepare<[number]>(
    `DELETE FROM login_attempts WHERE address_hash IN
       (SELECT address_hash FROM login_attempts ORDER BY last_at_ms DESC LIMIT -1 OFFSET ?)`,
  );
  let added = 0;

  const hashOf = (address: string): Uint8Array => createHash('sha256').update(address).digest();
  return {
    /** Counts an attempt. Not 0: how long to wait first, and this one was not counted. */
    take(address: string): number {
      const now = nowMs();
      const hash = hashOf(address);
      const known = select.get(hash, now - DAY_MS);
      // The wait is counted from now at the most, should the clock have been set back.
      const waitMs = Math.min(WAIT_MS_MAX, (known?.nextAtMs ?? 0) - now);
      if (waitMs > 0) return waitMs;
      const attempts = (known?.attempts ?? 0) + 1;
      upsert.run({ hash, attempts, now, nextAtMs: attempts < FREE_ATTEMPTS ? now : now + waitAfter(attempts) });
      if (known === undefined) {
        prune.run(now - DAY_MS);
        added += 1;
        if (added % ADDRESSES_LOOKED_AFTER === 0) keepLatest.run(ADDRESSES_MAX);
      }
      return 0;
    },
    forget: (address: string) => void forget.run(hashOf(address)),
  };
}

/** 1 s after the fifth failure, then twice as long each time, up to 15 minutes. */
function waitAfter(attempts: number): number {
  return Math.min(WAIT_MS_MAX, SECOND_MS * 2 ** Math.min(30, attempts - FREE_ATTEMPTS));
}
