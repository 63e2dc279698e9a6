// Console sessions on an open database. How long a session lives and how many there may be is said by the caller; what a login
// has to wait is login-attempts.ts.
import type { Actor } from '../../../store/audit-log.ts';
import type { DrawingContext, TableContext } from '../../../store/table-context.ts';
import type { Role } from '../../team/calls.ts';
import type { AccountCalls, ConsoleSession, LoginAttempt, NewConsoleSession } from './calls.ts';
import { createLoginAttempts, createRefusedLogins } from './login-attempts.ts';
import { type PeopleRows, personOf } from './people.ts';

/** Passwords given in one session, one after the other, before it ends. */
const CONFIRMATIONS_MAX = 5;
const USER_AGENT_MAX = 200;

type SessionCalls = Pick<
  AccountCalls,
  | 'beginLogin'
  | 'noteRefusedLogin'
  | 'openConsoleSession'
  | 'findConsoleSession'
  | 'enterOrganisation'
  | 'noteConsoleSession'
  | 'beginConfirmation'
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
  /** Those that work in this organisation. */
  endIn(personId: string, organisationId: string): void;
  /** Those that work in this organisation continue in the one of the longest membership. */
  moveFrom(personId: string, organisationId: string): void;
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

export function createConsoleSessionTables(context: DrawingContext, people: PeopleRows): ConsoleSessionTables {
  const { database, nowMs } = context;
  const attempts = createLoginAttempts(context);
  const refused = createRefusedLogins(context, people);
  const statements = prepare(database);
  const audit = (personId: string, client: string, action: string, target: string): void => {
    const by: Actor = { type: 'person', id: personId, address: client };
    context.audit({ by, organisationId: people.byId(personId)?.organisationId ?? null, action, target, detail: {} });
  };

  /** A login as another person ends the session that the browser had before. */
  function endReplaced(hash: Uint8Array, client: string): void {
    const former = statements.triesOf.get(hash);
    if (former !== undefined) end(former.personId, former.id, client);
  }

  function open({ personId, hash, organisationId, replaces, ...wanted }: NewConsoleSession): ConsoleSession {
    const { client, userAgent, sessionsMax } = wanted;
    const session = newSession(context.newId('con'), personId, { client, userAgent }, nowMs());
    if (replaces !== undefined) endReplaced(replaces, client);
    statements.insert.run({ ...session, hash, organisationId: organisationId ?? null });
    statements.keepNewest.run(personId, personId, sessionsMax);
    people.noteLogin(personId);
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

  const beginConfirmation = database.transaction((hash: Uint8Array) => {
    const session = statements.triesOf.get(hash);
    const person = session === undefined ? undefined : people.byId(session.personId);
    if (session === undefined || person === undefined) return undefined;
    if (session.tries >= CONFIRMATIONS_MAX) {
      end(session.personId, session.id, session.client);
      return undefined;
    }
    statements.tried.run(hash);
    return { passwordHash: person.passwordHash, isLast: session.tries + 1 >= CONFIRMATIONS_MAX };
  });

  const end = database.transaction((personId: string, sessionId: string, client: string): boolean => {
    if (statements.endById.run(sessionId, personId).changes === 0) return false;
    audit(personId, client, 'logout', sessionId);
    return true;
  });

  return {
    calls: {
      beginLogin: (address) => begin.immediate(address),
      noteRefusedLogin: (each) => refused.immediate(each),
      openConsoleSession: (session) => login.immediate(session),
      findConsoleSession(hash, limits) {
        const session = statements.byHash.get({ hash, ...agesOf(limits, nowMs()) });
        const person = session === undefined ? undefined : people.byId(session.personId);
        const membership = statements.membership.get(hash);
        if (session === undefined || person === undefined || membership === undefined) return undefined;
        const isSuspended = people.isSuspended(membership.organisationId);
        return { session, person: personOf(person), ...membership, isSuspended };
      },
      enterOrganisation: (hash, organisationId) => statements.enter.run({ hash, organisationId }).changes > 0,
      noteConsoleSession: (hash) => void statements.note.run(nowMs(), hash),
      beginConfirmation: (hash) => beginConfirmation.immediate(hash),
      confirmConsoleSession: (hash, passwordHash) => statements.confirm.run(nowMs(), hash, passwordHash).changes > 0,
      renameConsoleSession: (hash, renamed) => statements.rename.run(renamed, hash).changes > 0,
      listConsoleSessions: (personId, limits) => statements.ofPerson.all({ personId, ...agesOf(limits, nowMs()) }),
      endConsoleSession: (personId, sessionId, client) => end.immediate(personId, sessionId, client),
    },
    open,
    endAll: (personId) => void statements.endAll.run(personId),
    endIn: (personId, organisationId) => void statements.endIn.run(personId, organisationId),
    moveFrom: (personId, organisationId) => void statements.moveFrom.run({ personId, organisationId }),
    forgetAttempts: (address) => attempts.forget(address),
  };
}

function newSession(
  id: string,
  personId: string,
  { client, userAgent }: Pick<NewConsoleSession, 'client' | 'userAgent'>,
  nowMs: number,
): ConsoleSession {
  return {
    id,
    personId,
    client,
    userAgent: userAgent.slice(0, USER_AGENT_MAX),
    createdAtMs: nowMs,
    seenAtMs: nowMs,
    confirmedAtMs: nowMs,
  };
}

function agesOf({ idleMs, absoluteMs }: { idleMs: number; absoluteMs: number }, nowMs: number): Ages {
  return { idleSinceMs: nowMs - idleMs, createdSinceMs: nowMs - absoluteMs };
}

function prepare(database: TableContext['database']) {
  const alive = 'seen_at_ms > @idleSinceMs AND created_at_ms > @createdSinceMs';
  return {
    byHash: database.prepare<Ages & { hash: Uint8Array }, ConsoleSession>(`${SELECT} WHERE hash = @hash AND ${alive}`),
    ofPerson: database.prepare<Ages & { personId: string }, ConsoleSession>(
      `${SELECT} WHERE person_id = @personId AND ${alive} ORDER BY number DESC`,
    ),
    insert: database.prepare<ConsoleSession & { hash: Uint8Array; organisationId: string | null }>(
      `INSERT INTO console_sessions
         (id, hash, person_id, organisation_id, client, user_agent, created_at_ms, seen_at_ms, confirmed_at_ms)
       VALUES (@id, @hash, @personId,
         (SELECT organisation_id FROM memberships WHERE person_id = @personId
          ORDER BY organisation_id = @organisationId DESC, joined_at_ms, organisation_id LIMIT 1),
         @client, @userAgent, @createdAtMs, @seenAtMs, @confirmedAtMs)`,
    ),
    membership: database.prepare<[Uint8Array], { organisationId: string; role: Role }>(
      `SELECT memberships.organisation_id AS organisationId, role FROM console_sessions JOIN memberships
       USING (person_id, organisation_id) WHERE hash = ?`,
    ),
    enter: database.prepare<{ hash: Uint8Array; organisationId: string }>(
      `UPDATE console_sessions SET organisation_id = @organisationId WHERE hash = @hash AND EXISTS
         (SELECT 1 FROM memberships WHERE memberships.person_id = console_sessions.person_id
          AND memberships.organisation_id = @organisationId)`,
    ),
    keepNewest: database.prepare<[string, string, number]>(
      `DELETE FROM console_sessions WHERE person_id = ? AND number NOT IN
       (SELECT number FROM console_sessions WHERE person_id = ? ORDER BY number DESC LIMIT ?)`,
    ),
    note: database.prepare<[number, Uint8Array]>('UPDATE console_sessions SET seen_at_ms = ? WHERE hash = ?'),
    confirm: database.prepare<[number, Uint8Array, string]>(
      `UPDATE console_sessions SET confirmed_at_ms = ?, tries = 0 WHERE hash = ?
     AND (SELECT password FROM people WHERE id = person_id) = ?`,
    ),
    triesOf: database.prepare<[Uint8Array], { id: string; personId: string; client: string; tries: number }>(
      'SELECT id, person_id AS personId, client, tries FROM console_sessions WHERE hash = ?',
    ),
    tried: database.prepare<[Uint8Array]>('UPDATE console_sessions SET tries = tries + 1 WHERE hash = ?'),
    rename: database.prepare<[Uint8Array, Uint8Array]>('UPDATE console_sessions SET hash = ? WHERE hash = ?'),
    endById: database.prepare<[string, string]>('DELETE FROM console_sessions WHERE id = ? AND person_id = ?'),
    endAll: database.prepare<[string]>('DELETE FROM console_sessions WHERE person_id = ?'),
    endIn: database.prepare<[string, string]>(
      'DELETE FROM console_sessions WHERE person_id = ? AND organisation_id = ?',
    ),
    moveFrom: database.prepare<{ personId: string; organisationId: string }>(
      `UPDATE console_sessions SET organisation_id =
         (SELECT organisation_id FROM memberships WHERE person_id = @personId ORDER BY joined_at_ms, organisation_id LIMIT 1)
       WHERE person_id = @personId AND organisation_id = @organisationId`,
    ),
  };
}
