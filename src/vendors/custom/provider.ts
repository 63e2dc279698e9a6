// A model on an operator's own server as a provider of its own: the codecs of its server's shape, asked for it by the server's
// name of it, with failures told in its own name.

import type { LegFailure } from '../../../machines/events.ts';
import { processedIn } from '../kit/cards.ts';
import { withLiveTurns } from '../kit/live-turns.ts';
import type {
  BatchStep,
  HttpBatchCodec,
  LiveCodec,
  ModelCard,
  Provider,
  ProviderAccess,
  SocketEndpoint,
  Step,
} from '../kit/provider.ts';
import { type CustomModel, slugOf } from './model.ts';
import { cardLike, SHAPES } from './shapes.ts';

export function customProvider(model: CustomModel): Provider {
  const { like } = model;
  const shape = SHAPES[model.shape];
  const card = shape && cardLike(shape, like);
  if (shape === undefined || card === undefined) throw new Error(`No shape ${model.shape} has a model like ${like}.`);
  const { provider } = shape;
  const slug = slugOf(model);
  const title = model.title ?? slug;
  const tell = retold([
    [card.id, slug],
    [provider.title, title],
  ]);
  const asked = <Request extends { model: string; access: ProviderAccess }>(request: Request): Request => ({
    ...request,
    model: like,
    access: { ...request.access, model: model.model },
  });
  const { batch, optionRows } = provider;
  const live = provider.live?.(like);
  const codec =
    live && tell.live({ ...live, timing: (each) => live.timing(asked(each)), open: (each) => live.open(asked(each)) });
  return withLiveTurns({
    name: slug,
    title,
    models: [cardOf(model, card, title)],
    options: () => provider.options(like),
    ...(provider.heardAs && { heardAs: (language, _, mode) => provider.heardAs?.(language, like, mode) ?? language }),
    honours: (option, _, mode) => provider.honours?.(option, like, mode) ?? true,
    ...(optionRows === undefined ? {} : { optionRows }),
    // What the server is shown is the configuration's: a customer's own key has no place here.
    credential: 'none',
    address: 'configured',
    live: codec && (() => codec),
    batch: batch?.kind === 'http' ? tell.batch({ ...batch, begin: (each) => batch.begin(asked(each)) }) : batch,
    failures: provider.failures,
  });
}

/** Hertz of the utterances that a model of files alone is sent: what such models hear on their own. */
const FILE_RATE = 16_000;
const CONFIGURATION = 'the configuration of the gateway';

function cardOf(model: CustomModel, like: ModelCard, title: string): ModelCard {
  const { batch, live, fileBytesMax, fileSecondsMax } = model;
  const priceOf = (price: string) =>
    price === 'free'
      ? ({ unit: 'minute', amount: '0', byok: '0.00', free: true } as const)
      : ({ unit: 'minute', amount: price, byok: '0.00' } as const);
  return {
    ...like,
    id: slugOf(model),
    name: title,
    description: model.description ?? `A server of this gateway's own, like ${like.name}.`,
    modes: [...(batch === undefined ? [] : (['batch'] as const)), ...(live === undefined ? [] : (['live'] as const))],
    languages: [...(model.languages ?? like.languages)],
    capabilities: { ...like.capabilities, ...model.capabilities },
    processing: [
      ...processedIn(
        { url: CONFIGURATION, date: like.priceSource.date },
        [{ region: model.region ?? 'unknown' }],
        [{ retention: model.retention ?? 'unknown' }],
      ),
    ],
    audio: {
      ...like.audio,
      sample_rates: [...(model.sampleRates ?? (live === undefined ? [FILE_RATE] : like.audio.sample_rates))],
      max_file_bytes: batch === undefined ? null : (fileBytesMax ?? null),
      max_seconds: batch === undefined ? null : (fileSecondsMax ?? null),
    },
    pricing: {
      currency: 'USD',
      ...(batch === undefined ? {} : { batch: priceOf(batch) }),
      ...(live === undefined ? {} : { live: priceOf(live) }),
    },
    priceSource: { url: CONFIGURATION, date: like.priceSource.date },
  };
}

/** @param names each with what takes its place in every message, the longest first */
export function retold(names: readonly (readonly [from: string, to: string])[]) {
  const text = (message: string) => names.reduce((told, [from, to]) => told.replaceAll(from, () => to), message);
  const failure = (told: LegFailure): LegFailure => ({ ...told, message: text(told.message) });
  const step = <Told extends Step>(told: Told): Told => {
    if (told.type === 'failed') return { ...told, failure: failure(told.failure) };
    return told.type === 'warned' ? { ...told, message: text(told.message) } : told;
  };
  // Most of what is heard names nobody.
  const steps = (told: Step[]): Step[] => (told.some(isTold) ? told.map(step) : told);
  const socket = (told: SocketEndpoint | LegFailure) => ('message' in told ? failure(told) : told);
  const fileStep = (told: BatchStep): BatchStep => {
    if (told.type === 'failed') return { ...told, failure: failure(told.failure) };
    if (told.type === 'request') return told;
    const warnings = told.result.warnings.map((warning) => ({ ...warning, message: text(warning.message) }));
    return { ...told, result: { ...told.result, warnings } };
  };

  return {
    live<State>(codec: LiveCodec<State>): LiveCodec<State> {
      const { socketOf, opened, wake, refused } = codec;
      return {
        ...codec,
        ...(socketOf && { socketOf: (state, answer) => socket(socketOf(state, answer)) }),
        ...(opened && { opened: (state) => steps(opened(state)) }),
        read: (state, message) => steps(codec.read(state, message)),
        finalize: (state) => steps(codec.finalize(state)),
        finish: (state) => steps(codec.finish(state)),
        ...(wake && { wake: (state) => steps(wake(state)) }),
        ...(refused && { refused: (refusal) => failure(refused(refusal)) }),
        closed: (state, code, reason) => step(codec.closed(state, code, reason)),
      };
    },

    batch<State>(codec: HttpBatchCodec<State>): HttpBatchCodec<State> {
      const { refused } = codec;
      return {
        ...codec,
        begin(request) {
          const { state, step: first } = codec.begin(request);
          return { state, step: fileStep(first) };
        },
        read: (state, answer) => fileStep(codec.read(state, answer)),
        ...(refused && { refused: (state, refusal) => failure(refused(state, refusal)) }),
      };
    },
  };
}

const isTold = ({ type }: Step): boolean => type === 'failed' || type === 'warned';
