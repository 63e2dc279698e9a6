// Where mails go: to an SMTP server, or, without one, into a list in memory that a developer can read. When and how often a
// mail is sent is the sender's decision.
import { isIP } from 'node:net';
import { createTransport } from 'nodemailer';
import type { Mail } from './mails.ts';

/** Mails kept by the development outbox; the oldest goes for the next one. */
const KEPT_MAX = 100;
const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;

export interface MailTransport {
  readonly kind: 'smtp' | 'development';
  /** Rejects with MailError, also when the signal aborts. Whether the mail arrived is not known then. */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** A mail that was not taken. Carries no word of the mail or of the server's answer, which may repeat it. */
export class MailError extends Error {
  override readonly name = 'MailError';
  /** The library's code and the server's reply code: `ECONNECTION`, `EENVELOPE 550`. */
  readonly code: string;
  /** The server will never take it: no such mailbox. */
  readonly isFinal: boolean;

  constructor(code: string, isFinal: boolean) {
    super(`The mail was not sent (${code}).`);
    this.code = code;
    this.isFinal = isFinal;
  }
}

export interface SmtpOptions {
  /** `smtp://user:password@host:587` (STARTTLS where the server has it) or `smtps://…:465`. */
  url: string;
  /** `Voxgate <accounts@example.com>` */
  from: string;
}

export function createSmtpTransport({ url, from }: SmtpOptions): MailTransport {
  const { username, hostname } = new URL(url);
  const transport = createTransport({
    url,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    // A password never crosses a network in the open.
    ...(username !== '' && !isLoopback(hostname) ? { requireTLS: true } : {}),
  });
  return {
    kind: 'smtp',
    async send(mail, signal) {
      try {
        await transport.sendMail({ ...mail, from, signal, headers: { 'Auto-Submitted': 'auto-generated' } });
      } catch (error) {
        throw mailErrorOf(error);
      }
    },
    close: () => transport.close(),
  };
}

export interface KeptMail extends Mail {
  /** ISO 8601 UTC. */
  at: string;
}

export interface DevelopmentOutbox extends MailTransport {
  /** Newest first. */
  readonly mails: readonly KeptMail[];
}

/** @param nowMs wall-clock milliseconds */
export function createDevelopmentOutbox(nowMs: () => number): DevelopmentOutbox {
  const mails: KeptMail[] = [];
  return {
    kind: 'development',
    mails,
    async send(mail) {
      mails.unshift({ ...mail, at: new Date(nowMs()).toISOString() });
      mails.splice(KEPT_MAX);
    },
    close: () => void mails.splice(0),
  };
}

function mailErrorOf(error: unknown): MailError {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  const reply = typeof responseCode === 'number' ? ` ${responseCode}` : '';
  const isRefusedMailbox = code === 'EENVELOPE' && typeof responseCode === 'number' && responseCode >= 550;
  return new MailError(`${typeof code === 'string' ? code : 'failed'}${reply}`, isRefusedMailbox);
}

function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}
