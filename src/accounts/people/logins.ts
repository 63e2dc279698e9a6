// Logins and console sessions: who is at the console, since when, and whether the password was given lately. Where the session's
// id travels is decided by src/http; how long a failed login has to wait by the store.
import { type ApiError, apiError } from '../../api/errors.ts';
import { networkOf } from '../../runtime/network-addresses.ts';
import { StoreError } from '../../store/store-error.ts';
import type { Role } from '../team/calls.ts';
import { checkedEmail } from './accounts.ts';
import type { ClientLimit, HashQueue } from './attempt-limits.ts';
import { newToken, tokenHash } from './mail-tokens.ts';
import { checkPassword, PASSWORD_LENGTH, type Passwords } from './passwords.ts';
import type { AccountStore, ConsoleSession, ConsoleSessionLimits, Person, RefusedLogin } from './store/calls.ts';

const MINUTE_MS = 60_000;
const LIMITS: ConsoleSessionLimits = { idleMs: 30 * MINUTE_MS, absoluteMs: 12 * 60 * MINUTE_MS };
/** How long a password is taken as just given. */
const CONFIRMED_MS = 10 * MINUTE_MS;
/** That a session is in use is written down this often at most. */
const NOTED_MS = MINUTE_MS;
const SESSIONS_PER_PERSON_MAX = 10;

export interface LoginsOptions {
  store: AccountStore;
  passwords: Passwords;
  hashes: HashQueue;
  attempts: ClientLimit;
  /** Wall-clock milliseconds. */
  nowMs(): number;
}

/** The client of a login. */
export interface Peer {
  /** Remote address. */
  client: string;
  userAgent: string;
}

export interface OpenedSession {
  /** The session's id for the cookie; known to this client only. */
  cookie: string;
  session: ConsoleSession;
}

export interface CurrentSession {
  hash: Uint8Array;
  session: ConsoleSession;
  person: Person;
  /** The organisation that the session works in, and what the person is there. */
  organisationId: string;
  role: Role;
  /** Whether the password was given within the last ten minutes. */
  isConfirmed: boolean;
  /** Whether the organisation is suspended. */
  isSuspended: boolean;
}

export class Logins {
  readonly #options: LoginsOptions;
  readonly #decoy: string;

  constructor(options: LoginsOptions) {
    this.#options = options;
    this.#decoy = options.passwords.decoy();
  }

  /**
   * Opens a session under a new id.
   *
   * @param replaces cookie that the client had before; its session ends, even another person's
   * @param organisationId to begin in, where the person is a member of it; else the one of the longest membership
   * @throws ApiError `invalid_login`, `rate_limit_exceeded`, `overloaded`, `account_suspended`
   */
  async logIn(
    email: string,
    password: string,
    peer: Peer,
    replaces?: string,
    organisationId?: string,
  ): Promise<OpenedSession> {
    const { address } = checkedEmail(email);
    return this.#judged(address, password, peer, async (personId, passwordHash, isOld) => {
      const cookie = newToken();
      const former = tokenHash(replaces ?? '');
      const session = await this.#options.store.openConsoleSession({
        personId,
        hash: tokenHash(cookie)!,
        passwordHash,
        ...(isOld ? { rehashed: await this.#options.passwords.hash(password) } : {}),
        ...(former === undefined ? {} : { replaces: former }),
        ...(organisationId === undefined ? {} : { organisationId }),
        ...peer,
        sessionsMax: SESSIONS_PER_PERSON_MAX,
      });
      return session === undefined ? undefined : { cookie, session };
    });
  }

  /**
   * The password once more. Tries count under the session, so that failed logins of others do not count: five in a row,
   * then it ends.
   *
   * @throws ApiError `invalid_login`, `login_required`, `rate_limit_exceeded`, `overloaded`
   */
  async confirm(current: CurrentSession, password: string, peer: Peer): Promise<void> {
    await this.#confirmed(current, password, peer, async (passwordHash) =>
      (await this.#options.store.confirmConsoleSession(current.hash, passwordHash)) ? true : undefined,
    );
  }

  /** Ends all sessions of the person and opens a new one. Throws as `confirm` does, and for a password that is not taken. */
  async changePassword(current: CurrentSession, old: string, wanted: string, peer: Peer): Promise<OpenedSession> {
    checkPassword(wanted, current.person.email);
    return this.#confirmed(current, old, peer, async (passwordHash) => {
      const cookie = newToken();
      const session = await this.#options.store.changePassword(
        {
          personId: current.person.id,
          hash: tokenHash(cookie)!,
          passwordHash,
          organisationId: current.organisationId,
          ...peer,
          sessionsMax: SESSIONS_PER_PERSON_MAX,
        },
        await this.#options.passwords.hash(wanted),
      );
      return session === undefined ? undefined : { cookie, session };
    });
  }

  /** The session of a cookie; undefined when it is unknown or over. */
  async find(cookie: string): Promise<CurrentSession | undefined> {
    const { store, nowMs } = this.#options;
    const hash = tokenHash(cookie);
    const found = hash === undefined ? undefined : await store.findConsoleSession(hash, LIMITS);
    if (hash === undefined || found === undefined) return undefined;
    if (nowMs() - found.session.seenAtMs >= NOTED_MS) {
      // A disk that takes nothing more is no reason to show nothing; the session then ends a little early.
      await store.noteConsoleSession(hash).catch(() => {});
    }
    return { ...found, hash, isConfirmed: nowMs() - found.session.confirmedAtMs < CONFIRMED_MS };
  }

  /**
   * What the session is now, as long as it works in the same organisation; undefined when it is over. Not taken for use of it, and a
   * store that has no time to answer is not an end of it.
   */
  async stillAt(current: CurrentSession): Promise<Pick<CurrentSession, 'role'> | undefined> {
    try {
      const found = await this.#options.store.findConsoleSession(current.hash, LIMITS);
      return found?.organisationId === current.organisationId ? found : undefined;
    } catch (error) {
      if (error instanceof StoreError) return current;
      throw error;
    }
  }

  /** The same session under a new id: so that a stolen old id is worth nothing. */
  async rename(current: CurrentSession): Promise<string | undefined> {
    const cookie = newToken();
    const renamed = await this.#options.store.renameConsoleSession(current.hash, tokenHash(cookie)!);
    return renamed ? cookie : undefined;
  }

  /** The session works in another organisation from now on; false where the person is not a member of it. */
  enter(current: CurrentSession, organisationId: string): Promise<boolean> {
    return this.#options.store.enterOrganisation(current.hash, organisationId);
  }

  list(personId: string): Promise<ConsoleSession[]> {
    return this.#options.store.listConsoleSessions(personId, LIMITS);
  }

  /** False when the person has no such session. */
  end(personId: string, sessionId: string, client: string): Promise<boolean> {
    return this.#options.store.endConsoleSession(personId, sessionId, client);
  }

  /** What a session is asked the password for. */
  async #confirmed<Result>(
    { hash, person, session }: CurrentSession,
    password: string,
    peer: Peer,
    accept: (passwordHash: string) => Promise<Result | undefined>,
  ): Promise<Result> {
    const { store, passwords, hashes, attempts } = this.#options;
    attempts.take(networkOf(peer.client));
    if (password.length > 2 * PASSWORD_LENGTH.max) throw wrongLogin();
    return hashes.run(async () => {
      const wanted = await store.beginConfirmation(hash);
      if (wanted === undefined) throw apiError('login_required', 'This session has ended. Log in.');
      const { matches } = await passwords.verify(password, wanted.passwordHash);
      if (!matches) {
        if (wanted.isLast) await this.end(person.id, session.id, peer.client);
        await this.#noteRefusal(person.address, peer, 'confirmation');
        throw wrongLogin();
      }
      const result = await accept(wanted.passwordHash);
      if (result === undefined) throw wrongLogin();
      return result;
    });
  }

  /** A login: counted, hashed in the queue, refused alike whatever was wrong. */
  async #judged<Result>(
    address: string,
    password: string,
    peer: Peer,
    accept: (personId: string, passwordHash: string, isOld: boolean) => Promise<Result | undefined>,
  ): Promise<Result> {
    const { store, passwords, hashes, attempts } = this.#options;
    attempts.take(networkOf(peer.client));
    // No account has it; hashing it would be work for nothing.
    if (password.length > 2 * PASSWORD_LENGTH.max) throw wrongLogin();
    return hashes.run(async () => {
      const { retryAfterMs, person } = await store.beginLogin(address);
      if (retryAfterMs > 0) throw tooSoon(retryAfterMs);
      const { matches, isOld } = await passwords.verify(password, person?.passwordHash ?? this.#decoy);
      if (person === undefined || !matches) {
        await this.#noteRefusal(address, peer, 'password');
        throw wrongLogin();
      }
      if (person.state === 'suspended') {
        await this.#noteRefusal(address, peer, 'suspended');
        throw apiError('account_suspended', 'This account is suspended. Ask the operator of the service.');
      }
      const result = await accept(person.id, person.passwordHash, isOld);
      if (result === undefined) throw wrongLogin();
      return result;
    });
  }

  #noteRefusal(address: string, { client }: Peer, why: RefusedLogin['why']): Promise<void> {
    return this.#options.store.noteRefusedLogin({ address, why, client, clientGroup: networkOf(client) });
  }
}

function wrongLogin(): ApiError {
  return apiError('invalid_login', 'The e-mail address or the password is wrong.');
}

function tooSoon(retryAfterMs: number): ApiError {
  const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return apiError('rate_limit_exceeded', `There were too many failed logins. Try again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
  });
}
