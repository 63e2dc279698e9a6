// Before the login: logging in, signing up and requesting a new password; with a description of this gateway, how a program calls it, and
// on its own machine, what is set up.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { ConsoleStatus, SetUp } from '../../api/console/gateway.ts';
import { Field, Form, textOf } from '../controls/form.tsx';
import { Badge, Notice } from '../controls/notice.tsx';
import { Copyable } from '../controls/values.tsx';
import { type Answer, send, useAnswer } from '../data/api.ts';
import { readPerson } from '../data/organisation.ts';
import icon from '../icon.svg';

type Step = 'log-in' | 'sign-up' | 'forgotten' | 'mail-sent';
/** A button that leads to another step. */
type LinkTo = (to: Step, text: string) => ComponentChildren;

const TITLES: Record<Step, string> = {
  'log-in': 'Log in',
  'sign-up': 'Sign up',
  forgotten: 'A new password',
  'mail-sent': 'A mail is on its step',
};

export function Login() {
  const step = useSignal<Step>('log-in');
  const status = useAnswer<ConsoleStatus>('status');
  const linkTo: LinkTo = (to, text) => (
    <button type="button" class="plain" onClick={() => (step.value = to)}>
      {text}
    </button>
  );
  return (
    <main class="gate">
      <header class="brand">
        <img src={icon} alt="" /> Voxgate
      </header>
      <section class="card" aria-labelledby="step">
        <h1 id="step">{TITLES[step.value]}</h1>
        {step.value === 'log-in' && <LogIn further={linkTo('forgotten', 'Password forgotten')} />}
        {step.value === 'sign-up' && <SignUp sent={() => (step.value = 'mail-sent')} />}
        {step.value === 'forgotten' && <Forgotten sent={() => (step.value = 'mail-sent')} />}
        {step.value === 'mail-sent' && <MailSent status={status} />}
        <Other step={step.value} status={status.value} linkTo={linkTo} />
      </section>
      <About status={status.value} />
    </main>
  );
}

function Other({ step, status, linkTo }: { step: Step; status: ConsoleStatus | undefined; linkTo: LinkTo }) {
  if (step !== 'log-in') return <p class="row small">Back to {linkTo('log-in', 'Log in')}</p>;
  if (status === undefined) return null;
  return (
    <p class="row small">
      {status.sign_up ? <>No account yet? {linkTo('sign-up', 'Sign up')}</> : 'Accounts are by invitation only.'}
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

export function About({ status }: { status: ConsoleStatus | undefined }) {
  const curl = [
    `curl ${location.origin}/v1/audio/transcriptions \\`,
    '  -H "Authorization: Bearer $VOXGATE_KEY" \\',
    '  -F model=local/dictation-en -F file=@speech.wav',
  ].join('\n');
  return (
    <section class="stack" aria-label="About this gateway">
      <div class="stack close">
        <p class="lead">One interface to the speech-to-text models of many providers.</p>
        <p>
          Send files or live audio, name fallback models, and go on in the middle of a sentence when a provider fails.
          Here you mint keys, try models, watch sessions and read the bill.
        </p>
        <p class="row">
          <a href="/docs/guides/first-transcription">First transcription</a>
          <a href="/docs">Documents</a>
          <a href="/docs/rest">Reference</a>
        </p>
      </div>
      <Copyable text={curl} label="the call" />
      {status?.set_up === undefined ? null : <OwnGateway setUp={status.set_up} />}
      {status === undefined ? null : (
        <p class="row small">
          <span class="quiet">Voxgate {status.version}</span>
          {status.ready ? <Badge tone="good">ready</Badge> : <Badge tone="warn">draining, takes nothing new</Badge>}
        </p>
      )}
    </section>
  );
}

const TLS: Readonly<Record<SetUp['tls'], string>> = {
  here: 'terminated by this process',
  proxy: 'terminated at the proxy',
  nobody: 'off: for local use only',
};

const MAIL: Readonly<Record<SetUp['mail'], string>> = {
  server: 'go to your mail server',
  outbox: 'wait at the outbox of this machine',
  nowhere: 'cannot leave: set VOXGATE_SMTP_URL',
};

/** For people on the machine of the gateway. */
function OwnGateway({ setUp: { providers, mail, tls } }: { setUp: SetUp }) {
  return (
    <div class="stack close">
      <p>
        You run this gateway: its first start printed an API key, and a link that makes you its owner, in its terminal.
      </p>
      <details>
        <summary>What is set up</summary>
        <dl class="pairs">
          {providers.map(({ name, title, needs, is_usable }) => (
            <>
              <dt>{title}</dt>
              <dd>{is_usable ? READY[needs] : <Missing name={name} needs={needs} />}</dd>
            </>
          ))}
          <dt>Mails</dt>
          <dd>{mail === 'outbox' ? <a href="/console/outbox">{MAIL[mail]}</a> : MAIL[mail]}</dd>
          <dt>TLS</dt>
          <dd>{TLS[tls]}</dd>
        </dl>
        <p class="small quiet">
          Only this machine sees this. <a href="/docs/reference/configuration">Every setting</a>
        </p>
      </details>
    </div>
  );
}

type Need = SetUp['providers'][number]['needs'];

const READY: Readonly<Record<Need, string>> = {
  key: 'has a key',
  address: 'has an address',
  nothing: 'ready, needs no key',
};

const Missing = ({ name, needs }: { name: string; needs: Need }) => {
  const variable = needs === 'address' ? `VOXGATE_${name.toUpperCase()}_URL` : `${name.toUpperCase()}_API_KEY`;
  return (
    <>
      no {needs}: set <code>{variable}</code> and start again
    </>
  );
};
