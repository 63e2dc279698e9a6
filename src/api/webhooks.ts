// `/v1/webhooks`: where an organisation has its events posted, which events there are, and how deliveries went. Posts are in the format
// of https://www.standardwebhooks.com.
import { type Static, type TSchema, Type } from '@sinclair/typebox';

export const WEBHOOK_EVENTS = [
  'job.completed',
  'job.failed',
  'session.ended',
  'usage.recorded',
  'balance.low',
  'spend.reached',
  'key.revoked',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];
/** Sent by `POST /v1/webhooks/{id}/test`, also to an endpoint that does not subscribe to it. */
export const WEBHOOK_TEST = 'webhook.test';
/** `standard`: Standard Webhooks. `cloudevents`: CloudEvents 1.0, one event or a batch, with the same signature. */
export const WEBHOOK_FORMATS = ['standard', 'cloudevents'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];
export type WebhookType = WebhookEvent | typeof WEBHOOK_TEST;

/** Endpoints of one organisation. */
export const WEBHOOKS_MAX = 10;
export const WEBHOOK_URL_LENGTH_MAX = 2048;
export const WEBHOOK_DESCRIPTION_LENGTH_MAX = 200;
export const BALANCE_LOW_USD_DEFAULT = '5';
/** How long the previous secret signs as well. */
export const SECRET_OVERLAP_SECONDS = { min: 0, max: 7 * 24 * 3600, default: 24 * 3600 } as const;
export const DELIVERIES_LIMIT = { min: 1, max: 100, default: 20 } as const;

const Time = Type.String({ description: 'ISO 8601 UTC.' });
const orNull = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const Url = Type.String({
  minLength: 1,
  maxLength: WEBHOOK_URL_LENGTH_MAX,
  description: 'Where events are posted: `https` on the Internet.',
  examples: ['https://example.com/voxgate'],
});
const Events = Type.Array(Type.Union(WEBHOOK_EVENTS.map((event) => Type.Literal(event))), {
  minItems: 1,
  maxItems: WEBHOOK_EVENTS.length,
  uniqueItems: true,
  description: 'The events that are posted there.',
});
const Description = Type.String({
  maxLength: WEBHOOK_DESCRIPTION_LENGTH_MAX,
  description: 'Your own note about the endpoint.',
});
const BalanceLow = Type.String({
  pattern: '^\\d{1,9}(\\.\\d{1,6})?$',
  description: `\`balance.low\` is sent when the balance falls below this amount: USD, decimal. ${BALANCE_LOW_USD_DEFAULT} when absent.`,
  examples: ['5'],
});

const Transcripts = Type.Boolean({
  description: '`session.ended` has the transcript of the session, unless its key or request has the retention `none`.',
});

const Format = Type.Union(
  WEBHOOK_FORMATS.map((format) => Type.Literal(format)),
  {
    default: 'standard',
    description:
      'How events are written: `standard` for Standard Webhooks, or `cloudevents` for CloudEvents 1.0, which metering systems read. It cannot be changed later.',
  },
);

export const WebhookBody = Type.Object(
  {
    url: Url,
    events: Events,
    format: Type.Optional(Format),
    description: Type.Optional(Description),
    balance_low_usd: Type.Optional(BalanceLow),
    transcripts: Type.Optional(Transcripts),
  },
  { additionalProperties: false },
);
export type WebhookBody = Static<typeof WebhookBody>;

export const WebhookChange = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    description: Type.Optional(Description),
    balance_low_usd: Type.Optional(BalanceLow),
    transcripts: Type.Optional(Transcripts),
    state: Type.Optional(
      Type.Union([Type.Literal('enabled'), Type.Literal('disabled')], {
        description: 'A disabled endpoint receives nothing; what waited for it has failed.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type WebhookChange = Static<typeof WebhookChange>;

export const WebhookSecretBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: SECRET_OVERLAP_SECONDS.min,
        maximum: SECRET_OVERLAP_SECONDS.max,
        default: SECRET_OVERLAP_SECONDS.default,
        description: 'How long the previous secret signs as well.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const DISABLED_REASONS = ['requested', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

const webhook = {
  object: Type.Literal('webhook'),
  id: Type.String({ description: '`we_…`.' }),
  url: Url,
  events: Events,
  format: Format,
  description: Description,
  balance_low_usd: Type.String({ description: 'USD, decimal.' }),
  transcripts: Transcripts,
  state: Type.Union([Type.Literal('enabled'), Type.Literal('disabled')]),
  disabled_reason: Type.Union([...DISABLED_REASONS.map((reason) => Type.Literal(reason)), Type.Null()], {
    description:
      'Why it is disabled: `requested` by you, `gone` after an answer with status 410, or `failing` after five days without a successful delivery.',
  }),
  failing_since: orNull(Time, 'The first failure since the last success.'),
  previous_secret_until: orNull(Time, 'Until then the previous secret signs as well.'),
  dropped: Type.Integer({ description: 'Deliveries that were dropped undelivered because too many waited.' }),
  created_at: Time,
};
export const WebhookAnswer = Type.Object(webhook);
export type WebhookAnswer = Static<typeof WebhookAnswer>;

export const NewWebhookAnswer = Type.Object({
  ...webhook,
  secret: Type.String({ description: '`whsec_…`, shown once: what you verify posts with.' }),
});
export type NewWebhookAnswer = Static<typeof NewWebhookAnswer>;

export const WebhookList = Type.Object({ object: Type.Literal('list'), data: Type.Array(WebhookAnswer) });
export type WebhookList = Static<typeof WebhookList>;

export const WebhookDeleted = Type.Object({
  object: Type.Literal('webhook'),
  id: Type.String(),
  deleted: Type.Literal(true),
});

export const WebhookAttempt = Type.Object({
  at: Time,
  status: Type.Union([Type.Integer(), Type.Null()], { description: 'Status of the answer; null without one.' }),
  error: Type.Union([Type.String(), Type.Null()], { description: 'Why there was no answer.' }),
  duration_ms: Type.Integer(),
});

export const WebhookDelivery = Type.Object({
  object: Type.Literal('webhook_delivery'),
  id: Type.String({ description: '`msg_…`, the header `webhook-id` of each attempt.' }),
  event: Type.String({ description: 'Type of the event.' }),
  state: Type.Union([Type.Literal('pending'), Type.Literal('delivered'), Type.Literal('failed')]),
  attempts: Type.Integer({ description: 'How often it was sent.' }),
  latest_attempts: Type.Array(WebhookAttempt, { description: 'The latest attempts, oldest first.' }),
  next_attempt_at: orNull(Time, 'When it is sent next; null when it is not.'),
  created_at: Time,
  ended_at: orNull(Time, 'When it was delivered, or given up.'),
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookDeliveriesQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: DELIVERIES_LIMIT.min,
        maximum: DELIVERIES_LIMIT.max,
        default: DELIVERIES_LIMIT.default,
        description: 'How many deliveries, newest first.',
      }),
    ),
    before: Type.Optional(Type.String({ description: 'Id of a delivery: those that are older than it.' })),
  },
  { additionalProperties: false },
);

export const WebhookDeliveryList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(WebhookDelivery),
  has_more: Type.Boolean(),
  next: Type.Union([Type.String(), Type.Null()], { description: 'What `before` takes for the next page.' }),
});
export type WebhookDeliveryList = Static<typeof WebhookDeliveryList>;

/** The body of a post. */
export interface WebhookPayload {
  type: WebhookType;
  /** When it happened: ISO 8601 UTC. */
  timestamp: string;
  data: Readonly<Record<string, unknown>>;
}
