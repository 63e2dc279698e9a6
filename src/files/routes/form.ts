// The fields of a transcription's form, read strictly: each is known, well-formed and in range, or the request is refused with
// its name. Whether models can honour them is decided by the chain.
import { Value } from '@sinclair/typebox/value';
import { type ErrorCode, printable, refuse } from '../../api/errors.ts';
import { ADDRESSES, notFetched } from '../../api/not-served.ts';
import { ResponseFormat, type TranscriptionRequest } from '../../api/transcriptions.ts';
import type { Common } from '../../api/vocabulary.ts';
import { readBoolean, readFallbacks, readLanguage, readParams, readRule } from '../../live/socket/query.ts';
import { readList, readVocabulary, VOCABULARY_LISTS, VOCABULARY_MEMBERS } from '../../live/socket/vocabulary.ts';
import { isOpenaiField, OPENAI_FIELDS, readOpenaiOptions } from './openai.ts';

/** Fields this endpoint acts on. */
const KNOWN = [
  'model',
  'response_format',
  'language',
  'diarization',
  ...VOCABULARY_MEMBERS,
  ...VOCABULARY_LISTS.map((name) => `${name}[]`),
  'temperature',
  'timestamp_granularities[]',
  'provider_params',
  'strict',
  'region',
  'retention',
  'stream',
  'fallbacks',
];
/** What OpenAI calls `keyterms`, and how many it takes. */
const KEYWORDS = 'keywords[]';
const OPENAI_KEYWORDS_MAX = 500;
const FORMATS = ResponseFormat.anyOf.map((each) => each.const).join(', ');

/** The fields of a form, or those that came so far. Throws a Refusal naming the field at fault. */
export function readFields(fields: readonly (readonly [string, string])[]): TranscriptionRequest {
  const one = new Map<string, string>();
  const lists: Record<string, string[]> = {};
  const granularities: ('word' | 'segment')[] = [];
  for (const [name, value] of fields) {
    // OpenAI's own are never unknown; where a model cannot honour them, that is said.
    const list = listOf(name);
    if (ADDRESSES.includes(name)) throw bad(name, notFetched(name));
    if (list === undefined && !KNOWN.includes(name) && !isOpenaiField(name)) {
      const known = ['file', ...KNOWN, ...OPENAI_FIELDS, KEYWORDS].join(', ');
      throw bad(name, `\`${printable(name)}\` is not a field of this endpoint. Known are ${known}.`);
    }
    if (value === '') continue;
    if (name === 'timestamp_granularities[]') granularities.push(granularity(value));
    else if (list === undefined) one.set(name, value);
    else lists[list] = [...(lists[list] ?? []), ...(name === list ? readList(name, value) : [value])];
  }
  const isOpenais = fields.some(([name]) => name === KEYWORDS);
  const model = one.get('model');
  if (model === undefined)
    throw bad('model', '`model` is missing. Name one as `<provider>/<model>`; GET /v1/models?mode=batch lists them.');
  const responseFormat = format(one.get('response_format'));
  const stream = readBoolean('stream', one.get('stream'), false);
  return {
    model,
    fallbacks: readFallbacks(one.get('fallbacks')),
    responseFormat,
    language: readLanguage(one.get('language')),
    diarization: responseFormat === 'diarized_json' || readBoolean('diarization', one.get('diarization'), false),
    timestampGranularities: granularities,
    wordTimestamps: !stream && showsWords(responseFormat, granularities),
    providerParams: readParams(one.get('provider_params')),
    stream,
    strict: readBoolean('strict', one.get('strict'), false),
    rule: readRule(one.get('region'), one.get('retention')),
    common: {
      ...readVocabulary(one, lists, isOpenais ? OPENAI_KEYWORDS_MAX : undefined),
      ...temperature(one.get('temperature')),
      ...readOpenaiOptions(fields),
    },
  };
}

/** The list that a field belongs to: by its name, with brackets for a field of each member, and by the name that OpenAI has for it. */
function listOf(name: string): string | undefined {
  const plain = name === KEYWORDS ? 'keyterms' : name.replace(/\[\]$/, '');
  return VOCABULARY_LISTS.find((each) => each === plain);
}

/** OpenAI gives `verbose_json` without words where none are asked for; more than that does no client harm. Subtitles are cut at them. */
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
  refuse(code, message, { param: printable(param) });
