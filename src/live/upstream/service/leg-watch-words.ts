// What the node of a watched session and the node of its leg say to each other of the leg's chart.
import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';

/** How long a leg is watched after the last renewal. */
export const LEG_WATCH_MS = 10_000;

const Name = Type.String({ minLength: 1, maxLength: 256 });
const Status = Type.String({ maxLength: 16 });

const WatchLeg = Type.Object({
  type: Type.Literal('leg.watch'),
  sessionId: Name,
  generation: Type.Integer({ minimum: 1 }),
  model: Name,
  /** False: it is watched no more. */
  on: Type.Boolean(),
});
export type WatchLeg = Static<typeof WatchLeg>;

const LegWatched = Type.Union([
  Type.Object({ type: Type.Literal('leg.watched'), value: Type.Unknown(), status: Status }),
  Type.Object({ type: Type.Literal('leg.unwatched') }),
]);
export type LegWatched = Static<typeof LegWatched>;

/** A step of the leg's chart, on the topic of its session. */
const LegStep = Type.Object({
  type: Type.Literal('leg.step'),
  generation: Type.Integer({ minimum: 1 }),
  /** The node that has the leg, and what the leg is a connection to. */
  node: Name,
  model: Name,
  /** The report that the step has told its session, which has come there before the step itself; 0 for none. */
  report: Type.Integer({ minimum: 0 }),
  event: Name,
  edges: Type.Array(Name, { maxItems: 64 }),
  through: Type.Array(Type.Unknown(), { maxItems: 64 }),
  value: Type.Unknown(),
  status: Status,
});
export type LegStep = Static<typeof LegStep>;

const watch = TypeCompiler.Compile(WatchLeg);
const watched = TypeCompiler.Compile(LegWatched);
const step = TypeCompiler.Compile(LegStep);

export const isWatchLeg = (body: { type: string }): body is WatchLeg => watch.Check(body);
export const isLegWatched = (body: { type: string }): body is LegWatched => watched.Check(body);
export const isLegStep = (body: { type: string }): body is LegStep => step.Check(body);
