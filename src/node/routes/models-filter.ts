// Which models a list is asked for: by mode, provider, language, price and place. Read from a query, and from a command's options.
import { Value } from '@sinclair/typebox/value';
import { printable, refuse } from '../../api/errors.ts';
import { Mode, type Model, ModelsQuery, type Price } from '../../api/models.ts';
import type { DataResidencyRule } from '../../api/residency-rule.ts';
import { LANGUAGE, readRule } from '../../live/socket/query.ts';

export interface ModelsFilter {
  mode: Mode | undefined;
  rule: DataResidencyRule | undefined;
  isShort: boolean;
  fits(model: Model): boolean;
}

/** Throws a Refusal that names the parameter. */
export function readModelsFilter(query: ReadonlyMap<string, string>): ModelsFilter {
  const known = Object.keys(ModelsQuery.properties);
  for (const name of query.keys()) {
    if (known.includes(name)) continue;
    const message = `\`${printable(name)}\` is not a parameter of /v1/models. Known are ${known.join(', ')}.`;
    throw refuse('invalid_request', message, { param: printable(name) });
  }
  const mode = query.get('mode');
  if (mode !== undefined && !Value.Check(Mode, mode)) throw bad('mode', 'is batch or live');
  const language = query.get('language');
  if (language !== undefined && (language === 'auto' || !LANGUAGE.test(language)))
    throw bad('language', 'is a BCP-47 tag such as en or fr-CA');
  const maxPrice = query.get('max_price');
  if (maxPrice !== undefined && !Value.Check(ModelsQuery.properties.max_price, maxPrice))
    throw bad('max_price', 'is USD a minute, such as 0.005');
  const provider = query.get('provider');
  const available = query.get('available');
  if (available !== undefined && !Value.Check(ModelsQuery.properties.available, available))
    throw bad('available', 'is true or false');
  const view = query.get('view') ?? 'full';
  if (!Value.Check(ModelsQuery.properties.view, view)) throw bad('view', 'is full or short');
  return {
    mode,
    isShort: view === 'short',
    rule: readRule(query.get('region'), query.get('retention')),
    fits: (model) =>
      (mode === undefined || model.modes.includes(mode)) &&
      (provider === undefined || model.owned_by === provider) &&
      (available === undefined || model.available === (available === 'true')) &&
      (language === undefined || knows(model, language)) &&
      (maxPrice === undefined || costsAtMost(model, mode, Number(maxPrice))),
  };
}

const bad = (param: string, is: string) => refuse('invalid_request', `\`${param}\` ${is}.`, { param });

const knows = ({ languages }: Model, language: string): boolean =>
  languages.some(
    (known) => known === '*' || known.toLowerCase() === language.toLowerCase() || baseOf(known) === baseOf(language),
  );

const baseOf = (language: string): string => language.toLowerCase().split('-')[0] as string;

/** A price for a session says nothing of a minute. */
function costsAtMost({ modes, pricing }: Model, mode: Mode | undefined, usd: number): boolean {
  const isCheap = (price: Price | undefined) => price?.unit === 'minute' && Number(price.amount) <= usd;
  return modes.some((each) => (mode === undefined || each === mode) && isCheap(pricing[each]));
}
