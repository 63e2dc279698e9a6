// What is said about a session that is watched, or asked about, from another node: the words of both sides, and their schemas.
import { type Static, Type } from '@sinclair/typebox';
import { WATCHED_FRAMES_MAX, WatchedActor, WatchedFrame } from '../../api/console/watching.ts';

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
export type WatchRequest = Static<typeof WatchRequest>;

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
  /** Where the charts are; frames after `sequence` go on from there. Between one `feed` and another steps were not told. */
  Type.Object({
    type: Type.Literal('watch.on'),
    feed: Sequence,
    actors: Type.Array(WatchedActor, { maxItems: 64 }),
    sequence: Sequence,
    at: Id,
    /** Those that were asked for. */
    frames: Type.Array(WatchedFrame, { maxItems: WATCHED_FRAMES_MAX }),
  }),
  Type.Object({ type: Type.Literal('watch.off') }),
  /** The node shows as many sessions, or this one to as many, as it may. */
  Type.Object({ type: Type.Literal('watch.full') }),
  /** No such session of that organisation is live there. */
  Type.Object({ type: Type.Literal('session.unknown') }),
]);
export type WatchAnswer = Static<typeof WatchAnswer>;
