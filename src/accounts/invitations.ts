// How somebody becomes a member of an organisation by a link: with the password of the account there is, or of a new one.
import { refuse } from '../api/errors.ts';
import { networkOf } from '../runtime/network-address.ts';
import type { Invitation } from '../store/accounts/calls.ts';
import type { Store } from '../store/store.ts';
import { type AccountsOptions, checkedEmail } from './accounts.ts';
import { tokenHash } from './mail-tokens.ts';
import { checkPassword, PASSWORD_LENGTH } from './passwords.ts';

type InvitationsOptions = Pick<AccountsOptions, 'passwords' | 'hashes' | 'attempts' | 'welcomeMicroUsd'> & {
  store: Pick<Store, 'findInvitation' | 'beginJoining' | 'join'>;
};

export interface Joined {
  email: string;
  organisationId: string;
}

export class Invitations {
  readonly #options: InvitationsOptions;

  constructor(options: InvitationsOptions) {
    this.#options = options;
  }

  /** What the link invites to; uses nothing up. Throws a Refusal `invalid_link`. */
  async find(token: string): Promise<Invitation> {
    const hash = tokenHash(token);
    const found = hash === undefined ? undefined : await this.#options.store.findInvitation(hash);
    if (found === undefined) throw badLink();
    return found;
  }

  /**
   * Uses the link up. A wrong password of an account that there is does not: a link takes five.
   *
   * @param typed address; not looked at where the invitation says who is invited
   * @throws Refusal `invalid_link`, `invalid_login`, `invalid_request`, `rate_limit_exceeded`, `overloaded`
   */
  async join(token: string, typed: string, password: string, client: string): Promise<Joined> {
    const { store, passwords, hashes, attempts, welcomeMicroUsd } = this.#options;
    attempts.take(networkOf(client));
    const invitation = await this.find(token);
    const hash = tokenHash(token)!;
    const { email, address } = checkedEmail(invitation.email ?? typed);
    if (password.length > 2 * PASSWORD_LENGTH.max) throw wrongPassword();
    return hashes.run(async () => {
      const wanted = await store.beginJoining(hash, address);
      if (wanted === undefined) throw badLink();
      if (wanted.type === 'compare') {
        if (!(await passwords.verify(password, wanted.passwordHash)).matches) throw wrongPassword();
      } else checkPassword(password, email);
      const passwordHash = wanted.type === 'compare' ? wanted.passwordHash : await passwords.hash(password);
      const person = await store.join({ hash, email, address, passwordHash, welcomeMicroUsd, client });
      if (person === undefined) throw badLink();
      return { email: person.email, organisationId: invitation.organisationId };
    });
  }
}

function badLink() {
  return refuse(
    'invalid_link',
    'This link was used already, is too old, or was never sent. Ask whoever invited you for another one; the link of the first owner is told again when the gateway starts.',
  );
}

function wrongPassword() {
  return refuse('invalid_login', 'This address has an account, and this is not its password. A link takes five tries.');
}
