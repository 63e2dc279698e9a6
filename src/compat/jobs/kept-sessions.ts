// The finals of live sessions whose client may request them later: kept in memory for a time and within bounds, for the key that
// opened the session. A record that gives way to others is forgotten, whether or not its session has ended: the session continues.
import type { Clock } from '../../../machines/clock.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../../api/error-catalogue.ts';
import { apiError } from '../../api/errors.ts';
import type { OutgoingEvent } from '../../api/listen-events.ts';
import type { Owner } from '../../jobs/owner.ts';
import { shownAgain } from '../../jobs/shown-again.ts';
import { type FinalTurn, newestFirst, type SessionName, type ShownSession } from '../../vendors/compat/jobs.ts';
import { toMilliseconds } from '../../vendors/compat/transcript.ts';
import { KeptJobs, type KeptJobsBounds } from './kept-jobs.ts';

/** From the end of the session. */
export const SESSION_KEPT_MS = 24 * 3_600_000;
const MI = 1024 * 1024;
/** Sessions, and characters of their finals as JSON. */
export const SESSION_BOUNDS: KeptJobsBounds = {
  key: { jobs: 1_000, characters: 16 * MI },
  organisation: { jobs: 2_500, characters: 32 * MI },
  node: { jobs: 10_000, characters: 128 * MI },
};
/** What clients may name a session by. */
const ID = /^[\w-]{1,64}$/;

/** What takes note of a session. */
export interface SessionRecord {
  take(event: OutgoingEvent): void;
  /** Its socket has closed. Called once or more. */
  end(): void;
}

interface Kept {
  /** Of its key and dialect: clients name sessions. */
  readonly id: string;
  readonly owner: Owner;
  readonly name: SessionName;
  readonly createdAt: Date;
  readonly givesWay: true;
  readonly turns: string[];
  endedAt: Date | undefined;
  state: { type: 'processing' | 'done' | 'failed' };
  failure: ShownSession['failure'];
  characters: number;
  seconds: number;
  /** Connections that it has: a client that reconnects continues its session. */
  open: number;
  timer: unknown;
}

export interface KeptSessionsOptions {
  clock: Clock;
  wallNow(): Date;
  /** A session was forgotten before its time. */
  onForgotten(): void;
}

export class KeptSessions {
  readonly #options: KeptSessionsOptions;
  readonly #kept = new KeptJobs<Kept>(SESSION_BOUNDS);

  constructor(options: KeptSessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** From the beginning of the session on. Undefined: a session cannot be found by this name. */
  record(owner: Owner, name: SessionName): SessionRecord | undefined {
    if (!ID.test(name.id)) return undefined;
    const kept = this.#begin(owner, name);
    // Times of a later connection start at zero.
    const from = kept.seconds;
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      this.#end(kept);
    };
    return {
      take: (event) => {
        if (isOver) return;
        if (event.type === 'transcript' && event.is_final && event.text !== '') this.#add(kept, moved(event, from));
        else if (event.type === 'error' && event.fatal !== false) kept.failure = failureOf(event.error);
        else if (event.type === 'session_ended') {
          kept.seconds = Math.max(kept.seconds, from + event.audio_seconds);
          end();
        }
      },
      end,
    };
  }

  /** Throws an ApiError `not_found`. */
  find(owner: Owner, id: string): ShownSession {
    return shown(this.#find(owner, id));
  }

  /** Newest first. */
  of({ keyId, dialect }: Owner): ShownSession[] {
    return this.#kept
      .ofKey(keyId)
      .filter(({ owner }) => owner.dialect === dialect)
      .map((kept) => shown(kept))
      .sort(newestFirst);
  }

  /** Forgets it; a session that has not ended continues. Throws an ApiError `not_found`. */
  remove(owner: Owner, id: string): void {
    this.#forget(this.#find(owner, id));
  }

  close(): void {
    for (const kept of this.#kept.all()) this.#forget(kept);
  }

  #find(owner: Owner, id: string): Kept {
    const kept = this.#kept.get(idOf(owner, id));
    if (kept === undefined) throw apiError('not_found', NOT_HERE, { param: 'id' });
    return kept;
  }

  #begin(owner: Owner, { id, asked }: SessionName): Kept {
    const { clock, wallNow } = this.#options;
    const before = this.#kept.get(idOf(owner, id));
    if (before !== undefined) {
      clock.clearTimeout(before.timer);
      this.#change(before, () => {
        before.open++;
        before.endedAt = undefined;
        before.failure = undefined;
        before.state = { type: 'processing' };
      });
      return before;
    }
    const again = shownAgain(asked);
    const kept: Kept = {
      ...{ id: idOf(owner, id), owner, name: { id, asked: again }, createdAt: wallNow(), givesWay: true, turns: [] },
      ...{ endedAt: undefined, state: { type: 'processing' }, failure: undefined, seconds: 0, open: 1 },
      ...{ characters: JSON.stringify(again).length, timer: undefined },
    };
    this.#kept.add(kept);
    this.#makeRoom(owner);
    return kept;
  }

  #add(kept: Kept, turn: FinalTurn): void {
    const text = JSON.stringify(turn);
    this.#change(kept, () => {
      kept.turns.push(text);
      kept.characters += text.length;
      kept.seconds = Math.max(kept.seconds, turn.end);
    });
  }

  #end(kept: Kept): void {
    kept.open--;
    if (kept.open > 0) return;
    const { clock, wallNow } = this.#options;
    this.#change(kept, () => {
      kept.endedAt = wallNow();
      kept.state = { type: kept.failure === undefined ? 'done' : 'failed' };
      kept.timer = clock.setTimeout(() => this.#forget(kept), SESSION_KEPT_MS);
    });
  }

  /** Nothing, where it was forgotten. */
  #change(kept: Kept, change: () => void): void {
    if (!this.#kept.take(kept)) return;
    change();
    this.#kept.add(kept);
    this.#makeRoom(kept.owner);
  }

  #makeRoom(owner: Owner): void {
    for (let kept = this.#kept.excess(owner, 0); kept !== undefined; kept = this.#kept.excess(owner, 0)) {
      this.#options.onForgotten();
      this.#forget(kept);
    }
  }

  #forget(kept: Kept): void {
    this.#kept.take(kept);
    this.#options.clock.clearTimeout(kept.timer);
  }
}

const idOf = ({ keyId, dialect }: Owner, id: string): string => `${keyId} ${dialect} ${id}`;

const shown = ({ name, createdAt, endedAt, failure, seconds, turns }: Kept): ShownSession => ({
  ...{ ...name, createdAt, endedAt, failure, seconds: toMilliseconds(seconds) },
  turns: () => turns.map((turn) => JSON.parse(turn) as FinalTurn),
});

/** Only what is shown of it. */
function moved({ text, start, end, words, speaker, language, confidence, channel }: FinalTurn, by: number): FinalTurn {
  const later = <Placed extends { start: number; end: number }>(placed: Placed): Placed =>
    by === 0 ? placed : { ...placed, start: toMilliseconds(placed.start + by), end: toMilliseconds(placed.end + by) };
  const turn: FinalTurn = { text, ...later({ start, end }) };
  if (words !== undefined) turn.words = words.map(later);
  if (speaker !== undefined) turn.speaker = speaker;
  if (language !== undefined) turn.language = language;
  if (confidence !== undefined) turn.confidence = confidence;
  if (channel !== undefined) turn.channel = channel;
  return turn;
}

const failureOf = ({ code, message }: { code: string; message: string }): ShownSession['failure'] => ({
  status: (Object.hasOwn(ERROR_CATALOGUE, code) && ERROR_CATALOGUE[code as ErrorCode].status) || 500,
  message,
});

const NOT_HERE = `There is no such session of this key on this node. It may be gone, since a session is kept for ${SESSION_KEPT_MS / 3_600_000} h, or it has not begun: connect to its \`url\` first.`;
