// What a name of a model means to a caller: a key's alias, else its organisation's, stands for a chain.
import type { Candidate } from '../../api/listen.ts';
import type { ApiKey } from '../keys/calls.ts';

/** A node of an older version answers without them. */
export type AliasedKey = Partial<Pick<ApiKey, 'aliases' | 'organisationAliases'>>;

/** What of a request names its models. */
export interface NamedChain {
  model: string;
  providerParams: Record<string, unknown>;
  fallbacks: Candidate[];
  /** Of `model`. */
  credential?: Candidate['credential'];
  /** So many of them, from the first on, are those of an alias. */
  aliased?: number;
}

/** The model and its fallbacks that a name stands for; undefined where it is not an alias. Never of a slug: those have a slash. */
export function aliasOf(
  { aliases, organisationAliases }: AliasedKey,
  name: string,
): readonly [Candidate, ...Candidate[]] | undefined {
  const named = [aliases, organisationAliases].find((each) => each != null && Object.hasOwn(each, name));
  return named?.[name] as [Candidate, ...Candidate[]] | undefined;
}

/** The model that a name stands for, before its fallbacks. */
export const slugNamed = (key: AliasedKey, name: string): string => aliasOf(key, name)?.[0].model ?? name;

/**
 * The request with slugs for its alias, or as it is. Its own `provider_params` are the first model's, name by name before those of
 * the alias; its own fallbacks come after the alias's. Those are slugs: an alias stands for `model` only.
 */
export function chainNamed<Request extends NamedChain>(key: AliasedKey, request: Request): Request {
  const chain = aliasOf(key, request.model);
  if (chain === undefined) return request;
  const [{ model, provider_params: params, credential }, ...fallbacks] = chain;
  return {
    ...request,
    model,
    credential,
    providerParams: { ...params, ...request.providerParams },
    fallbacks: [...fallbacks, ...request.fallbacks],
    aliased: chain.length,
  };
}
