// Logins and console sessions: who is at the console, since when, and whether the password was given lately. Where the session's
// id travels is decided by src/edge; how long a failed login has to wait by the store.
import { type Refusal, refuse } from '../api/errors.ts';
import type { ConsoleSession, ConsoleSessionLimits, Person } from '../store/account-calls.ts';
import type { Store } from '../store/store.ts';
import { checkedEmail } from './accounts.ts';
import { clientGroupOf } from './addresses.ts';
import type { ClientLimit } from './client-limit.ts';
import type { HashQueue } from './hash-queue.ts';
import { newToken, tokenHash } from './mail-tokens.ts';
import { checkPassword, PASSWORD_LENGTH, type Passwords } from './passwords.ts';

const MINUTE_MS = 60_000;
const LIMITS: ConsoleSessionLimits = { idleMs: 30 * MINUTE_MS, absoluteMs: 12 * 60 * MINUTE_MS };
/** How long a password is taken as just given. */
const CONFIRMED_MS = 10 * MINUTE_MS;
/** That a session is in use is written down this often at most. */
const NOTED_MS = MINUTE_MS;
const SESSIONS_PER_PERSON_MAX = 10;

export interface LoginsOptions {
  store: Store;
  passwords: Passwords;
  hashes: HashQueue;
  attempts: ClientLimit;
  /** Wall-clock milliseconds. */
  nowMs(): number;
}

/** Whoever is at the other end. */
export interface Peer {
  /** Remote address. */
  client: string;
  userAgent: string;
}

export interface OpenedSession {
  /** The session's id for the cookie; known to nobody else. */
  cookie: string;
  session: ConsoleSession;
}

export interface CurrentSession {
  hash: Uint8Array;
  session: ConsoleSession;
  person: Person;
  /** Whether the password was given within the last ten minutes. */
  isConfirmed: boolean;
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
   * @param replaces cookie that the client had before; its session ends if it is the same person's
   * @throws Refusal `invalid_login`, `rate_limit_exceeded`, `overloaded`, `account_suspended`
   */
  async logIn(email: string, password: string, peer: Peer, replaces?: string): Promise<OpenedSession> {
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
        ...peer,
        sessionsMax: SESSIONS_PER_PERSON_MAX,
      });
      return session === undefined ? undefined : { cookie, session };
    });
  }

  /** The password once more. Throws as `logIn` does. */
  async confirm(current: CurrentSession, password: string, peer: Peer): Promise<void> {
    await this.#judged(current.person.address, password, peer, async (personId, passwordHash) =>
      personId === current.person.id && (await this.#options.store.confirmConsoleSession(current.hash, passwordHash))
        ? true
        : undefined,
    );
  }

  /** Ends all sessions of the person and opens a new one. Throws as `logIn` does, and for a password that is not taken. */
  async changePassword(current: CurrentSession, old: string, wanted: string, peer: Peer): Promise<OpenedSession> {
    checkPassword(wanted, current.person.email);
    return this.#judged(current.person.address, old, peer, async (personId, passwordHash) => {
      const cookie = newToken();
      const session = await this.#options.store.changePassword(
        { personId, hash: tokenHash(cookie)!, passwordHash, ...peer, sessionsMax: SESSIONS_PER_PERSON_MAX },
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

  /** The same session under a new id: what somebody else may have learned of the old one is worth nothing. */
  async rename(current: CurrentSession): Promise<string | undefined> {
    const cookie = newToken();
    const renamed = await this.#options.store.renameConsoleSession(current.hash, tokenHash(cookie)!);
    return renamed ? cookie : undefined;
  }

  list(personId: string): Promise<ConsoleSession[]> {
    return this.#options.store.listConsoleSessions(personId, LIMITS);
  }

  /** False when the person has no such session. */
  end(personId: string, sessionId: string, client: string): Promise<boolean> {
    return this.#options.store.endConsoleSession(personId, sessionId, client);
  }

  /** Everything that depends on a password: counted, hashed in the queue, refused alike whatever was wrong. */
  async #judged<Result>(
    address: string,
    password: string,
    peer: Peer,
    accept: (personId: string, passwordHash: string, isOld: boolean) => Promise<Result | undefined>,
  ): Promise<Result> {
    const { store, passwords, hashes, attempts } = this.#options;
    attempts.take(clientGroupOf(peer.client));
    // No account has it; hashing it would be work for nothing.
    if (password.length > 2 * PASSWORD_LENGTH.max) throw wrongLogin();
    return hashes.run(async () => {
      const { retryAfterMs, person } = await store.beginLogin(address);
      if (retryAfterMs > 0) throw tooSoon(retryAfterMs);
      const { matches, isOld } = await passwords.verify(password, person?.passwordHash ?? this.#decoy);
      if (person === undefined || !matches) {
        await this.#noteRefusal(person?.id, address, peer, 'password');
        throw wrongLogin();
      }
      if (person.state === 'suspended') {
        await this.#noteRefusal(person.id, address, peer, 'suspended');
        throw refuse('account_suspended', 'This account is suspended. Ask whoever runs the service.');
      }
      const result = await accept(person.id, person.passwordHash, isOld);
      if (result === undefined) throw wrongLogin();
      return result;
    });
  }

  async #noteRefusal(personId: string | undefined, address: string, { client }: Peer, why: string): Promise<void> {
    await this.#options.store.recordAudit({
      by: { type: 'person', id: personId ?? 'unknown', address: client },
      organisationId: null,
      action: 'login.refused',
      target: personId ?? null,
      detail: { why, address },
    });
  }
}

function wrongLogin(): Refusal {
  return refuse('invalid_login', 'The e-mail address or the password is wrong.');
}

function tooSoon(retryAfterMs: number): Refusal {
  const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return refuse('rate_limit_exceeded', `There were too many failed logins. Try again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
  });
}
