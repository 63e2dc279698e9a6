// `POST /v1/audio/transcriptions`: the form, the file and the formats of the answer. How a file is transcribed is decided in
// src/session/transcription.ts.
import { Value } from '@sinclair/typebox/value';
import { type ErrorCode, printable, refuse } from '../../api/errors.ts';
import {
  ResponseFormat,
  type Segment,
  type TranscriptionRequest,
  type VerboseTranscription,
} from '../../api/transcriptions.ts';
import { costMicroUsd, usdOf } from '../../billing/price.ts';
import { type ChainDependencies, type ChainMember, type Degradation, resolveChain } from '../../session/chain.ts';
import { type TranscriptionOutcome, transcribe } from '../../session/transcription.ts';
import type { UpstreamHost } from '../../upstream/live.ts';
import type { Reply } from '../door.ts';
import { readBoolean, readLanguage, readParams } from '../listen-query.ts';
import { readForm } from '../multipart.ts';
import { refuseContentEncoding } from '../multipart-parts.ts';
import { json, type RouteContext } from '../router.ts';

export interface TranscriptionsDependencies extends ChainDependencies {
  upstream: UpstreamHost;
  settings: { fileBytesMax: number; memoryBytesMax: number; timeoutMs: number; spoolDirectory: string };
}

/** Fields this endpoint acts on. */
const KNOWN = [
  'model',
  'response_format',
  'language',
  'prompt',
  'temperature',
  'diarization',
  'timestamp_granularities[]',
  'provider_params',
  'strict',
  'stream',
  'fallbacks',
];
/** Fields of OpenAI's own API: never unknown; where a model cannot honour them, that is said. */
const FOREIGN = ['include[]', 'chunking_strategy', 'known_speaker_names[]', 'known_speaker_references[]'];
/** Fields that only shape the answer: they may still come behind a large file. */
const LATE = ['response_format', 'timestamp_granularities[]'];
const FORMATS = ['json', 'text', 'verbose_json'];

export const postTranscriptions =
  (dependencies: TranscriptionsDependencies) =>
  async (context: RouteContext): Promise<Reply> => {
    const { settings } = dependencies;
    const { request, requestId } = context;
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(settings.timeoutMs)]);
    refuseContentEncoding(request.headers);
    const form = await readForm(request.body(settings.fileBytesMax + 1_048_576), request.headers.get('content-type'), {
      fileBytesMax: settings.fileBytesMax,
      fieldBytesMax: 65_536,
      fieldsMax: 64,
      memoryBytesMax: settings.memoryBytesMax,
      spoolDir: settings.spoolDirectory,
    });
    try {
      const fields = readFields(form.fields);
      const member = await memberOf(fields, dependencies);
      const warnings = [...member.degradations, ...unmapped(fields, member)];
      const file = {
        chunks: form.file.stream as AsyncIterable<Uint8Array>,
        rawSampleRate: rawRate(form.file.contentType),
      };
      const outcome = await transcribe(dependencies.upstream, {
        jobId: requestId,
        request: fields,
        member,
        file,
        signal,
      });
      const late = readLate(await form.rest);
      return answer({ ...fields, ...late }, member, outcome, [...warnings, ...outcome.warnings], requestId);
    } catch (error) {
      if (signal.aborted && !request.signal.aborted) {
        throw refuse(
          'upstream_timeout',
          `The file was not transcribed within ${settings.timeoutMs / 1000} s. Split it, or send it again later.`,
        );
      }
      throw error;
    } finally {
      form.dispose();
    }
  };

async function memberOf(fields: TranscriptionRequest, dependencies: ChainDependencies): Promise<ChainMember> {
  const { members } = await resolveChain(
    {
      mode: 'batch',
      model: fields.model,
      providerParams: fields.providerParams,
      fallbacks: [],
      // The file's own rate is known only when its header was read; the job converts to what the model takes.
      sampleRate: 16_000,
      language: fields.language,
      diarization: fields.diarization,
      interimResults: false,
      strict: fields.strict,
    },
    dependencies,
  );
  const [member] = members as [ChainMember];
  const first = unmapped(fields, member)[0];
  if (fields.strict && first !== undefined) {
    throw refuse('unsupported_parameter', `${first.message} Leave it out, choose another model, or drop \`strict\`.`, {
      param: first.param as string,
    });
  }
  return member;
}

function readFields(fields: readonly (readonly [string, string])[]): TranscriptionRequest {
  const one = new Map<string, string>();
  const granularities: ('word' | 'segment')[] = [];
  for (const [name, value] of fields) {
    if (!KNOWN.includes(name) && !FOREIGN.includes(name)) {
      throw bad(name, `\`${printable(name)}\` is not a field of this endpoint. Known are file, ${KNOWN.join(', ')}.`);
    }
    if (name === 'timestamp_granularities[]') granularities.push(granularity(value));
    else one.set(name, value);
  }
  const model = one.get('model');
  if (model === undefined || model === '')
    throw bad('model', '`model` is missing. Name one as `<provider>/<model>`; GET /v1/models?mode=batch lists them.');
  if (readBoolean('stream', one.get('stream'), false))
    throw bad('stream', 'Streamed answers are not offered yet. Leave `stream` out, or set it to false.');
  if ((one.get('fallbacks') ?? '') !== '')
    throw bad('fallbacks', 'Fallbacks are not offered for files yet. Leave `fallbacks` out.');
  return {
    model,
    fallbacks: [],
    responseFormat: format(one.get('response_format')),
    language: one.get('language') === '' ? undefined : readLanguage(one.get('language')),
    prompt: one.get('prompt'),
    temperature: temperature(one.get('temperature')),
    diarization: readBoolean('diarization', one.get('diarization'), false),
    timestampGranularities: granularities,
    providerParams: readParams(one.get('provider_params')),
    stream: false,
    strict: readBoolean('strict', one.get('strict'), false),
    unmapped: FOREIGN.filter((name) => one.has(name)),
  };
}

/** What came behind a file too large to wait for: only what shapes the answer can still be honoured. */
function readLate(fields: readonly (readonly [string, string])[]): Partial<TranscriptionRequest> {
  const late: Partial<TranscriptionRequest> = {};
  for (const [name, value] of fields) {
    if (!LATE.includes(name))
      throw bad(name, `\`${printable(name)}\` came behind a large \`file\`. Send it before the file.`);
    if (name === 'response_format') late.responseFormat = format(value);
    else late.timestampGranularities = [...(late.timestampGranularities ?? []), granularity(value)];
  }
  return late;
}

function unmapped(fields: TranscriptionRequest, member: ChainMember): Degradation[] {
  const names = [
    ...fields.unmapped,
    ...(fields.prompt ? ['prompt'] : []),
    ...(fields.temperature ? ['temperature'] : []),
  ];
  return names.map((name) => ({
    code: 'parameter_ignored',
    message: `${member.slug} does not take \`${name}\`.`,
    param: name,
  }));
}

function answer(
  fields: TranscriptionRequest,
  member: ChainMember,
  outcome: TranscriptionOutcome,
  warnings: Degradation[],
  requestId: string,
): Reply {
  const text = outcome.utterances.map((utterance) => utterance.text).join(' ');
  const headers: Record<string, string> =
    warnings.length === 0 ? {} : { 'Voxgate-Warning': warnings.map(({ code }) => code).join(', ') };
  if (fields.responseFormat === 'text') {
    return { status: 200, headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' }, body: `${text}\n` };
  }
  if (fields.responseFormat === 'json') return json(200, { text }, headers);
  return json(200, verbose(text, fields, member, outcome, warnings, requestId), headers);
}

function verbose(
  text: string,
  fields: TranscriptionRequest,
  member: ChainMember,
  outcome: TranscriptionOutcome,
  warnings: Degradation[],
  requestId: string,
): VerboseTranscription {
  const price = member.card.pricing.batch;
  const seconds = Math.round(outcome.seconds * 1000) / 1000;
  const wanted = fields.timestampGranularities;
  const [own] = member.card.languages;
  return {
    text,
    task: 'transcribe',
    language: outcome.language ?? fields.language ?? (own === '*' ? 'und' : (own ?? 'und')),
    duration: seconds,
    model: member.slug,
    segments: wanted.length > 0 && !wanted.includes('segment') ? [] : outcome.utterances.map(segment),
    words:
      wanted.length > 0 && !wanted.includes('word')
        ? []
        : outcome.utterances.flatMap((utterance) => utterance.words ?? []),
    request_id: requestId,
    usage: {
      seconds,
      cost_usd: usdOf(price === undefined ? 0n : costMicroUsd(price, outcome.seconds * 1000)),
      byok: false,
    },
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

const segment = (
  { text, start, end, speaker, confidence }: TranscriptionOutcome['utterances'][number],
  id: number,
): Segment => ({
  id,
  start,
  end,
  text,
  ...(speaker === undefined ? {} : { speaker }),
  ...(confidence === undefined ? {} : { confidence }),
});

/** The rate of headerless PCM, which says so in its content type: `audio/l16;rate=16000`, little-endian, one channel. */
function rawRate(contentType: string | undefined): number | undefined {
  if (contentType === undefined || !/^audio\/l16\b/i.test(contentType)) return undefined;
  const parameters = new Map(
    [...contentType.matchAll(/;\s*([a-z]+)\s*=\s*"?(\d{1,6})"?/gi)].map(([, name, value]) => [
      (name as string).toLowerCase(),
      Number(value),
    ]),
  );
  const rate = parameters.get('rate') ?? 16_000;
  if (rate < 8_000 || rate > 48_000)
    throw refuse('unsupported_audio', `The part's \`rate\` is ${rate}; headerless PCM is read from 8000 to 48000.`, {
      param: 'file',
    });
  if ((parameters.get('channels') ?? 1) !== 1)
    throw refuse('unsupported_audio', 'Headerless PCM has one channel here. Mix it down, or send a WAV file.', {
      param: 'file',
    });
  return rate;
}

function format(text: string | undefined): TranscriptionRequest['responseFormat'] {
  if (text === undefined || text === '') return 'json';
  if (Value.Check(ResponseFormat, text) && FORMATS.includes(text)) return text;
  throw bad('response_format', `\`response_format\` is "${printable(text)}"; it is ${FORMATS.join(', ')}.`);
}

function granularity(text: string): 'word' | 'segment' {
  if (text === 'word' || text === 'segment') return text;
  throw bad('timestamp_granularities[]', '`timestamp_granularities[]` is word or segment.');
}

function temperature(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (value >= 0 && value <= 1) return value;
  throw bad('temperature', '`temperature` is a number from 0 to 1.');
}

const bad = (param: string, message: string, code: ErrorCode = 'invalid_request') =>
  refuse(code, message, { param: printable(param) });
