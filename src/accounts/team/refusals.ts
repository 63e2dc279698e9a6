// What somebody is told whose change of a team was not made.
import { type Refusal, refuse } from '../../api/errors.ts';
import type { InvitationRefusal, TeamRefusal } from './calls.ts';

export function refusalOfTeam(why: TeamRefusal | InvitationRefusal): Refusal {
  switch (why) {
    case 'not_found':
      return refuse('not_found', 'There is no such member or invitation in this organisation. Load the list again.');
    case 'role_not_allowed':
      return refuse(
        'role_not_allowed',
        'Your role in the organisation does not allow this. You cannot raise your own role, and only owners can change owners. Ask an owner.',
      );
    case 'last_owner':
      return refuse(
        'last_owner',
        'The organisation would be left without an owner who can log in. Make another member an owner first.',
      );
    case 'member':
      return refuse('invalid_request', 'This address is a member already. Change the role in the list of members.', {
        param: 'email',
      });
    case 'too_many_invitations':
      return refuse(
        'invalid_request',
        'An organisation has 100 open invitations and 1,000 members at most. Withdraw an invitation first.',
      );
    case 'too_many_mails':
      return refuse(
        'rate_limit_exceeded',
        'An address is mailed three invitations of one person in an hour, and one person may send fifty. Try again later.',
        { retryAfterSeconds: 1200 },
      );
  }
}
