// What a session of the simulated AssemblyAI is asked for on its URL, and what is refused of it.
import { hasLive, liveTraitsOf } from '../models.ts';

export interface SessionOptions {
  sampleRate: number;
  language: string | undefined;
  formatTurns: boolean;
  /** The U3 family: nothing is settled before the end of a turn, and speech is announced. */
  isUniversal3: boolean;
  /** Finals are formatted by the model. */
  formatsItself: boolean;
  speakerLabels: boolean;
  languageDetection: boolean;
}

const BOOLEANS = ['format_turns', 'language_detection', 'speaker_labels', 'redact_pii', 'filter_profanity'];
const LISTS = ['keyterms_prompt', 'language_codes', 'redact_pii_policies'];

/** What is wrong with the query, in one line. */
export function faultOfQuery(query: URLSearchParams): string | undefined {
  const model = query.get('speech_model');
  if (model !== null && !hasLive(model)) return `unknown speech_model ${model}`;
  const rate = Number(query.get('sample_rate') ?? 16_000);
  if (!Number.isInteger(rate) || rate < 8_000 || rate > 48_000) return 'sample_rate must be 8000 to 48000';
  const encoding = query.get('encoding') ?? 'pcm_s16le';
  if (encoding !== 'pcm_s16le') return `the simulator hears pcm_s16le only, not ${encoding}`;
  for (const name of BOOLEANS) {
    if (!['true', 'false', null].includes(query.get(name))) return `${name} must be true or false`;
  }
  return LISTS.find((name) => query.has(name) && !isStringList(query.getAll(name))) === undefined
    ? undefined
    : `${LISTS.join(', ')} must be JSON arrays of strings, each in one parameter`;
}

function isStringList(values: readonly string[]): boolean {
  if (values.length !== 1) return false;
  try {
    const list: unknown = JSON.parse(values[0] as string);
    return Array.isArray(list) && list.every((each) => typeof each === 'string');
  } catch {
    return false;
  }
}

/** The options of a query that is in order. */
export function optionsOf(query: URLSearchParams): SessionOptions {
  const model = query.get('speech_model') ?? 'universal-streaming-english';
  const { partials, formatTurns } = liveTraitsOf(model);
  const codes = JSON.parse(query.get('language_codes') ?? '[]') as string[];
  return {
    sampleRate: Number(query.get('sample_rate') ?? 16_000),
    language: codes[0] ?? (model === 'universal-streaming-english' ? 'en' : undefined),
    formatTurns: query.get('format_turns') === 'true',
    isUniversal3: partials === 'transcript',
    formatsItself: !formatTurns,
    speakerLabels: query.get('speaker_labels') === 'true',
    languageDetection: query.get('language_detection') === 'true',
  };
}
