// One's own account: address, password, where one is logged in, and how the console looks here; and what the organisation shows.
import { useSignal } from '@preact/signals';
import type { ConsoleSessionView } from '../../api/console/console.ts';
import { textOfCeiling } from '../../api/spend-ceilings.ts';
import { ActionButton } from '../controls/actions.tsx';
import { Field, Form, textOf } from '../controls/form.tsx';
import { Notice } from '../controls/notice.tsx';
import { Loaded, Page } from '../controls/page.tsx';
import { Table } from '../controls/table.tsx';
import { Ago } from '../controls/values.tsx';
import { request, useAnswer } from '../data/api.ts';
import { ceilingsOf } from '../data/ceiling-text.ts';
import { may, person, readPerson } from '../data/organisation.ts';
import { chooseTheme, type Theme, theme } from '../theme.ts';

export function Settings() {
  return (
    <Page title="Settings" about="Your own account, on every device, and what your organisation shows.">
      <div class="columns">
        <Address />
        <Password />
        <Appearance />
        <Transcripts />
        <SpendCeilings />
      </div>
      <Logins />
    </Page>
  );
}

function Address() {
  const sent = useSignal(false);
  const who = person.value;
  return (
    <section class="card">
      <h2>Address</h2>
      <p>
        {who?.email}
        {who?.email_verified ? '' : ' (not confirmed yet)'}
      </p>
      {who?.email_verified ? null : (
        <ActionButton action={() => request('POST', 'verification')}>Send the mail again</ActionButton>
      )}
      {sent.value ? (
        <Notice tone="good">A mail was sent to the new address. Open its link to confirm the address.</Notice>
      ) : null}
      <Form
        button="Change the address"
        send={async (values) => {
          await request('POST', 'email', { email: textOf(values, 'email') });
          sent.value = true;
        }}
      >
        <Field label="New address" name="email" type="email" required maxLength={320} autocomplete="email" />
      </Form>
    </section>
  );
}

function Password() {
  const changed = useSignal(false);
  return (
    <section class="card">
      <h2>Password</h2>
      {changed.value ? <Notice tone="good">The password is changed, and all other logins have ended.</Notice> : null}
      <Form
        button="Change the password"
        send={async (values) => {
          await request('POST', 'password', {
            current_password: String(values.get('current')),
            new_password: String(values.get('new')),
          });
          changed.value = true;
        }}
      >
        <Field label="Current password" name="current" type="password" autocomplete="current-password" required />
        <Field
          label="New password"
          name="new"
          type="password"
          autocomplete="new-password"
          minLength={8}
          maxLength={256}
          hint="8 to 256 characters."
          required
        />
      </Form>
    </section>
  );
}

function Appearance() {
  const chosen = useSignal<Theme>(theme());
  const choose = (wanted: Theme) => {
    chosen.value = wanted;
    chooseTheme(wanted);
  };
  return (
    <section class="card">
      <fieldset>
        <legend>Colours, in this browser</legend>
        {(['system', 'light', 'dark'] as const).map((each) => (
          <label class="choice" key={each}>
            <input type="radio" name="theme" checked={chosen.value === each} onChange={() => choose(each)} />
            {each === 'system' ? 'As the system has it' : each === 'light' ? 'Light' : 'Dark'}
          </label>
        ))}
      </fieldset>
    </section>
  );
}

function Transcripts() {
  const { name, show_transcripts: isOn } = person.value?.organisation ?? { name: '', show_transcripts: false };
  const change = () => request('PATCH', 'organisation', { show_transcripts: !isOn }).then(readPerson);
  return (
    <section class="card">
      <h2>Transcripts in the console</h2>
      <p>
        Members of {name} {isOn ? 'see' : 'do not see'} the transcript of each turn of a live session that they watch,
        and the text of completed jobs.
      </p>
      <p class="quiet small">
        Transcripts of live sessions stay in memory while the session is live and are never stored. API keys never
        receive them. A change applies to jobs at once and to sessions opened from then on; switching it off also hides
        them from everyone who is watching.
      </p>
      {may('owner') ? (
        <ActionButton action={change}>{isOn ? 'Hide transcripts' : 'Show transcripts'}</ActionButton>
      ) : (
        <p class="quiet small">Only an owner can change this.</p>
      )}
    </section>
  );
}

function SpendCeilings() {
  const { name, spend_ceilings: ceilings } = person.value?.organisation ?? { name: '', spend_ceilings: null };
  const text = ceilings?.map(textOfCeiling).join(', ') ?? '';
  const change = (values: FormData) =>
    request('PATCH', 'organisation', { spend_ceilings: ceilingsOf(textOf(values, 'spend_ceilings')) }).then(readPerson);
  return (
    <section class="card">
      <h2>Spend ceilings</h2>
      <p>{text === '' ? `${name} has no spend ceiling.` : `All keys of ${name} together may spend: ${text}.`}</p>
      {may('owner') ? (
        <Form button="Save ceilings" send={change}>
          <Field
            label="The most in USD"
            name="spend_ceilings"
            value={text}
            hint="In an hour, day or month (UTC), over all providers or at one: 100/day, deepgram:20/month. 100/day:only_up_to=0.005 leaves models up to 0.005 USD a minute once it is reached. No ceiling when empty."
          />
        </Form>
      ) : (
        <p class="quiet small">Only an owner can change this.</p>
      )}
    </section>
  );
}

function Logins() {
  const logins = useAnswer<{ data: ConsoleSessionView[] }>('console-sessions');
  return (
    <section class="stack close">
      <h2>Where you are logged in</h2>
      <Loaded answer={logins}>
        {({ data }) => (
          <Table
            caption="Logins"
            rows={data}
            idOf={({ id }) => id}
            empty={<p>Nowhere.</p>}
            columns={[
              { title: 'Browser', cell: ({ user_agent, current }) => `${user_agent}${current ? ' (this one)' : ''}` },
              { title: 'From', cell: ({ address }) => address },
              { title: 'Since', cell: ({ created_at }) => <Ago at={created_at} /> },
              { title: 'Last seen', cell: ({ seen_at }) => <Ago at={seen_at} /> },
              {
                title: 'Change',
                cell: ({ id, current }) =>
                  current ? null : (
                    <ActionButton
                      class="danger"
                      action={() => request('DELETE', `console-sessions/${id}`).then(logins.reload)}
                    >
                      Log out
                    </ActionButton>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </section>
  );
}
