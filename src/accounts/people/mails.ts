// The words of every mail. Where links lead is said by the sender; the pages they lead to are in src/node/routes/console.

export interface Mail {
  to: string;
  subject: string;
  /** Plain text; mails have no other part. */
  text: string;
}

/** Paths of the pages that links lead to. */
export const LINK_PATHS = { verify: '/verify', resetPassword: '/reset-password', join: '/join' } as const;

type Words = (link: (path: string) => string) => Omit<Mail, 'to'>;

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
};

/**
 * The mail of an outbox message; undefined for a type that is no mail.
 *
 * @param token of its link; empty where the mail has none
 */
export function composeMail(type: string, to: string, publicUrl: string, token: string): Mail | undefined {
  const words = Object.hasOwn(MAILS, type) ? MAILS[type] : undefined;
  return words === undefined ? undefined : { to, ...words((path) => linkTo(publicUrl, path, token)) };
}

export const linkTo = (publicUrl: string, path: string, token: string): string =>
  `${publicUrl.replace(/\/+$/, '')}${path}?token=${token}`;

function letter(...paragraphs: string[]): string {
  return `${paragraphs.join('\n\n')}\n`;
}
