// The members of the organisation with their roles, and invitations.
import { useSignal } from '@preact/signals';
import {
  type InvitationBody,
  type InvitationView,
  type InvitedAnswer,
  MEMBER_ROLES,
  type MemberRole,
  type MemberView,
} from '../../api/console/console.ts';
import { ActionButton, Dialog, useAction } from '../controls/actions.tsx';
import { Field, Form, textOf } from '../controls/form.tsx';
import { Badge, Failure, Notice, type Tone } from '../controls/notice.tsx';
import { Loaded, Page } from '../controls/page.tsx';
import { Table } from '../controls/table.tsx';
import { Ago, Copyable } from '../controls/values.tsx';
import { type Answer, request, useAnswer } from '../data/api.ts';
import { ago } from '../data/format.ts';
import { go } from '../data/location.ts';
import { may, person, readPerson } from '../data/organisation.ts';

const ROLE_NAMES: Readonly<Record<MemberRole, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  developer: 'Developer',
  read_only: 'Read only',
};

const ROLE_TEXTS: Readonly<Record<MemberRole, string>> = {
  owner: 'everything, owners included',
  admin: 'all keys, provider keys, members, audit log',
  developer: 'mints keys, looks after the own ones, uses the playground',
  read_only: 'sees use, sessions, models, credit and bills',
};

/** Admins cannot manage owners. */
const mayManage = (role: MemberRole): boolean => may('admin') && may(role);

/** People join while the page is open. */
const EVERY_MS = 15_000;

export function Members() {
  const members = useAnswer<{ data: MemberView[] }>('members', EVERY_MS);
  const invitations = useAnswer<{ data: InvitationView[] }>(may('admin') ? 'invitations' : undefined, EVERY_MS);
  const inviting = useSignal(false);
  const invited = useSignal<InvitedAnswer | undefined>(undefined);
  const onInvited = (answer: InvitedAnswer) => {
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
      <Loaded answer={members}>
        {({ data }) => (
          <Table
            caption="Members"
            rows={data}
            idOf={({ id }) => id}
            empty={<p>Nobody.</p>}
            columns={[
              { title: 'Address', cell: ({ email, you }) => `${email}${you ? ' (you)' : ''}` },
              { title: 'Role', cell: (member) => <RoleOf member={member} changed={members.reload} /> },
              { title: 'Member since', cell: ({ joined_at }) => joined_at && <Ago at={joined_at} /> },
              {
                title: 'Last login',
                cell: ({ last_login_at }) => (last_login_at === null ? 'never' : <Ago at={last_login_at} />),
              },
              {
                title: 'Change',
                cell: (member) =>
                  member.you ? (
                    <Leave />
                  ) : mayManage(member.role) ? (
                    <Remove member={member} done={members.reload} />
                  ) : null,
              },
            ]}
          />
        )}
      </Loaded>
      {may('admin') ? <Invitations of={invitations} onInvited={onInvited} /> : null}
      {inviting.value ? (
        <Dialog title="Invite somebody" close={() => (inviting.value = false)}>
          <InviteForm done={onInvited} />
        </Dialog>
      ) : null}
    </Page>
  );
}

/** Changed where it is read, except the own role: others change that. After an error the former role is shown again. */
function RoleOf({ member: { id, email, role, you }, changed }: { member: MemberView; changed(): void }) {
  const { isBusy, failure, run } = useAction();
  if (you || !mayManage(role)) return <>{ROLE_NAMES[role]}</>;
  const change = async (select: HTMLSelectElement) => {
    const isChanged = await run(async () => {
      await request('PATCH', `members/${id}`, { role: select.value });
      changed();
    });
    if (!isChanged) select.value = role;
  };
  return (
    <>
      <select
        aria-label={`Role of ${email}`}
        class="inline"
        value={role}
        disabled={isBusy}
        onChange={(event) => void change(event.currentTarget)}
      >
        {MEMBER_ROLES.filter(mayManage).map((each) => (
          <option key={each} value={each}>
            {ROLE_NAMES[each]}
          </option>
        ))}
      </select>
      <Failure of={failure} />
    </>
  );
}

function Remove({ member: { id, email }, done }: { member: MemberView; done(): void }) {
  return (
    <ActionButton
      class="danger"
      action={() => request('DELETE', `members/${id}`).then(done)}
      confirm={{
        title: `Remove ${email}?`,
        text: 'The logins in this organisation end at once, and invitations of this person are withdrawn. Keys stay: revoke those that the person knows.',
        button: 'Remove the member',
      }}
    >
      Remove
    </ActionButton>
  );
}

function Leave() {
  const leave = async () => {
    await request('POST', 'members/leave');
    await readPerson();
    go('/');
  };
  return (
    <ActionButton
      class="danger"
      action={leave}
      confirm={{
        title: `Leave ${person.value?.organisation.name}?`,
        text: 'You come back by a new invitation only. The keys that you made stay.',
        button: 'Leave the organisation',
      }}
    >
      Leave
    </ActionButton>
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

interface InvitationsProps {
  of: Answer<{ data: InvitationView[] }>;
  /** It was sent again. */
  onInvited(answer: InvitedAnswer): void;
}

const STATES: Record<InvitationView['state'], { tone: Tone; text(of: InvitationView): string }> = {
  pending: { tone: 'busy', text: ({ expires_at }) => `open, lapses ${ago(expires_at)}` },
  expired: { tone: 'quiet', text: ({ expires_at }) => `lapsed ${ago(expires_at)}` },
  locked: { tone: 'bad', text: () => 'locked: five wrong passwords' },
};

function Invitations({ of, onInvited }: InvitationsProps) {
  return (
    <section class="stack close">
      <h2>Invitations</h2>
      <Loaded answer={of}>
        {({ data }) => (
          <Table
            caption="Invitations"
            rows={data}
            idOf={({ id }) => id}
            empty={<p>Nobody is invited at the moment.</p>}
            columns={[
              { title: 'Address', cell: ({ email }) => email },
              { title: 'Role', cell: ({ role }) => ROLE_NAMES[role] },
              {
                title: 'State',
                cell: (each) => <Badge tone={STATES[each.state].tone}>{STATES[each.state].text(each)}</Badge>,
              },
              { title: 'Invited by', cell: ({ invited_by }) => invited_by ?? 'the command line' },
              { title: 'Sent', cell: ({ sent_at }) => ago(sent_at) },
              {
                title: 'Change',
                cell: ({ id, role, email }) =>
                  !mayManage(role) ? null : (
                    <div class="row">
                      <ActionButton
                        action={() => request<InvitedAnswer>('POST', `invitations/${id}/resend`).then(onInvited)}
                      >
                        Send again
                      </ActionButton>
                      <ActionButton
                        class="danger"
                        action={() => request('DELETE', `invitations/${id}`).then(of.reload)}
                        confirm={{
                          title: `Withdraw the invitation of ${email}?`,
                          text: 'Its link is good for nothing any more.',
                          button: 'Withdraw it',
                        }}
                      >
                        Withdraw
                      </ActionButton>
                    </div>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </section>
  );
}

function InviteForm({ done }: { done(answer: InvitedAnswer): void }) {
  return (
    <Form
      button="Invite"
      send={async (values) => {
        const body = { email: textOf(values, 'email'), role: textOf(values, 'role') } as InvitationBody;
        done(await request('POST', 'invitations', body));
      }}
    >
      <Field
        label="E-mail"
        name="email"
        type="email"
        required
        autofocus
        maxLength={320}
        hint="With an account or without one: the link asks for what is needed."
      />
      <fieldset>
        <legend>Role</legend>
        {MEMBER_ROLES.filter(mayManage).map((role) => (
          <label class="choice" key={role}>
            <input type="radio" name="role" value={role} defaultChecked={role === 'developer'} />
            <span>
              {ROLE_NAMES[role]}
              <small class="quiet"> {ROLE_TEXTS[role]}</small>
            </span>
          </label>
        ))}
      </fieldset>
    </Form>
  );
}
