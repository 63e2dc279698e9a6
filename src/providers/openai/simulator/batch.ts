// The simulated `POST /v1/audio/transcriptions`: which form each model takes, and the limits of files. How the answer is
// written is in formats.ts.
import { Value } from '@sinclair/typebox/value';
import { baseLanguage } from '../../kit/whisper-languages.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { FILE_BYTES_MAX, FILE_EXTENSIONS, FILE_SECONDS_MAX, traitsOf } from '../models.ts';
import { options } from '../options.ts';
import { answerIn, streamIn } from './formats.ts';
import { type Refusal, refuse } from './refusals.ts';

/** The form, read and found good. */
interface Job {
  model: string;
  format: string;
  language: string | undefined;
  file: Uint8Array;
  isStream: boolean;
  granularities: string[];
  speakers: string[];
  isCut: boolean;
  logprobs: boolean;
}

const FIELDS = ['file', 'model', 'language', 'response_format', 'stream'];
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  json: ['json'],
  verbose_json: ['json', 'text', 'srt', 'verbose_json', 'vtt'],
  diarized_json: ['json', 'text', 'diarized_json'],
};
/** Without a chunking strategy no longer audio is told apart by speakers. */
const UNCUT_SECONDS_MAX = 30;

export async function answerFile(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  const form = await formOf(request);
  if (form === undefined) return refuse({ status: 400, code: null, message: 'Could not parse multipart form' });
  const job = await jobOf(form);
  if ('status' in job) return refuse(job);
  const { model, format, language, isStream, granularities, speakers, isCut, logprobs } = job;
  const heard = await tools.transcribe(job.file, language).catch(() => undefined);
  if (heard === undefined) {
    return refuse(invalid('file', 'Audio file might be corrupted or unsupported'));
  }
  const { seconds, turns } = heard;
  if (model.startsWith('gpt-4o') && seconds > FILE_SECONDS_MAX) {
    const message = `audio duration ${seconds} seconds is longer than ${FILE_SECONDS_MAX} seconds which is the maximum for this model`;
    return refuse(invalid('file', message));
  }
  if (format === 'diarized_json' && !isCut && seconds > UNCUT_SECONDS_MAX) {
    return refuse(invalid('chunking_strategy', 'chunking_strategy is required for diarization models'));
  }
  const wordTimes = granularities.includes('word');
  const answer = { model, format, language, seconds, turns, speakers, wordTimes, logprobs };
  return isStream ? streamIn(answer) : answerIn(answer);
}

async function formOf({ headers, body }: SimulatedRequest): Promise<FormData | undefined> {
  try {
    return await new Response(body, { headers: { 'content-type': headers['content-type'] ?? '' } }).formData();
  } catch {
    return undefined;
  }
}

async function jobOf(form: FormData): Promise<Job | Refusal> {
  const file = form.get('file');
  const model = String(form.get('model') ?? '');
  const format = String(form.get('response_format') ?? 'json');
  const traits = traitsOf(model);
  if (model === '') return missing('model');
  if (traits?.file === undefined) {
    return { status: 404, code: 'model_not_found', message: `The model '${model}' does not exist`, param: 'model' };
  }
  if (file === null || typeof file === 'string') return missing('file');
  const refusal = fileFault(file) ?? formatFault(model, traits.file, format) ?? optionsFault(form, model);
  if (refusal !== undefined) return refusal;
  const granularities = listOf(form, 'timestamp_granularities');
  if (granularities.length > 0 && format !== 'verbose_json') {
    return invalid('timestamp_granularities', 'timestamp_granularities needs response_format verbose_json');
  }
  const logprobs = listOf(form, 'include').includes('logprobs');
  if (logprobs && format !== 'json') return invalid('include', 'include needs response_format json');
  const names = listOf(form, 'known_speaker_names');
  const [spoken] = listOf(form, 'languages');
  return {
    model,
    format,
    language: baseLanguage(spoken ?? form.get('language')?.toString()),
    file: new Uint8Array(await file.arrayBuffer()),
    isStream: form.get('stream') === 'true' && model !== 'whisper-1',
    granularities,
    speakers: names.length > 0 ? names : ['A', 'B'],
    isCut: form.has('chunking_strategy') || form.has('chunking_strategy[type]'),
    logprobs,
  };
}

function fileFault({ name, size }: { name: string; size: number }): Refusal | undefined {
  if (size > FILE_BYTES_MAX) {
    const message = `Maximum content size limit (${FILE_BYTES_MAX}) exceeded (${size} bytes read)`;
    return { status: 413, code: null, message, type: 'server_error' };
  }
  const dot = name.lastIndexOf('.');
  if (dot !== -1 && FILE_EXTENSIONS.includes(name.slice(dot + 1).toLowerCase())) return undefined;
  return invalid('file', `Unrecognized file format. Supported formats: ${JSON.stringify(FILE_EXTENSIONS)}`);
}

function formatFault(model: string, richest: string, format: string): Refusal | undefined {
  const accepted = FORMATS[richest] ?? [];
  if (accepted.includes(format)) return undefined;
  const message = `response_format '${format}' is not compatible with model '${model}'. Use ${accepted.join(' or ')} instead.`;
  return { ...invalid('response_format', message), code: 'unsupported_value' };
}

/** The other fields, each as far as the model takes it. */
function optionsFault(form: FormData, model: string): Refusal | undefined {
  for (const field of new Set(form.keys())) {
    const name = field.replace(/\[.*$/, '');
    if (FIELDS.includes(name)) continue;
    if (!Object.hasOwn(options.rows, name) || !isFileOption(name)) {
      return { ...invalid(name, `Unknown parameter: '${name}'.`), code: 'unknown_parameter' };
    }
    if (!options.honours(name, model, 'batch')) return invalid(name, `The model '${model}' does not take '${name}'.`);
    const value = typedValue(form, field, name);
    const { schema } = options.rows[name as keyof typeof options.rows];
    if (value !== undefined && !Value.Check(schema, value)) return invalid(name, `Invalid value for '${name}'.`);
  }
  return undefined;
}

const isFileOption = (name: string): boolean =>
  ['whisper-1', 'gpt-transcribe', 'gpt-4o-transcribe', 'gpt-4o-transcribe-diarize'].some((model) =>
    options.honours(name, model, 'batch'),
  );

/** A field as its option is typed; undefined for an object that comes member by member. */
function typedValue(form: FormData, field: string, name: string): unknown {
  if (field.endsWith('[]')) return form.getAll(field);
  if (field !== name) return undefined;
  const text = String(form.get(field));
  if (name === 'temperature') return text.trim() === '' ? text : Number(text);
  return text.startsWith('{') ? parsed(text) : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const listOf = (form: FormData, name: string): string[] => form.getAll(`${name}[]`).map(String);

const invalid = (param: string, message: string): Refusal => ({ status: 400, code: 'invalid_value', message, param });

const missing = (param: string): Refusal => ({
  status: 400,
  code: 'missing_required_parameter',
  message: `Missing required parameter: '${param}'.`,
  param,
});
