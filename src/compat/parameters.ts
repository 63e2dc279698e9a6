// What clients of other vendors ask for, in the gateway's names: models, which a vendor had before or has besides, and parameters.
import { type AliasedKey, aliasOf, slugNamed } from '../accounts/auth/aliases.ts';
import { AUTO } from '../api/choice.ts';
import { printable } from '../api/errors.ts';
import type { Degradation } from '../live/failover/chain.ts';
import type { ClientRequest, Dialect, Unmet } from '../vendors/compat/dialect.ts';
import { dialects } from '../vendors/dialects.ts';

type Named = Pick<Dialect, 'model' | 'names' | 'replaced' | 'provider'>;
/** Whether the caller has defined the name as an alias. */
type IsAlias = (name: string) => boolean;

/**
 * What a client names, as it stands in `model`: slugs, aliases and `auto` unchanged, names of the vendor's own with its provider.
 * Undefined where it names none, and has to.
 */
export function modelOf(dialect: Named, named: string | undefined, isAlias: IsAlias): string | undefined {
  const name = named || dialect.model;
  return name === undefined || isAlias(name) ? name : meaningOf(dialect, name).slug;
}

/** The warning about a model that another one replaces. */
export function replacedModel(dialect: Named, named: string | undefined, isAlias: IsAlias): Unmet[] {
  if (!named || isAlias(named)) return [];
  const { slug, isReplaced } = meaningOf(dialect, named);
  if (!isReplaced) return [];
  const message = `There is no model \`${printable(named)}\` here: ${slug} transcribes in its place.`;
  return [{ code: 'parameter_mapped', message, param: 'model' }];
}

/** A slug of another vendor's means there what it means at that vendor's own endpoints. */
function meaningOf(dialect: Named, name: string): { slug: string; isReplaced: boolean } {
  const { provider, names } = dialect;
  if (name === AUTO && !Object.hasOwn(names, AUTO)) return { slug: AUTO, isReplaced: false };
  const own = provider !== undefined && name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : name;
  if (own.includes('/') && !Object.hasOwn(names, own)) {
    const vendor = dialects.find((each) => each.provider !== undefined && name.startsWith(`${each.provider}/`));
    return vendor === undefined || vendor.provider === provider
      ? { slug: name, isReplaced: false }
      : meaningOf(vendor, name);
  }
  const replacement = Object.hasOwn(names, own) ? undefined : replacementOf(dialect, own);
  const known = Object.hasOwn(names, own) ? (names[own] as string) : (replacement ?? own);
  return {
    slug: provider === undefined ? known : `${provider}/${known}`,
    isReplaced: replacement !== undefined,
  };
}

function replacementOf({ replaced = [] }: Named, name: string): string | undefined {
  const [pattern, model = ''] = replaced.find(([each]) => each.test(name)) ?? [];
  return pattern && name.replace(pattern, model);
}

/**
 * Parameters of `/v1/listen`, or fields of a form: options of the vendor's own are for its own models.
 *
 * @param key whose aliases stand before the vendor's names
 */
export function parametersFor(dialect: Dialect, clientRequest: ClientRequest, key: AliasedKey): Map<string, string> {
  const { model, parameters, own } = clientRequest;
  const named = modelOf(dialect, model, (name) => aliasOf(key, name) !== undefined);
  const hasOptions = Object.keys(own).length > 0 && isOfOwn(dialect, clientRequest, key);
  const options: [string, string][] = hasOptions ? [['provider_params', JSON.stringify(own)]] : [];
  return new Map([...(named === undefined ? [] : ([['model', named]] as const)), ...parameters, ...options]);
}

/** What of a request is not done, of the model that it names. */
export const unmetOf = (dialect: Dialect, clientRequest: ClientRequest, key: AliasedKey): Degradation[] =>
  [
    ...replacedModel(dialect, clientRequest.model, (name) => aliasOf(key, name) !== undefined),
    ...(clientRequest.unmet ?? []),
  ]
    .filter(({ models }) => models === undefined || (models === 'own') === isOfOwn(dialect, clientRequest, key))
    .map(({ models: _, ...told }) => told);

/** Options of the vendor's own are parameters of its clients. */
export const inOwnNames = <Told extends Pick<Degradation, 'param'>>(warnings: readonly Told[]): Told[] =>
  warnings.map((each) => {
    const param = each.param?.replace(/^provider_params\./, '');
    return param === undefined ? each : { ...each, param };
  });

/** Whether one of the vendor's own models is named. */
function isOfOwn(dialect: Dialect, { model, ownOf = dialect.provider }: ClientRequest, key: AliasedKey): boolean {
  const named = modelOf(dialect, model, (name) => aliasOf(key, name) !== undefined);
  return named !== undefined && slugNamed(key, named).startsWith(`${ownOf}/`);
}
