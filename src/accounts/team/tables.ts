// Teams on an open database: members, those who are invited, and the links that they join by.
import type { TableContext } from '../../store/table-context.ts';
import type { ConsoleSessionTables } from '../people/store/console-session-tables.ts';
import type { MailRequests } from '../people/store/mail-requests.ts';
import type { PeopleRows } from '../people/store/people.ts';
import type { TeamCalls } from './calls.ts';
import { createInvitationRows } from './invitation-rows.ts';
import { createInvitingTables } from './inviting.ts';
import { createJoiningTables, type ProveAddress } from './joining.ts';
import { createMemberTables } from './members.ts';

interface Accounts {
  people: PeopleRows;
  sessions: ConsoleSessionTables;
  requests: MailRequests;
  prove: ProveAddress;
}

export function createTeamTables(context: TableContext, accounts: Accounts): TeamCalls {
  const rows = createInvitationRows(context);
  const inviting = createInvitingTables(context, { ...accounts, rows });
  return {
    ...inviting.calls,
    ...createJoiningTables(context, { ...accounts, rows }),
    ...createMemberTables(context, { ...accounts, inviting }),
  };
}
