// The schemas that have a name in the documents, so that each is written once and programs can be generated from it.
import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { ErrorAnswer, ErrorAttempt, ErrorObject } from '../../api/error-body.ts';
import { HealthAnswer, ReadyAnswer } from '../../api/health.ts';
import * as listen from '../../api/listen.ts';
import * as events from '../../api/listen-events.ts';
import { Capabilities, Mode, Model, ModelList, Price, ShortModel, ShortModelList } from '../../api/models.ts';
import { StartMessage, TranscriptionForm } from '../../api/request-parameters.ts';
import { modelOf } from '../../api/slug.ts';
import { TokenRequest, TokenResponse } from '../../api/tokens.ts';
import * as transcriptions from '../../api/transcriptions.ts';
import * as usage from '../../api/usage.ts';
import type { Provider } from '../../vendors/provider.ts';
import { grouped } from '../grouped.ts';

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
  TranscriptionForm,
  Transcription: transcriptions.Transcription,
  VerboseTranscription: transcriptions.VerboseTranscription,
  Segment: transcriptions.Segment,
  DiarizedTranscription: transcriptions.DiarizedTranscription,
  DiarizedSegment: transcriptions.DiarizedSegment,
  TokenLogprob: transcriptions.TokenLogprob,
  TranscriptDelta: transcriptions.TranscriptDelta,
  TranscriptSegment: transcriptions.TranscriptSegment,
  TranscriptDone: transcriptions.TranscriptDone,
  TokenRequest,
  TokenResponse,
  UsageList: usage.UsageList,
  UsageGroup: usage.UsageGroup,
  BalanceAnswer: usage.BalanceAnswer,
  SessionAnswer: usage.SessionAnswer,
  SessionLeg: usage.SessionLeg,
  SessionList: usage.SessionList,
  BillAnswer: usage.BillAnswer,
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
