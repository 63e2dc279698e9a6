// Invitations into organisations: made for an address, and taken up by their link with the login or the password of the account
// there is, or of a new one.
import { apiError } from '../../api/errors.ts';
import { networkOf } from '../../runtime/network-addresses.ts';
import type { Actor } from '../../store/audit-log.ts';
import { type AccountsOptions, checkedEmail } from '../people/accounts.ts';
import { newToken, type TokenSeal, tokenHash } from '../people/mail-tokens.ts';
import { LINK_PATHS } from '../people/mailer.ts';
import { checkPassword, PASSWORD_LENGTH } from '../people/passwords.ts';
import type { Person } from '../people/store/calls.ts';
import {
  apiErrorOfTeam,
  type Invitation,
  type InvitationToken,
  type ListedInvitation,
  type Role,
  type TeamStore,
} from './calls.ts';

type InvitationsOptions = Pick<AccountsOptions, 'passwords' | 'hashes' | 'attempts' | 'welcomeMicroUsd'> & {
  store: Pick<TeamStore, 'invite' | 'renewInvitation' | 'findInvitation' | 'beginJoining' | 'join'>;
  seal: TokenSeal;
  /** Whether mails go out to people. Where they do not, the link is told to who invites. */
  sendsMail: boolean;
};

export interface Invited {
  invitation: ListedInvitation;
  /** Path of the link to hand over; null where it is mailed. */
  link: string | null;
}

export interface Joined {
  email: string;
  organisationId: string;
}

export class Invitations {
  readonly #options: InvitationsOptions;

  constructor(options: InvitationsOptions) {
    this.#options = options;
  }

  /** @throws ApiError `invalid_request`, `role_not_allowed`, `rate_limit_exceeded` */
  async invite(organisationId: string, typed: string, role: Role, by: Actor): Promise<Invited> {
    const { email, address } = checkedEmail(typed);
    const { token, link } = this.#newLink();
    const made = await this.#options.store.invite(organisationId, { email, address, role, ...token }, by);
    if (typeof made === 'string') throw apiErrorOfTeam(made);
    return { invitation: made, link };
  }

  /** The same by another link; the former one stops working. Throws as `invite` does, and an ApiError `not_found`. */
  async renew(organisationId: string, invitationId: string, by: Actor): Promise<Invited> {
    const { token, link } = this.#newLink();
    const renewed = await this.#options.store.renewInvitation(organisationId, invitationId, token, by);
    if (typeof renewed === 'string') throw apiErrorOfTeam(renewed);
    return { invitation: renewed, link };
  }

  #newLink(): { token: InvitationToken; link: string | null } {
    const { seal, sendsMail } = this.#options;
    if (sendsMail) return { token: seal.issue(), link: null };
    const token = newToken();
    return { token: { hash: tokenHash(token)! }, link: `${LINK_PATHS.join}?token=${token}` };
  }

  /** What the link invites to; uses nothing up. Throws an ApiError `invalid_link`. */
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
   * @throws ApiError `invalid_link`, `invalid_login`, `invalid_request`, `rate_limit_exceeded`, `overloaded`
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
      const joined = await store.join({ hash, email, address, proof: { passwordHash }, welcomeMicroUsd, client });
      if (joined === undefined) throw badLink();
      return { email: joined.email, organisationId: invitation.organisationId };
    });
  }

  /** Whether it is for that person: no other address joins by it, whatever its spelling. */
  isFor({ email }: Pick<Invitation, 'email'>, person: Person): boolean {
    return email === null || checkedEmail(email).address === person.address;
  }

  /** Uses the link up for somebody who is logged in with the address that it names. Throws an ApiError `invalid_link`. */
  async joinLoggedIn(token: string, person: Person, client: string): Promise<Joined> {
    const { store, welcomeMicroUsd } = this.#options;
    const { organisationId } = await this.find(token);
    const { id, email, address } = person;
    const proof = { loggedInAs: id };
    const joined = await store.join({ hash: tokenHash(token)!, email, address, proof, welcomeMicroUsd, client });
    if (joined === undefined) throw badLink();
    return { email, organisationId };
  }
}

function badLink() {
  return apiError(
    'invalid_link',
    'This link was used or withdrawn, has expired, or is unknown. Ask the person who invited you for a new one. The gateway prints the link of the first owner again when it starts.',
  );
}

function wrongPassword() {
  return apiError('invalid_login', 'Wrong password for the existing account. This link allows five attempts.');
}
