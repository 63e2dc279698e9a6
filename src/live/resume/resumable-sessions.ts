// The sessions of this node that can be resumed: who may, for how long they wait for their client, and what is kept of those that have
// ended meanwhile.
import type { Clock } from '../../../machines/clock.ts';
import type { ServerSocket } from '../../http/server.ts';
import type { OpenPace } from '../pace/socket-pace.ts';
import type { SessionOpening } from '../session/session-opening.ts';
import { RESUME_SESSION, ResumeAsk } from './relay/relay-link.ts';
import type { RelayService } from './relay/relays.ts';
import type { RelayedHandlers } from './relay/session-end.ts';
import { ResumableLine } from './resumable-line.ts';
import { isSameToken, newResumeToken } from './resume-request.ts';

/** How often the clients are told what was taken of their audio. */
const RECEIVED_MS = 1000;
/** What is kept of all sessions that have ended; the oldest is released beyond it. */
const ENDED_BYTES_MAX = 64 * 1024 * 1024;
/** What every one of them counts besides. */
const ENDED_BYTES = 1024;
/** Close codes of a client that leaves: in order, with its page, or without a code. Any other is a connection that broke. */
const LEFT: ReadonlySet<number> = new Set([1000, 1001, 1005]);

/** What takes the messages of a session, from one socket after the other. */
export interface Resuming extends RelayedHandlers {
  readonly pace: OpenPace;
  /** Bytes of binary messages that the session has taken; more may wait for that, and is not taken where it ends before. */
  readonly takenBytes: number;
  /** Continues with this socket, in the place of any other. */
  resume(socket: ServerSocket, after: number): void;
  /** Tells the client how many bytes of its audio were taken. */
  tellReceived(): void;
  /** Nobody comes back for it. */
  leave(): void;
}

/** Who comes back for which session. */
export interface Resumption {
  token: string;
  sessionId: string;
  /** Number of the last event that the client has. */
  after: number;
  organisationId: string;
  keyId: string;
}

/** One that waits for its client, or for the end of its session. */
export interface Resumable {
  readonly keyId: string;
  readonly organisationId: string;
  readonly line: ResumableLine;
  readonly resuming: Resuming;
}

interface Kept extends Resumable {
  toldBytes: number;
  timer: unknown;
  /** What it counts of what is kept of sessions that have ended; 0 before its end. */
  endedBytes: number;
}

export class ResumableSessions {
  readonly #clock: Clock;
  readonly #resumeMs: number;
  readonly #wallNow: () => Date;
  readonly #onEvicted: () => void;
  /** Those that have ended stand behind one another in the order of their ends. */
  readonly #kept = new Map<string, Kept>();
  #endedBytes = 0;
  #telling: unknown;
  /** Those that have ended while their clients were gone. */
  readonly #unheard = new Set<string>();
  #whenHeard = () => {};

  /** @param onEvicted what an ended session had left to say is released before its time */
  constructor(clock: Clock, resumeMs: number, wallNow: () => Date, onEvicted: () => void) {
    this.#clock = clock;
    this.#resumeMs = resumeMs;
    this.#wallNow = wallNow;
    this.#onEvicted = onEvicted;
  }

  /** Sessions that somebody may come back for, or continue with. */
  get size(): number {
    return this.#kept.size;
  }

  /** The client's end of a session that is to outlive its socket. */
  open({ sessionId, organisationId, keyId }: SessionOpening, socket: ServerSocket, resuming: Resuming): ResumableLine {
    const line = new ResumableLine(socket, {
      sessionId,
      token: newResumeToken(sessionId),
      wallNow: this.#wallNow,
      ended: () => this.#ended(sessionId),
    });
    this.#kept.set(sessionId, { ...{ organisationId, keyId, line, resuming }, ...NOTHING_TOLD });
    this.#telling ??= this.#clock.setTimeout(this.#tell, RECEIVED_MS);
    return line;
  }

  /** Its socket has closed. Whether the session waits for another. */
  waits({ sessionId, isEnded }: ResumableLine, code: number): boolean {
    const kept = this.#kept.get(sessionId);
    if (kept === undefined || isEnded) return false;
    if (LEFT.has(code)) {
      this.#forget(sessionId);
      return false;
    }
    kept.line.detach();
    kept.timer = this.#clock.setTimeout(() => this.#giveUp(kept), this.#resumeMs);
    return true;
  }

  /**
   * The session, for whoever has its token and its key; undefined as well where so much was said behind the last event that the
   * client has that it is kept no longer, and then the session ends. `unsaid`: no such event was said.
   */
  find({ token, sessionId, after, organisationId, keyId }: Resumption): Resumable | 'unsaid' | undefined {
    const kept = this.#kept.get(sessionId);
    if (kept === undefined || !isSameToken(kept.line.token, token)) return undefined;
    if (kept.organisationId !== organisationId || kept.keyId !== keyId) return undefined;
    const gap = kept.line.gapAfter(after);
    if (gap === 'unsaid') return gap;
    if (gap === undefined) return kept;
    this.#giveUp(kept);
    return undefined;
  }

  /** What takes the messages of the next socket of the session. */
  next({ line, resuming }: Resumable, after: number): RelayedHandlers {
    let isOpen = false;
    return {
      open: (socket) => {
        isOpen = true;
        const kept = this.#kept.get(line.sessionId);
        if (kept !== undefined && !line.isEnded) this.#clock.clearTimeout(kept.timer);
        resuming.resume(socket, after);
        this.#heard(line.sessionId);
      },
      message: (...message) => resuming.message(...message),
      arriving: (...arriving) => resuming.arriving?.(...arriving),
      part: (...part) => resuming.part(...part),
      exceeded: (...exceeded) => resuming.exceeded(...exceeded),
      pong: (...pong) => resuming.pong(...pong),
      drained: (socket) => resuming.drained(socket),
      closed: (...closed) => {
        if (isOpen) resuming.closed(...closed);
      },
    };
  }

  /** Resolves when no client may come back any more that has not heard the end of its session. */
  async heard(): Promise<void> {
    if (this.#unheard.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenHeard = resolve;
    });
  }

  /** Nobody is to come back for it. */
  #giveUp({ line, resuming }: Resumable): void {
    this.#forget(line.sessionId);
    if (!line.isEnded) resuming.leave();
  }

  /** What it has said is kept for a client that did not hear the end of it. */
  #ended(sessionId: string): void {
    const kept = this.#kept.get(sessionId);
    if (kept === undefined) return;
    this.#forget(sessionId);
    kept.endedBytes = kept.line.keptBytes + ENDED_BYTES;
    this.#kept.set(sessionId, kept);
    this.#endedBytes += kept.endedBytes;
    kept.timer = this.#clock.setTimeout(() => this.#forget(sessionId), this.#resumeMs);
    for (const [id, { endedBytes }] of this.#kept) {
      if (this.#endedBytes <= ENDED_BYTES_MAX) break;
      if (endedBytes === 0) continue;
      this.#onEvicted();
      this.#forget(id);
    }
    if (kept.line.hasSocket) return;
    if (this.#kept.has(sessionId)) this.#unheard.add(sessionId);
    kept.resuming.leave();
  }

  /** What it had to say has been told, or is told to nobody. */
  #heard(sessionId: string): void {
    if (this.#unheard.delete(sessionId) && this.#unheard.size === 0) this.#whenHeard();
  }

  #forget(sessionId: string): void {
    const kept = this.#kept.get(sessionId);
    if (kept === undefined) return;
    this.#heard(sessionId);
    this.#kept.delete(sessionId);
    this.#endedBytes -= kept.endedBytes;
    this.#clock.clearTimeout(kept.timer);
    if (this.#kept.size > 0) return;
    this.#clock.clearTimeout(this.#telling);
    this.#telling = undefined;
  }

  readonly #tell = (): void => {
    for (const kept of this.#kept.values()) {
      const { takenBytes } = kept.resuming;
      if (kept.line.isEnded || takenBytes === kept.toldBytes) continue;
      kept.toldBytes = takenBytes;
      kept.resuming.tellReceived();
    }
    this.#telling = this.#clock.setTimeout(this.#tell, RECEIVED_MS);
  };
}

const NOTHING_TOLD = { toldBytes: 0, timer: undefined, endedBytes: 0 } as const;

/** For clients of other nodes. */
export const resumeService = (resumables: ResumableSessions): RelayService<ResumeAsk> => ({
  name: RESUME_SESSION,
  shape: ResumeAsk,
  find: (ask) => {
    const found = resumables.find(ask);
    if (found === 'unsaid') return found;
    return found === undefined ? 'gone' : resumables.next(found, ask.after);
  },
});
