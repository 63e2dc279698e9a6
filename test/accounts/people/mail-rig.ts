// A sender of mails over a database in memory and a clock that stands, with one mail that waits.
import { afterEach } from 'vitest';
import { SimulatedClock } from 'xstate';
import { type MailEvent, type MailSender, startMailSender } from '../../../src/accounts/people/mail-sender.ts';
import { newToken, TokenSeal } from '../../../src/accounts/people/mail-tokens.ts';
import type { MailTransport } from '../../../src/accounts/people/mailer.ts';
import type { Store } from '../../../src/node/store/store.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { type LedgerRig, ledgerRig } from '../../fakes/store/ledger.ts';
import { SECRET, storeOver } from './console-rig.ts';

const seal = new TokenSeal(SECRET);
/** Closed after each test, last first. */
export const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

export interface SenderRig extends LedgerRig {
  sender: MailSender;
  token: string;
  events: MailEvent[];
  /** The next event, in order. */
  event(): Promise<MailEvent>;
  pass(ms: number): void;
  store: Store;
  /** Puts a message into the outbox, as another process would. */
  add(type: string, params: object): void;
  waiting(): number;
}

interface StartOptions {
  /** Type of the mail that waits; empty for none. */
  mail?: string;
  rig?: LedgerRig;
  /** So many times the store cannot be asked for messages. */
  failures?: number;
}

/** A sender, with one mail in the outbox unless it is said otherwise. */
export function startSender(
  transport: MailTransport,
  { mail = 'mail.verification', rig = ledgerRig(), failures = 0 }: StartOptions = {},
): SenderRig {
  const clock = new SimulatedClock();
  const token = newToken();
  const insert = rig.database.prepare('INSERT INTO outbox (type, params, due_at_ms) VALUES (?, ?, ?)');
  const add = (type: string, params: object) => void insert.run(type, JSON.stringify(params), rig.clock.nowMs);
  if (mail !== '') add(mail, { to: 'ada@example.com', sealed: seal.seal(token) });
  const store = storeOver(rig);
  const { takeOutbox } = store;
  let left = failures;
  Object.assign(store, {
    async takeOutbox(...args: Parameters<typeof takeOutbox>) {
      if (left-- > 0) throw new StoreError('busy', 'Another process writes.');
      return takeOutbox(...args);
    },
  });
  const events: MailEvent[] = [];
  const waiting: ((event: MailEvent) => void)[] = [];
  const sender = startMailSender({
    store,
    transport,
    seal,
    publicUrl: () => 'https://voxgate.example/',
    clock,
    nowMs: () => rig.clock.nowMs,
    onEvent(event) {
      events.push(event);
      waiting.shift()?.(event);
    },
  });
  closers.push(() => sender.close());
  let next = 0;
  return {
    ...rig,
    sender,
    token,
    store,
    add,
    events,
    event() {
      const event = events[next++];
      return event === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(event);
    },
    pass(ms) {
      rig.clock.nowMs += ms;
      clock.increment(ms);
    },
    waiting: () => rig.database.prepare<[], number>('SELECT count(*) FROM outbox').pluck().get()!,
  };
}

/** Until the sender has nothing more to do at this moment. */
export const idle = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
