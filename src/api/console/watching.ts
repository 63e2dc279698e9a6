// What is reported of a watched session: between nodes, and as server-sent events to the console and to programs. Names of
// states and events, times and figures. The text of finals is in it only for the console of an organisation that shows transcripts.
import { type Static, Type } from '@sinclair/typebox';
import { SessionLeg } from '../usage.ts';

/** What is kept of one session: its latest frames, so many at most. */
export const WATCHED_FRAMES_MAX = 256;
/** Characters of one final in its frame; a longer text is cut. */
export const TRANSCRIPT_CHARS_MAX = 4_000;

const Id = Type.String({ minLength: 1, maxLength: 128 });
const StateValue = Type.Unknown({
  description: 'A state of the chart as XState writes it: a name, or names by region.',
});
const Seconds = Type.Number({ description: 'Seconds of audio.' });
const Status = Type.String({ maxLength: 16, description: '`active`, `done`, `error` or `stopped`.' });
const Amount = Type.String({ maxLength: 64, description: 'USD, decimal.' });

/** One chart of the session. */
export const WatchedActor = Type.Object({
  id: Type.String({
    minLength: 1,
    maxLength: 128,
    description:
      'Unique in its session: `session`, `turn`, `failover`, `leg:2`, `breaker:1` (of the first model of its chain), `node`; and ' +
      'what is no chart, but has a named state: `money`, and `placing` (whether a node has its leg, or is waited for).',
  }),
  machine: Type.String({ maxLength: 128, description: 'The chart that it runs: `upstream` for a leg.' }),
  node: Type.String({ maxLength: 128, description: 'The node that runs it, by its incarnation.' }),
  about: Type.Union([Type.String({ maxLength: 256 }), Type.Null()], {
    description: 'What it is about: the model of a leg or breaker, or the one that was asked for.',
  }),
  value: StateValue,
  status: Status,
});
export type WatchedActor = Static<typeof WatchedActor>;

export const MarkName = Type.Union([
  Type.Literal('leg_opened'),
  Type.Literal('leg_lost'),
  Type.Literal('turn_eager_end'),
  Type.Literal('turn_resumed'),
  Type.Literal('turn_final'),
  Type.Literal('failover'),
  Type.Literal('returned'),
  Type.Literal('warning'),
  Type.Literal('discontinuity'),
  Type.Literal('suspended'),
  Type.Literal('resumed'),
]);
export type MarkName = Static<typeof MarkName>;

const Stamp = {
  sequence: Type.Integer({
    minimum: 0,
    description:
      'Counts the frames of a session from 1, watched or not. `actors` has that of the frame before it. Where some are missing, they were lost on their way, or are kept no more.',
  }),
  at: Type.String({ maxLength: 32, description: 'ISO 8601 UTC, with milliseconds.' }),
};

export const ActorsFrame = Type.Object({
  kind: Type.Literal('actors', { description: 'Where every chart is; first, and each time that steps were missed.' }),
  ...Stamp,
  actors: Type.Array(WatchedActor, { maxItems: 64 }),
});

export const StepFrame = Type.Object({
  kind: Type.Literal('step', { description: 'A chart has taken an event, to the end of what followed at once.' }),
  ...Stamp,
  actor: Id,
  event: Type.String({ maxLength: 256 }),
  edges: Type.Array(Type.String({ maxLength: 256 }), {
    maxItems: 64,
    description: 'Ids of the transitions taken, in order, as in the drawing of the chart.',
  }),
  through: Type.Array(StateValue, {
    maxItems: 64,
    description: 'States that it passed on its way to `value`, in order.',
  }),
  value: StateValue,
  status: Status,
});

export const MarkFrame = Type.Object({
  kind: Type.Literal('mark', { description: 'Something for the timeline.' }),
  ...Stamp,
  mark: MarkName,
  text: Type.String({ maxLength: 512 }),
  model: Type.Optional(Type.String({ maxLength: 256 })),
  start: Type.Optional(Seconds),
  end: Type.Optional(Seconds),
  final_ms: Type.Optional(
    Type.Number({
      description:
        'Of a final: milliseconds from when the audio in which its words end was handed to the model until it was written to the client.',
    }),
  ),
  gateway_ms: Type.Optional(
    Type.Number({
      description: 'The gateway’s own part: from when the provider’s final was read until it was written.',
    }),
  ),
  transcript: Type.Optional(
    Type.String({
      maxLength: TRANSCRIPT_CHARS_MAX,
      description:
        'The text of a final. Only in the console, while the session is live, and where the owner of the organisation switched transcripts on. API keys never receive it.',
    }),
  ),
});

export const AudioFrame = Type.Object({
  kind: Type.Literal('audio', { description: 'Audio and money so far; once a second at most, when it changed.' }),
  ...Stamp,
  received_seconds: Seconds,
  sent_seconds: Seconds,
  settled_seconds: Seconds,
  held_usd: Amount,
  cost_usd: Amount,
});
export type AudioFrame = Static<typeof AudioFrame>;

export const EndedFrame = Type.Object({
  kind: Type.Literal('ended', { description: 'The last: nothing follows.' }),
  ...Stamp,
  reason: Type.String({ maxLength: 64, description: 'As in `session_ended`; `lost` where its node answers no more.' }),
  turns: Type.Optional(Type.Integer({ minimum: 0, description: 'Turns that it had.' })),
  failovers: Type.Optional(Type.Integer({ minimum: 0, description: 'How often another model took over.' })),
  legs: Type.Optional(
    Type.Array(SessionLeg, { maxItems: 64, description: 'Its last connections, and what became of each.' }),
  ),
});

export type EndedFrame = Static<typeof EndedFrame>;

export const WatchedFrame = Type.Union([
  ActorsFrame,
  StepFrame,
  Type.Object({
    kind: Type.Literal('actor', { description: 'A chart was started.' }),
    ...Stamp,
    actor: WatchedActor,
  }),
  Type.Object({ kind: Type.Literal('gone', { description: 'A chart was stopped.' }), ...Stamp, actor: Id }),
  AudioFrame,
  MarkFrame,
  Type.Object({
    kind: Type.Literal('dropped', { description: 'So many frames were left out.' }),
    ...Stamp,
    count: Type.Integer({ minimum: 1 }),
  }),
  EndedFrame,
]);
export type WatchedFrame = Static<typeof WatchedFrame>;

/** A frame before it is numbered and stamped. */
export type FrameBody = Unstamped<Exclude<WatchedFrame, { kind: 'actors' }>>;
type Unstamped<Frame> = Frame extends unknown ? Omit<Frame, 'sequence' | 'at'> : never;
