// The fields of a transcription's form, read strictly: each is known, well-formed and in range, or the request is refused with
// its name. Whether models can honour them is decided by the chain. Client libraries write objects and lists into forms member by member:
// `provider_params[keyterm][]`, `fallbacks[]`. They become the one JSON text that the field is otherwise.

import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { type AliasedKey, slugNamed } from '../../accounts/auth/aliases.ts';
import { booleanIn } from '../../api/boolean.ts';
import { type ApiError, apiError, type ErrorCode, printable } from '../../api/errors.ts';
import { JOB_FIELDS } from '../../api/jobs.ts';
import { ADDRESSES, twoFiles } from '../../api/not-served.ts';
import { classesOf } from '../../api/redaction.ts';
import { readReplacements } from '../../api/replacements.ts';
import { isSlug, modelOf, providerOf } from '../../api/slug.ts';
import { readTags } from '../../api/tags.ts';
import { ResponseFormat, type TranscriptionRequest } from '../../api/transcriptions.ts';
import type { Common } from '../../api/vocabulary.ts';
import type { Field } from '../../http/multipart/form-fields.ts';
import {
  readBoolean,
  readFallbacks,
  readLanguage,
  readLimits,
  readList,
  readParams,
  readPrefer,
  readPriceRule,
  readRule,
  readSpeechGate,
  readVocabulary,
  VOCABULARY_LISTS,
  VOCABULARY_MEMBERS,
} from '../../live/socket/query.ts';
import type { JsonObject } from '../../vendors/kit/json.ts';
import type { Provider } from '../../vendors/kit/provider.ts';

/** In the place of a file. */
export const ADDRESS = 'audio_url';
const BY_URL = `Send the address of the audio as \`${ADDRESS}\`, without a file.`;

const AS_JOB = 'Send the file to `/v1/jobs`, or send it here with `async=true` in the query.';

/** Fields this endpoint acts on. */
const KNOWN = [
  ADDRESS,
  'model',
  'response_format',
  'language',
  'diarization',
  ...VOCABULARY_MEMBERS,
  ...VOCABULARY_LISTS.map((name) => `${name}[]`),
  'temperature',
  'timestamp_granularities[]',
  'provider_params',
  'replace',
  'replace[]',
  'speech_gate',
  'strict',
  'region',
  'retention',
  'max_cost',
  'max_seconds',
  'stream',
  'fallbacks',
  'prefer',
  'price',
  'tags',
];
/** What OpenAI calls `keyterms`, and how many it takes. */
const KEYWORDS = 'keywords[]';
const OPENAI_KEYWORDS_MAX = 500;
const FORMATS = ResponseFormat.anyOf.map((each) => each.const).join(', ');

/**
 * The fields of a form, or those that came so far. Throws an ApiError naming the field at fault.
 *
 * @param others known as well, and read elsewhere
 */
export function readFields(
  fields: readonly (readonly [string, string])[],
  others: readonly string[] = [],
): TranscriptionRequest {
  const one = new Map<string, string>();
  const lists: Record<string, string[]> = {};
  const granularities: ('word' | 'segment')[] = [];
  const replacements: string[] = [];
  for (const [name, value] of fields) {
    // OpenAI's own are never unknown; where a model cannot honour them, that is said.
    const list = listOf(name);
    if (name === ADDRESS && value !== '') throw bad(name, twoFiles(name));
    if (list === undefined && !KNOWN.includes(name) && !isOpenaiField(name)) {
      refuseOtherAddresses([[name, value]]);
      if (JOB_FIELDS.includes(name)) throw bad(name, `\`${name}\` is a field of jobs. ${AS_JOB}`);
      const known = ['file', ...KNOWN, ...others, ...OPENAI_FIELDS, KEYWORDS].join(', ');
      throw bad(name, `\`${printable(name)}\` is not a field of this endpoint. Known are ${known}.`);
    }
    if (value === '') continue;
    if (name === 'timestamp_granularities[]') granularities.push(granularity(value));
    else if (name === 'replace' || name === 'replace[]') replacements.push(value);
    else if (list === undefined) one.set(name, value);
    else lists[list] = [...(lists[list] ?? []), ...(name === list ? readList(name, value) : [value])];
  }
  const isOpenais = fields.some(([name]) => name === KEYWORDS);
  const model = one.get('model');
  if (model === undefined)
    throw bad('model', '`model` is missing. Name one as `<provider>/<model>`; GET /v1/models?mode=batch lists them.');
  const responseFormat = format(one.get('response_format'));
  const stream = readBoolean('stream', one.get('stream'), false);
  const vocabulary = readVocabulary(one, lists, isOpenais ? OPENAI_KEYWORDS_MAX : undefined);
  return {
    model,
    fallbacks: readFallbacks(one.get('fallbacks')),
    prefer: readPrefer(one.get('prefer')),
    price: readPriceRule(one.get('price')),
    responseFormat,
    language: readLanguage(one.get('language')),
    diarization: responseFormat === 'diarized_json' || readBoolean('diarization', one.get('diarization'), false),
    timestampGranularities: granularities,
    wordTimestamps: !stream && showsWords(responseFormat, granularities),
    providerParams: readParams(one.get('provider_params')),
    stream,
    strict: readBoolean('strict', one.get('strict'), false),
    rule: readRule(one.get('region'), one.get('retention')),
    speechGate: readSpeechGate(one.get('speech_gate')),
    redacted: classesOf(vocabulary.redact),
    replacements: readReplacements(replacements),
    limits: readLimits(one),
    tags: readTags(one.get('tags')),
    common: {
      ...vocabulary,
      ...temperature(one.get('temperature')),
      ...readOpenaiOptions(fields),
    },
  };
}

/** Throws an ApiError for the address of audio under a name that other services have for it. */
export function refuseOtherAddresses(fields: readonly Field[]): void {
  const [name] = fields.find(([each]) => each !== ADDRESS && ADDRESSES.includes(each)) ?? [];
  if (name !== undefined) throw bad(name, `\`${name}\` is not a field of this endpoint. ${BY_URL}`);
}

/** The list that a field belongs to: by its name, with brackets for a field of each member, and by the name that OpenAI has for it. */
function listOf(name: string): string | undefined {
  const plain = name === KEYWORDS ? 'keyterms' : name.replace(/\[\]$/, '');
  return VOCABULARY_LISTS.find((each) => each === plain);
}

/** OpenAI gives `verbose_json` without words where none are requested; more than that does no client harm. Subtitles are cut at them. */
const showsWords = (format: ResponseFormat, granularities: readonly string[]): boolean =>
  format === 'srt' ||
  format === 'vtt' ||
  (format === 'verbose_json' && (granularities.length === 0 || granularities.includes('word')));

function format(text: string | undefined): ResponseFormat {
  if (text === undefined || text === '') return 'json';
  if (Value.Check(ResponseFormat, text)) return text;
  throw bad('response_format', `\`response_format\` is "${printable(text)}"; it is one of ${FORMATS}.`);
}

function granularity(text: string): 'word' | 'segment' {
  if (text === 'word' || text === 'segment') return text;
  throw bad('timestamp_granularities[]', '`timestamp_granularities[]` is word or segment.');
}

function temperature(text: string | undefined): Pick<Common, 'temperature'> {
  if (text === undefined || text === '') return {};
  const value = Number(text);
  if (value >= 0 && value <= 1) return { temperature: value };
  throw bad('temperature', '`temperature` is a number from 0 to 1.');
}

const bad = (param: string, message: string, code: ErrorCode = 'invalid_request') =>
  apiError(code, message, { param: printable(param) });

/** Options that come as lists, a field for each member. */
const OPENAI_LISTS: readonly string[] = ['include', 'known_speaker_names', 'known_speaker_references'];

/** Comes as a word, as JSON, or as the clients write an object: `chunking_strategy[type]`. */
const STRATEGY = 'chunking_strategy';
const STRATEGY_MEMBER = /^chunking_strategy\[(type|threshold|prefix_padding_ms|silence_duration_ms)\]$/;

/** The fields as they are named in a list of them. */
const OPENAI_FIELDS: readonly string[] = [STRATEGY, ...OPENAI_LISTS.map((name) => `${name}[]`)];

const isOpenaiField = (name: string): boolean => OPENAI_FIELDS.includes(name) || STRATEGY_MEMBER.test(name);
/** Lists that OpenAI's libraries write with brackets, a field for each member; others write the name alone, as often as it takes. */
const BRACKETED: readonly string[] = ['timestamp_granularities', 'keywords', ...OPENAI_LISTS];

/** Fields that may come more than once. */
export const LIST_NAMES: readonly string[] = ['fallbacks', 'replace', ...VOCABULARY_LISTS, ...BRACKETED];

/** The members of a JSON object as the fields of a form. */
export const fieldsOfJson = (body: JsonObject): Field[] =>
  Object.entries(body).flatMap(([name, value]): Field[] => {
    if (value === undefined || value === null) return [];
    if (typeof value === 'string') return [[name, value]];
    if (name === 'fallbacks' || !Array.isArray(value) || !value.every((each) => typeof each === 'string'))
      return [[name, JSON.stringify(value)]];
    return value.map((each) => [`${name.replace(/\[\]$/, '')}[]`, each]);
  });

/** The fields, each with its members in one text. Throws an ApiError naming the field where a form cannot say what was meant. */
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

/** Fields that may come member by member. Other names with brackets are names. */
const JOINED = ['provider_params', 'fallbacks', 'tags'];
const DEPTH_MAX = 8;

/** An object without a prototype, a list of texts, or a text. */
type Tree = string | string[] | { [name: string]: Tree };

/**
 * The fields, with members joined. A form has texts alone, so members are typed by `schemaOf(field)`, where there is one for that
 * field; what does not fit it stays a text. Throws an ApiError naming the field where a form cannot say what was meant.
 */
export function joinMembers(
  fields: readonly Field[],
  schemaOf: (field: string) => TSchema | undefined,
): readonly Field[] {
  const trees = new Map<string, Tree>();
  const others: Field[] = [];
  for (const [name, value] of fields) {
    const field = JOINED.find((each) => name.startsWith(`${each}[`));
    if (field === undefined) others.push([name, value]);
    else trees.set(field, withMember(trees.get(field), pathOf(field, name), value, field));
  }
  if (trees.size === 0) return fields;
  const joined = [...trees].map(([field, tree]): Field => {
    if (others.some(([name]) => name === field)) {
      throw apiError('duplicate_parameter', `The form has \`${field}\` whole and by its members. Send one of them.`, {
        param: field,
      });
    }
    const schema = schemaOf(field);
    return [field, JSON.stringify(schema === undefined ? tree : Value.Convert(schema, withBooleans(schema, tree)))];
  });
  return [...others, ...joined];
}

/** The members that lead to the value; the last is empty for a value of a list. */
function pathOf(field: string, name: string): string[] {
  const rest = name.slice(field.length);
  const path = [...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, member]) => member as string);
  if (path.map((member) => `[${member}]`).join('') !== rest || path.length > DEPTH_MAX) {
    throw unclear(field, `\`${printable(name)}\` is no member of it`);
  }
  if (path.indexOf('') !== -1 && path.indexOf('') !== path.length - 1) {
    throw unclear(field, 'a form does not say where an object in a list ends');
  }
  return path;
}

function withMember(tree: Tree | undefined, path: readonly string[], value: string, field: string): Tree {
  const [member, ...deeper] = path;
  if (member === undefined) {
    if (tree === undefined) return value;
  } else if (member === '') {
    if (tree === undefined || Array.isArray(tree)) return [...(tree ?? []), value];
  } else if (tree === undefined || (typeof tree === 'object' && !Array.isArray(tree))) {
    const object: { [name: string]: Tree } = tree ?? Object.create(null);
    object[member] = withMember(object[member], deeper, value, field);
    return object;
  }
  throw unclear(field, 'one of its members is given twice');
}

/** Booleans are written as in any other field. */
function withBooleans(schema: TSchema, tree: Tree): unknown {
  if (isFlag(schema)) return booleanIn(tree) ?? tree;
  if (typeof tree === 'string' || Array.isArray(tree)) return tree;
  const { properties = {} } = schema as { properties?: Record<string, TSchema> };
  return Object.fromEntries(
    Object.entries(tree).map(([name, inner]) => {
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, own === undefined ? inner : withBooleans(own, inner)];
    }),
  );
}

/** Or a list, whose members come under another name. */
const isFlag = ({ type, anyOf = [] }: TSchema): boolean =>
  type === 'boolean' || (anyOf.some(isFlag) && anyOf.every((each: TSchema) => isFlag(each) || each.type === 'array'));

const unclear = (field: string, why: string): ApiError =>
  apiError(
    'invalid_request',
    `\`${field}\` cannot be read: ${why}. Send it as one JSON text: with a client library, JSON.stringify(…) or json.dumps(…).`,
    { param: field },
  );

/** The options that fields say, by the names of fields. Empty fields count as absent. Throws an ApiError for what cannot be read. */
function readOpenaiOptions(fields: readonly Field[]): Partial<Common> {
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
    else options[name] = [...((options[name] as string[] | undefined) ?? []), value];
  }
  return options;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw apiError('invalid_request', `\`${STRATEGY}\` is neither \`auto\` nor a JSON object.`, { param: STRATEGY });
  }
}
