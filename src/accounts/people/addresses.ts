// Addresses: which e-mail addresses are taken, which of them are one and the same mailbox, and which remote addresses count as
// one client.
import { domainToASCII } from 'node:url';

const EMAIL_LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;
/** Words of unquoted ASCII, joined by single dots. */
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/** At least two labels, the last of which is not a number. */
const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])$/;
/** Here dots before the @ mean nothing, and both names are one service. */
const DOTS_MEAN_NOTHING = new Set(['gmail.com', 'googlemail.com']);

export interface EmailAddress {
  /** Where mail is sent: as typed, with the domain in lower-case ASCII. */
  email: string;
  /** The same for every spelling of one mailbox. */
  address: string;
}

/** Undefined for what is not an e-mail address, or one that mail servers do not commonly take. */
export function parseEmail(text: string): EmailAddress | undefined {
  const typed = text.trim();
  const at = typed.lastIndexOf('@');
  const local = typed.slice(0, at);
  if (at < 1 || typed.length > EMAIL_LENGTH_MAX || local.length > LOCAL_LENGTH_MAX || !LOCAL.test(local)) {
    return undefined;
  }
  const domain = domainToASCII(typed.slice(at + 1)).toLowerCase();
  const email = `${local}@${domain}`;
  if (!DOMAIN.test(domain) || email.length > EMAIL_LENGTH_MAX) return undefined;
  return { email, address: normalise(local.toLowerCase(), domain) };
}

function normalise(local: string, domain: string): string {
  const plus = local.indexOf('+');
  // What is left of `a.+tag` is not a local part with its dot.
  const untagged = plus > 0 ? local.slice(0, plus).replace(/\.$/, '') : local;
  if (!DOTS_MEAN_NOTHING.has(domain)) return `${untagged}@${domain}`;
  return `${untagged.replaceAll('.', '')}@gmail.com`;
}
