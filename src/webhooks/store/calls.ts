// Webhooks in the database: endpoints of organisations, and deliveries to them. Secrets and payloads are sealed before they come here.
// Deliveries are sent by the node that owns the accounts, which records each attempt: one that was sent and not recorded is sent again.
import {
  type DisabledReason,
  WEBHOOKS_MAX,
  type WebhookEvent,
  type WebhookFormat,
  type WebhookType,
} from '../../api/webhooks.ts';
import type { Actor } from '../../store/audit-log.ts';
import {
  type Asynchronous,
  first,
  member,
  notes,
  type Operation,
  type Operations,
  reads,
  writes,
} from '../../store/operation.ts';

export interface WebhookSettings {
  url: string;
  events: readonly WebhookEvent[];
  description: string;
  /** `balance.low` is sent when the balance falls below it. */
  balanceLowMicroUsd: bigint;
  /** `session.ended` has the transcript. */
  transcripts: boolean;
}

export interface NewWebhook extends WebhookSettings {
  /** `we_…` */
  id: string;
  /** `standard` when absent. */
  format?: WebhookFormat;
  /** Sealed. */
  secret: Uint8Array;
}

export interface WebhookSettingsChange extends Partial<WebhookSettings> {
  state?: 'enabled' | 'disabled';
}

export interface Webhook extends WebhookSettings {
  id: string;
  format: WebhookFormat;
  organisationId: string;
  state: 'enabled' | 'disabled';
  /** Why it is disabled. */
  reason: DisabledReason | null;
  /** The first failure since the last success. */
  failingSinceMs: number | null;
  /** Until then the previous secret signs as well. */
  previousUntilMs: number | null;
  /** Deliveries that were removed undelivered to make room. */
  dropped: number;
  createdAtMs: number;
}

/** An event for all endpoints of an organisation that subscribe to it. */
export interface NewWebhookEvent {
  organisationId: string;
  /** `msg_…`. The same again is not delivered again. */
  id: string;
  type: WebhookType;
  /** Sealed. */
  payload: Uint8Array;
}

export interface DeliveryAttempt {
  atMs: number;
  /** Null without an answer. */
  status: number | null;
  error: string | null;
  durationMs: number;
}

export type DeliveryState = 'pending' | 'delivered' | 'failed';

export interface ListedDelivery {
  id: string;
  type: WebhookType;
  state: DeliveryState;
  attempts: number;
  /** The latest ones, oldest first. */
  latest: readonly DeliveryAttempt[];
  nextAtMs: number | null;
  createdAtMs: number;
  endedAtMs: number | null;
}

/** A delivery whose time has come. */
export interface DueDelivery {
  number: number;
  organisationId: string;
  endpoint: number;
  /** Nothing was delivered there since a failure. */
  isFailing: boolean;
}

export interface DeliveryToSend {
  id: string;
  organisationId: string;
  endpointId: string;
  url: string;
  format: WebhookFormat;
  payload: Uint8Array;
  secret: Uint8Array;
  /** Null where it signs no more. */
  previousSecret: Uint8Array | null;
  /** Attempts since it was created or sent again by request. */
  retries: number;
}

/** Something that happened, for one endpoint. */
export interface WebhookFact {
  number: number;
  endpoint: number;
  format: WebhookFormat;
  /** Nothing was delivered there since a failure. */
  isFailing: boolean;
  organisationId: string;
  type: WebhookEvent;
  /** Id of a session, key, job or organisation. */
  subject: string;
  /** A balance, the key of a job, or when a session was settled. */
  detail: string;
  /** The endpoint wants the transcript of the session. */
  hasTranscript: boolean;
}

/** Facts of one look. */
export const FACTS_MAX = 100;

export interface WebhookWork {
  /** There is an endpoint. */
  isUsed: boolean;
  due: DueDelivery[];
  facts: WebhookFact[];
  /** Deliveries whose time is over. */
  hasExpired: boolean;
}

export interface AttemptedDelivery {
  number: number;
  attempt: DeliveryAttempt;
  /** `retry`: as late as said. `gone`: the receiver wants no more. */
  outcome: 'delivered' | 'retry' | 'failed' | 'gone';
  retryAfterMs: number | null;
}

/** A delivery in the place of a fact. Undefined payload: there is nothing to say of it any more. */
export interface FactDelivery {
  fact: number;
  id: string;
  payload: Uint8Array | undefined;
}

/** One delivery in the place of several facts of one endpoint. */
export interface FactBatch {
  facts: readonly number[];
  id: string;
  payload: Uint8Array;
}

export interface SealedWebhookSecret {
  id: string;
  organisationId: string;
  secret: Uint8Array;
  previousSecret: Uint8Array | null;
}

export interface WebhookCalls {
  /** Throws `not_found` for the organisation, `conflict` beyond the number of endpoints, `invalid`. */
  createWebhook(organisationId: string, webhook: NewWebhook, by: Actor): Webhook;
  /** What is absent stays. Undefined when it is not there. Throws `invalid`. */
  changeWebhook(organisationId: string, id: string, change: WebhookSettingsChange, by: Actor): Webhook | undefined;
  /** The secret before signs as well, for so long. Undefined when it is not there. */
  rollWebhookSecret(
    organisationId: string,
    id: string,
    secret: Uint8Array,
    overlapMs: number,
    by: Actor,
  ): Webhook | undefined;
  /** With its deliveries. False when it is not there. */
  removeWebhook(organisationId: string, id: string, by: Actor): boolean;
  findWebhook(organisationId: string, id: string): Webhook | undefined;
  /** Oldest first. */
  listWebhooks(organisationId: string): Webhook[];

  /** To each endpoint that subscribes to it. Returns how many deliveries were made, and how many made room undelivered. */
  addWebhookEvent(event: NewWebhookEvent): { added: number; dropped: number };
  /** To one endpoint, whatever it subscribes to. Undefined when it is not there; throws `conflict` for one that is disabled. */
  addWebhookTest(event: NewWebhookEvent, endpointId: string): ListedDelivery | undefined;
  /** Newest first. Throws `not_found` for a place that it does not know. @param before id of the last one of the page before */
  listWebhookDeliveries(organisationId: string, endpointId: string, limit: number, before?: string): ListedDelivery[];
  /** Sent again, with the same id. Undefined when it is not there; throws `conflict` while its endpoint is disabled. */
  resendWebhookDelivery(organisationId: string, endpointId: string, deliveryId: string): ListedDelivery | undefined;

  /**
   * @param after number of an endpoint: due deliveries of those that follow, then of the first ones
   * @param factsAfter number of a fact: up to 100 of those that follow
   */
  readWebhookWork(after: number, perEndpointMax: number, max: number, factsAfter: number): WebhookWork;
  /** A delivery that is due: no other process gets it for the time of the lease. Undefined when it is not due any more. */
  takeWebhookDelivery(number: number, leaseMs: number): DeliveryToSend | undefined;
  /** Undefined when the delivery is not there any more. `disabled`: its endpoint was, by this. */
  recordWebhookAttempt(attempted: AttemptedDelivery): { disabled: DisabledReason | null } | undefined;
  /** Each fact once. Returns how many deliveries were dropped undelivered: those that made room, and payloads that are too large. */
  addWebhookDeliveries(deliveries: readonly FactDelivery[]): number;
  /**
   * The same for batches. One of which another process took some facts is delivered whole; one of which it took all is not.
   */
  addWebhookBatches(batches: readonly FactBatch[]): number;
  /** Removes some deliveries whose time is over. Returns how many. */
  expireWebhookDeliveries(max: number): number;
  /** Whether an endpoint that is enabled wants transcripts. */
  wantsTranscripts(organisationId: string): boolean;
  /** Keeps the sealed transcript of a session for a few minutes; nothing where none is wanted, or too many are kept. */
  keepWebhookTranscript(organisationId: string, sessionId: string, sealed: Uint8Array): void;
  findWebhookTranscript(organisationId: string, sessionId: string): Uint8Array | undefined;
  listWebhookSecrets(): SealedWebhookSecret[];
  /** The same secrets, sealed with another key. Secrets that were replaced meanwhile stay. */
  resealWebhookSecrets(resealed: readonly { id: string; from: Uint8Array; to: Uint8Array }[]): void;
}

export type WebhookStore = Asynchronous<WebhookCalls>;

/** The version of the store that brought events of usage, and the format that an endpoint wants. */
export const USAGE_EVENTS_SINCE = 10;

/** The version that knows the settings among the arguments of `createWebhook` or `changeWebhook`. */
export const sinceOfWebhook = (args: readonly unknown[]): number =>
  args.some((each) => isOfUsage((each ?? {}) as Partial<NewWebhook>)) ? USAGE_EVENTS_SINCE : 1;

const isOfUsage = ({ format = 'standard', events }: Partial<NewWebhook>): boolean =>
  format !== 'standard' || (Array.isArray(events) && events.includes('usage.recorded'));

const since4 = <Each extends Operation>(operation: Each) => ({ ...operation, since: 4 });

export const WEBHOOK_OPERATIONS = {
  createWebhook: since4(writes(first('text', 'object', 'object'))),
  changeWebhook: since4(writes(first('text', 'text', 'object', 'object'))),
  rollWebhookSecret: since4(writes(first('text', 'text', 'bytes', 'number', 'object'))),
  removeWebhook: since4(writes(first('text', 'text', 'object'))),
  findWebhook: reads(first('text', 'text')),
  listWebhooks: reads(first('text')),
  addWebhookEvent: since4(writes(member('object'))),
  addWebhookTest: since4(writes(member('object', 'text'))),
  listWebhookDeliveries: reads(first('text', 'text', 'number', 'text?')),
  resendWebhookDelivery: since4(writes(first('text', 'text', 'text'))),
  readWebhookWork: reads(),
  takeWebhookDelivery: since4(notes()),
  recordWebhookAttempt: since4(writes()),
  addWebhookDeliveries: since4(writes()),
  addWebhookBatches: { ...writes(), since: USAGE_EVENTS_SINCE },
  expireWebhookDeliveries: since4(writes()),
  wantsTranscripts: reads(first('text')),
  keepWebhookTranscript: since4(notes(first('text', 'text', 'bytes'))),
  findWebhookTranscript: reads(),
  listWebhookSecrets: reads(),
  resealWebhookSecrets: since4(writes()),
} as const satisfies Operations<WebhookCalls>;

export interface WebhookLimits {
  endpointsMax: number;
  payloadBytesMax: number;
  /** Of delivered and failed ones, from their end on. */
  keptMs: number;
  /** An endpoint is disabled after so long without a success. */
  failingMs: number;
  organisation: { deliveries: number; bytes: number };
  store: { deliveries: number; bytes: number };
  /** Sealed, of one session. */
  transcriptBytesMax: number;
  transcriptsKeptMs: number;
  transcriptsOfOrganisation: number;
  /** Expired deliveries that go with each event. */
  sweptMax: number;
}

const DAY_MS = 24 * 3_600_000;
const MIB = 1024 * 1024;

export const WEBHOOK_LIMITS: WebhookLimits = {
  endpointsMax: WEBHOOKS_MAX,
  payloadBytesMax: 320 * 1024,
  keptMs: 7 * DAY_MS,
  failingMs: 5 * DAY_MS,
  organisation: { deliveries: 1_000, bytes: 32 * MIB },
  store: { deliveries: 20_000, bytes: 256 * MIB },
  transcriptBytesMax: 176 * 1024,
  transcriptsKeptMs: 600_000,
  transcriptsOfOrganisation: 200,
  sweptMax: 20,
};
