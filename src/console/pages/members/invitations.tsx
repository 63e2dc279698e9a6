// Invitations that nobody has taken up yet.
import type { InvitationView, InvitedAnswer } from '../../../api/console/team.ts';
import { Act } from '../../controls/act.tsx';
import { Badge, type Tone } from '../../controls/notice.tsx';
import { Shown } from '../../controls/page.tsx';
import { Table } from '../../controls/table.tsx';
import type { Answer } from '../../data/answer.ts';
import { ask } from '../../data/api.ts';
import { ago } from '../../data/format.ts';
import { mayGive, ROLE_NAMES } from './roles.ts';

interface InvitationsProps {
  of: Answer<{ data: InvitationView[] }>;
  /** One was sent again. */
  told(answer: InvitedAnswer): void;
}

const STATES: Record<InvitationView['state'], { tone: Tone; text(of: InvitationView): string }> = {
  pending: { tone: 'busy', text: ({ expires_at }) => `open, lapses ${ago(expires_at)}` },
  expired: { tone: 'quiet', text: ({ expires_at }) => `lapsed ${ago(expires_at)}` },
  locked: { tone: 'bad', text: () => 'locked: five wrong passwords' },
};

export function Invitations({ of, told }: InvitationsProps) {
  return (
    <section class="stack close">
      <h2>Invitations</h2>
      <Shown answer={of}>
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
                  !mayGive(role) ? null : (
                    <div class="row">
                      <Act act={() => ask<InvitedAnswer>('POST', `invitations/${id}/resend`).then(told)}>
                        Send again
                      </Act>
                      <Act
                        class="danger"
                        act={() => ask('DELETE', `invitations/${id}`).then(of.reload)}
                        sure={{
                          title: `Withdraw the invitation of ${email}?`,
                          text: 'Its link is good for nothing any more.',
                          button: 'Withdraw it',
                        }}
                      >
                        Withdraw
                      </Act>
                    </div>
                  ),
              },
            ]}
          />
        )}
      </Shown>
    </section>
  );
}
