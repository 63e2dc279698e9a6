// What is said about a session that is watched, or asked about, from another node: the words of both sides, and their schemas.
import { type Static, Type } from '@sinclair/typebox';

/** How long a session is shown after the last renewal of a watcher. */
export const WATCH_LEASE_MS = 10_000;
/** How often it is renewed. */
export const WATCH_RENEW_MS = 3_000;

const Id = Type.String({ minLength: 1, maxLength: 128 });
/** A state of a chart, as XState writes it. */
const Value = Type.Unknown();
const Sequence = Type.Integer({ minimum: 0 });

export const WatchRequest = Type.Object({
  type: Type.Union([Type.Literal('session.describe'), Type.Literal('watch.renew'), Type.Literal('watch.stop')]),
  sessionId: Id,
  /** Only sessions of this organisation are shown to it. */
  organisationId: Id,
  /** Who watches; ends with its lease, or by `watch.stop`. */
  watcher: Id,
});
export type WatchRequest = Static<typeof WatchRequest>;

const State = Type.Object({ machine: Id, value: Value, status: Id });

/** One step that changed a state, or so many that were left out. */
export const Frame = Type.Object({
  sessionId: Id,
  /** Counts the frames of one session from 1, those left out as one. */
  sequence: Sequence,
  step: Type.Union([
    Type.Object({ ...State.properties, event: Type.String({ maxLength: 256 }) }),
    Type.Object({ dropped: Type.Integer({ minimum: 1 }) }),
  ]),
});
export type Frame = Static<typeof Frame>;

/** What is told on the session's topic, while it is watched. */
export const Frames = Type.Object({
  type: Type.Literal('session.frames'),
  frames: Type.Array(Frame, { maxItems: 128 }),
  /** The session has ended: nothing follows. */
  ended: Type.Boolean(),
});
export type Frames = Static<typeof Frames>;

export const WatchAnswer = Type.Union([
  Type.Object({
    type: Type.Literal('session.described'),
    state: Id,
    legs: Type.Array(Type.Object({ model: Id, state: Id }), { maxItems: 64 }),
  }),
  /** Where the charts are; frames after `sequence` go on from there. Another `feed` has begun to count anew. */
  Type.Object({
    type: Type.Literal('watch.on'),
    feed: Sequence,
    states: Type.Array(State, { maxItems: 16 }),
    sequence: Sequence,
  }),
  Type.Object({ type: Type.Literal('watch.off') }),
  /** The node shows as many sessions, or this one to as many, as it may. */
  Type.Object({ type: Type.Literal('watch.full') }),
  /** No such session of that organisation is live there. */
  Type.Object({ type: Type.Literal('session.unknown') }),
]);
export type WatchAnswer = Static<typeof WatchAnswer>;
