// `/v1/usage`, `/v1/balance`, `/v1/sessions` and `/v1/bills`: what an organisation has used, what it costs, and what is left.
// Amounts are decimal strings in USD, times ISO 8601 UTC; adding them up is the ledger's work.
import { type Static, Type } from '@sinclair/typebox';
import { ConnectionSeconds, UsageRow } from './listen-events.ts';
import { Mode } from './models.ts';
import { TAG_KEY, Tags } from './tags.ts';

export const USAGE_DAYS_MAX = 366;
/** Of rows: more values of a tag are refused, so that none are left out unseen. */
export const USAGE_ROWS_MAX = 10_000;
export const SESSIONS_LIMIT = { min: 1, max: 100, default: 20 } as const;

export const UsageGroup = Type.Union([
  Type.Literal('model'),
  Type.Literal('provider'),
  Type.Literal('day'),
  Type.Literal('key'),
  Type.Unsafe<`tag:${string}`>(
    Type.String({ pattern: `^tag:${TAG_KEY}$`, description: 'By the values of a tag.', examples: ['tag:customer'] }),
  ),
]);
export type UsageGroup = Static<typeof UsageGroup>;

const TagFilter = Type.Optional(
  Type.String({ description: 'Only with this tag: its key, a colon and its value.', examples: ['customer:acme'] }),
);

const Instant = (description: string) =>
  Type.Optional(Type.String({ description, examples: ['2026-01-31', '2026-01-31T12:00:00Z'] }));

export const UsageQuery = Type.Object(
  {
    from: Instant('ISO 8601 date or time, UTC without an offset; the beginning of the month when absent.'),
    to: Instant(`ISO 8601 date or time; now when absent. At most ${USAGE_DAYS_MAX} days after \`from\`.`),
    group_by: Type.Optional(Type.Union([...UsageGroup.anyOf], { default: 'model', description: 'What is added up.' })),
    key: Type.Optional(Type.String({ description: 'Id of a key: only what was used with it.' })),
    tag: TagFilter,
    format: Type.Optional(
      Type.Union([Type.Literal('json'), Type.Literal('csv')], {
        default: 'json',
        description: 'How the answer is written: as JSON, or as a table for spreadsheets.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const SessionsQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: SESSIONS_LIMIT.min,
        maximum: SESSIONS_LIMIT.max,
        default: SESSIONS_LIMIT.default,
        description: 'How many sessions, newest first.',
      }),
    ),
    before: Type.Optional(Type.String({ description: 'Id of a session: those that are older than it.' })),
    state: Type.Optional(
      Type.Union([Type.Literal('live'), Type.Literal('ended')], { description: 'Both when absent.' }),
    ),
    model: Type.Optional(
      Type.String({
        description: 'A slug or a provider, that was asked for or heard some of it.',
        examples: ['deepgram'],
      }),
    ),
    key: Type.Optional(Type.String({ description: 'Id of the key that opened it.' })),
    from: Type.Optional(Type.String({ description: 'Opened then or later: an ISO 8601 date or time, in UTC.' })),
    to: Type.Optional(Type.String({ description: 'Opened before: an ISO 8601 date or time, in UTC.' })),
    reason: Type.Optional(Type.String({ description: 'Why it ended, or the code of the error that ended it.' })),
    id: Type.Optional(Type.String({ description: 'How its id begins.' })),
    tag: TagFilter,
  },
  { additionalProperties: false },
);

export const SessionEventsQuery = Type.Object(
  {
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Number of an event: those behind it that are kept come first. 0 for all of them. As `Last-Event-ID`, which wins.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const BillQuery = Type.Object(
  {
    format: Type.Optional(
      Type.Union([Type.Literal('json'), Type.Literal('csv'), Type.Literal('html')], {
        default: 'json',
        description: '`html` is a page to print.',
      }),
    ),
  },
  { additionalProperties: false },
);

const Amount = Type.String({ description: 'USD, decimal.' });
const Seconds = Type.Number({ description: 'Seconds of audio.' });
const Time = Type.String({ description: 'ISO 8601 UTC.' });
const Nullable = <Schema extends ReturnType<typeof Type.String>>(schema: Schema) => Type.Union([schema, Type.Null()]);

const Redactions = (description: string) =>
  Type.Optional(Type.Record(Type.String(), Type.Integer({ minimum: 1 }), { description }));

export const UsageList = Type.Object({
  object: Type.Literal('list'),
  from: Time,
  to: Time,
  group_by: UsageGroup,
  data: Type.Array(
    Type.Object({
      group: Type.Union([Type.String(), Type.Null()], {
        description: 'A slug, a provider, a day, the id of a key, or the value of a tag; null without this tag.',
      }),
      byok: Type.Boolean({ description: 'Whether it ran on your own provider keys.' }),
      sessions: Type.Integer({ description: 'Live sessions and files; one that several models heard counts at each.' }),
      audio_seconds: Seconds,
      connection_seconds: ConnectionSeconds,
      cost_usd: Amount,
      counted_usd: Type.Optional(
        Type.String({
          description:
            'With your own provider keys, where there are spend ceilings: what counts under them, in USD. It is not charged.',
        }),
      ),
    }),
  ),
  total: Type.Object({
    audio_seconds: Seconds,
    cost_usd: Amount,
    redactions: Redactions(
      'How often the gateway has redacted each class, in sessions and files that have ended; absent if it has redacted nothing.',
    ),
  }),
});
export type UsageList = Static<typeof UsageList>;

export const BalanceAnswer = Type.Object({
  object: Type.Literal('balance'),
  currency: Type.Literal('USD'),
  balance_usd: Type.String({ description: 'What there is: USD, decimal.' }),
  held_usd: Type.String({ description: 'Set aside for work under way: USD, decimal.' }),
  available_usd: Type.Union([Type.String(), Type.Null()], {
    description: 'Left to spend: USD, decimal; null without a limit.',
  }),
  credit_limit_usd: Type.Union([Type.String(), Type.Null()], {
    description: 'How far below zero the balance may go: USD, decimal; null without a limit.',
  }),
});
export type BalanceAnswer = Static<typeof BalanceAnswer>;

/** One connection of a session. */
export const SessionLeg = Type.Object({
  model: Type.String({ description: 'Slug `<provider>/<model>`.' }),
  state: Type.String({ description: 'What the connection is doing.' }),
  simulated: Type.Optional(
    Type.Literal(true, { description: 'Present where a simulator stands in the place of the provider.' }),
  ),
});
export type SessionLeg = Static<typeof SessionLeg>;

export const SessionAnswer = Type.Object({
  object: Type.Literal('session'),
  id: Type.String({ description: '`ses_…`, or the `req_…` of a file.' }),
  mode: Mode,
  state: Type.Union([Type.Literal('live'), Type.Literal('ended')]),
  model: Type.String({ description: 'The slug that was asked for.' }),
  key_id: Type.String({ description: 'The key that opened it.' }),
  tags: Type.Optional(
    Type.Unsafe<Tags>({ ...Tags, description: 'Of its request, its client token and its key. Absent without any.' }),
  ),
  opened_at: Time,
  ended_at: Nullable(Time),
  reason: Type.Union([Type.String(), Type.Null()], { description: 'Why it ended; null while it is live.' }),
  code: Type.Union([Type.String(), Type.Null()], { description: 'Code of the error that ended it, or null.' }),
  audio_seconds: Seconds,
  usage: Type.Array(UsageRow),
  cost_usd: Amount,
  held_usd: Type.String({ description: 'Set aside for what is to come: USD, decimal.' }),
  redactions: Redactions(
    'How often the gateway has redacted each class, once it has ended; absent if it has redacted nothing.',
  ),
  phase: Type.Optional(
    Type.String({ description: 'What the session is doing; only while it is live on the node that answers.' }),
  ),
  legs: Type.Optional(
    Type.Array(SessionLeg, {
      description: 'Its last connections; of one that has ended, as long as its events are kept.',
    }),
  ),
  turns: Type.Optional(
    Type.Integer({ description: 'Turns that it had; once it has ended, as long as its events are kept.' }),
  ),
  failovers: Type.Optional(Type.Integer({ description: 'How often another model took over; as long as `turns`.' })),
});
export type SessionAnswer = Static<typeof SessionAnswer>;

export const SessionList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(SessionAnswer),
  has_more: Type.Boolean({ description: 'Whether there are older ones: ask with `before`.' }),
  next: Nullable(
    Type.String({
      description:
        '`before` of what follows; null at the end. A request that asks for some sessions only looks at 10,000 of them, and may find none with more to follow.',
    }),
  ),
});
export type SessionList = Static<typeof SessionList>;

export const BillAnswer = Type.Object({
  object: Type.Literal('bill'),
  month: Type.String({ description: '`YYYY-MM`, by UTC.' }),
  final: Type.Boolean({ description: 'Whether the month is over: until then the bill grows.' }),
  currency: Type.Literal('USD'),
  organisation: Type.Object({ id: Type.String(), name: Type.String() }),
  opening_balance_usd: Amount,
  credits: Type.Array(Type.Object({ at: Time, kind: Type.String(), amount_usd: Amount, note: Type.String() })),
  usage: Type.Array(
    Type.Object({
      model: Type.String(),
      mode: Mode,
      byok: Type.Boolean({ description: 'Whether it ran on your own provider keys.' }),
      sessions: Type.Integer({ description: 'Live sessions or files.' }),
      audio_seconds: Seconds,
      connection_seconds: ConnectionSeconds,
      cost_usd: Amount,
    }),
  ),
  total_usd: Amount,
  closing_balance_usd: Amount,
});
export type BillAnswer = Static<typeof BillAnswer>;
