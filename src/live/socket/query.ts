// The query of `GET /v1/listen`, read strictly: every parameter is known, well-formed and in range, or the request is
// refused with the parameter's name. Whether models can honour it is the chain's business (src/live/failover/chain.ts).
import { Value } from '@sinclair/typebox/value';
import { readBooleanIn } from '../../api/boolean.ts';
import { PREFERENCES, PRICE_RULES, type Preference, type PriceRule } from '../../api/choice.ts';
import { type ApiError, apiError, type ErrorCode, printable } from '../../api/errors.ts';
import {
  Candidate,
  CHANNELS,
  DECODED_RATES,
  ENCODINGS,
  Encoding,
  isCoded,
  Latency,
  type ListenRequest,
  SAMPLE_RATE,
  SpeechGateMode,
  SUSPEND_SECONDS,
} from '../../api/listen.ts';
import { classesOf, REDACT_HOLD_MS } from '../../api/redaction.ts';
import { readReplacements } from '../../api/replacements.ts';
import { MAX_SECONDS, type RequestLimits, USD_FORM } from '../../api/request-limits.ts';
import { type DataResidencyRule, REGIONS, regionsIn } from '../../api/residency-rule.ts';
import { SLUG_LENGTH_MAX } from '../../api/slug.ts';
import { readTags } from '../../api/tags.ts';
import {
  KEYTERM_LENGTH_MAX,
  KEYTERMS_MAX,
  LANGUAGE_TAG,
  LANGUAGES_MAX,
  PROMPT_LENGTH_MAX,
  REDACTIONS,
  Redaction,
  type Vocabulary,
} from '../../api/vocabulary.ts';
import { microUsdOf } from '../../config/prices/price.ts';

/** What goes with a resume token, and is read with it. */
const BESIDE_TOKEN = ['last_seq', 'heard_seconds'] as const;

/** Those that are lists: texts separated by commas, or a JSON array; in a form also a field for each. */
export const VOCABULARY_LISTS = ['languages', 'keyterms', 'redact'] as const;
export const VOCABULARY_MEMBERS = [...VOCABULARY_LISTS, 'prompt', 'vocabulary_boost'] as const;

const KNOWN = [
  'model',
  'fallbacks',
  'prefer',
  'price',
  'sample_rate',
  'encoding',
  'channels',
  'language',
  'interim_results',
  'diarization',
  'turn_events',
  ...VOCABULARY_MEMBERS,
  'provider_params',
  'return_to_primary',
  'standby',
  'suspend_seconds',
  'latency',
  'speech_gate',
  'redact_hold_ms',
  'replace',
  'strict',
  'region',
  'retention',
  'max_cost',
  'max_seconds',
  'tags',
  'start',
  'api_key',
  'resume',
  ...BESIDE_TOKEN,
] as const;

/** BCP-47 as far as its shape goes, or `auto`. */
export const LANGUAGE = new RegExp(`^(auto|${LANGUAGE_TAG})$`);

/** The checked request. Throws an ApiError naming the parameter. */
export function readListenQuery(query: ReadonlyMap<string, string>): ListenRequest {
  for (const name of query.keys()) {
    if (!(KNOWN as readonly string[]).includes(name)) {
      throw bad(name, `\`${printable(name)}\` is unknown. Known: ${KNOWN.join(', ')}.`);
    }
  }
  for (const name of BESIDE_TOKEN) {
    if (query.has(name)) throw bad(name, `\`${name}\` goes with a resume token: \`resume=<token>\` in the URL.`);
  }
  const model = query.get('model');
  if (model === undefined || model === '') {
    throw bad(
      'model',
      '`model` is missing. Name one as `<provider>/<model>`; GET /v1/models?mode=live lists them. With `start=message` it may come in a first message.',
    );
  }
  if (model.length > SLUG_LENGTH_MAX)
    throw bad('model', `\`model\` has ${model.length} characters; a slug has at most ${SLUG_LENGTH_MAX}.`);
  const encoding = readEncoding(query.get('encoding'));
  const common = vocabularyOf(query);
  return {
    model,
    fallbacks: readFallbacks(query.get('fallbacks')),
    prefer: readPrefer(query.get('prefer')),
    price: readPriceRule(query.get('price')),
    sampleRate: readSampleRate(query.get('sample_rate'), encoding),
    encoding,
    channels: readChannels(query.get('channels'), encoding),
    language: readLanguage(query.get('language')),
    interimResults: readBoolean('interim_results', query.get('interim_results'), true),
    diarization: readBoolean('diarization', query.get('diarization'), false),
    turnEvents: readBoolean('turn_events', query.get('turn_events'), false),
    common,
    providerParams: readParams(query.get('provider_params')),
    strict: readBoolean('strict', query.get('strict'), false),
    rule: readRule(query.get('region'), query.get('retention')),
    returnToPrimary: readFlag('return_to_primary', query.get('return_to_primary')),
    standby: readFlag('standby', query.get('standby')),
    suspendSeconds: readInteger('suspend_seconds', query.get('suspend_seconds'), SUSPEND_SECONDS),
    latency: readLatency(query.get('latency')),
    speechGate: readSpeechGate(query.get('speech_gate')),
    redacted: classesOf(common.redact),
    redactHoldMs: readInteger('redact_hold_ms', query.get('redact_hold_ms'), REDACT_HOLD_MS),
    replacements: readReplacements([query.get('replace') ?? '']),
    isResumable: readResume(query.get('resume')),
    limits: readLimits(query),
    tags: readTags(query.get('tags')),
  };
}

/** Where audio may go, and whether anything may be kept of it; undefined where neither is named. */
export function readRule(region: string | undefined, retention: string | undefined): DataResidencyRule | undefined {
  if (region === undefined && retention === undefined) return undefined;
  const regions = region === undefined ? null : regionsIn(region);
  if (regions === undefined)
    throw bad(
      'region',
      `\`region\` is "${printable(region ?? '')}"; it is one or more of ${REGIONS.join(', ')}, separated by commas.`,
    );
  if (retention !== undefined && retention !== 'none')
    throw bad('retention', `\`retention\` is "${printable(retention)}"; it is none, or left out.`);
  return { regions, retention: retention ?? null };
}

const USD = new RegExp(USD_FORM);

/** Undefined where the request has neither. */
export function readLimits(query: ReadonlyMap<string, string>): RequestLimits | undefined {
  const [cost, seconds] = [query.get('max_cost'), query.get('max_seconds')];
  if (cost === undefined && seconds === undefined) return undefined;
  if (cost !== undefined && !USD.test(cost))
    throw bad(
      'max_cost',
      `\`max_cost\` is "${printable(cost)}"; it is an amount in USD such as 0.25, with six decimals at most.`,
    );
  return {
    maxSeconds: readInteger('max_seconds', seconds, MAX_SECONDS),
    maxMicroUsd: cost === undefined ? undefined : microUsdOf(cost),
  };
}

/** Comma-separated slugs, or a JSON array of slugs and `{model, provider_params}`. */
export function readFallbacks(text: string | undefined): Candidate[] {
  if (text === undefined || text === '') return [];
  if (!text.trimStart().startsWith('[')) {
    const models = text.split(',').map((slug) => slug.trim());
    if (models.includes(''))
      throw bad('fallbacks', '`fallbacks` has an empty member. Separate slugs by single commas.');
    return models.map((model) => ({ model }));
  }
  const members = parseJson('fallbacks', text);
  if (!Array.isArray(members)) throw bad('fallbacks', '`fallbacks` is slugs separated by commas, or a JSON array.');
  return members.map((member: unknown) => {
    if (typeof member === 'string') return { model: member };
    if (Value.Check(Candidate, member)) return member;
    throw bad(
      'fallbacks',
      'A member of `fallbacks` is a slug or an object {"model", "provider_params"?, "credential"?: "own" or "service"}, with no other members.',
    );
  });
}

/** What `auto` goes by; undefined for the default. */
export function readPrefer(text: string | undefined): Preference | undefined {
  if (text === undefined || text === '') return undefined;
  const found = PREFERENCES.find((each) => each === text);
  if (found !== undefined) return found;
  throw bad('prefer', `\`prefer\` is "${printable(text)}". Accepted: ${PREFERENCES.join(', ')}.`);
}

/** What prices decide; undefined for nothing. */
export function readPriceRule(text: string | undefined): PriceRule | undefined {
  if (text === undefined || text === '') return undefined;
  const found = PRICE_RULES.find((each) => each === text);
  if (found !== undefined) return found;
  throw bad('price', `\`price\` is "${printable(text)}". Accepted: ${PRICE_RULES.join(', ')}.`);
}

/** A JSON object. */
export function readParams(text: string | undefined): Record<string, unknown> {
  if (text === undefined || text === '') return {};
  const value = parseJson('provider_params', text, 'invalid_provider_params');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bad(
      'provider_params',
      '`provider_params` is a JSON object, such as {"grammar": "…"}.',
      'invalid_provider_params',
    );
  }
  return value as Record<string, unknown>;
}

export const readBoolean = (name: string, text: string | undefined, whenAbsent: boolean): boolean =>
  text === undefined ? whenAbsent : readBooleanIn(name, text);

/** Undefined where the request does not say. */
const readFlag = (name: string, text: string | undefined): boolean | undefined =>
  text === undefined ? undefined : readBooleanIn(name, text);

export function readLanguage(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (LANGUAGE.test(text)) return text;
  throw bad('language', `\`language\` is "${printable(text)}"; it is a BCP-47 tag such as en or fr-CA, or auto.`);
}

function readInteger(
  name: string,
  text: string | undefined,
  { min, max }: { min: number; max: number },
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw bad(name, `\`${name}\` is "${printable(text)}"; it is an integer from ${min} to ${max}.`);
}

function readSampleRate(text: string | undefined, encoding: Encoding): number {
  const rate = readInteger('sample_rate', text, SAMPLE_RATE) ?? SAMPLE_RATE.default;
  if (!isCoded(encoding) || DECODED_RATES.includes(rate)) return rate;
  throw bad(
    'sample_rate',
    `\`sample_rate\` is ${rate}. With \`encoding=${encoding}\` it is what the audio is decoded to: ${listOf(DECODED_RATES)}, whatever it was recorded at. Leave it out for ${SAMPLE_RATE.default}.`,
  );
}

function readChannels(text: string | undefined, encoding: Encoding): number {
  const channels = readInteger('channels', text, CHANNELS) ?? 1;
  if (channels === 1 || !isCoded(encoding)) return channels;
  throw bad(
    'channels',
    `\`channels\` is ${channels}, and \`encoding=${encoding}\` has one: several channels are mixed. Send samples (linear16, mulaw or alaw), interleaved, for several channels.`,
  );
}

function readLatency(text: string | undefined): Latency | undefined {
  if (text === undefined || Value.Check(Latency, text)) return text;
  throw bad('latency', `\`latency\` is "${printable(text)}"; it is low, balanced or throughput.`);
}

/** Throws an ApiError for what is no mode. */
export function readSpeechGate(text: string | undefined): SpeechGateMode | undefined {
  if (text === undefined || Value.Check(SpeechGateMode, text)) return text;
  throw bad(
    'speech_gate',
    `\`speech_gate\` is "${printable(text)}". Accepted: off, mark, drop. Leave it out for the default of the model.`,
  );
}

/** A token is read at the handshake, before anything else. */
function readResume(text: string | undefined): boolean {
  if (text === undefined || text === 'off') return false;
  if (text === 'on') return true;
  throw bad(
    'resume',
    `\`resume\` is "${printable(text)}"; it is on, for a session that can be resumed, or in the URL the \`resume_token\` of one.`,
  );
}

function readEncoding(text: string | undefined): Encoding {
  if (text === undefined) return 'linear16';
  if (Value.Check(Encoding, text)) return text;
  throw bad(
    'encoding',
    `\`encoding\` is "${printable(text)}"; it is ${listOf(ENCODINGS)}. Send other containers to /v1/audio/transcriptions.`,
  );
}

function parseJson(name: string, text: string, code: ErrorCode = 'invalid_request'): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw bad(name, `\`${name}\` is not JSON. In a URL it is percent-encoded.`, code);
  }
}

const listOf = (values: readonly (string | number)[]): string =>
  `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;

const bad = (param: string, message: string, code: ErrorCode = 'invalid_request'): ApiError =>
  apiError(code, message, { param: printable(param) });

const TAG = new RegExp(`^${LANGUAGE_TAG}$`);

type Lists = Partial<Record<(typeof VOCABULARY_LISTS)[number], readonly string[]>>;

/** Out of a query. Throws an ApiError naming the parameter. */
function vocabularyOf(query: ReadonlyMap<string, string>): Vocabulary {
  const lists = VOCABULARY_LISTS.map((name) => [name, readList(name, query.get(name))]);
  return readVocabulary(query, Object.fromEntries(lists));
}

/** Texts separated by commas, or a JSON array of texts. */
export function readList(name: string, text: string | undefined): string[] {
  if (text === undefined || text.trim() === '') return [];
  if (!text.trimStart().startsWith('[')) return text.split(',');
  const list = jsonOf(text);
  if (Array.isArray(list) && list.every((each) => typeof each === 'string')) return list;
  throw bad(name, `\`${name}\` is texts separated by commas, or a JSON array of texts.`);
}

/** @param keytermsMax where another endpoint takes more */
export function readVocabulary(
  texts: ReadonlyMap<string, string>,
  { languages = [], keyterms = [], redact = [] }: Lists,
  keytermsMax = KEYTERMS_MAX,
): Vocabulary {
  const [tags, terms] = [distinct(languages), distinct(keyterms)];
  checkCount('languages', tags, LANGUAGES_MAX);
  checkCount('keyterms', terms, keytermsMax);
  for (const tag of tags) {
    if (!TAG.test(tag))
      throw bad('languages', `\`languages\` has "${printable(tag)}"; each is a BCP-47 tag such as en or fr-CA.`);
  }
  for (const term of terms) {
    if (term === '') throw bad('keyterms', '`keyterms` has an empty member. Separate terms by single commas.');
    if (term.length > KEYTERM_LENGTH_MAX) {
      throw bad(
        'keyterms',
        `\`keyterms\` has a term of ${term.length} characters; each has ${KEYTERM_LENGTH_MAX} at most.`,
      );
    }
  }
  const [kinds, prompt, boost] = [
    redactionsOf(redact),
    promptOf(texts.get('prompt')),
    boostOf(texts.get('vocabulary_boost')),
  ];
  return {
    ...(tags.length === 0 ? {} : { languages: tags }),
    ...(terms.length === 0 ? {} : { keyterms: terms }),
    ...(kinds.length === 0 ? {} : { redact: kinds }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(boost === undefined ? {} : { vocabulary_boost: boost }),
  };
}

function redactionsOf(asked: readonly string[]): Redaction[] {
  const kinds = distinct(asked);
  if (kinds.length === 1 && kinds[0] === 'true') return ['pii'];
  if (kinds.length === 1 && kinds[0] === 'false') return [];
  for (const kind of kinds) {
    if (!Value.Check(Redaction, kind))
      throw bad('redact', `\`redact\` has "${printable(kind)}"; it is true, or of ${REDACTIONS.join(', ')}.`);
  }
  return kinds as Redaction[];
}

function promptOf(text = ''): string | undefined {
  if (text.length > PROMPT_LENGTH_MAX)
    throw bad('prompt', `\`prompt\` has ${text.length} characters; it has ${PROMPT_LENGTH_MAX} at most.`);
  return text.trim() === '' ? undefined : text;
}

function boostOf(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = Number(text);
  if (value >= 0 && value <= 1) return value;
  throw bad('vocabulary_boost', '`vocabulary_boost` is a number from 0 to 1.');
}

function checkCount(name: string, list: readonly string[], most: number): void {
  if (list.length > most) throw bad(name, `\`${name}\` has ${list.length} members; it has ${most} at most.`);
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts.map((text) => text.trim()))];

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
