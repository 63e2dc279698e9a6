// What the console shows of the gateway itself: before the login, on its first page, and over the last hour or day.
import { type Static, Type } from '@sinclair/typebox';

/** What a gateway is set up with, for its operator. */
export const SetUp = Type.Object({
  /** Every provider, and whether the service has what it takes to use it. */
  providers: Type.Array(
    Type.Object({
      name: Type.String(),
      title: Type.String(),
      needs: Type.Union([Type.Literal('key'), Type.Literal('address'), Type.Literal('nothing')]),
      is_usable: Type.Boolean(),
    }),
  ),
  /** Where mails go: to a server, to a page of this machine, or nowhere. */
  mail: Type.Union([Type.Literal('server'), Type.Literal('outbox'), Type.Literal('nowhere')]),
  /** Who speaks TLS: this process, a proxy in front of it, or nobody. */
  tls: Type.Union([Type.Literal('here'), Type.Literal('proxy'), Type.Literal('nobody')]),
});
export type SetUp = Static<typeof SetUp>;

export const ConsoleStatus = Type.Object({
  version: Type.String(),
  /** No while it drains: it takes nothing new then. */
  ready: Type.Boolean(),
  /** Whether an account can be made: mails reach people, or wait on this machine. */
  sign_up: Type.Boolean(),
  /** Where mails wait to be read; only on a gateway of one's own machine without a mail server. */
  outbox: Type.Optional(Type.String()),
  /** Only where gateway and reader are alone on one machine. */
  set_up: Type.Optional(SetUp),
});
export type ConsoleStatus = Static<typeof ConsoleStatus>;

/** Failovers that the first page lists; all are counted. */
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

/** As in `/metrics`: counts, rates and percentiles, nothing of any one session. Undefined where nothing was counted: a rate of no attempts, a percentile of no turns. */
export interface HistoryFigures {
  /** Connections and requests to models. */
  attempts: number;
  /** Live connections and files in progress, or of a node its live sessions: the most in the step. */
  under_way: number;
  /** Of the attempts, from 0 to 1. */
  error_rate?: number;
  failover_rate?: number;
  /** Seconds: median and 95th percentile. */
  first_word?: [p50: number, p95: number];
  final?: [p50: number, p95: number];
  file?: [p50: number, p95: number];
}

export interface HistorySeries {
  /** `all`, or a model or node. */
  name: string;
  /** Over the whole window. */
  total: HistoryFigures;
  /** One for each time; null where no node ran. */
  points: (HistoryFigures | null)[];
}

export interface HistoryView {
  at: string;
  window: 'hour' | 'day';
  by: 'model' | 'node';
  /** Ids of nodes that have answered, and of those that have not. */
  nodes: string[];
  silent: string[];
  /** Where each step begins, in seconds since 1970. */
  times: number[];
  /** `all` first, then those with the most attempts. */
  series: HistorySeries[];
}
