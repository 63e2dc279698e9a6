// The rows of people and of what they own, on an open database. What may happen to them is decided in tables.ts.
import type { Actor } from '../../../store/audit-log.ts';
import type { DrawingContext, TableContext } from '../../../store/table-context.ts';
import { createOrganisationTables } from '../../keys/organisation-tables.ts';
import type { Member, Membership, Role } from '../../team/calls.ts';
import type { AccountState, Person } from './calls.ts';

/** A person as the row has it. */
export interface PersonRow extends Person {
  passwordHash: string;
}

export interface PeopleRows {
  byId(personId: string): PersonRow | undefined;
  byAddress(address: string): PersonRow | undefined;
  /** A person whose address is not proved yet, without an organisation. */
  add(person: { email: string; address: string; passwordHash: string }): string;
  /** A new prepaid organisation. */
  addOrganisation(name: string, by: Actor): string;
  /** False where the person is a member already: then the role stays. */
  join(personId: string, organisationId: string, role: Role): boolean;
  /** Longest first. */
  memberships(personId: string): Membership[];
  /** Of an organisation, longest first. */
  members(organisationId: string): Member[];
  /** Undefined for who is not a member. */
  roleIn(organisationId: string, personId: string): Role | undefined;
  /** The same of who acts: whoever runs the gateway is an owner of each organisation. */
  roleOf(organisationId: string, by: Actor): Role | undefined;
  setRole(organisationId: string, personId: string, role: Role): void;
  leave(organisationId: string, personId: string): void;
  noteLogin(personId: string): void;
  /** Organisations that have no other owner. */
  ownedAlone(personId: string): string[];
  setState(personId: string, state: AccountState): void;
  /** Links that were mailed with the password before ask for the new one. */
  setPassword(personId: string, passwordHash: string): void;
  isSuspended(organisationId: string): boolean;
  setAddress(personId: string, email: string, address: string): void;
  remove(personId: string): void;
  setSuspended(organisationId: string, suspended: boolean, by: Actor): void;
}

const SELECT = `
  SELECT id, email, address, state, password AS passwordHash, created_at AS createdAt, verified_at AS verifiedAt,
         (SELECT organisation_id FROM memberships WHERE person_id = id
          ORDER BY joined_at_ms, organisation_id LIMIT 1) AS organisationId
  FROM people`;

export function createPeopleRows(context: DrawingContext): PeopleRows {
  const { database, nowMs, nowText, newId } = context;
  const organisations = createOrganisationTables(context);
  const byId = database.prepare<[string], PersonRow>(`${SELECT} WHERE id = ?`);
  const byAddress = database.prepare<[string], PersonRow>(`${SELECT} WHERE address = ?`);
  const insert = database.prepare<Omit<PersonRow, 'organisationId' | 'verifiedAt' | 'state'>>(
    `INSERT INTO people (id, email, address, password, state, created_at)
     VALUES (@id, @email, @address, @passwordHash, 'unverified', @createdAt)`,
  );
  const join = database.prepare<[string, string, Role, number]>(
    'INSERT INTO memberships (person_id, organisation_id, role, joined_at_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const memberships = database.prepare<[string], Membership>(
    `SELECT id, name, role FROM memberships JOIN organisations ON id = organisation_id
     WHERE person_id = ? ORDER BY joined_at_ms, id`,
  );
  const members = database.prepare<[string], Member>(
    `SELECT id AS personId, email, role, nullif(joined_at_ms, 0) AS joinedAtMs, last_login_at_ms AS lastLoginAtMs
     FROM memberships JOIN people ON id = person_id WHERE organisation_id = ? ORDER BY joined_at_ms, number`,
  );
  const roleIn = database
    .prepare<[string, string], Role>('SELECT role FROM memberships WHERE organisation_id = ? AND person_id = ?')
    .pluck();
  const setRole = database.prepare<[Role, string, string]>(
    'UPDATE memberships SET role = ? WHERE organisation_id = ? AND person_id = ?',
  );
  const leave = database.prepare<[string, string]>(
    'DELETE FROM memberships WHERE organisation_id = ? AND person_id = ?',
  );
  const noteLogin = database.prepare<[number, string]>('UPDATE people SET last_login_at_ms = ? WHERE id = ?');
  const ownedAlone = database
    .prepare<[string], string>(
      `SELECT organisation_id FROM memberships AS own WHERE person_id = ? AND role = 'owner' AND NOT EXISTS
         (SELECT 1 FROM memberships AS other
          WHERE other.organisation_id = own.organisation_id AND role = 'owner' AND other.person_id <> own.person_id)
       ORDER BY organisation_id`,
    )
    .pluck();
  const setState = database.prepare<{ id: string; state: AccountState; now: string }>(
    'UPDATE people SET state = @state, verified_at = coalesce(verified_at, @now) WHERE id = @id',
  );
  const setPassword = database.prepare<[string, string]>('UPDATE people SET password = ? WHERE id = ?');
  const followPassword = database.prepare<[string]>(
    `UPDATE mail_tokens SET password = NULL
     WHERE person_id = ? AND password = (SELECT password FROM people WHERE id = person_id)`,
  );
  const suspended = database
    .prepare<[string], number>('SELECT suspended_at IS NOT NULL FROM organisations WHERE id = ?')
    .pluck();
  const setAddress = database.prepare<[string, string, string]>(
    'UPDATE people SET email = ?, address = ? WHERE id = ?',
  );
  const remove = database.prepare<[string]>('DELETE FROM people WHERE id = ?');

  return {
    byId: (personId) => byId.get(personId),
    byAddress: (address) => byAddress.get(address),
    add({ email, address, passwordHash }) {
      const id = newId('per');
      insert.run({ email, address, passwordHash, id, createdAt: nowText() });
      return id;
    },
    addOrganisation: (name, by) => organisations.createOrganisation(name, 0n, by).id,
    join: (personId, organisationId, role) => join.run(personId, organisationId, role, nowMs()).changes > 0,
    memberships: (personId) => memberships.all(personId),
    members: (organisationId) => members.all(organisationId),
    roleIn: (organisationId, personId) => roleIn.get(organisationId, personId),
    roleOf: (organisationId, by) => (by.type === 'person' ? roleIn.get(organisationId, by.id) : 'owner'),
    setRole: (organisationId, personId, role) => void setRole.run(role, organisationId, personId),
    leave: (organisationId, personId) => void leave.run(organisationId, personId),
    noteLogin: (personId) => void noteLogin.run(nowMs(), personId),
    ownedAlone: (personId) => ownedAlone.all(personId),
    setState: (id, state) => setState.run({ id, state, now: nowText() }),
    setPassword(id, passwordHash) {
      followPassword.run(id);
      setPassword.run(passwordHash, id);
    },
    isSuspended: (organisationId) => suspended.get(organisationId) === 1,
    setAddress: (id, email, address) => setAddress.run(email, address, id),
    remove: (id) => remove.run(id),
    setSuspended: (organisationId, suspended, by) => organisations.setSuspended(organisationId, suspended, by),
  };
}

/** What may leave the store. */
export function personOf({ passwordHash: _, ...person }: PersonRow): Person {
  return person;
}

const DAY_MS = 86_400_000;

/** Sign-ups of a group of addresses in the last 24 hours. */
export function createSignUpCount({ database, nowMs }: TableContext) {
  const prune = database.prepare<[number]>('DELETE FROM sign_ups WHERE at_ms <= ?');
  const count = database.prepare<[string], number>('SELECT count(*) FROM sign_ups WHERE client = ?').pluck();
  const insert = database.prepare<[string, number]>('INSERT INTO sign_ups (client, at_ms) VALUES (?, ?)');
  return {
    take(clientGroup: string, max: number): boolean {
      prune.run(nowMs() - DAY_MS);
      if (count.get(clientGroup)! >= max) return false;
      insert.run(clientGroup, nowMs());
      return true;
    },
  };
}
