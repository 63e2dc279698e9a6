// The part of `voxgate orgs …` that is about members of organisations.
import { parseEmail } from '../accounts/people/addresses.ts';
import { isRole, type Member, ROLES, type Role, refusalOfTeam, type TeamRefusal } from '../accounts/team/calls.ts';
import type { Store } from '../node/store/store.ts';
import { action, WrongInput } from './shared/actions.ts';
import { operator, requireOrganisation, withStore } from './shared/operator.ts';
import { print, printTable } from './shared/output.ts';
import { outwardJson } from './shared/values.ts';

export const memberActions = {
  members: action({
    operands: ['ORG_ID'],
    options: { json: { type: 'boolean' } },
    async run([organisationId = ''], { json = false }) {
      const { members, invitations } = await withStore({ make: false }, async (store) => {
        await requireOrganisation(store, organisationId);
        return {
          members: await store.listMembers(organisationId),
          invitations: await store.listInvitations(organisationId),
        };
      });
      if (json) {
        print(outwardJson({ members, invitations }, 2));
        return;
      }
      const rows = members.map(({ email, role, lastLoginAtMs }) => [email, role, dayOf(lastLoginAtMs)]);
      const invited = invitations.map(({ email, role, state }) => [email, role, `invited, ${state}`]);
      printTable([['EMAIL', 'ROLE', 'LAST LOGIN'], ...rows, ...invited]);
    },
  }),
  role: action({
    operands: ['ORG_ID', 'EMAIL', 'ROLE'],
    options: {},
    async run([organisationId = '', email = '', text = '']) {
      const role = roleValue('ROLE', text);
      await changed(organisationId, email, (store, { personId }) =>
        store.changeRole(organisationId, personId, role, operator()),
      );
      print(`${email} is ${role} of ${organisationId}.`);
    },
  }),
  remove: action({
    operands: ['ORG_ID', 'EMAIL'],
    options: {},
    async run([organisationId = '', email = '']) {
      await changed(organisationId, email, (store, { personId }) =>
        store.removeMember(organisationId, personId, operator()),
      );
      print(`${email} is no member of ${organisationId} any more.`);
    },
  }),
};

export function roleValue(name: string, text: string): Role {
  if (isRole(text)) return text;
  throw new WrongInput(`${name} takes one of ${ROLES.join(', ')}.`);
}

async function changed(
  organisationId: string,
  email: string,
  change: (store: Store, member: Member) => Promise<TeamRefusal | 'done'>,
): Promise<void> {
  const outcome = await withStore({ make: false }, async (store) => {
    const members = await store.listMembers(organisationId);
    const member = members.find((each) => addressOf(each.email) === addressOf(email));
    return member === undefined ? 'not_found' : change(store, member);
  });
  if (outcome !== 'done') throw refusalOfTeam(outcome);
}

const addressOf = (email: string): string | undefined => parseEmail(email)?.address;

const dayOf = (ms: number | null): string => (ms === null ? '-' : new Date(ms).toISOString().slice(0, 10));
