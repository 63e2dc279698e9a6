// Where mails go: to an SMTP server, or, without one, into a list in memory that a developer can read. When and how often a
// mail is sent is the sender's decision.
import { isIP } from 'node:net';
import { createTransport } from 'nodemailer';

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

// The words of every mail. Where links lead is said by the sender; the pages they lead to are in src/node/routes/console.
export interface Mail {
  to: string;
  subject: string;
  /** Plain text; mails have no other part. */
  text: string;
}

/** Paths of the pages that links lead to. */
export const LINK_PATHS = { verify: '/verify', resetPassword: '/reset-password', join: '/join' } as const;

type Words = (link: (path: string) => string, params: MailParams) => Omit<Mail, 'to'>;
/** Of the outbox message. */
type MailParams = Readonly<Record<string, unknown>>;

/** By the type of the outbox message. */
const MAILS: Readonly<Record<string, Words>> = {
  'mail.verification': (link) => ({
    subject: 'Confirm your address for Voxgate',
    text: letter(
      'Somebody, probably you, signed up to Voxgate with this address. To confirm it, open this page and give the password that you signed up with:',
      link(LINK_PATHS.verify),
      'The link works once, within 24 hours, with the password of its own sign-up only. If it was not you, do nothing: without it the account stays closed.',
    ),
  }),
  'mail.account-exists': (link) => ({
    subject: 'You have a Voxgate account already',
    text: letter(
      'Somebody, probably you, tried to sign up to Voxgate with this address, which has an account. Log in with it; if you have forgotten the password, choose a new one here:',
      link(LINK_PATHS.resetPassword),
      'The link works once, within one hour. If it was not you, do nothing.',
    ),
  }),
  'mail.password-reset': (link) => ({
    subject: 'A new password for Voxgate',
    text: letter(
      'Somebody, probably you, asked for a new password for the Voxgate account of this address. Choose it here:',
      link(LINK_PATHS.resetPassword),
      'The link works once, within one hour. If it was not you, do nothing: the password stays as it is.',
    ),
  }),
  'mail.address-change': (link) => ({
    subject: 'Confirm your new address for Voxgate',
    text: letter(
      'This is to become the address of a Voxgate account. To confirm it, open this page and give the password of that account:',
      link(LINK_PATHS.verify),
      'The link works once, within one hour. If you do not know of this, do nothing.',
    ),
  }),
  'mail.invitation': (link) => ({
    subject: 'You are invited to an organisation on Voxgate',
    text: letter(
      'Somebody invites you to work in their organisation on Voxgate. Open this page to see which, and to join it with your password, or a new one:',
      link(LINK_PATHS.join),
      'The link works once, within seven days. If you do not know of this, do nothing.',
    ),
  }),
  'mail.address-changed': () => ({
    subject: 'The address of your Voxgate account was changed',
    text: letter(
      'Your Voxgate account has another address now, which was confirmed by mail. This one opens nothing any more.',
      'If it was not you, tell whoever runs the service at once.',
    ),
  }),
  'mail.webhook-disabled': (_, { url, reason }) => ({
    subject: 'Voxgate disabled a webhook of your organisation',
    text: letter(
      `Voxgate does not post events to ${String(url)} any more:`,
      reason === 'gone'
        ? 'The receiver answered with status 410, which means that it wants no more events.'
        : 'For five days, no delivery there has succeeded.',
      'Deliveries that waited have failed. Once the receiver works again, enable the webhook and send them again: on the page “Webhooks” of the console, or with the API.',
    ),
  }),
};

/**
 * The mail of an outbox message; undefined for a type that is not a mail.
 *
 * @param token of its link; empty where the mail has none
 */
export function composeMail(
  type: string,
  to: string,
  publicUrl: string,
  token: string,
  params: MailParams = {},
): Mail | undefined {
  const words = Object.hasOwn(MAILS, type) ? MAILS[type] : undefined;
  return words === undefined ? undefined : { to, ...words((path) => linkTo(publicUrl, path, token), params) };
}

export const linkTo = (publicUrl: string, path: string, token: string): string =>
  `${publicUrl.replace(/\/+$/, '')}${path}?token=${token}`;

function letter(...paragraphs: string[]): string {
  return `${paragraphs.join('\n\n')}\n`;
}
