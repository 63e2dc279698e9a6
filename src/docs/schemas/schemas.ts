// The schemas in the documents: each with a name is written once, so that programs can be generated from it.
import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { ErrorAnswer, ErrorAttempt, ErrorObject } from '../../api/error-body.ts';
import { HealthAnswer, ReadyAnswer } from '../../api/health.ts';
import * as jobs from '../../api/jobs.ts';
import * as listen from '../../api/listen.ts';
import * as events from '../../api/listen-events.ts';
import { Capabilities, Mode, Model, ModelList, Price, ShortModel, ShortModelList } from '../../api/models.ts';
import { Replacement } from '../../api/replacements.ts';
import { StartMessage } from '../../api/request-parameters.ts';
import { modelOf } from '../../api/slug.ts';
import { TokenRequest, TokenResponse } from '../../api/tokens.ts';
import * as transcriptions from '../../api/transcriptions.ts';
import * as usage from '../../api/usage.ts';
import * as webhooks from '../../api/webhooks.ts';
import type { Provider } from '../../vendors/kit/provider.ts';

export type NamedSchemas = Readonly<Record<string, TSchema>>;

/** What `/v1/listen` sends. */
export const SERVER_EVENTS = {
  SessionStarted: events.SessionStarted,
  SpeechStarted: events.SpeechStarted,
  TurnEagerEnd: events.TurnEagerEnd,
  TurnResumed: events.TurnResumed,
  TurnEnded: events.TurnEnded,
  Transcript: events.Transcript,
  SpeakersRestarted: events.SpeakersRestarted,
  Failover: events.Failover,
  Configured: events.Configured,
  Warning: events.Warning,
  Discontinuity: events.Discontinuity,
  ErrorEvent: events.ErrorEvent,
  Received: events.Received,
  SessionResumed: events.SessionResumed,
  SessionEnded: events.SessionEnded,
} satisfies NamedSchemas;

/** What `/v1/listen` takes in text frames. */
export const CLIENT_MESSAGES = {
  StartMessage,
  Finalize: listen.Finalize,
  Close: listen.Close,
  Keepalive: listen.Keepalive,
  Configure: listen.Configure,
} satisfies NamedSchemas;

const COMMON = {
  Error: ErrorObject,
  ErrorAttempt,
  Candidate: listen.Candidate,
  Replacement,
  Word: events.Word,
  UsageRow: events.UsageRow,
} satisfies NamedSchemas;

/** Those of `/asyncapi.json`. */
export const liveSchemas = (providers: readonly Provider[]): NamedSchemas => ({
  ...COMMON,
  Encoding: listen.Encoding,
  ...SERVER_EVENTS,
  ...CLIENT_MESSAGES,
  ...providerParams(providers),
});

/** Those of `/openapi.json`. */
export const restSchemas = (providers: readonly Provider[]): NamedSchemas => ({
  ErrorAnswer,
  ...COMMON,
  Model,
  ModelList,
  ShortModel,
  ShortModelList,
  Mode,
  Capabilities,
  Price,
  TranscriptionForm: jobs.FileForm,
  TranscriptionObject: jobs.FileObject,
  Transcription: transcriptions.Transcription,
  VerboseTranscription: transcriptions.VerboseTranscription,
  Segment: transcriptions.Segment,
  DiarizedTranscription: transcriptions.DiarizedTranscription,
  DiarizedSegment: transcriptions.DiarizedSegment,
  TokenLogprob: transcriptions.TokenLogprob,
  TranscriptDelta: transcriptions.TranscriptDelta,
  TranscriptSegment: transcriptions.TranscriptSegment,
  TranscriptDone: transcriptions.TranscriptDone,
  JobForm: jobs.JobForm,
  JobObject: jobs.JobObject,
  JobAnswer: jobs.JobAnswer,
  JobList: jobs.JobList,
  JobStatus: jobs.JobStatus,
  TokenRequest,
  TokenResponse,
  UsageList: usage.UsageList,
  UsageGroup: usage.UsageGroup,
  BalanceAnswer: usage.BalanceAnswer,
  SessionAnswer: usage.SessionAnswer,
  SessionLeg: usage.SessionLeg,
  SessionList: usage.SessionList,
  BillAnswer: usage.BillAnswer,
  WebhookBody: webhooks.WebhookBody,
  WebhookChange: webhooks.WebhookChange,
  WebhookAnswer: webhooks.WebhookAnswer,
  NewWebhookAnswer: webhooks.NewWebhookAnswer,
  WebhookList: webhooks.WebhookList,
  WebhookDelivery: webhooks.WebhookDelivery,
  WebhookDeliveryList: webhooks.WebhookDeliveryList,
  HealthAnswer,
  ReadyAnswer,
  ...providerParams(providers),
});

/** `provider_params`: one schema for each set of options that a provider has, and the choice of them. */
function providerParams(providers: readonly Provider[]): NamedSchemas {
  const named: Record<string, TSchema> = {};
  for (const provider of providers) {
    const models = grouped(provider.models, ({ id }) => provider.options(modelOf(id)));
    for (const [options, cards] of models) {
      const slugs = cards.map(({ id }) => id);
      const model = models.size === 1 ? '' : capitals(modelOf(slugs[0] as string));
      let name = `${capitals(provider.name)}${model}Params`;
      // Models on servers of the operator's own may differ in punctuation alone.
      while (name in named) name += '_';
      named[name] = described(options, slugs);
    }
  }
  const description =
    'Options of the model’s provider. The schema for a model is also `provider_params` of `GET /v1/models`.';
  return { ProviderParams: Type.Union(Object.values(named), { description }), ...named };
}

const described = (options: TObject, slugs: readonly string[]): TObject => ({
  ...options,
  description: `\`provider_params\` of ${slugs.join(', ')}.`,
});

/** `flux-general-en` as `FluxGeneralEn`. */
const capitals = (name: string): string =>
  name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** A JSON Schema, or another part of a document. */
export type Json = { readonly [member: string]: unknown };

const REFERENCE = '#/components/schemas/';
const SCALARS: readonly unknown[] = ['string', 'number', 'integer', 'boolean'];

/**
 * Schemas by their names in `components`: plain JSON Schema 2020-12 in which every named schema is a reference to its one place.
 */
export class SchemaBook {
  readonly #named: Readonly<Record<string, TSchema>>;
  readonly #names: Map<unknown, string>;

  /** @param aliases further schemas that are shown as a reference to the name */
  constructor(named: Readonly<Record<string, TSchema>>, aliases: Readonly<Record<string, TSchema>> = {}) {
    this.#named = named;
    const entries = [...Object.entries(named), ...Object.entries(aliases)];
    this.#names = new Map(entries.map(([name, schema]) => [identityOf(schema), name]));
  }

  /** A reference to a named schema. Throws for a name that there is none of. */
  reference(name: string): Json {
    if (this.#named[name] === undefined) throw new Error(`No schema has the name ${name}.`);
    return { $ref: `${REFERENCE}${name}` };
  }

  /** A schema in a place where it is used: a reference where it has a name, with what is said of it in this place. */
  use(schema: TSchema): Json {
    const name = this.#names.get(identityOf(schema));
    if (name === undefined) return this.#written(schema);
    const { description } = schema;
    const isNews = description !== undefined && description !== this.#named[name]?.description;
    return isNews ? { ...this.reference(name), description } : this.reference(name);
  }

  /** Every named schema, written out. */
  get components(): Record<string, Json> {
    return Object.fromEntries(Object.entries(this.#named).map(([name, schema]) => [name, this.#written(schema)]));
  }

  #written({ anyOf, properties, items, patternProperties, ...rest }: TSchema): Json {
    const own = Object.fromEntries(Object.entries(rest));
    if (anyOf !== undefined) return this.#union(anyOf as TSchema[], own);
    const use = (each: unknown) => this.use(each as TSchema);
    return {
      ...own,
      ...(properties === undefined ? {} : { properties: mapped(properties, use) }),
      ...(items === undefined ? {} : { items: use(items) }),
      ...(patternProperties === undefined ? {} : patterns(mapped(patternProperties, use))),
    };
  }

  /** As people write it: a list of texts, something or null, one of several objects by their `type`. */
  #union(anyOf: readonly TSchema[], own: Json): Json {
    const constants = anyOf.map((each) => each.const);
    if (constants.every((each) => typeof each === 'string')) return { type: 'string', enum: constants, ...own };
    const members = anyOf.map((each) => this.use(each));
    const [only, ...others] = members.filter(({ type }) => type !== 'null');
    if (only !== undefined && others.length === 0 && SCALARS.includes(only.type) && only.enum === undefined) {
      return { ...only, type: [only.type, 'null'], ...own };
    }
    const types = anyOf.map((each) => each.properties?.type?.const);
    if (!types.every((type) => typeof type === 'string')) return { anyOf: members, ...own };
    if (!members.every(({ $ref }) => $ref !== undefined)) return { oneOf: members, ...own };
    const mapping = Object.fromEntries(types.map((type, at) => [type, members[at]?.$ref]));
    return { oneOf: members, discriminator: { propertyName: 'type', mapping }, ...own };
  }
}

/** Optional members are copies of their schema, whose parts are the same. */
const identityOf = (schema: TSchema): unknown =>
  schema.properties ?? schema.anyOf ?? schema.patternProperties ?? schema;

/** What TypeBox makes of `Record<string, …>` is said as people write it. */
const patterns = (members: Json): Json =>
  members['^(.*)$'] === undefined ? { patternProperties: members } : { additionalProperties: members['^(.*)$'] };

const mapped = (members: Json, change: (value: unknown) => Json): Json =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)]));

/** Values by key, in the order of their first appearance; as `Map.groupBy`, which Node 20 lacks. */
export function grouped<Key, Value>(values: readonly Value[], keyOf: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
