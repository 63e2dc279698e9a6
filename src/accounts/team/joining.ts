// What the link of an invitation does, on an open database: it is looked at, tried, and used once.
import type { TableContext } from '../../store/table-context.ts';
import type { PeopleRows, PersonRow } from '../people/store/people.ts';
import type { Joining, JoiningPassword, TeamCalls } from './calls.ts';
import { type InvitationRows, type OpenInvitation, TRIES_MAX } from './invitation-rows.ts';

type JoiningCalls = Pick<TeamCalls, 'findInvitation' | 'beginJoining' | 'join'>;

/** Where the address of an account was not proved yet. */
export type ProveAddress = (
  person: PersonRow,
  link: { expiresAtMs: number },
  passwordHash: string,
  welcomeMicroUsd: bigint,
  client: string,
) => unknown;

interface Accounts {
  rows: InvitationRows;
  people: PeopleRows;
  prove: ProveAddress;
}

export function createJoiningTables(context: TableContext, { rows, people, prove }: Accounts): JoiningCalls {
  const { database } = context;

  /** An invitation and the account that it would join, for that address. */
  function joining(hash: Uint8Array, address: string, triesMax?: number) {
    const invitation = rows.open(hash, triesMax);
    if (invitation === undefined || (invitation.address ?? address) !== address) return undefined;
    const person = people.byAddress(address);
    return person?.state === 'suspended' ? undefined : { invitation, person };
  }

  function beginJoining(hash: Uint8Array, address: string): JoiningPassword | undefined {
    const found = joining(hash, address);
    if (found === undefined) return undefined;
    if (found.person?.state !== 'verified') return { type: 'choose' };
    rows.tried(hash);
    return { type: 'compare', passwordHash: found.person.passwordHash };
  }

  function join(wanted: Joining) {
    const { hash, address, proof, client } = wanted;
    // The last try was counted before its password was compared.
    const found = joining(hash, address, TRIES_MAX + 1);
    if (found === undefined) return undefined;
    const { invitation, person: existing } = found;
    const isProved =
      'loggedInAs' in proof
        ? existing?.state === 'verified' && existing.id === proof.loggedInAs
        : existing?.state !== 'verified' || existing.passwordHash === proof.passwordHash;
    if (!isProved) return undefined;
    const personId = existing?.state === 'verified' ? existing.id : account(existing, invitation, wanted);
    const { organisationId, role, id } = invitation;
    const hasJoined = people.join(personId, organisationId, role);
    rows.remove(id);
    context.audit({
      by: { type: 'person', id: personId, address: client },
      organisationId,
      action: hasJoined ? 'member.joined' : 'invitation.used-by-member',
      target: personId,
      detail: { role, invitation: id },
    });
    return { personId, email: people.byId(personId)!.email };
  }

  /** An account with its address proved by the link: a new one, or one that nobody has proved yet. */
  function account(unproved: PersonRow | undefined, invitation: OpenInvitation, joining: Joining): string {
    const { email, address, welcomeMicroUsd, client } = joining;
    const { passwordHash } = joining.proof as { passwordHash: string };
    const id = unproved?.id ?? people.add({ email: invitation.email ?? email, address, passwordHash });
    // Who is invited into an organisation has not opened one.
    prove(people.byId(id)!, invitation, passwordHash, unproved === undefined ? 0n : welcomeMicroUsd, client);
    return id;
  }

  return {
    findInvitation(hash) {
      const found = rows.open(hash);
      if (found === undefined) return undefined;
      const { address: _, expiresAtMs: __, ...invitation } = found;
      return invitation;
    },
    beginJoining: database.transaction(beginJoining).immediate,
    join: database.transaction(join).immediate,
  };
}
