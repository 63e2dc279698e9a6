// Checks the aliases of a key or an organisation, and brings them into the form in which they are kept.
import { ALIASES_BYTES_MAX, ALIASES_MAX, FALLBACKS_MAX, isAlias } from '../../api/bounds.ts';
import type { Aliases, Candidate } from '../../api/listen.ts';
import { isSlug } from '../../api/slug.ts';
import { StoreError } from '../../store/store-error.ts';

const MEMBERS = ['model', 'provider_params', 'credential'];
/** Objects and lists within each other; more than any option of a provider has. */
const NESTING_MAX = 10;
const QUOTED_MAX = 60;

/** Null for none, an empty table too. @throws StoreError `invalid`, with a sentence that names the alias at fault */
export function checkedAliases(value: unknown): Aliases | null {
  if (value === null) return null;
  if (!isObject(value)) throw invalid('The aliases are an object of names, each with its list of models, or null.');
  const names = Object.keys(value);
  if (names.length === 0) return null;
  if (names.length > ALIASES_MAX)
    throw invalid(`There would be ${names.length} aliases, and ${ALIASES_MAX} is the most.`);
  const nameless = names.find((name) => !isAlias(name));
  if (nameless !== undefined) throw badName(nameless);
  if (!isShallow(value, NESTING_MAX)) throw invalid(`The aliases are nested more than ${NESTING_MAX} levels deep.`);
  const aliases = Object.fromEntries(names.map((name) => [name, checkedChain(name, value[name])]));
  const text = JSON.stringify(aliases);
  if (Buffer.byteLength(text) <= ALIASES_BYTES_MAX) return JSON.parse(text) as Aliases;
  throw invalid(`The aliases are more than ${ALIASES_BYTES_MAX} bytes of JSON together. Take some away.`);
}

export const aliasesOf = (text: string | null): Aliases | null =>
  text === null ? null : (JSON.parse(text) as Aliases);

export const textOfAliases = (aliases: Aliases | null): string | null =>
  aliases === null ? null : JSON.stringify(aliases);

function badName(name: string): StoreError {
  const why = name.includes('/') ? ' With a slash it would be the slug of a model, which always means that model.' : '';
  return invalid(
    `${quoted(name)} cannot be an alias; it has 1 to 80 printable ASCII characters, the first a letter or digit, without spaces and slashes.${why}`,
  );
}

function checkedChain(name: string, chain: unknown): Candidate[] {
  if (Array.isArray(chain) && chain.length > 0 && chain.length <= 1 + FALLBACKS_MAX)
    return chain.map((member) => checkedMember(name, member));
  throw invalid(`The alias ${quoted(name)} is a list of 1 to ${1 + FALLBACKS_MAX} models: one, and its fallbacks.`);
}

function checkedMember(name: string, member: unknown): Candidate {
  if (!isObject(member) || Object.keys(member).some((each) => !MEMBERS.includes(each)))
    throw invalid(
      `A model of the alias ${quoted(name)} is an object of \`model\`, \`provider_params\` and \`credential\`.`,
    );
  const { model, provider_params: params, credential } = member;
  if (typeof model !== 'string' || !isSlug(model))
    throw invalid(`The alias ${quoted(name)} names ${quoted(model)}; a model is a slug such as \`deepgram/nova-3\`.`);
  if (params !== undefined && !isObject(params))
    throw invalid(`The \`provider_params\` of ${model} in the alias ${quoted(name)} are no object.`);
  if (credential !== undefined && credential !== 'own' && credential !== 'service')
    throw invalid(`The \`credential\` of ${model} in the alias ${quoted(name)} is \`own\` or \`service\`, or absent.`);
  return {
    model,
    ...(params === undefined ? {} : { provider_params: params }),
    ...(credential === undefined ? {} : { credential }),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether it is data that JSON can say, not too deep for whatever goes through it level by level. */
function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  return levels > 0 && Object.values(value).every((each) => isShallow(each, levels - 1));
}

const quoted = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, QUOTED_MAX)) : `a ${typeof value}`;

const invalid = (message: string): StoreError => new StoreError('invalid', message);
