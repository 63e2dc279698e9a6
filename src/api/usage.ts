// `/v1/usage`, `/v1/balance`, `/v1/sessions` and `/v1/bills`: what an organisation has used, what it costs, and what is left.
// Amounts are decimal strings in USD, times ISO 8601 UTC; adding them up is the ledger's work.
import { type Static, Type } from '@sinclair/typebox';
import { Mode } from './models.ts';

export const USAGE_DAYS_MAX = 366;
export const SESSIONS_LIMIT = { min: 1, max: 100, default: 20 } as const;

export const UsageGroup = Type.Union([
  Type.Literal('model'),
  Type.Literal('provider'),
  Type.Literal('day'),
  Type.Literal('key'),
]);

const Amount = Type.String({ description: 'USD, decimal.' });
const Time = Type.String({ description: 'ISO 8601 UTC.' });
const Nullable = <Schema extends ReturnType<typeof Type.String>>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const UsageList = Type.Object({
  object: Type.Literal('list'),
  from: Time,
  to: Time,
  group_by: UsageGroup,
  data: Type.Array(
    Type.Object({
      group: Type.String({ description: 'A slug, a provider, a day, or the id of a key.' }),
      byok: Type.Boolean(),
      sessions: Type.Integer({ description: 'Live sessions and files; one that several models heard counts at each.' }),
      audio_seconds: Type.Number(),
      cost_usd: Amount,
    }),
  ),
  total: Type.Object({ audio_seconds: Type.Number(), cost_usd: Amount }),
});
export type UsageList = Static<typeof UsageList>;

export const BalanceAnswer = Type.Object({
  object: Type.Literal('balance'),
  currency: Type.Literal('USD'),
  balance_usd: Amount,
  held_usd: Amount,
  available_usd: Nullable(Amount),
  credit_limit_usd: Nullable(Amount),
});
export type BalanceAnswer = Static<typeof BalanceAnswer>;

/** One connection of a session that is live on this node. */
const SessionLeg = Type.Object({
  model: Type.String(),
  state: Type.String(),
});
export type SessionLeg = Static<typeof SessionLeg>;

export const SessionAnswer = Type.Object({
  object: Type.Literal('session'),
  id: Type.String({ description: '`ses_…`, or the `req_…` of a file.' }),
  mode: Mode,
  state: Type.Union([Type.Literal('live'), Type.Literal('ended')]),
  model: Type.String({ description: 'The slug that was asked for.' }),
  key_id: Type.String(),
  opened_at: Time,
  ended_at: Nullable(Time),
  reason: Nullable(Type.String()),
  code: Nullable(Type.String()),
  audio_seconds: Type.Number(),
  usage: Type.Array(
    Type.Object({ model: Type.String(), seconds: Type.Number(), cost_usd: Amount, byok: Type.Boolean() }),
  ),
  cost_usd: Amount,
  held_usd: Amount,
  /** What the session is doing, and its connections; only while it is live on the node that answers. */
  phase: Type.Optional(Type.String()),
  legs: Type.Optional(Type.Array(SessionLeg)),
});
export type SessionAnswer = Static<typeof SessionAnswer>;

export const SessionList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(SessionAnswer),
  has_more: Type.Boolean(),
});
export type SessionList = Static<typeof SessionList>;

export const BillAnswer = Type.Object({
  object: Type.Literal('bill'),
  month: Type.String({ description: '`YYYY-MM`, by UTC.' }),
  /** Whether the month is over: until then the bill grows. */
  final: Type.Boolean(),
  currency: Type.Literal('USD'),
  organisation: Type.Object({ id: Type.String(), name: Type.String() }),
  opening_balance_usd: Amount,
  credits: Type.Array(Type.Object({ at: Time, kind: Type.String(), amount_usd: Amount, note: Type.String() })),
  usage: Type.Array(
    Type.Object({
      model: Type.String(),
      mode: Mode,
      byok: Type.Boolean(),
      sessions: Type.Integer(),
      audio_seconds: Type.Number(),
      cost_usd: Amount,
    }),
  ),
  total_usd: Amount,
  closing_balance_usd: Amount,
});
export type BillAnswer = Static<typeof BillAnswer>;
