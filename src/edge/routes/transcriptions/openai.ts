// Fields of OpenAI's own API that are options of some of its models: which there are, how a form carries them, and which model
// of a chain they are handed to. A model that does not take one is warned about, or refused, by the chain.
import { Value } from '@sinclair/typebox/value';
import { printable, refuse } from '../../../api/errors.ts';
import { isSlug, modelOf, providerOf } from '../../../api/slug.ts';
import type { TranscriptionRequest } from '../../../api/transcriptions.ts';
import type { ChainDependencies } from '../../../failover/chain.ts';
import { takesField } from '../../../transcription/by-http.ts';
import type { Field } from '../../multipart/form.ts';

/** Options that come as lists, a field for each member: `include[]`. */
const LISTS = ['include', 'known_speaker_names', 'known_speaker_references', 'keywords', 'languages'];
/** Comes as a word, as JSON, or as the clients write an object: `chunking_strategy[type]`. */
const STRATEGY = 'chunking_strategy';
const STRATEGY_MEMBER = /^chunking_strategy\[(type|threshold|prefix_padding_ms|silence_duration_ms)\]$/;

type Params = Readonly<Record<string, unknown>>;

/** The fields as they are named in a list of them. */
export const OPENAI_FIELDS: readonly string[] = [STRATEGY, ...LISTS.map((name) => `${name}[]`)];

/** The field of an option, for those that clients are told of. */
export const fieldOf = (option: string): string => (LISTS.includes(option) ? `${option}[]` : option);

export const isOpenaiField = (name: string): boolean => OPENAI_FIELDS.includes(name) || STRATEGY_MEMBER.test(name);

/** The options that fields say. Empty fields count as absent. Throws a Refusal for what cannot be read. */
export function readOpenaiOptions(fields: readonly Field[]): Params {
  const options: Record<string, unknown> = {};
  for (const [name, value] of fields) {
    if (!isOpenaiField(name) || value === '') continue;
    const member = STRATEGY_MEMBER.exec(name)?.[1];
    if (member !== undefined) {
      const strategy = options[STRATEGY];
      options[STRATEGY] = {
        ...(typeof strategy === 'object' ? strategy : {}),
        [member]: member === 'type' ? value : Number(value),
      };
    } else if (name === STRATEGY) options[STRATEGY] = value.startsWith('{') ? parsed(value) : value;
    else {
      const option = name.slice(0, -2);
      options[option] = [...((options[option] as string[] | undefined) ?? []), value];
    }
  }
  return options;
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuse('invalid_request', `\`${STRATEGY}\` is neither \`auto\` nor a JSON object.`, { param: STRATEGY });
  }
}
