// Whether a session can be gone on with whose connection broke, and what a connection says to do so. Pure; live-link.ts connects.
import type { SessionStarted } from '../../types/events.ts';
import { isLost } from './reconnect.ts';

/** Parameters of a URL by which a gateway says that it does not go on with a session, or cannot at all. */
const PARAMETERS: ReadonlySet<string | null> = new Set(['resume', 'last_seq', 'heard_seconds']);

export class Resumption {
  #isOffered: boolean;
  #token: string | undefined;
  /** Number of the last event of the session, of kinds that this version does not know as well. */
  #lastSeq = 0;

  /** @param isOffered whether sessions are to wait for this client at all */
  constructor(isOffered: boolean) {
    this.#isOffered = isOffered;
  }

  /** Whether a session waits for this client. */
  get isWaiting(): boolean {
    return this.#token !== undefined;
  }

  /** Another session is open. */
  began({ resume_token }: SessionStarted): void {
    this.#token = resume_token ?? undefined;
    this.#lastSeq = 0;
  }

  /** An event of the session. */
  heard(seq: number): void {
    this.#lastSeq = seq;
  }

  /** The session is not to be gone on with. */
  drop(): void {
    this.#token = undefined;
  }

  /** The open connection closed: a session that the gateway itself ended waits for nobody. */
  closed(closeCode: number, hasEnded: boolean): void {
    if (hasEnded || !isLost(closeCode)) this.drop();
  }

  /** A connection was refused for this parameter. Whether the next one asks for less, and is worth trying at once. */
  refused(closeCode: number, param: string | null): boolean {
    if (!this.#isOffered || ![4000, 4004].includes(closeCode) || !PARAMETERS.has(param)) return false;
    if (this.#token === undefined) this.#isOffered = false;
    this.drop();
    return true;
  }

  /**
   * What the next connection asks for.
   *
   * @param url what a new session is asked for with
   * @param heardSeconds where the last final ended, of the session that waits
   * @param anew whether a new session is to be opened where that is gone
   */
  address(url: string, heardSeconds: number, anew: boolean): string {
    if (!this.#isOffered) return url;
    const asked = new URL(url);
    asked.searchParams.set('resume', this.#token ?? 'on');
    if (this.#token === undefined) return asked.href;
    asked.searchParams.set('last_seq', String(this.#lastSeq));
    asked.searchParams.set('heard_seconds', heardSeconds.toFixed(6));
    if (!anew) for (const name of ['model', 'start']) asked.searchParams.delete(name);
    return asked.href;
  }
}
