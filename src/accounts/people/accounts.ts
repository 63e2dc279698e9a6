// What people do without being logged in: sign up, verify their address, ask for a new password. Neither an answer nor its timing
// reveals whether an address has an account. Logins are in logins.ts.
import { apiError } from '../../api/errors.ts';
import { networkOf } from '../../runtime/network-addresses.ts';
import { StoreError } from '../../store/store-error.ts';
import { checkedName } from '../keys/settings.ts';
import { type EmailAddress, parseEmail } from './addresses.ts';
import type { ClientLimit, HashQueue } from './attempt-limits.ts';
import { type TokenSeal, tokenHash } from './mail-tokens.ts';
import { checkPassword, PASSWORD_LENGTH, type Passwords } from './passwords.ts';
import type { AccountStore, Person, Verified } from './store/calls.ts';

export interface AccountsOptions {
  store: AccountStore;
  seal: TokenSeal;
  passwords: Passwords;
  hashes: HashQueue;
  attempts: ClientLimit;
  welcomeMicroUsd: bigint;
  signUpsPerAddressDayMax: number;
}

export interface SignUpRequest {
  email: string;
  password: string;
  /** Name of the organisation; the e-mail address when absent. */
  organisation?: string;
}

const ORGANISATION_LENGTH_MAX = 100;

export class Accounts {
  readonly #options: AccountsOptions;

  constructor(options: AccountsOptions) {
    this.#options = options;
  }

  /**
   * A verification mail is on its way, or a note to the owner of the existing account.
   *
   * @param client remote address
   */
  async signUp({ email: typed, password, organisation }: SignUpRequest, client: string): Promise<void> {
    const { store, seal, passwords, hashes, signUpsPerAddressDayMax } = this.#options;
    const { email, address } = checkedEmail(typed);
    checkPassword(password, email);
    // Before the account is looked up: the answer must be the same either way.
    const organisationName = checkedOrganisation(organisation ?? email.slice(0, ORGANISATION_LENGTH_MAX));
    this.#count(client);
    const outcome = await hashes.run(async () =>
      store.signUp({
        email,
        address,
        passwordHash: await passwords.hash(password),
        organisationName,
        verification: seal.issue(),
        reset: seal.issue(),
        client,
        clientGroup: networkOf(client),
        signUpsPerDayMax: signUpsPerAddressDayMax,
      }),
    );
    if (outcome === 'mailed') return;
    throw apiError(
      'rate_limit_exceeded',
      `There were ${signUpsPerAddressDayMax} sign-ups from this network address in a day. Try again tomorrow.`,
      { retryAfterSeconds: 3600 },
    );
  }

  /**
   * Uses the link of a mail up, with the password of the sign-up that it was mailed for: a stranger can sign up with another person's
   * address, and the mails look the same. Another password uses nothing up; a link takes five.
   *
   * @throws ApiError `invalid_link`, `invalid_login`, `rate_limit_exceeded`, `overloaded`
   */
  async verify(token: string, password: string, client: string): Promise<Verified> {
    this.#count(client);
    const hash = tokenHash(token);
    const { store, hashes, passwords, welcomeMicroUsd } = this.#options;
    const bad = () => badLink('Log in and ask for another one.');
    // Before the hash, which costs something.
    if (hash === undefined || !(await store.isVerificationToken(hash))) throw bad();
    if (password === '') throw apiError('invalid_request', 'Give your password.', { param: 'password' });
    // No account has it.
    if (password.length > 2 * PASSWORD_LENGTH.max) throw otherSignUp();
    const verified = await hashes.run(async () => {
      const wanted = await store.beginVerification(hash);
      if (wanted === undefined) return undefined;
      const { matches } = await passwords.verify(password, wanted.passwordHash);
      if (!matches) throw otherSignUp();
      return store.verifyAddress(hash, wanted.passwordHash, welcomeMicroUsd, client);
    });
    if (verified === undefined) throw bad();
    return verified;
  }

  async resendVerification(person: Person, client: string): Promise<void> {
    this.#count(client);
    if (person.state !== 'unverified') return;
    if (await this.#options.store.resendVerification(person.id, this.#options.seal.issue())) return;
    throw apiError(
      'rate_limit_exceeded',
      'Three mails were sent in the last hour. Look for them, or try again later.',
      {
        retryAfterSeconds: 1200,
      },
    );
  }

  async requestPasswordReset(typed: string, client: string): Promise<void> {
    const { address } = checkedEmail(typed);
    this.#count(client);
    const by = { client, clientGroup: networkOf(client) };
    await this.#options.store.requestPasswordReset(address, this.#options.seal.issue(), by);
  }

  /** Uses the link up; every console session of the person has ended then. Throws an ApiError `invalid_link`. */
  async resetPassword(token: string, password: string, client: string): Promise<void> {
    this.#count(client);
    const { store, passwords, hashes } = this.#options;
    const hash = tokenHash(token);
    const bad = () => badLink('Ask for another one.');
    // Before the hash, which costs something.
    if (hash === undefined || !(await store.isResetToken(hash))) throw bad();
    checkPassword(password, '');
    const person = await hashes.run(async () => store.resetPassword(hash, await passwords.hash(password), client));
    if (person === undefined) throw bad();
  }

  /** Mails a link to the new address; nothing changes before it is used. */
  async requestAddressChange(person: Person, typed: string, client: string): Promise<void> {
    const { email, address } = checkedEmail(typed);
    this.#count(client);
    const { store, seal } = this.#options;
    if (await store.requestAddressChange(person.id, email, address, seal.issue(), client)) return;
    throw apiError('rate_limit_exceeded', 'Three mails were sent in the last hour. Try again later.', {
      retryAfterSeconds: 1200,
    });
  }

  #count(client: string): void {
    this.#options.attempts.take(networkOf(client));
  }
}

/** Throws an ApiError for what is not an e-mail address. */
export function checkedEmail(typed: string): EmailAddress {
  const parsed = parseEmail(typed);
  if (parsed !== undefined) return parsed;
  throw apiError('invalid_request', '`email` is not an e-mail address. Send one such as `ada@example.com`.', {
    param: 'email',
  });
}

function badLink(advice: string) {
  return apiError('invalid_link', `This link was used already, is too old, or was never sent. ${advice}`);
}

function otherSignUp() {
  return apiError(
    'invalid_login',
    'Wrong password for this link. If another person signed up with the same address, use the link of the other mail ' +
      'with your password. A link allows five attempts.',
  );
}

function checkedOrganisation(name: string): string {
  try {
    return checkedName(name, 'organisation');
  } catch (error) {
    throw error instanceof StoreError ? apiError('invalid_request', error.message, { param: 'organisation' }) : error;
  }
}
