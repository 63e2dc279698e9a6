// Takes mails out of the outbox and sends them: at least once, each with a deadline, again after a while when it failed, and
// given up with a word in the audit log when it fails for hours. Waits to be told, and for the next message to be due; never asks.
import type { Clock } from '../../../machines/clock.ts';
import type { AuditStore } from '../../store/audit-log.ts';
import type { OutboxEvents, OutboxMessage, OutboxStore } from '../../store/outbox.ts';
import type { TokenSeal } from './mail-tokens.ts';
import { composeMail, MailError, type MailTransport } from './mailer.ts';

const TOGETHER_MAX = 4;
/** Longer than the deadline, so that no other process sends a mail that is on its way. */
const LEASE_MS = 60_000;
const DEADLINE_MS = 30_000;
const BACK_OFF_MS = 2_000;
const BACK_OFF_MS_MAX = 900_000;
/** With the back-off above: over about two and a half hours. */
const ATTEMPTS_MAX = 20;
/** After a failure of the store itself. */
const STORE_BACK_OFF_MS = 5_000;
/** Looked at again after this time even if nothing is due before, should the clock be set. */
const WAIT_MS_MAX = 3_600_000;

export interface MailSenderOptions {
  store: Pick<
    OutboxStore & OutboxEvents & AuditStore,
    'takeOutbox' | 'endOutbox' | 'nextOutboxDueMs' | 'onOutbox' | 'recordAudit'
  >;
  transport: MailTransport;
  seal: TokenSeal;
  /** Where people reach this gateway, such as `https://voxgate.example.com`. Asked for each mail. */
  publicUrl(): string;
  clock: Clock;
  /** Wall-clock milliseconds, as the store has them. */
  nowMs(): number;
  /** `given_up` counts: a person waits for a mail that will not come. */
  onEvent(event: MailEvent): void;
}

/** For log and metrics: never an address, a token or text of the mail. */
export type MailEvent =
  | { type: 'sent' | 'kept'; mail: string; attempt: number }
  | { type: 'failed' | 'given_up'; mail: string; attempt: number; code: string }
  | { type: 'store_failed'; error: unknown };

export interface MailSender {
  /** Breaks off what is being sent; it is due again when a sender starts. */
  close(): Promise<void>;
}

export function startMailSender(options: MailSenderOptions): MailSender {
  return new Sender(options);
}

class Sender implements MailSender {
  readonly #options: MailSenderOptions;
  readonly #closing = new AbortController();
  readonly #unlisten: () => void;
  #running: Promise<void> | undefined;
  #again = false;
  #timer: unknown;

  constructor(options: MailSenderOptions) {
    this.#options = options;
    this.#unlisten = options.store.onOutbox(() => this.#wake());
    this.#wake();
  }

  async close(): Promise<void> {
    this.#unlisten();
    this.#closing.abort();
    this.#options.clock.clearTimeout(this.#timer);
    await this.#running;
    this.#options.transport.close();
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  #wake(): void {
    if (this.#isClosing) return;
    this.#again = true;
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    const { store, clock, nowMs, onEvent } = this.#options;
    clock.clearTimeout(this.#timer);
    let waitMs: number | undefined;
    try {
      while (this.#again && !this.#isClosing) {
        this.#again = false;
        await this.#sendDue();
        const dueMs = this.#isClosing ? undefined : await store.nextOutboxDueMs();
        waitMs = dueMs === undefined ? undefined : Math.max(1, dueMs - nowMs());
      }
    } catch (error) {
      waitMs = STORE_BACK_OFF_MS;
      if (!this.#isClosing) onEvent({ type: 'store_failed', error });
    }
    // No await between the last look and this line, so that no call of `look` is missed.
    this.#running = undefined;
    if (waitMs === undefined || this.#isClosing) return;
    this.#timer = clock.setTimeout(() => this.#wake(), Math.min(WAIT_MS_MAX, waitMs));
  }

  async #sendDue(): Promise<void> {
    while (!this.#isClosing) {
      const messages = await this.#options.store.takeOutbox(TOGETHER_MAX, LEASE_MS);
      if (messages.length === 0) return;
      await Promise.all(messages.map((message) => this.#deliver(message)));
    }
  }

  async #deliver(message: OutboxMessage): Promise<void> {
    const { store, transport, onEvent } = this.#options;
    const { type: mail, attempt, number } = message;
    try {
      await this.#send(message);
    } catch (error) {
      await this.#failed(message, error);
      return;
    }
    onEvent({ type: transport.kind === 'smtp' ? 'sent' : 'kept', mail, attempt });
    await store.endOutbox(number, null);
  }

  async #send({ type, params }: OutboxMessage): Promise<void> {
    const { transport, seal, publicUrl, clock } = this.#options;
    const { to, sealed } = params;
    const token = typeof sealed === 'string' ? seal.open(sealed) : '';
    if (token === undefined) throw new MailError('unreadable', true);
    const mail = composeMail(type, String(to), publicUrl(), token, params);
    if (mail === undefined) throw new MailError('unknown_type', true);
    const late = new AbortController();
    const deadline = clock.setTimeout(() => late.abort(), DEADLINE_MS);
    try {
      await transport.send(mail, AbortSignal.any([late.signal, this.#closing.signal]));
    } finally {
      clock.clearTimeout(deadline);
    }
  }

  async #failed({ type: mail, attempt, number, params }: OutboxMessage, error: unknown): Promise<void> {
    const { store, onEvent } = this.#options;
    const { code, isFinal } = error instanceof MailError ? error : new MailError('failed', false);
    if (!isFinal && attempt < ATTEMPTS_MAX) {
      if (!this.#isClosing) onEvent({ type: 'failed', mail, attempt, code });
      await store.endOutbox(number, this.#isClosing ? 0 : backOffMs(attempt));
      return;
    }
    onEvent({ type: 'given_up', mail, attempt, code });
    await store.recordAudit({
      by: { type: 'system', id: 'mail' },
      organisationId: typeof params.organisationId === 'string' ? params.organisationId : null,
      action: 'mail.given-up',
      target: null,
      detail: { mail, to: params.to, attempts: attempt, code },
    });
    await store.endOutbox(number, null);
  }
}

/** Doubles with each attempt. */
function backOffMs(attempt: number): number {
  return Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS * 2 ** (attempt - 1));
}
