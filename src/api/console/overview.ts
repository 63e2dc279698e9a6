// What the console's first page asks for at once, beside the answers that other pages show as well.
import { type Static, Type } from '@sinclair/typebox';

/** Failovers that are listed; all are counted. */
export const FAILOVERS_LISTED_MAX = 5;

export const Overview = Type.Object({
  /** Over all nodes: sessions of the last day that have no end yet. */
  live_sessions: Type.Integer(),
  /** Of sessions that have ended today, by UTC, as far as their events are kept. */
  failovers: Type.Object({
    count: Type.Integer(),
    newest: Type.Array(
      Type.Object({
        session_id: Type.String(),
        at: Type.String(),
        /** `deepgram/nova-3 to local/commands-en: upstream_closed` */
        text: Type.String(),
      }),
    ),
  }),
  /** What is left will soon be used up: less than a dollar, or less than the last day has cost. */
  credit_is_low: Type.Boolean(),
});
export type Overview = Static<typeof Overview>;
