// What the clients of other vendors name as a model, in the gateway's names: names that the vendor had before or has besides mean a
// model of the catalogue, at every vendor's endpoints.
import { printable } from '../api/errors.ts';
import type { Dialect, Unmet } from '../vendors/compat/dialect.ts';
import { dialects } from '../vendors/compat/index.ts';

type Named = Pick<Dialect, 'model' | 'names' | 'replaced' | 'provider'>;
/** Whether the caller has defined the name as an alias. */
type IsAlias = (name: string) => boolean;

/**
 * What a client names, as it stands in `model`: slugs and aliases unchanged, names of the vendor's own with its provider.
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
