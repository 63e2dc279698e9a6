// A model on an operator's own server as a provider of its own: the codecs of its server's shape, asked for it by the server's
// name of it, with failures told in its own name.
import { processedIn } from '../kit/cards.ts';
import { withLiveTurns } from '../live-turns.ts';
import type { ModelCard, Provider, ProviderAccess } from '../provider.ts';
import { type CustomModel, slugOf } from './model.ts';
import { retold } from './retold.ts';
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
  const { live, batch, optionRows } = provider;
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
    live:
      live &&
      tell.live({ ...live, timing: (each) => live.timing(asked(each)), open: (each) => live.open(asked(each)) }),
    batch: batch?.kind === 'http' ? tell.batch({ ...batch, begin: (each) => batch.begin(asked(each)) }) : batch,
    failures: provider.failures,
  });
}

/** Hertz of the utterances that a model of files alone is sent: what such models hear by themselves. */
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
