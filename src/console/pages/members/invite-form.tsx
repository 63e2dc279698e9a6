// Who is invited, and as what.
import type { InvitationBody, InvitedAnswer } from '../../../api/console/team.ts';
import { Field, Form, textOf } from '../../controls/form.tsx';
import { ask } from '../../data/api.ts';
import { mayGive, ROLE_NAMES, ROLE_TEXTS, ROLES } from './roles.ts';

export function InviteForm({ done }: { done(answer: InvitedAnswer): void }) {
  return (
    <Form
      button="Invite"
      send={async (values) => {
        const body = { email: textOf(values, 'email'), role: textOf(values, 'role') } as InvitationBody;
        done(await ask('POST', 'invitations', body));
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
        {ROLES.filter(mayGive).map((role) => (
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
