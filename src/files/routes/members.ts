// Which schema types the members of a transcription's fields, where a client library wrote them one by one: that of the options
// of the model that is named. How they are joined is decided by multipart/members.ts.
import type { TSchema } from '@sinclair/typebox';
import { type AliasedKey, slugNamed } from '../../accounts/auth/aliases.ts';
import { isSlug, modelOf, providerOf } from '../../api/slug.ts';
import type { Field } from '../../http/multipart/form-fields.ts';
import { joinMembers } from '../../http/multipart/members.ts';
import { VOCABULARY_LISTS } from '../../live/socket/vocabulary.ts';
import type { Provider } from '../../vendors/provider.ts';
import { OPENAI_LISTS } from './openai.ts';

/** Lists that OpenAI's libraries write with brackets, a field for each member; others write the name alone, as often as it takes. */
const BRACKETED: readonly string[] = ['timestamp_granularities', 'keywords', ...OPENAI_LISTS];

/** Fields that may come more than once. */
export const LIST_NAMES: readonly string[] = ['fallbacks', ...VOCABULARY_LISTS, ...BRACKETED];

/** The fields, each with its members in one text. Throws a Refusal naming the field where a form cannot say what was meant. */
export function joinedFields(
  fields: readonly Field[],
  providers: ReadonlyMap<string, Provider>,
  key: AliasedKey,
): readonly Field[] {
  const model = slugNamed(key, new Map(fields).get('model') ?? '');
  const isRepeated = fields.filter(([name]) => name === 'fallbacks').length > 1;
  const lists = isRepeated ? ['fallbacks', ...BRACKETED] : BRACKETED;
  const named = fields.map(([name, value]): Field => [lists.includes(name) ? `${name}[]` : name, value]);
  return joinMembers(named, (field) => (field === 'provider_params' ? optionsOf(model, providers) : undefined));
}

function optionsOf(slug: string, providers: ReadonlyMap<string, Provider>): TSchema | undefined {
  const provider = isSlug(slug) ? providers.get(providerOf(slug)) : undefined;
  return provider?.models.some(({ id }) => id === slug) ? provider.options(modelOf(slug)) : undefined;
}
