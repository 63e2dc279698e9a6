// Whether a connection still has another side, where no close says that it has none: a network that swallows what it is given, a
// machine that lost its power. What is done about it is decided by connection.ts.

/** A socket that passes on nothing of what it holds for so long is stuck. */
export const STUCK_MS = 30_000;
/** So many pings that do not come are no accident. */
const PINGS_MISSED = 3;
const PING_MS = 15_000;
/** What a gateway may take to say something after `close`, beside the time that the audio itself takes. */
export const CLOSING_MS = 60_000;
/** A socket does not tell when it passes nothing on: it is looked at so often. */
const LOOK_MS = 5_000;

export interface WatchedConnection {
  /** Bytes that the socket was given and has not passed on. */
  unsent(): number;
  /** Bytes that it was given in all. */
  given(): number;
  /** Milliseconds of audio that have no final yet. */
  pendingMs(): number;
  /** Nothing comes through any more. Once. */
  lost(): void;
}

export class Watchdog {
  readonly #watched: WatchedConnection;
  #timer: ReturnType<typeof setTimeout>;
  #lookedAtMs = performance.now();
  #heardAtMs = this.#lookedAtMs;
  #movedAtMs = this.#lookedAtMs;
  #movedBytes = 0;
  #pingedAtMs = this.#lookedAtMs;
  /** The longest time between two pings; undefined where none is seen: a browser tells of none. */
  #pingMs: number | undefined;
  #closingAtMs: number | undefined;

  constructor(watched: WatchedConnection) {
    this.#watched = watched;
    this.#timer = setTimeout(() => this.#look(), LOOK_MS);
  }

  heard(): void {
    this.#heardAtMs = performance.now();
  }

  pinged(): void {
    this.heard();
    this.#pingMs = Math.max(this.#pingMs ?? PING_MS, this.#heardAtMs - this.#pingedAtMs);
    this.#pingedAtMs = this.#heardAtMs;
  }

  /** `close` was sent. */
  closing(): void {
    this.#closingAtMs = performance.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    const nowMs = performance.now();
    // A program that was busy, or a machine that slept, has heard nothing: that says nothing about the other side.
    if (nowMs - this.#lookedAtMs > 3 * LOOK_MS) this.#forgive(nowMs);
    this.#lookedAtMs = nowMs;
    const unsent = this.#watched.unsent();
    const moved = this.#watched.given() - unsent;
    if (unsent === 0 || moved > this.#movedBytes) this.#movedAtMs = nowMs;
    this.#movedBytes = Math.max(moved, this.#movedBytes);
    if (this.#isLost(nowMs)) this.#watched.lost();
    else this.#timer = setTimeout(() => this.#look(), LOOK_MS);
  }

  #isLost(nowMs: number): boolean {
    if (nowMs - this.#movedAtMs > STUCK_MS) return true;
    if (this.#pingMs !== undefined && nowMs - this.#heardAtMs > PINGS_MISSED * this.#pingMs) return true;
    if (this.#closingAtMs === undefined) return false;
    return nowMs - Math.max(this.#closingAtMs, this.#heardAtMs) > CLOSING_MS + this.#watched.pendingMs();
  }

  #forgive(nowMs: number): void {
    this.#heardAtMs = nowMs;
    this.#movedAtMs = nowMs;
    this.#pingedAtMs = nowMs;
  }
}
