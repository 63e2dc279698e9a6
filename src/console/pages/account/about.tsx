// Beside the login: what this is, how a program calls it, and what whoever runs it has set up.
import type { ConsoleStatus, SetUp } from '../../../api/console/status.ts';
import { Copyable } from '../../controls/copy.tsx';
import { Badge } from '../../controls/notice.tsx';

export function About({ status }: { status: ConsoleStatus | undefined }) {
  const curl = [
    `curl ${location.origin}/v1/audio/transcriptions \\`,
    '  -H "Authorization: Bearer $VOXGATE_KEY" \\',
    '  -F model=local/commands-en -F file=@speech.wav',
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

/** For whoever sits at the machine. */
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
