// Before the login: logging in, signing up, and asking for a new password.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { ConsoleStatus } from '../../../api/console/status.ts';
import { Field, Form, textOf } from '../../controls/form.tsx';
import { Notice } from '../../controls/notice.tsx';
import { type Answer, useAnswer } from '../../data/answer.ts';
import { send } from '../../data/api.ts';
import { readPerson } from '../../data/person.ts';
import icon from '../../icon.svg';
import { About } from './about.tsx';

type Way = 'log-in' | 'sign-up' | 'forgotten' | 'mail-sent';
/** A button that leads to another way. */
type Turn = (to: Way, text: string) => ComponentChildren;

const TITLES: Record<Way, string> = {
  'log-in': 'Log in',
  'sign-up': 'Sign up',
  forgotten: 'A new password',
  'mail-sent': 'A mail is on its way',
};

export function Gate() {
  const way = useSignal<Way>('log-in');
  const status = useAnswer<ConsoleStatus>('status');
  const turn: Turn = (to, text) => (
    <button type="button" class="plain" onClick={() => (way.value = to)}>
      {text}
    </button>
  );
  return (
    <main class="gate">
      <header class="brand">
        <img src={icon} alt="" /> Voxgate
      </header>
      <section class="card" aria-labelledby="way">
        <h1 id="way">{TITLES[way.value]}</h1>
        {way.value === 'log-in' && <LogIn further={turn('forgotten', 'Password forgotten')} />}
        {way.value === 'sign-up' && <SignUp sent={() => (way.value = 'mail-sent')} />}
        {way.value === 'forgotten' && <Forgotten sent={() => (way.value = 'mail-sent')} />}
        {way.value === 'mail-sent' && <MailSent status={status} />}
        <Other way={way.value} status={status.value} turn={turn} />
      </section>
      <About status={status.value} />
    </main>
  );
}

/** The way that is not taken now. */
function Other({ way, status, turn }: { way: Way; status: ConsoleStatus | undefined; turn: Turn }) {
  if (way !== 'log-in') return <p class="row small">Back to {turn('log-in', 'Log in')}</p>;
  if (status === undefined) return null;
  return (
    <p class="row small">
      {status.sign_up ? <>No account yet? {turn('sign-up', 'Sign up')}</> : 'An account is made by invitation here.'}
    </p>
  );
}

const Email = () => <Field label="E-mail" name="email" type="email" autocomplete="username" required maxLength={320} />;

function LogIn({ further }: { further: ComponentChildren }) {
  return (
    <Form
      button="Log in"
      further={further}
      send={async (values) => {
        await send('POST', 'login', { email: textOf(values, 'email'), password: String(values.get('password')) });
        await readPerson();
      }}
    >
      <Email />
      <Field label="Password" name="password" type="password" autocomplete="current-password" required />
    </Form>
  );
}

function SignUp({ sent }: { sent(): void }) {
  return (
    <Form
      button="Sign up"
      send={async (values) => {
        const organisation = textOf(values, 'organisation');
        await send('POST', 'sign-up', {
          email: textOf(values, 'email'),
          password: String(values.get('password')),
          ...(organisation === '' ? {} : { organisation }),
        });
        sent();
      }}
    >
      <Email />
      <Field
        label="Password"
        name="password"
        type="password"
        autocomplete="new-password"
        minLength={8}
        maxLength={256}
        hint="8 to 256 characters; 15 or more are better. Any characters will do."
        required
      />
      <Field
        label="Organisation"
        name="organisation"
        autocomplete="organization"
        maxLength={100}
        hint="Yours or your team’s: keys, provider keys and the bill belong to it. Your address when left empty."
      />
    </Form>
  );
}

function Forgotten({ sent }: { sent(): void }) {
  return (
    <Form
      button="Send the mail"
      send={async (values) => {
        await send('POST', 'password-reset-request', { email: textOf(values, 'email') });
        sent();
      }}
    >
      <p>A mail with a link to choose a new one goes to this address, where it has an account.</p>
      <Email />
    </Form>
  );
}

function MailSent({ status }: { status: Answer<ConsoleStatus> }) {
  return (
    <>
      <p>Open its link, then log in here.</p>
      {status.value?.outbox === undefined ? null : (
        <Notice tone="busy">
          <span>
            No mail server is set up, so mails wait on this machine: <a href={status.value.outbox}>read them</a>.
          </span>
        </Notice>
      )}
    </>
  );
}
