// Who is in the organisation and as what, and who is invited.
import { useSignal } from '@preact/signals';
import type { InvitationView, InvitedAnswer, MemberView } from '../../../api/console/team.ts';
import { Act } from '../../controls/act.tsx';
import { Copyable } from '../../controls/copy.tsx';
import { Dialog } from '../../controls/dialog.tsx';
import { Notice } from '../../controls/notice.tsx';
import { Page, Shown } from '../../controls/page.tsx';
import { Table } from '../../controls/table.tsx';
import { useAnswer } from '../../data/answer.ts';
import { ask } from '../../data/api.ts';
import { ago, time } from '../../data/format.ts';
import { go } from '../../data/location.ts';
import { may, person, readPerson } from '../../data/person.ts';
import { Invitations } from './invitations.tsx';
import { InviteForm } from './invite-form.tsx';
import { RoleSelect } from './role-select.tsx';
import { mayGive, ROLE_NAMES } from './roles.ts';

/** People join while the page is open. */
const EVERY_MS = 15_000;

export function Members() {
  const members = useAnswer<{ data: MemberView[] }>('members', EVERY_MS);
  const invitations = useAnswer<{ data: InvitationView[] }>(may('admin') ? 'invitations' : undefined, EVERY_MS);
  const inviting = useSignal(false);
  const invited = useSignal<InvitedAnswer | undefined>(undefined);
  const told = (answer: InvitedAnswer) => {
    invited.value = answer;
    inviting.value = false;
    invitations.reload();
  };
  return (
    <Page
      title="Members"
      about={`The members of ${person.value?.organisation.name}. Keys, provider keys and bills belong to the organisation, and stay when a member leaves.`}
      actions={
        may('admin') ? (
          <button type="button" class="primary" onClick={() => (inviting.value = true)}>
            Invite somebody
          </button>
        ) : undefined
      }
    >
      {invited.value === undefined ? null : <Invited answer={invited.value} />}
      <Shown answer={members}>
        {({ data }) => (
          <Table
            caption="Members"
            rows={data}
            idOf={({ id }) => id}
            empty={<p>Nobody.</p>}
            columns={[
              { title: 'Address', cell: ({ email, you }) => `${email}${you ? ' (you)' : ''}` },
              { title: 'Role', cell: (member) => <RoleOf member={member} changed={members.reload} /> },
              { title: 'Member since', cell: ({ joined_at }) => <Ago at={joined_at} unknown="" /> },
              { title: 'Last login', cell: ({ last_login_at }) => <Ago at={last_login_at} unknown="never" /> },
              {
                title: 'Change',
                cell: (member) =>
                  member.you ? (
                    <Leave />
                  ) : mayGive(member.role) ? (
                    <Remove member={member} done={members.reload} />
                  ) : null,
              },
            ]}
          />
        )}
      </Shown>
      {may('admin') ? <Invitations of={invitations} told={told} /> : null}
      {inviting.value ? (
        <Dialog title="Invite somebody" close={() => (inviting.value = false)}>
          <InviteForm done={told} />
        </Dialog>
      ) : null}
    </Page>
  );
}

/** Nobody changes the own role by a slip: others do, and leaving asks first. */
function RoleOf({ member, changed }: { member: MemberView; changed(): void }) {
  if (member.you || !mayGive(member.role)) return <>{ROLE_NAMES[member.role]}</>;
  return (
    <RoleSelect
      label={`Role of ${member.email}`}
      role={member.role}
      choose={async (role) => {
        await ask('PATCH', `members/${member.id}`, { role });
        changed();
      }}
    />
  );
}

function Ago({ at, unknown }: { at: string | null; unknown: string }) {
  return at === null ? <>{unknown}</> : <span title={time(at)}>{ago(at)}</span>;
}

function Remove({ member: { id, email }, done }: { member: MemberView; done(): void }) {
  return (
    <Act
      class="danger"
      act={() => ask('DELETE', `members/${id}`).then(done)}
      sure={{
        title: `Remove ${email}?`,
        text: 'The logins in this organisation end at once, and invitations of this person are withdrawn. Keys stay: revoke those that the person knows.',
        button: 'Remove the member',
      }}
    >
      Remove
    </Act>
  );
}

function Leave() {
  const leave = async () => {
    await ask('POST', 'members/leave');
    await readPerson();
    go('/');
  };
  return (
    <Act
      class="danger"
      act={leave}
      sure={{
        title: `Leave ${person.value?.organisation.name}?`,
        text: 'You come back by a new invitation only. The keys that you made stay.',
        button: 'Leave the organisation',
      }}
    >
      Leave
    </Act>
  );
}

function Invited({ answer: { invitation, link } }: { answer: InvitedAnswer }) {
  if (link === null) return <Notice tone="good">An invitation is on its way to {invitation.email}.</Notice>;
  return (
    <Notice tone="good">
      <p>
        This gateway sends no mails. Hand this link to {invitation.email} yourself: it is shown only now, and works once
        within seven days.
      </p>
      <Copyable text={new URL(link, location.href).href} label="Link" />
    </Notice>
  );
}
