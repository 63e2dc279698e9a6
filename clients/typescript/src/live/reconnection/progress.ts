// Whether a connection took a session further, so that its loss is not one more failed attempt. A final always does; this is about
// connections that brought none.
import type { ServerEvent } from '../../events.ts';

/** A connection that was cut after so long did not fail to be made. */
const STABLE_MS = 30_000;

export class Progress {
  readonly #totalMs: number;
  #openedAtMs: number | undefined;
  /** Since when the gateway waits for a provider. */
  #waitingSinceMs: number | undefined;
  /** Where the session begins, in samples. */
  #origin = 0;
  /** The furthest that any connection took audio, in samples. */
  #taken = 0;
  #tookMore = false;

  /** @param totalMs time without progress after which a session is given up */
  constructor(totalMs: number) {
    this.#totalMs = totalMs;
  }

  /** A connection is dialled. */
  begin(): void {
    this.#openedAtMs = undefined;
    this.#waitingSinceMs = undefined;
    this.#tookMore = false;
  }

  /** Its session is there. */
  opened(nowMs: number): void {
    this.#openedAtMs = nowMs;
  }

  /** It is a new session, which begins here. */
  began(originSample: number): void {
    this.#origin = originSample;
  }

  /** The gateway has so much of what the session was sent. Audio that is sent again is no progress. */
  took(samples: number): void {
    const position = this.#origin + samples;
    this.#tookMore ||= position > this.#taken;
    this.#taken = Math.max(this.#taken, position);
  }

  /** An event that says whether the gateway waits for a provider. */
  heard(event: ServerEvent, nowMs: number): void {
    const code = event.type === 'warning' ? event.code : event.type;
    if (code === 'upstream_waiting') this.#waitingSinceMs ??= nowMs;
    else if (code === 'upstream_reconnected' || code === 'failover') {
      if (this.#waitingSinceMs !== undefined) this.#openedAtMs = nowMs;
      this.#waitingSinceMs = undefined;
    }
  }

  /**
   * Whether the connection that is over made any. A gateway takes audio for a provider that cannot be reached, and ends the session:
   * neither the audio nor the time of that session counts.
   *
   * @param isCut the connection was lost, and the session did not end
   */
  isMade(isCut: boolean, nowMs: number): boolean {
    if (this.#openedAtMs === undefined) return false;
    if (isCut && this.#tookMore && this.#waitingSinceMs === undefined) return true;
    const heldMs = (this.#waitingSinceMs ?? nowMs) - this.#openedAtMs;
    return heldMs >= (isCut ? STABLE_MS : Math.max(STABLE_MS, this.#totalMs));
  }
}
