// Fields of a transcription that only some models take: which of them a model does, and how they become its options. What a model
// does not take, the chain warns about or refuses.
import { Value } from '@sinclair/typebox/value';
import { printable, refuse } from '../api/errors.ts';
import { isSlug, modelOf, providerOf } from '../api/slug.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import type { ChainDependencies, ChainMember } from '../failover/chain.ts';

type Params = Readonly<Record<string, unknown>>;

/** Options of OpenAI's API that come as lists, a field for each member: `include[]`. */
export const LIST_OPTIONS: readonly string[] = [
  'include',
  'known_speaker_names',
  'known_speaker_references',
  'keywords',
  'languages',
];

/** The field of an option, for those that clients are told of. */
export const fieldOf = (option: string): string => (LIST_OPTIONS.includes(option) ? `${option}[]` : option);

/** Where a model takes a value of the form: as one of its provider's options, honoured for files. */
export function takesField({ provider, slug }: Pick<ChainMember, 'provider' | 'slug'>, name: string): boolean {
  if (provider.batch?.kind !== 'http') return false;
  const model = modelOf(slug);
  return name in provider.options(model).properties && (provider.honours?.(name, model, 'batch') ?? true);
}

/**
 * The `provider_params` of a model, with those of the options that it takes; what `provider_params` says itself goes before.
 * Throws a Refusal for an option that the model takes, and not with this value.
 */
export function withOpenaiOptions(
  slug: string,
  params: Params | undefined,
  { openaiOptions }: Pick<TranscriptionRequest, 'openaiOptions'>,
  { providers }: Pick<ChainDependencies, 'providers'>,
): Params | undefined {
  const provider = isSlug(slug) ? providers.get(providerOf(slug)) : undefined;
  if (provider?.models.some(({ id }) => id === slug) !== true) return params;
  const taken = Object.entries(openaiOptions).filter(([option]) => takesField({ provider, slug }, option));
  if (taken.length === 0) return params;
  const { properties } = provider.options(modelOf(slug));
  for (const [option, value] of taken) {
    const fault = Value.Errors(properties[option] as (typeof properties)[string], value).First();
    if (fault === undefined) continue;
    const field = fieldOf(option);
    throw refuse('invalid_request', `\`${field}\` is not what ${slug} takes: ${printable(fault.message)}.`, {
      param: field,
    });
  }
  return { ...Object.fromEntries(taken), ...params };
}
