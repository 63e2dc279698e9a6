// The first page as HTML. What its forms do is page-script.ts; who sees what is set up is decided by its route.

import { escaped, htmlPage, pageHeaders, STYLE, table } from '../../../documents/pages/html.ts';
import { releaseVersion } from '../../../documents/version.ts';
import type { Reply } from '../../door.ts';
import type { SetUp } from './set-up.ts';

export interface HomeView {
  /** Where the reader reached the gateway. */
  base: string;
  isReady: boolean;
  setUp: SetUp;
  /** Whether reader and gateway are alone on one machine: what is set up is the operator's business. */
  isOperator: boolean;
}

const OWN_STYLE = `${STYLE}
#speak, #account { display: grid; grid-template-columns: minmax(0, 1fr); gap: .7rem; max-width: 34rem; margin: 1rem 0; }
label { display: grid; grid-template-columns: minmax(0, 1fr); gap: .2rem; } input, select, button { font: inherit; padding: .45rem .7rem; }
button { cursor: pointer; } .buttons { display: flex; flex-wrap: wrap; gap: .6rem; }
meter { width: 100%; } [role="alert"]:empty, [role="status"]:empty { display: none; }
#heard { min-height: 4.5rem; padding: .8rem 1rem; background: var(--quiet); border-radius: .4rem; } #heard p { margin: 0; } #interim { opacity: .6; }
`;

export function homePage(view: HomeView): Reply {
  const { base, isReady, setUp, isOperator } = view;
  const body = `<main>
<h1>Voxgate</h1>
<p>The speech-to-text gateway, version ${escaped(releaseVersion())}: <strong>${isReady ? 'ready' : 'draining, it takes nothing new'}</strong>.</p>
${speakHtml(setUp)}
${keyHtml(setUp, isOperator)}
${isOperator ? setUpHtml(setUp) : ''}
<h2>Go on</h2>
<ul>
<li><a href="/console">The console</a>: keys, provider keys, models, bills, and sessions as they go</li>
<li><a href="/docs/guides/first-transcription">First transcription</a>, and <a href="/docs">all documents</a></li>
<li><a href="/docs/rest">HTTP reference</a>, <a href="/docs/live">live reference</a>; for programs <a href="/openapi.json">openapi.json</a>, <a href="/asyncapi.json">asyncapi.json</a> and <a href="/llms.txt">llms.txt</a></li>
<li><a href="/healthz">Health</a> and <a href="/readyz">readiness</a>${isOperator ? ', <a href="/metrics">metrics</a>' : ''}</li>
</ul>
</main>
<script type="module" src="/first-page/page-script.js"></script>`;
  const headers = pageHeaders(OWN_STYLE, {
    scripts: `'self'`,
    connect: `'self' ${new URL(base).origin.replace(/^http/, 'ws')}`,
  });
  return {
    status: 200,
    headers: { ...headers, 'X-Frame-Options': 'DENY', 'Permissions-Policy': 'microphone=(self)' },
    body: htmlPage('Voxgate', OWN_STYLE, body),
  };
}

function speakHtml({ ownModels }: SetUp): string {
  const options = ownModels.map(
    ({ id, name }) => `<option value="${escaped(id)}">${escaped(name)} (${escaped(id)})</option>`,
  );
  return `<h2>Speak into your microphone</h2>
<p>These models run inside the gateway and listen for commands and digits, not for dictation. Say “set the temperature to twenty one degrees”, or “turn on the lights in the kitchen”.</p>
<form id="speak">
<label>API key or client token <input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="sk_vox_…" required></label>
<label>Model <select id="model">${options.join('')}</select></label>
<div class="buttons"><button id="start">Speak</button><button id="stop" type="button" disabled>Stop</button></div>
<meter id="level" max="0.3" aria-label="Level of the microphone"></meter>
</form>
<div id="heard" role="log" aria-label="What was heard"><p id="finals"></p><p id="interim"></p></div>
<p id="state" role="status"></p>
<p>The key stays in this page: it is exchanged for client tokens of a minute, which open the microphone’s sessions, and is forgotten with the page.</p>`;
}

function keyHtml({ mail }: SetUp, isOperator: boolean): string {
  const own =
    'Whoever runs this gateway has one: the first start shows it, and <code>voxgate keys create</code> makes more (in a checkout <code>npm run -s voxgate -- keys create</code>).';
  if (mail === 'nowhere') return `<h2 id="key-of-your-own">No key yet?</h2>\n<p>${own}</p>`;
  const outbox = mail === 'outbox' && isOperator ? ' Mails wait at <a href="/console/outbox">the outbox</a>.' : '';
  return `<h2 id="key-of-your-own">No key yet?</h2>
<p>${own} Or open an account: sign up, open the link of the mail, then come back and mint a key.${outbox}</p>
<form id="account">
<label>E-mail address <input id="email" type="email" autocomplete="username" required></label>
<label>Password, 8 to 256 characters <input id="password" type="password" autocomplete="current-password" minlength="8" required></label>
<div class="buttons"><button id="mint">Log in and mint a key</button><button id="sign-up" type="button">Sign up</button></div>
</form>
<p id="account-state" role="status"></p>
<p><code id="minted"></code></p>`;
}

const MAIL: Readonly<Record<SetUp['mail'], string>> = {
  server: 'go to the server of <code>VOXGATE_SMTP_URL</code>',
  outbox:
    'wait at <a href="/console/outbox">the outbox</a> for a browser on this machine; <code>VOXGATE_SMTP_URL</code> sends them',
  nowhere: 'cannot leave, so nobody can sign up: set <code>VOXGATE_SMTP_URL</code>',
};

const TLS: Readonly<Record<SetUp['tls'], string>> = {
  here: 'spoken by this process',
  proxy: 'spoken by the proxy in front, as <code>VOXGATE_PUBLIC_URL</code> says',
  nobody:
    'not spoken: good for this machine alone. <code>VOXGATE_TLS_CERT_FILE</code> or a proxy brings it, and browsers elsewhere want it for their microphone',
};

/** For whoever sits at the machine. */
function setUpHtml({ providers, mail, tls }: SetUp): string {
  const rows = providers.map(({ name, title, needsKey, isUsable }) => {
    const variable = `<code>${escaped(name.toUpperCase())}_API_KEY</code>`;
    const state = !needsKey
      ? 'ready, needs no key'
      : isUsable
        ? 'has a key'
        : `no key: set ${variable} and start again`;
    return [`${escaped(title)} (<code>${escaped(name)}/…</code>)`, state];
  });
  return `<h2>What is set up</h2>
${table(['what', 'how'], [...rows, ['Mails', MAIL[mail]], ['TLS', TLS[tls]]])}
<p>Seen on this machine only. Every setting: <a href="/docs/reference/configuration">configuration</a>.</p>`;
}
