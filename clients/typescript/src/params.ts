// Types by model slug: the options of the provider that a slug names. Unknown slugs, of an operator's own providers, take any.
import type { ModelParams, ProviderParams } from './types/models.ts';

/** A model slug `<provider>/<model>`: the known ones are offered, any other is taken. */
export type ModelSlug = keyof ModelParams | (string & {});

/** The options of a provider that this version does not know. */
export type LooseParams = Record<string, unknown>;

/** The type of `providerParams` for a slug: the model's, else its provider's, else any. */
export type ParamsOf<Slug extends string> = Slug extends keyof ModelParams
  ? ModelParams[Slug]
  : Slug extends `${infer Provider}/${string}`
    ? Provider extends keyof ProviderParams
      ? ProviderParams[Provider]
      : LooseParams
    : LooseParams;

/** A known slug with its options. */
type KnownFallback = {
  [Slug in keyof ModelParams]: { model: Slug; providerParams?: ModelParams[Slug]; credential?: 'own' | 'service' };
}[keyof ModelParams];

/** A model to go on with when those before it fail: its slug, or the slug with options of its provider. */
export type Fallback =
  | ModelSlug
  | KnownFallback
  | { model: Exclude<string, keyof ModelParams> & {}; providerParams?: LooseParams; credential?: 'own' | 'service' };

/** What happens to text for audio without a voice: it passes, is marked `no_speech`, or is left out. */
export type SpeechGate = 'off' | 'mark' | 'drop';

/** What `model: 'auto'` and `fallbacks: ['auto']` are chosen by; `reliability` when absent. */
export type Preference = 'reliability' | 'latency' | 'price';

/** What prices decide: a fallback dearer than the first model is left out, or the cheapest model comes first. */
export type PriceRule = 'never_dearer' | 'cheapest';

/** The fallbacks as the gateway reads them; undefined without any. */
export function fallbacksText(fallbacks: readonly Fallback[] | undefined): string | undefined {
  if (fallbacks === undefined || fallbacks.length === 0) return undefined;
  if (fallbacks.every((each) => typeof each === 'string')) return fallbacks.join(',');
  return JSON.stringify(
    fallbacks.map((each) => {
      if (typeof each === 'string') return each;
      const { model, providerParams, credential } = each;
      return { model, provider_params: providerParams, credential };
    }),
  );
}

/** The options as the gateway reads them; undefined without any. */
export function paramsText(params: object | undefined): string | undefined {
  return params === undefined ? undefined : JSON.stringify(params);
}
