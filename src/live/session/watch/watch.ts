// Sessions of any node, as they are seen from this one: what one is doing, and its steps as long as it is watched; and the messages
// of both sides. The node is known from the session's id; a node that does not answer has nothing to show.

import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../../machines/clock.ts';
import { WATCHED_FRAMES_MAX, WatchedActor, WatchedFrame } from '../../../api/console/watching.ts';
import { type Bus, BusError, type Detach } from '../../../cluster/bus/bus.ts';
import { sessionFrames, WATCH_SESSION } from '../../../cluster/bus/subjects.ts';
import { uuidv7 } from '../../../runtime/uuid.ts';
import type { LegRecord } from '../leg/leg-record.ts';
import { nodeOfSession } from '../session-opening.ts';

/** How long a session is shown after the last renewal of a watcher. */
export const WATCH_LEASE_MS = 10_000;
/** How often it is renewed. */
export const WATCH_RENEW_MS = 3_000;

const Id = Type.String({ minLength: 1, maxLength: 128 });
const Sequence = Type.Integer({ minimum: 0 });

export const WatchRequest = Type.Object({
  type: Type.Union([Type.Literal('session.describe'), Type.Literal('watch.renew'), Type.Literal('watch.stop')]),
  sessionId: Id,
  /** Only sessions of this organisation are shown to it. */
  organisationId: Id,
  /** Who watches; ends with its lease, or by `watch.stop`. */
  watcher: Id,
  /** The latest frame that the watcher has: it is given those behind it that are kept. */
  after: Type.Optional(Sequence),
});
type WatchRequest = Static<typeof WatchRequest>;

/** What is told on the session's topic, while it is watched. */
export const Frames = Type.Object({
  type: Type.Literal('session.frames'),
  frames: Type.Array(WatchedFrame, { maxItems: 128 }),
  /** The session has ended: nothing follows. */
  ended: Type.Boolean(),
});
export type Frames = Static<typeof Frames>;

export const WatchAnswer = Type.Union([
  Type.Object({
    type: Type.Literal('session.described'),
    state: Id,
    legs: Type.Array(Type.Object({ model: Id, state: Id, simulated: Type.Optional(Type.Literal(true)) }), {
      maxItems: 64,
    }),
  }),
  /** Where the charts are; frames after `sequence` continue from there. Between one `feed` and another steps were not told. */
  Type.Object({
    type: Type.Literal('watch.on'),
    feed: Sequence,
    actors: Type.Array(WatchedActor, { maxItems: 64 }),
    sequence: Sequence,
    at: Id,
    /** Those that were requested. */
    frames: Type.Array(WatchedFrame, { maxItems: WATCHED_FRAMES_MAX }),
  }),
  Type.Object({ type: Type.Literal('watch.off') }),
  /** The node shows as many sessions, or this one to as many, as it may. */
  Type.Object({ type: Type.Literal('watch.full') }),
  /** No such session of that organisation is live there. */
  Type.Object({ type: Type.Literal('session.unknown') }),
]);
export type WatchAnswer = Static<typeof WatchAnswer>;

/** How long a page waits for another node. */
const ANSWER_MS = 1_000;
/** Frames that came before it was known where the charts are; what is beyond is lost, and shows as a gap. */
const EARLY_MAX = 256;

/** What a watcher is told. A gap in `sequence` means that frames were lost on their way. */
export interface Watching {
  /** `actors` first, behind those that were requested, and each time that it is not known what was missed. */
  frame(frame: WatchedFrame): void;
  /** It is over: the session has ended, is not there, is watched by too many, or its node did not answer for a whole lease. */
  ended(why: 'ended' | 'unknown' | 'full' | 'lost'): void;
}

export interface SessionsElsewhereOptions {
  bus: Pick<Bus, 'node' | 'address' | 'requestOf' | 'subscribe'>;
  clock: Clock;
  wallNow(): Date;
}

export class SessionsElsewhere {
  readonly #options: SessionsElsewhereOptions;

  constructor(options: SessionsElsewhereOptions) {
    this.#options = options;
  }

  /** What a live session is doing, wherever it is; undefined where its node does not answer. Never rejects. */
  async describe(
    sessionId: string,
    organisationId: string,
  ): Promise<{ state: string; legs: readonly LegRecord[] } | undefined> {
    const answer = await this.#ask({ type: 'session.describe', sessionId, organisationId, watcher: 'nobody' });
    return typeof answer === 'object' && answer.type === 'session.described' ? answer : undefined;
  }

  /**
   * Watches a session until it is detached, or over. Nothing is told after either.
   *
   * @param after the latest frame that the watcher has: it is told those behind it that are kept
   */
  watch(sessionId: string, organisationId: string, watching: Watching, after?: number): Detach {
    const { bus, clock, wallNow } = this.#options;
    if (nodeOfSession(sessionId) === undefined) {
      watching.ended('unknown');
      return () => {};
    }
    const watcher = `${bus.node}.${uuidv7(wallNow().getTime())}`;
    const request = (type: WatchRequest['type'], behind?: number) =>
      this.#ask({ type, sessionId, organisationId, watcher, ...(behind === undefined ? {} : { after: behind }) });
    const early: WatchedFrame[] = [];
    let feed: number | undefined;
    let shown: number | undefined;
    let wanted = after;
    let goodUntilMs = clock.now() + WATCH_LEASE_MS;
    let timer: unknown;
    let isOver = false;
    const over = () => {
      isOver = true;
      clock.clearTimeout(timer);
      unsubscribe();
    };
    const end = (why: Parameters<Watching['ended']>[0]) => {
      if (isOver) return;
      over();
      watching.ended(why);
    };
    const show = (frame: WatchedFrame) => {
      if (isOver || shown === undefined || frame.sequence <= shown) return;
      shown = frame.sequence;
      watching.frame(frame);
    };
    const unsubscribe = bus.subscribe(sessionFrames(sessionId), (body) => {
      if (isOver || !Value.Check(Frames, body)) return;
      for (const frame of body.frames) {
        if (shown !== undefined) show(frame);
        else if (early.length < EARLY_MAX) early.push(frame);
      }
      if (body.ended) end('ended');
    });
    const renew = async () => {
      const answer = await request('watch.renew', wanted);
      if (isOver) return;
      if (answer === 'unreachable') {
        if (clock.now() >= goodUntilMs) return end('lost');
      } else if (answer.type === 'watch.on') {
        goodUntilMs = clock.now() + WATCH_LEASE_MS;
        // The node has begun again where the lease was over.
        if (answer.feed !== feed) {
          feed = answer.feed;
          const { actors, sequence, at, frames } = answer;
          // What comes is later than what was, whatever number a watcher claims to have.
          shown = Math.min(shown ?? after ?? sequence, sequence);
          for (const frame of frames) show(frame);
          if (isOver) return;
          shown = Math.max(shown, sequence);
          watching.frame({ kind: 'actors', sequence, at, actors });
        }
        wanted = undefined;
        for (const frame of early.splice(0)) show(frame);
      } else return end(answer.type === 'watch.full' ? 'full' : 'unknown');
      if (!isOver) timer = clock.setTimeout(renewed, WATCH_RENEW_MS);
    };
    // A reader that fails at a frame is shown no more of them.
    const renewed = () => void renew().catch(() => end('lost'));
    renewed();
    return () => {
      if (isOver) return;
      over();
      void request('watch.stop');
    };
  }

  async #ask(request: WatchRequest): Promise<WatchAnswer | 'unreachable'> {
    const { bus } = this.#options;
    const node = nodeOfSession(request.sessionId);
    if (node === undefined) return { type: 'session.unknown' };
    try {
      const answer = await bus.requestOf(node, WATCH_SESSION, bus.address('watch'), request, ANSWER_MS);
      return Value.Check(WatchAnswer, answer) ? answer : { type: 'session.unknown' };
    } catch (error) {
      // A node that is gone never comes again under this name.
      const isGone = error instanceof BusError && /^unknown_/.test(error.reason);
      return isGone ? { type: 'session.unknown' } : 'unreachable';
    }
  }
}
