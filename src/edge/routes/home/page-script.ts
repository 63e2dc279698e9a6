// What runs in the first page. A key that is pasted stays in the page and is exchanged for client tokens; an account's key is
// minted over the console's interface. Written for a browser: of it only what is used is declared here.
interface Element {
  value: string;
  textContent: string | null;
  disabled: boolean;
  /** Of a form: shows what is wrong in its fields. */
  reportValidity(): boolean;
  addEventListener(type: string, listener: (event: { preventDefault(): void }) => void): void;
}
declare const document: { getElementById(id: string): Element | null };
declare const location: { origin: string };

/** As much of the client as is used; the page loads it from the gateway. */
export interface ClientModule {
  Voxgate: new (options: {
    baseUrl: string;
    getToken: () => Promise<{ token: string }> | { token: string };
  }) => {
    microphone(options: { workletUrl: string; onLevel(level: number): void }): Promise<Microphone>;
    listen(options: { model: string; sampleRate: number }): Session;
  };
}
interface Microphone extends AsyncIterable<Uint8Array> {
  readonly sampleRate: number;
  stop(): Promise<void>;
}
interface Session extends AsyncIterable<{ type: string }> {
  pipe(source: Microphone, options: { close: true }): unknown;
}
interface Transcript {
  type: 'transcript';
  text: string;
  is_final: boolean;
}

const CLIENT = '/client/index.js';
const WORKLET = '/client/microphone/microphone-worklet.js';

const at = (id: string) => document.getElementById(id) as Element;
const tell = (id: string, text: string) => {
  at(id).textContent = text;
};
const isTranscript = (event: { type: string }): event is Transcript => event.type === 'transcript';

let microphone: Microphone | undefined;

on('speak', 'submit', 'state', async () => {
  at('start').disabled = true;
  tell('state', '');
  try {
    await speak(at('key').value.trim());
    tell('state', 'The session has ended.');
  } finally {
    await microphone?.stop();
    microphone = undefined;
    at('start').disabled = false;
    at('stop').disabled = true;
    at('level').value = '0';
    tell('interim', '');
  }
});
on('stop', 'click', 'state', async () => microphone?.stop());
on('account', 'submit', 'account-state', async () => {
  await ask('/console/api/login', { email: at('email').value, password: at('password').value });
  const { secret } = (await ask('/console/api/keys', { name: 'From the first page' })) as { secret: string };
  at('key').value = secret;
  at('password').value = '';
  tell('minted', secret);
  tell('account-state', 'Your API key, shown only this once. It stands in the form above already: speak.');
});
on('sign-up', 'click', 'account-state', async () => {
  if (!at('account').reportValidity()) return;
  await ask('/console/api/sign-up', { email: at('email').value, password: at('password').value });
  tell('account-state', 'A mail is on its way. Open its link, then log in here and mint a key.');
});

async function speak(credential: string): Promise<void> {
  const { Voxgate } = (await import(CLIENT)) as ClientModule;
  const getToken = () => (credential.startsWith('st_') ? { token: credential } : tokenOf(credential));
  // A bad key is told before the microphone is asked for.
  let first: Promise<{ token: string }> | undefined = Promise.resolve(await getToken());
  const client = new Voxgate({
    baseUrl: location.origin,
    getToken: () => {
      const token = first ?? getToken();
      first = undefined;
      return token;
    },
  });
  microphone = await client.microphone({
    workletUrl: WORKLET,
    onLevel: (level) => {
      at('level').value = String(level);
    },
  });
  const session = client.listen({ model: at('model').value, sampleRate: microphone.sampleRate });
  session.pipe(microphone, { close: true });
  at('stop').disabled = false;
  tell('state', 'Listening.');
  tell('finals', '');
  for await (const event of session) if (isTranscript(event)) show(event);
}

function show({ text, is_final }: Transcript): void {
  if (is_final) tell('finals', `${at('finals').textContent ?? ''} ${text}`.trim());
  tell('interim', is_final ? '' : text);
}

const tokenOf = (key: string) =>
  ask('/v1/tokens', { ttl_seconds: 60 }, { Authorization: `Bearer ${key}` }) as Promise<{ token: string }>;

/** Rejects with what the gateway says is wrong. */
async function ask(path: string, body: object, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Requested-With': 'console', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const said = text === '' ? {} : (JSON.parse(text) as { error?: { message: string } });
  if (!answer.ok) throw new Error(said.error?.message ?? `The gateway answered ${answer.status}.`);
  return said;
}

/** Does something at an event of an element, where the page has it; what goes wrong is told in the page. */
function on(id: string, type: string, stateId: string, work: () => Promise<unknown>): void {
  document.getElementById(id)?.addEventListener(type, (event) => {
    event.preventDefault();
    work().catch((error: unknown) => tell(stateId, error instanceof Error ? error.message : String(error)));
  });
}
