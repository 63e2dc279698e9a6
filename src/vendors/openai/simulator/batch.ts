// The simulated `POST /v1/audio/transcriptions`: which form each model takes, and the limits of files. How the answer is
// written is in the kit.
import { Type } from '@sinclair/typebox';
import { baseLanguage } from '../../kit/languages/whisper-languages.ts';
import type { HeardTurn, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { faultIn, formOf, members, oneOf, valuesOf } from '../../kit/simulator/checks.ts';
import { answerIn, invalid, missing, type Refusal, refuse, streamIn } from '../../kit/simulator/openai-answers.ts';
import { textOf } from '../../kit/simulator/words.ts';
import { FILE_EXTENSIONS, FILE_SECONDS_MAX, FORM_BYTES_MAX, traitsOf } from '../models.ts';
import { ServerVad, usageOf } from './session.ts';

const texts = Type.Array(Type.String());
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  json: ['json'],
  verbose_json: ['json', 'text', 'srt', 'verbose_json', 'vtt'],
  diarized_json: ['json', 'text', 'diarized_json'],
};
const Form = members(
  { file: Type.Unknown(), model: Type.String() },
  {
    ...{ language: Type.String(), response_format: Type.String(), stream: Type.Boolean() },
    ...{ prompt: Type.String(), temperature: Type.Number({ minimum: 0, maximum: 1 }) },
    ...{ languages: texts, keywords: texts },
    timestamp_granularities: Type.Array(oneOf('word', 'segment')),
    chunking_strategy: Type.Union([Type.Literal('auto'), ServerVad]),
    known_speaker_names: Type.Array(Type.String(), { maxItems: 4 }),
    known_speaker_references: Type.Array(Type.String({ pattern: '^data:' }), { maxItems: 4 }),
    include: Type.Array(Type.Literal('logprobs')),
  },
);
/** Members that not every model takes. */
const TAKEN_BY: Readonly<Record<string, RegExp>> = {
  prompt: /^(?!.*diarize)/,
  languages: /^gpt-transcribe$/,
  keywords: /^gpt-transcribe$/,
  timestamp_granularities: /^whisper-1$/,
  chunking_strategy: /^gpt-4o-/,
  known_speaker_names: /diarize$/,
  known_speaker_references: /diarize$/,
  include: /^gpt-4o-(mini-)?transcribe$/,
};
/** Without a chunking strategy no longer audio is told apart by speakers. */
const UNCUT_SECONDS_MAX = 30;

/** The members of a form that was found good. */
interface Asked {
  model: string;
  response_format?: string;
  language?: string;
  languages?: string[];
  stream?: boolean;
  timestamp_granularities?: string[];
  chunking_strategy?: unknown;
  known_speaker_names?: string[];
  include?: string[];
}

export async function answerFile(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  if (request.body.length > FORM_BYTES_MAX) {
    const message = `Maximum content size limit (${FORM_BYTES_MAX}) exceeded (${request.body.length} bytes read)`;
    return refuse({ status: 413, code: null, message, type: 'server_error' });
  }
  const form = await formOf(request);
  if (form === undefined) return refuse({ code: null, message: 'Could not parse multipart form' });
  const asked = askedOf(form);
  if ('message' in asked) return refuse(asked);
  const { model, response_format: format = 'json', languages = [] } = asked;
  const file = new Uint8Array(await (form.get('file') as File).arrayBuffer());
  const language = baseLanguage(languages[0] ?? asked.language);
  const heard = await tools.transcribe(file, language).catch(() => undefined);
  if (heard === undefined) return refuse(invalid('file', 'Audio file might be corrupted or unsupported'));
  const { seconds, turns } = heard;
  const tooLong = lengthFault(model, seconds);
  if (tooLong !== undefined) return refuse(tooLong);
  if (format === 'diarized_json' && asked.chunking_strategy === undefined && seconds > UNCUT_SECONDS_MAX)
    return refuse(invalid('chunking_strategy', 'chunking_strategy is required for diarization models'));
  const answer = {
    ...{ format, language, seconds, turns },
    speakers: asked.known_speaker_names ?? ['A', 'B'],
    wordTimes: asked.timestamp_granularities?.includes('word') === true,
    extras: {
      ...(model === 'gpt-transcribe' && language !== undefined ? { languages: [{ code: language }] } : {}),
      ...(asked.include === undefined ? {} : { logprobs: turns.flatMap(logprobsOf) }),
    },
    usage: usageOf(model, seconds, textOf(turns)),
  };
  return asked.stream === true && model !== 'whisper-1' ? streamIn(answer) : answerIn(answer);
}

const logprobsOf = ({ words, confidence }: HeardTurn) =>
  words.map(({ word }) => ({ token: word, bytes: [...Buffer.from(word)], logprob: Math.log(confidence) }));

function askedOf(form: FormData): Asked | Refusal {
  const model = String(form.get('model') ?? '');
  const file = form.get('file');
  const richest = traitsOf(model)?.file;
  if (model === '') return missing('model');
  if (richest === undefined)
    return { ...invalid('model', `The model '${model}' does not exist`, 'model_not_found'), status: 404 };
  if (file === null || typeof file === 'string') return missing('file');
  const asked = valuesOf(form, Form) as unknown as Asked;
  return fileFault(file) ?? formatFault(asked, FORMATS[richest] ?? []) ?? memberFault(asked) ?? asked;
}

function fileFault({ name }: { name: string }): Refusal | undefined {
  const dot = name.lastIndexOf('.');
  if (dot !== -1 && FILE_EXTENSIONS.includes(name.slice(dot + 1).toLowerCase())) return undefined;
  return invalid('file', `Unsupported file format ${name.slice(dot + 1)}`, 'unsupported_format');
}

/** The models of the 4o family refuse what is long, each in its own words. */
function lengthFault(model: string, seconds: number): Refusal | undefined {
  if (!model.startsWith('gpt-4o') || seconds <= FILE_SECONDS_MAX) return undefined;
  if (!model.startsWith('gpt-4o-mini')) {
    const message = `audio duration ${seconds} seconds is longer than ${FILE_SECONDS_MAX} seconds which is the maximum for this model`;
    return invalid('file', message);
  }
  const message = 'Total number of tokens in instructions + audio is too large for this model.';
  return { code: 'input_too_large', message };
}

function formatFault({ model, response_format: format = 'json' }: Asked, accepted: readonly string[]) {
  if (accepted.includes(format)) return undefined;
  const message = `response_format '${format}' is not compatible with model '${model}'. Use ${accepted.join(' or ')} instead.`;
  return invalid('response_format', message, 'unsupported_value');
}

/** The other members, each as far as the model takes it. */
function memberFault(asked: Asked): Refusal | undefined {
  const { model, response_format: format = 'json', timestamp_granularities: granularities, include } = asked;
  const refused = Object.keys(asked).find((name) => TAKEN_BY[name]?.test(model) === false);
  if (refused !== undefined) return invalid(refused, `The model '${model}' does not take '${refused}'.`);
  const fault = faultIn(Form, asked);
  const [name = ''] = fault?.member.split('.') ?? [];
  if (fault?.kind === 'unknown') return invalid(name, `Unknown parameter: '${name}'.`, 'unknown_parameter');
  if (fault !== undefined) return invalid(name, `Invalid value for '${name}'.`);
  if (granularities !== undefined && format !== 'verbose_json')
    return invalid('timestamp_granularities', 'timestamp_granularities needs response_format verbose_json');
  if (include !== undefined && format !== 'json') return invalid('include', 'include needs response_format json');
  return undefined;
}
