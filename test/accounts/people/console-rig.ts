// The console on a real server and a real database, with a clock that stands, a mailbox in memory and browsers that keep cookies.
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { SimulatedClock } from 'xstate';
import { startMailSender } from '../../../src/accounts/people/mail-sender.ts';
import { TokenSeal } from '../../../src/accounts/people/mail-tokens.ts';
import { createDevelopmentOutbox, type DevelopmentOutbox } from '../../../src/accounts/people/mailer.ts';
import { Passwords } from '../../../src/accounts/people/passwords.ts';
import { openServer, type ServerChoice } from '../../../src/http/open-server.ts';
import { createRouter, errorReply, type Route, toApiError } from '../../../src/http/router.ts';
import { type ConsoleOptions, createConsole } from '../../../src/node/routes/console/index.ts';
import { CALL_NAMES, type CallName, type Store, type StoreCalls } from '../../../src/node/store/store.ts';
import { type LedgerRig, ledgerRig } from '../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

export const SECRET = new TextEncoder().encode('a-secret-of-more-than-32-characters-for-tests');
/** Hashes that cost next to nothing. */
export const CHEAP = new Passwords('scrypt', { n: 16, r: 1, p: 1 });
export const PASSWORD = 'correct horse battery staple';

/** The calls of tables as a store, answered later and in their order, without a thread. */
export function storeOver({ ledger }: Pick<LedgerRig, 'ledger'>): Store {
  const listeners = new Set<() => void>();
  const call = async (name: CallName, args: unknown[]): Promise<unknown> => {
    await Promise.resolve();
    const answer = Reflect.apply(ledger[name] as (...args: unknown[]) => unknown, ledger, args);
    if (ledger.hasNews()) {
      queueMicrotask(() => {
        for (const listener of listeners) listener();
      });
    }
    return structuredClone(answer);
  };
  const calls = CALL_NAMES.map((name) => [name, (...args: unknown[]) => call(name, args)]);
  return {
    ...(Object.fromEntries(calls) as { [Name in keyof StoreCalls]: never }),
    onKeyRevoked: () => () => {},
    onOutbox(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {},
  } as unknown as Store;
}

export interface ConsoleRig extends LedgerRig {
  store: Store;
  port: number;
  databaseFile: string;
  mailbox: DevelopmentOutbox;
  faults: unknown[];
  /** Everything that any browser was answered, head and body. */
  answers: string[];
  browser(headers?: Record<string, string>): Browser;
  /** Lets both clocks go on. */
  pass(ms: number): void;
  /** The token of the newest mail to an address, once it is there. */
  mailedToken(to: string, path: '/verify' | '/reset-password'): Promise<string>;
  /** The tokens of all mails to an address, oldest first, once there are so many. */
  mailedTokens(to: string, count: number): Promise<string[]>;
}

export interface RigOptions {
  settings?: Partial<ConsoleOptions['settings']>;
  /** A gateway that nobody elsewhere is meant to reach, when absent. */
  reach?: Pick<ConsoleOptions, 'isPrivate' | 'publicUrl'>;
  /** Whether the console takes the mailbox for a server that mails people. */
  sendsMail?: boolean;
  further?: ConsoleOptions['further'];
  routes?: readonly Route[];
  /** Cheap ones when absent. */
  passwords?: Passwords;
  /** Another store than one over tables in this thread. */
  store?: Store;
}

export async function openConsoleRig({
  settings,
  reach = { isPrivate: true },
  sendsMail = false,
  further,
  routes = [],
  passwords = CHEAP,
  store: given,
}: RigOptions = {}): Promise<ConsoleRig> {
  const databaseFile = join(temporaryDirectory(), 'voxgate.db');
  const rig = ledgerRig(databaseFile);
  const clock = new SimulatedClock();
  const nowMs = given === undefined ? () => rig.clock.nowMs : () => Date.now();
  const store = given ?? storeOver(rig);
  const mailbox = createDevelopmentOutbox(nowMs);
  const faults: unknown[] = [];
  const sender = startMailSender({
    store,
    transport: mailbox,
    seal: new TokenSeal(SECRET),
    publicUrl: () => 'https://voxgate.example',
    clock,
    nowMs,
    onEvent: (event) => {
      if (event.type === 'kept') for (const watch of [...watchers]) watch();
      else if (event.type === 'store_failed') faults.push(event.error);
    },
  });
  const console = createConsole({
    store,
    secret: SECRET,
    settings: {
      welcomeMicroUsd: 2_000_000n,
      signUpsPerAddressDayMax: 1000,
      attemptsPerMinuteMax: 100_000,
      changesPerMinuteMax: 100_000,
      tls: false,
      ...settings,
    },
    clock,
    nowMs,
    models: ['deepgram/nova-3', 'local/commands-en', 'a/b'],
    ...(sendsMail ? {} : { outbox: mailbox }),
    passwords,
    ...reach,
    ...(further === undefined ? {} : { further }),
  });
  let requests = 0;
  const request = createRouter([...console.routes, ...routes], {
    newRequestId: () => `req_${String(++requests).padStart(6, '0')}`,
    onFault: (error) => faults.push(error),
    onReply: () => {},
  });
  const server = await openServer(
    (process.env.VOXGATE_DOOR ?? 'auto') as ServerChoice,
    { request, upgrade: async () => ({ refuse: { status: 404 } }) },
    {
      host: '127.0.0.1',
      port: 0,
      headerBytesMax: 8192,
      messageBytesMax: 1024,
      headerTimeoutMs: 10_000,
      onFault: (error) => {
        faults.push(error);
        return errorReply(toApiError(error), 'req_fault');
      },
    },
    () => {},
  );
  afterAll(async () => {
    await sender.close();
    await server.close();
    rig.database.close();
  });
  const watchers = new Set<() => void>();
  const answers: string[] = [];
  /** Looked for whenever a mail has come. */
  const once = <Found>(find: () => Found | undefined): Promise<Found> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        watchers.delete(look);
        resolve(found);
      };
      watchers.add(look);
      look();
    });
  return {
    ...rig,
    store,
    port: server.port,
    databaseFile,
    mailbox,
    faults,
    answers,
    browser: (headers = {}) => new Browser(server.port, answers, headers),
    pass(ms) {
      rig.clock.nowMs += ms;
      clock.increment(ms);
    },
    mailedToken: (to, path) =>
      once(() => tokenOf(mailbox.mails.find((each) => each.to === to && each.text.includes(path))?.text)),
    mailedTokens: (to, count) =>
      once(() => {
        const tokens = mailbox.mails.filter((each) => each.to === to).map(({ text }) => tokenOf(text) ?? '');
        return tokens.length < count ? undefined : tokens.reverse();
      }),
  };
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body, or the error in it. */
  json(): Record<string, never>;
  code: string | undefined;
  param: string | null | undefined;
}

/** A browser on the console's own page: sends what such a page's requests carry, and keeps the cookie. */
export class Browser {
  cookie: string | undefined;
  readonly #port: number;
  readonly #answers: string[];
  readonly #headers: Record<string, string>;

  constructor(port: number, answers: string[], headers: Record<string, string>) {
    this.#port = port;
    this.#answers = answers;
    this.#headers = headers;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.ask('GET', path, undefined, { 'Sec-Fetch-Site': 'same-origin', ...headers });
  }

  /** A call of the JSON API. */
  call(method: string, path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.ask(method, `/console/api/${path}`, JSON.stringify(body), {
      'Sec-Fetch-Site': 'same-origin',
      'Content-Type': 'application/json',
      'X-Requested-With': 'console',
      ...headers,
    });
  }

  /** The form of a page is sent. */
  submit(path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.ask('POST', path, new URLSearchParams(fields).toString(), {
      'Sec-Fetch-Site': 'same-origin',
      'Content-Type': 'application/x-www-form-urlencoded',
      ...headers,
    });
  }

  /** Exactly these headers, the cookie and the browser's own. */
  ask(method: string, path: string, body: string | undefined, headers: Record<string, string>): Promise<Answer> {
    const cookie = this.cookie === undefined ? {} : { Cookie: this.cookie };
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const all = { ...cookie, ...length, ...this.#headers, ...headers };
    return new Promise((resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port: this.#port, method, path, headers: all }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          this.#answers.push(`${response.statusCode} ${JSON.stringify(response.headers)} ${text}`);
          const [set] = response.headers['set-cookie'] ?? [];
          if (set !== undefined) this.cookie = set.includes('Max-Age=0') ? undefined : set.split(';')[0];
          resolve(answerOf(response.statusCode ?? 0, response.headers, text));
        });
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  /** Presses the button of a link's page. */
  verify(token: string, password = PASSWORD): Promise<Answer> {
    return this.submit(`/verify?token=${token}`, { password });
  }

  signUp(email: string, password = PASSWORD): Promise<Answer> {
    return this.call('POST', 'sign-up', { email, password });
  }

  logIn(email: string, password = PASSWORD): Promise<Answer> {
    return this.call('POST', 'login', { email, password });
  }
}

/** Somebody who has signed up, proved the address and logged in. */
export async function openAccount(rig: ConsoleRig, email: string): Promise<Browser> {
  const browser = rig.browser();
  await browser.signUp(email);
  const token = await rig.mailedToken(email, '/verify');
  const verified = await browser.verify(token);
  const loggedIn = await browser.logIn(email);
  if (verified.status !== 200 || loggedIn.status !== 204) throw new Error(`${verified.text} ${loggedIn.text}`);
  return browser;
}

const tokenOf = (text = ''): string | undefined => /token=([\w-]{43})/.exec(text)?.[1];

function answerOf(status: number, headers: IncomingHttpHeaders, text: string): Answer {
  const isJson = headers['content-type']?.startsWith('application/json') === true;
  const parsed = isJson ? JSON.parse(text) : {};
  return { status, headers, text, json: () => parsed, code: parsed.error?.code, param: parsed.error?.param };
}
