// What a request says in the same words for every vendor, as options of one model: by the rows of its option table that serve
// these members. What is too long is cut to what the schema of the option takes, and what became of each member is told.
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Common } from '../../../api/vocabulary.ts';
import type { Provider } from '../provider.ts';
import { queryOf } from '../urls.ts';
import type { CommonMember, Place, Serving } from './conversions.ts';

/** What becomes of a member of the request at one model. */
export interface Told {
  param: string;
  outcome: 'honoured' | 'mapped' | 'dropped';
  /** Of a warning about it; by the outcome when absent. */
  code?: string;
  /** Not all of it is heard of. */
  isCut?: true;
  /** Of a list, what of it is sent. */
  taken?: readonly unknown[];
  /** There is an option for it, which does not take this value. */
  isUnfit?: boolean;
  /** Of what is not honoured as it is. */
  message?: string;
}

type Params = Readonly<Record<string, unknown>>;
type Options = Pick<Provider, 'options' | 'honours' | 'optionRows'>;
/** An option that serves a member, at a model. */
export interface Served {
  option: string;
  schema: TSchema;
  serving: Serving<unknown>;
}

/** Of members that one row serves, the earlier have the room; the others are put beside them. */
const ORDER = ['keyterms', 'vocabulary_boost', 'prompt'];
const rank = (member: string): number => (ORDER.includes(member) ? ORDER.indexOf(member) : ORDER.length);

/** The rows that serve a member of the request, of those that the model honours; one that loses nothing goes before others. */
export function servedBy({ optionRows = {}, options, honours }: Options, { model, mode }: Omit<Place, 'language'>) {
  const { properties } = options(model);
  const rows = Object.entries(optionRows).filter(
    ([name, { common }]) => common !== undefined && (honours?.(name, model, mode) ?? true),
  );
  return (member: string): Served[] => {
    const all = rows.flatMap(([option, { common }]): Served[] => {
      const serving = typeof common === 'object' ? common[member as CommonMember] : common === member ? {} : undefined;
      const schema = properties[option];
      if (serving === undefined || schema === undefined) return [];
      return [{ option, schema, serving: serving as Serving<unknown> }];
    });
    const whole = all.filter(({ serving }) => serving.as === undefined);
    return whole.length > 0 ? whole : all;
  };
}

/** What is requested as options of a model, beside those that the request gives by their own names: these go before. */
export function mapped(
  slug: string,
  place: Place,
  served: ReturnType<typeof servedBy>,
  asked: Common,
  given: Params,
): { params: Params; told: Told[] } {
  const made: Record<string, unknown> = {};
  const inUrl: Record<string, unknown> = {};
  const told: Told[] = [];
  const members = Object.entries(asked).filter(([, value]) => value !== undefined);
  for (const [param, value] of members.sort(([one], [other]) => rank(one) - rank(other))) {
    const outcomes = served(param).map(({ option, schema, serving }): Told => {
      const optionOf = (part: unknown) => {
        const found = acceptable(part, schema, serving, made[option], place);
        return isTooLong({ ...inUrl, [option]: found }, serving, place) ? undefined : found;
      };
      const part = fitted(value, (each) => optionOf(each) !== undefined);
      const why = serving.why?.(place);
      const because = why === undefined ? '.' : `: ${why}.`;
      if (part === undefined) return dropped(param, `${slug} takes nothing of this \`${param}\`${because}`, true);
      const found = optionOf(part);
      if (isOverruled(found, given[option])) {
        return { param, outcome: 'mapped', message: `\`provider_params.${option}\` goes before \`${param}\`.` };
      }
      made[option] = found;
      if (serving.inUrl?.includes(place.mode)) inUrl[option] = found;
      return toldOf(slug, param, value, part, serving, because);
    });
    told.push(worstOf(outcomes) ?? dropped(param, `${slug} does not take \`${param}\`.`));
  }
  const both = Object.entries(given).map(([option, value]) => [
    option,
    isObject(value) ? { ...objectOf(made[option]), ...value } : value,
  ]);
  return { params: { ...made, ...Object.fromEntries(both) }, told };
}

/** Many servers take a URL of 8 KB at most, all in all. */
const URL_CHARACTERS_MAX = 6_000;

const isTooLong = (query: Params, { inUrl = [] }: Serving<unknown>, { mode }: Place): boolean =>
  inUrl.includes(mode) && queryOf(query).length > URL_CHARACTERS_MAX;

/** What a value becomes, where the option takes that. */
function acceptable(
  value: unknown,
  schema: TSchema,
  { to, charactersMax = Number.POSITIVE_INFINITY }: Serving<unknown>,
  before: unknown,
  place: Place,
): unknown {
  if (charactersOf(value) > charactersMax) return undefined;
  const option = to === undefined ? value : to(value, before, place);
  return option !== undefined && Value.Check(schema, option) ? option : undefined;
}

/** The value, or what of it is taken: of a list the members that are, as many as may be; of a text its beginning. */
function fitted(value: unknown, takes: (part: unknown) => boolean): unknown {
  if (takes(value)) return value;
  if (Array.isArray(value)) {
    const single = value.filter((each) => takes([each]));
    const count = most(single.length, (length) => takes(single.slice(0, length)));
    return count === 0 ? undefined : single.slice(0, count);
  }
  if (typeof value !== 'string') return undefined;
  const words = value.match(/\s*\S+/g) ?? [];
  const count = most(words.length, (length) => takes(words.slice(0, length).join('')));
  return count === 0 ? undefined : words.slice(0, count).join('');
}

/** The greatest length that is taken, where all that are less are taken as well; 0 where none is. */
function most(lengthMax: number, takes: (length: number) => boolean): number {
  let [low, high] = [0, lengthMax];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (takes(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

const charactersOf = (value: unknown): number =>
  typeof value === 'string'
    ? value.length
    : Array.isArray(value)
      ? value.reduce((sum, each) => sum + charactersOf(each), 0)
      : 0;

function toldOf(
  slug: string,
  param: string,
  value: unknown,
  part: unknown,
  { as }: Serving<unknown>,
  because: string,
): Told {
  const way = as === undefined ? '' : ` \`${param}\` go to ${slug} ${as}.`;
  const taken = param === 'redact' && Array.isArray(part) ? { taken: part } : {};
  if (part === value)
    return as === undefined
      ? { param, outcome: 'honoured', ...taken }
      : { param, outcome: 'mapped', message: way.trim(), ...taken };
  const cut = Array.isArray(value)
    ? `${slug} takes ${(part as unknown[]).length} of the ${value.length} \`${param}\`${because}`
    : `\`${param}\` is cut to its first ${(part as string).length} characters for ${slug}.`;
  return { param, outcome: 'mapped', isCut: true, message: cut + way, ...taken };
}

const dropped = (param: string, message: string, isUnfit = false): Told => ({
  param,
  outcome: 'dropped',
  ...(isUnfit ? { isUnfit } : {}),
  message,
});

/** Of the rows that serve one member. */
const worstOf = (outcomes: readonly Told[]): Told | undefined =>
  outcomes.find(({ outcome }) => outcome === 'dropped') ??
  outcomes.find(({ isCut }) => isCut) ??
  outcomes.find(({ outcome }) => outcome === 'mapped') ??
  outcomes[0];

/** Objects are joined, member by member. */
const isOverruled = (made: unknown, given: unknown): boolean => {
  if (given === undefined) return false;
  if (!isObject(made) || !isObject(given)) return !covers(given, made);
  return Object.entries(made).some(([name, value]) => Object.hasOwn(given, name) && !covers(given[name], value));
};

/** Whether all that was made is in what was given: each term of a list, and perhaps more of it. */
function covers(given: unknown, made: unknown): boolean {
  if (Array.isArray(made))
    return Array.isArray(given) && made.every((part) => given.some((each) => covers(each, part)));
  // A term may be given with what it sounds like, or how much it counts.
  if (!isObject(made)) return given === made || (isObject(given) && Object.values(given).includes(made));
  return isObject(given) && Object.entries(made).every(([name, value]) => covers(given[name], value));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const objectOf = (value: unknown) => (isObject(value) ? value : {});
