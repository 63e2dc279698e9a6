// Reads what a client requests from queries, forms and configurations, in the same way for all dialects.
import { Kind, type TObject, type TSchema } from '@sinclair/typebox';
import { shownAddress } from '../../api/audio-source.ts';
import { booleanIn, readBooleanIn } from '../../api/boolean.ts';
import { apiError, type ErrorCode } from '../../api/errors.ts';
import type { Mode } from '../../api/models.ts';
import { twoFiles } from '../../api/not-served.ts';
import { isRedactionClass, isServiceClass, isVendorRedaction } from '../../api/redaction.ts';
import { REPLACEMENTS_MAX, type Replacement, readReplacements, replacementsWithin } from '../../api/replacements.ts';
import { readTags, TAGS_MAX, type Tags, tagsFault } from '../../api/tags.ts';
import { KEYTERM_LENGTH_MAX, KEYTERMS_MAX } from '../../api/vocabulary.ts';
import { type JsonObject, jsonOf, objectIn } from '../kit/json.ts';
import type { OptionRows } from '../kit/options.ts';
import { valuesOf } from '../kit/simulator/checks.ts';
import type { JobAudio } from './jobs.ts';
import type { Unmet } from './request.ts';

/** Sets what is there. */
export function setAll(to: Map<string, string>, from: Readonly<Record<string, string | null | undefined>>): void {
  for (const [name, value] of Object.entries(from)) if (value !== undefined && value !== null) to.set(name, value);
}

/** The gateway's own parameters, which every endpoint takes in addition to those of its vendor. */
export const OWN_PARAMETERS = [
  ...['fallbacks', 'prefer', 'price', 'region', 'retention', 'latency', 'tags', 'max_cost', 'max_seconds'],
] as const;

/**
 * @param isInOwnWords the vendor's clients have no `redact` and `replace` of their own in the address. Throws an ApiError where
 *   `replace` is wrong.
 */
export function ownParameters(query: URLSearchParams, isInOwnWords = true): Map<string, string> {
  const parameters = new Map<string, string>();
  setAll(parameters, Object.fromEntries(OWN_PARAMETERS.map((name) => [name, query.get(name)])));
  if (isInOwnWords) {
    addRedactions(parameters, query.getAll('redact').flatMap(textsIn));
    addReplacements(parameters, readReplacements(query.getAll('replace')) ?? []);
  }
  return parameters;
}

/** Texts separated by commas, or a JSON array of texts. What is wrong in them is refused where the request is read. */
export const textsIn = (text: string): string[] => {
  const list = jsonOf(text);
  return Array.isArray(list) ? list.map(String) : text.split(',').filter((each) => each.trim() !== '');
};

/** What a vendor's client wants redacted, in addition to the gateway's own words for it: neither takes the other away. */
export function addRedactions(parameters: Map<string, string>, kinds: readonly string[]): void {
  const before = parameters.get('redact');
  const said = before === undefined ? kinds : [...(JSON.parse(before) as string[]), ...kinds];
  const all = [...new Set(said.map((kind) => kind.trim()))].filter((kind) => booleanIn(kind) !== false);
  const named = all.map((kind) => (booleanIn(kind) === true ? 'pii' : kind));
  if (named.length > 0) parameters.set('redact', JSON.stringify([...new Set(named)]));
}

/** The same of replacement rules: those of the vendor's words come first. Too many are refused where the request is read. */
export function addReplacements(parameters: Map<string, string>, rules: readonly Replacement[]): void {
  const before = parameters.get('replace');
  const all = before === undefined ? rules : [...rules, ...(JSON.parse(before) as Replacement[])];
  if (all.length > 0) parameters.set('replace', JSON.stringify(all));
}

const isFlag = (schema: TSchema): boolean => schema[Kind] === 'Boolean';

/** The options of a schema that are booleans. */
export const flagsOf = ({ properties }: TObject): string[] =>
  Object.entries(properties).flatMap(([name, schema]) => (isFlag(schema) ? [name] : []));

/** The same of a configuration, by their places in it. */
export const flagPlacesOf = (rows: OptionRows, mode: Mode): string[] =>
  Object.entries(rows).flatMap(([name, row]) => {
    const place = placeOf(name, row, mode);
    return place !== undefined && isFlag(row.schema) ? [place] : [];
  });

/**
 * Texts of a query or form with `true` and `false` in the place of whatever the client has for these.
 *
 * @throws ApiError
 */
export const withFlags = (texts: Iterable<readonly [string, string]>, flags: readonly string[]): [string, string][] =>
  [...texts].map(([name, value]) => [
    name,
    flags.includes(name) && value !== '' ? String(readBooleanIn(name, value)) : value,
  ]);

/**
 * The same of a configuration. A list or an object is left for whoever knows what it means there.
 *
 * @param places of flags: dots between the members of objects
 * @throws ApiError
 */
export const withFlagsAt = (config: JsonObject, places: readonly string[]): JsonObject =>
  places.reduce((at, place) => withFlagAt(at, place.split('.'), place), config);

function withFlagAt(config: JsonObject, [name = '', ...inner]: readonly string[], place: string): JsonObject {
  const value = config[name];
  if (value === undefined || value === null || value === '') return config;
  if (typeof value !== 'object') return inner.length > 0 ? config : { ...config, [name]: readBooleanIn(place, value) };
  return inner.length > 0 ? { ...config, [name]: withFlagAt(objectIn(value), inner, place) } : config;
}

/** Where an option stands in a configuration of its provider; undefined where it does not. */
function placeOf(name: string, { wire, ...row }: OptionRows[string], mode: Mode): string | undefined {
  const known = typeof wire === 'object' ? wire[mode] : wire;
  return row[mode] === undefined || known === false ? undefined : (known ?? name);
}

/** Those options of a provider that stand in a configuration of its own, under the names that they have in the mode. */
export function optionsIn(rows: OptionRows, config: unknown, mode: Mode = 'live'): Record<string, unknown> {
  const own: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(rows)) {
    const value = placeOf(name, row, mode)
      ?.split('.')
      .reduce<unknown>((at, part) => objectIn(at)[part], config);
    if (value !== undefined && value !== null) own[name] = value;
  }
  return own;
}

/**
 * The same in a query, under the names of the schema.
 *
 * @param common those that are requested in the words that all models know
 */
export function optionsInQuery(
  query: Iterable<[string, string]>,
  schema: TObject,
  common: readonly string[],
  lists?: 'repeated' | 'json',
): Record<string, unknown> {
  const own = [...query].filter(([name]) => Object.hasOwn(schema.properties, name) && !common.includes(name));
  return valuesOf(new URLSearchParams(own), schema, lists);
}

/** `keyterms` out of a vocabulary that may be larger than what is requested of all models: its first terms. */
export function keytermsWithin(terms: readonly string[]): string | undefined {
  const fit = withinLimits(terms);
  return fit.length === 0 ? undefined : JSON.stringify(fit);
}

/**
 * What is said where `keytermsWithin` left some out.
 *
 * @param name that the client has for them
 * @param models whom it holds for: the vendor's own may be asked for all of them by an option
 */
export function keytermsCut(name: string, terms: readonly string[], models?: Unmet['models']): Unmet[] {
  const count = terms.filter((term) => term !== '').length;
  const fit = withinLimits(terms).length;
  const message = `\`${name}\` has ${count} terms: ${fit} of them are asked for. At most ${KEYTERMS_MAX} of ${KEYTERM_LENGTH_MAX} characters are.`;
  return fit === count ? [] : [{ code: 'parameter_shortened', message, param: name, ...(models && { models }) }];
}

const withinLimits = (terms: readonly string[]): string[] =>
  terms.filter((term) => term !== '' && term.length <= KEYTERM_LENGTH_MAX).slice(0, KEYTERMS_MAX);

type Rules = readonly Pick<Replacement, 'from' | 'to'>[];

/** The rules that fit, of which there may be more than a request may have. */
export const fittingRules = (rules: Rules): Replacement[] => replacementsWithin(rules).rules;

/** What is said where `fittingRules` left some out. @param name that the client has for them */
export function replacementsCut(name: string, rules: Rules): Unmet[] {
  const { leftOut } = replacementsWithin(rules);
  const message = `\`${name}\` has ${rules.length} rules: ${rules.length - leftOut} of them are applied. At most ${REPLACEMENTS_MAX} are.`;
  return leftOut === 0 ? [] : [{ code: 'parameter_shortened', message, param: name }];
}

/** Tags out of a client's texts: `customer:acme\` is a pair, and of other texts the first is the value of `tag`. */
export function tagsIn(texts: readonly string[]): { tags: Tags; leftOut: number } {
  const pairs = new Map<string, string>();
  let leftOut = 0;
  for (const text of texts) {
    const [key, value] = pairIn(text);
    if (pairs.has(key) || pairs.size === TAGS_MAX || tagsFault({ [key]: value }) !== undefined) leftOut++;
    else pairs.set(key, value);
  }
  return { tags: Object.fromEntries(pairs), leftOut };
}

function pairIn(text: string): [key: string, value: string] {
  const colon = text.indexOf(':');
  const [key, value] = [text.slice(0, Math.max(colon, 0)).trim(), text.slice(colon + 1).trim()];
  return tagsFault({ [key]: value }) === undefined ? [key, value] : ['tag', text.trim()];
}

/** In addition to `tags` of the address. Throws an ApiError where that is wrong. */
export function addTags(parameters: Map<string, string>, tags: Tags): void {
  if (Object.keys(tags).length > 0)
    parameters.set('tags', JSON.stringify({ ...tags, ...readTags(parameters.get('tags')) }));
}

/** What is said where `tagsIn` left some out. @param name that the client has for them */
export function tagsCut(name: string, texts: readonly string[]): Unmet[] {
  const { leftOut } = tagsIn(texts);
  const message = `${leftOut} of the ${texts.length} texts in \`${name}\` are not used. Write tags as \`key:value\`, such as customer:acme, each key once. One text without a colon is the value of the key \`tag\`.`;
  return leftOut === 0 ? [] : [{ code: 'parameter_shortened', message, param: name }];
}

/** A vendor's kinds of personal data, by the nearest words that all models know: rather too much is redacted than too little. */
export const nearestRedactions = (kinds: readonly string[]): string[] => [
  ...new Set(kinds.map((kind) => (isVendorRedaction(kind) || isFoundHere(kind) ? kind : 'pii'))),
];

/** Classes that need a service are names of vendors' kinds too, and `pii` includes them where there is one. */
const isFoundHere = (kind: string): boolean => isRedactionClass(kind) && !isServiceClass(kind);

/** Of JSON: written for a header or an address it is a third longer, and servers take 8 KiB of that with all headers. */
export const CARRIED_BYTES_MAX = 3_072;

/** A configuration as a client carries it to whichever node it comes to. Throws an ApiError. */
export function carried(config: JsonObject, param: string, { what, advice }: { what: string; advice: string }): string {
  const bytes = Buffer.from(JSON.stringify(config));
  if (bytes.byteLength <= CARRIED_BYTES_MAX) return bytes.toString('base64url');
  throw badRequest(
    param,
    `${what} has ${bytes.byteLength} bytes as JSON, and at most ${CARRIED_BYTES_MAX} are taken: ${advice}`,
  );
}

/** Refuses what a configuration asks for besides the transcript: members that are set, and not to nothing. */
export function refuseMembers(config: JsonObject, names: readonly string[]): void {
  const nothing: readonly unknown[] = [undefined, null, ''];
  const asked = names.find((name) => !nothing.includes(config[name]) && booleanIn(config[name]) !== false);
  if (asked !== undefined)
    throw badRequest(asked, `\`${asked}\` is not served: the transcript of the file is all there is. Leave it out.`);
}

/**
 * What an address stands for: a file that was put here, or one that is fetched.
 *
 * @param path of files that were put here
 */
export function audioAt(url: unknown, path: string, param: string): JobAudio {
  if (typeof url !== 'string' || url === '') {
    const message = `\`${param}\` is missing. Send the address of the audio, or upload the file and send the address of the answer.`;
    throw badRequest(param, message);
  }
  const [, fileId] = new RegExp(`${path}/([0-9a-f-]{36})$`).exec(url) ?? [];
  return fileId === undefined ? { source: { url, param } } : { fileId };
}

/** What is kept of a configuration, and shown: without the query of an address, which may be a signature. */
export const withShownAddress = (config: JsonObject, param: string): JsonObject =>
  typeof config[param] === 'string' ? { ...config, [param]: shownAddress(config[param]) } : config;

/** Refuses an address next to a file. */
export function refuseAddresses(config: JsonObject, names: readonly string[]): void {
  const named = names.find((name) => ![undefined, null, ''].includes(config[name] as never));
  if (named !== undefined) throw badRequest(named, twoFiles(named));
}

export const badRequest = (param: string, message: string, code: ErrorCode = 'invalid_request') =>
  apiError(code, message, { param });

/** The number of seconds for which a token is requested, if it is one. */
export function secondsAsked(param: string, value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const seconds = typeof value === 'object' ? Number.NaN : Number(value);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw badRequest(param, `\`${param}\` has to be a number of seconds.`);
}

/** Refuses what a token is asked to be besides short-lived. */
export function refuseOfToken(params: JsonObject, names: readonly string[]): void {
  const asked = names.find(
    (name) => ![undefined, null, ''].includes(params[name] as never) && booleanIn(params[name]) !== false,
  );
  if (asked !== undefined)
    throw badRequest(asked, `\`${asked}\` is not served: a token opens live sessions for its time. Leave it out.`);
}
