// Which piece of work a thread of the recogniser is given next: organisations take turns, and so do the streams of each; what is
// spoken now goes before what runs ahead of real time. Knows no thread.
import type { Clock } from '../../../machines/clock.ts';
import { MinuteLimit } from '../../runtime/limits/minute-limit.ts';

/** Audio that came further ahead of real time than this belongs to a recording, not to live speech. */
const AHEAD_MS = 2_000;
/** From one piece of a held stream to the next. */
const HELD_PIECE_MS = 2_000;
/** Of so many pieces one is of what runs ahead, whatever else there is: it is late, and not forgotten. */
const AHEAD_SHARE = 8;

interface Piece<Request> {
  request: Request;
  /** How much of the thread it takes, as bytes of audio. */
  bytes: number;
  /** When it would have been spoken; undefined for what costs little and is due at once. */
  dueMs?: number;
}

/** A stream or a check. */
interface Line<Request> {
  readonly id: number;
  readonly share: OrganisationShare;
  readonly pieces: Piece<Request>[];
  /** When what comes next would be spoken. */
  dueMs: number;
  turn: number;
  /** When it may give its next piece; undefined where it is not held. */
  heldUntilMs: number | undefined;
  /** Called once, when the organisation's time is used up and the stream has to wait for it. */
  onSlowed: (() => void) | undefined;
}

interface NextPiece<Request> {
  id: number;
  share: OrganisationShare;
  piece: Piece<Request>;
}

export class WorkQueue<Request> {
  readonly #shares: OrganisationShares;
  readonly #lines = new Map<number, Line<Request>>();
  #sinceAhead = 0;
  #heldMs = Number.POSITIVE_INFINITY;

  constructor(shares: OrganisationShares) {
    this.#shares = shares;
  }

  /** How long all that waits has to wait in any case, as of the last look; Infinity where nothing waits. */
  get heldMs(): number {
    return this.#heldMs;
  }

  /** Pieces of one id come out in the order in which they were put in. */
  open(id: number, share: OrganisationShare, onSlowed?: () => void): void {
    this.#lines.set(id, {
      id,
      share,
      pieces: [],
      dueMs: Number.NEGATIVE_INFINITY,
      turn: 0,
      heldUntilMs: undefined,
      onSlowed,
    });
  }

  /** A held stream gives one piece in two seconds: its sender has to see that it is not stuck. */
  hold(id: number, isHeld: boolean, nowMs: number): void {
    const line = this.#lines.get(id);
    if (line !== undefined) line.heldUntilMs = isHeld ? nowMs + HELD_PIECE_MS : undefined;
  }

  /** Forgets what waits of it. */
  drop(id: number): void {
    this.#lines.delete(id);
  }

  /** @param seconds of audio in it */
  put(id: number, request: Request, bytes: number, audio?: { seconds: number; nowMs: number }): void {
    const line = this.#lines.get(id);
    if (line === undefined) return;
    if (audio === undefined) {
      line.pieces.push({ request, bytes });
      return;
    }
    // A silent stream does not save up time.
    const dueMs = Math.max(line.dueMs, audio.nowMs);
    line.pieces.push({ request, bytes, dueMs });
    line.dueMs = dueMs + audio.seconds * 1000;
  }

  /** Takes out what is to be worked on now. */
  next(nowMs: number): NextPiece<Request> | undefined {
    const line = this.#pick(nowMs);
    const piece = line?.pieces.shift();
    if (line === undefined || piece === undefined) return undefined;
    line.turn = this.#shares.served(line.share);
    if (line.heldUntilMs !== undefined) line.heldUntilMs = nowMs + HELD_PIECE_MS;
    return { id: line.id, share: line.share, piece };
  }

  #pick(nowMs: number): Line<Request> | undefined {
    let spoken: Line<Request> | undefined;
    let spokenUnpaid: Line<Request> | undefined;
    let ahead: Line<Request> | undefined;
    this.#heldMs = Number.POSITIVE_INFINITY;
    for (const line of this.#lines.values()) {
      const [first] = line.pieces;
      if (first === undefined) continue;
      if (line.heldUntilMs !== undefined && line.heldUntilMs > nowMs) {
        this.#heldMs = Math.min(this.#heldMs, line.heldUntilMs - nowMs);
        continue;
      }
      const aheadMs = (first.dueMs ?? Number.NEGATIVE_INFINITY) - nowMs - AHEAD_MS;
      const unpaidMs = this.#shares.waitMs(line.share);
      if (aheadMs <= 0 && unpaidMs === 0) spoken = earlier(spoken, line);
      else if (aheadMs <= 0) spokenUnpaid = earlier(spokenUnpaid, line);
      else if (unpaidMs === 0) ahead = earlier(ahead, line);
      else this.#slow(line, Math.min(aheadMs, unpaidMs));
    }
    const isTurnOfAhead = ahead !== undefined && ++this.#sinceAhead >= AHEAD_SHARE;
    if (isTurnOfAhead || (spoken ?? spokenUnpaid) === undefined) {
      this.#sinceAhead = 0;
      return ahead;
    }
    return spoken ?? spokenUnpaid;
  }

  /** Slowed to the pace of speech: it becomes due as time goes by, if the organisation has no time before. */
  #slow(line: Line<Request>, waitMs: number): void {
    this.#heldMs = Math.min(this.#heldMs, waitMs);
    const { onSlowed } = line;
    line.onSlowed = undefined;
    onSlowed?.();
  }
}

/** The organisation that had its turn longest ago; of the same, the stream. */
function earlier<Request>(one: Line<Request> | undefined, other: Line<Request>): Line<Request> {
  if (one === undefined) return other;
  if (one.share !== other.share) return other.share.turn < one.share.turn ? other : one;
  return other.turn < one.turn ? other : one;
}

/** One organisation, while it has streams or checks. The process's own streams have no owner and no limit. */
export interface OrganisationShare {
  readonly owner: string | undefined;
  streams: number;
  checks: number;
  /** When it was served last: a counter over all organisations. */
  turn: number;
}

interface OrganisationSharesOptions {
  clock: Pick<Clock, 'now'>;
  /** Time of threads that an organisation may use in a minute before it is slowed; without a limit when absent. */
  cpuMsPerMinuteMax?: number;
}

/** Fair sharing of the recogniser between organisations: their streams, when each was served last, and the thread time used. */
export class OrganisationShares {
  readonly #cpuMsMax: number | undefined;
  readonly #spent: MinuteLimit;
  readonly #shares = new Map<string | undefined, OrganisationShare>();
  #turns = 0;

  constructor({ clock, cpuMsPerMinuteMax }: OrganisationSharesOptions) {
    this.#cpuMsMax = cpuMsPerMinuteMax;
    this.#spent = new MinuteLimit({ clock });
  }

  /** A caller that adds a stream or check calls `left` when it is over. */
  of(owner: string | undefined): OrganisationShare {
    const known = this.#shares.get(owner) ?? { owner, streams: 0, checks: 0, turn: 0 };
    this.#shares.set(owner, known);
    return known;
  }

  /** Forgets an organisation without streams and checks, but not the time it has used. */
  left(share: OrganisationShare): void {
    if (share.streams + share.checks === 0) this.#shares.delete(share.owner);
  }

  /** It was served: all others come before it now. */
  served(share: OrganisationShare): number {
    share.turn = ++this.#turns;
    return share.turn;
  }

  spend({ owner }: OrganisationShare, ms: number): void {
    if (owner !== undefined && this.#cpuMsMax !== undefined) this.#spent.charge(owner, ms, this.#cpuMsMax);
  }

  /** Milliseconds until it has time again; 0 while it has. */
  waitMs({ owner }: OrganisationShare): number {
    return owner === undefined ? 0 : this.#spent.waitMs(owner);
  }
}
