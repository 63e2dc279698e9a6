// An alias as commands take it: a name, and its models as `fallbacks` has them.
import { checkedAliases } from '../../accounts/keys/aliases.ts';
import { ApiError } from '../../api/errors.ts';
import type { Aliases } from '../../api/listen.ts';
import { nearestSlugs } from '../../api/slug.ts';
import type { SpendCeiling } from '../../api/spend-ceilings.ts';
import { readFallbacks } from '../../live/socket/query.ts';
import { WrongInput } from './command.ts';
import { loadProviders } from './settings.ts';
import { orNone } from './values.ts';

/** Reads an alias, or `none` to take it away, and gives what makes of a table the one with that change. */
export function aliasChange(name: string, text: string): (before: Aliases | null) => Aliases {
  const chain = orNone(text, chainValue);
  // Before a store is opened: a table that cannot be had leaves nothing behind.
  const added = checkedAliases(chain === null ? { [name]: [{ model: 'any/model' }] } : { [name]: chain });
  return (before) => {
    const others = Object.entries(before ?? {}).filter(([each]) => each !== name);
    return { ...Object.fromEntries(others), ...(chain === null ? {} : added) };
  };
}

/** What a name stands for now. */
export function aliasText(name: string, aliases: Aliases | null): string {
  const models =
    aliases !== null && Object.hasOwn(aliases, name) ? aliases[name]?.map(({ model }) => model) : undefined;
  return models === undefined ? `has no alias ${name}` : `takes ${name} for ${models.join(', then ')}`;
}

/** What of the known ones is meant, exactly; a mistyped one is refused with the nearest. */
export function knownValue(text: string, known: readonly string[]): string {
  if (known.includes(text)) return text;
  const [nearest] = nearestSlugs(text, known, 1);
  const hint = nearest === undefined ? 'voxgate models lists them' : `the nearest is ${nearest}`;
  throw new WrongInput(`there is no model ${JSON.stringify(text.slice(0, 80))}; ${hint}.`);
}

/** The slugs of the models that this gateway has. */
export const knownSlugs = (): string[] =>
  [...loadProviders().values()].flatMap(({ models }) => models.map(({ id }) => id));

/** A ceiling for a provider that this gateway has: one for a mistyped provider would bound nothing. */
export function knownCeiling(ceiling: SpendCeiling): SpendCeiling {
  const { provider } = ceiling;
  if (provider === undefined) return ceiling;
  const known = [...loadProviders().keys()];
  if (known.includes(provider)) return ceiling;
  throw new WrongInput(`there is no provider ${JSON.stringify(provider)}; it is one of ${known.join(', ')}.`);
}

function chainValue(text: string): Aliases[string] {
  const known = knownSlugs();
  const chain = readChain(text);
  for (const { model } of chain) knownValue(model, known);
  return chain;
}

function readChain(text: string): Aliases[string] {
  try {
    return readFallbacks(text);
  } catch (error) {
    if (error instanceof ApiError) throw new WrongInput(`the models are read as \`fallbacks\` are: ${error.message}`);
    throw error;
  }
}
