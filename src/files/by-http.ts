// A file's transcription by a provider's HTTP interface: what the provider is handed, the limits that are known before, and
// the seconds that are billed.

import type { LegFailure } from '../../machines/events.ts';
import { BYTES_PER_SAMPLE, FILE_FORMAT_TITLES, type FileFormat } from '../api/audio-formats.ts';
import { modelOf } from '../api/slug.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import { WAV_HEADER_BYTES, wavHeader } from '../audio/containers/wav.ts';
import type { ResolvedCandidate } from '../live/failover/chain.ts';
import { type HttpBatchDependencies, type HttpBatchRequest, runHttpBatch } from '../live/upstream/http/batch-codec.ts';
import { LegFailed } from '../live/upstream/leg-failures.ts';
import type { BatchFile, BatchResult, HttpBatchCodec, ProviderAccess } from '../vendors/kit/provider.ts';
import { type CredibleResult, credible, type HeldAudio, isContradicted } from './claims.ts';
import { audioTooLong, fileTooLarge, formatUnsupported } from './failures.ts';
import type { FileSource } from './file-source.ts';

interface HttpTranscription {
  request: Pick<TranscriptionRequest, 'wordTimestamps'>;
  organisationId: string;
  signal: AbortSignal;
}

/** Transcribes the file. Throws as `runHttpBatch` does. */
export async function transcribeByHttp(
  codec: HttpBatchCodec,
  member: ResolvedCandidate,
  { request, organisationId, signal }: HttpTranscription,
  source: FileSource,
  access: ProviderAccess,
  dependencies: HttpBatchDependencies,
): Promise<CredibleResult> {
  const { max_file_bytes: bytesMax, file_formats: formats } = member.card.audio;
  requireFormat(source, formats);
  const excess = excessOf(member, source);
  if (excess !== undefined) throw new LegFailed(excess);
  const { file, read } = packed(source);
  const { pieces } = source;
  const isAsItIs = pieces !== undefined && source.kind.kind === 'container';
  const batch: HttpBatchRequest = {
    model: modelOf(member.slug),
    language: member.language,
    diarization: member.diarization,
    wordTimestamps: request.wordTimestamps,
    params: member.params,
    access,
    organisationId,
    file,
  };
  const result = await runHttpBatch(
    codec,
    batch,
    () => (isAsItIs ? pieces : atMost(read(), bytesMax)),
    signal,
    dependencies,
  );
  return credible(result, await heldBy(source, result));
}

/**
 * Why a model does not take the whole file, as far as that is known before it is requested.
 *
 * @param seconds where more is known of its length than the file says
 */
export function excessOf(
  { card, provider }: Pick<ResolvedCandidate, 'card' | 'provider'>,
  source: FileSource,
  seconds = source.seconds,
): LegFailure | undefined {
  const { max_file_bytes: bytesMax, max_seconds: secondsMax } = card.audio;
  // A live leg is sent samples.
  const bytes = provider.batch?.kind === 'http' ? packed(source).file.bytes : undefined;
  if (bytesMax !== null && bytes !== undefined && bytes > bytesMax) return fileTooLarge(bytesMax);
  return secondsMax !== null && seconds !== undefined && seconds > secondsMax ? audioTooLong(secondsMax) : undefined;
}

/** How much the file holds. Where nobody has measured it, that is done now if the provider's answer does not tell. */
async function heldBy(source: FileSource, result: BatchResult): Promise<HeldAudio> {
  const { seconds, secondsMin, secondsMax, shortSeconds, bytes } = source;
  if (shortSeconds !== undefined) return { seconds: shortSeconds, secondsMax: shortSeconds };
  const held = { seconds, secondsMin, secondsMax };
  const isMeasured = bytes !== undefined && seconds !== undefined;
  if (isMeasured || !isContradicted(result, bytes ?? 0, seconds)) return held;
  return (await source.measure()) ?? held;
}

/** A provider that lists what it takes is not sent anything else. */
function requireFormat({ kind }: FileSource, formats: readonly FileFormat[] | undefined): void {
  if (kind.kind === 'raw' || formats === undefined || formats.includes(kind.format)) return;
  const taken = formats.map((format) => FILE_FORMAT_TITLES[format]).join(', ');
  throw new LegFailed(formatUnsupported(kind.title, taken));
}

/** A file as providers take it: a container as it is, headerless samples as WAV. */
function packed(source: FileSource): { file: BatchFile; read: () => AsyncIterable<Uint8Array> } {
  const { kind, seconds } = source;
  if (kind.kind === 'container') {
    const { extension, contentType } = kind;
    return {
      file: { name: `audio.${extension}`, contentType, bytes: source.bytes, seconds },
      read: () => source.read(),
    };
  }
  const sampleBytes = source.bytes === undefined ? undefined : source.bytes - (source.bytes % BYTES_PER_SAMPLE);
  return {
    file: {
      name: 'audio.wav',
      contentType: 'audio/wav',
      bytes: sampleBytes === undefined ? undefined : WAV_HEADER_BYTES + sampleBytes,
      seconds,
    },
    read: async function* () {
      yield wavHeader(kind.sampleRate, sampleBytes);
      yield* wholeSamples(source.read());
    },
  };
}

/** The chunks without a lone last byte, which no sample can be made of. */
async function* wholeSamples(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let odd = new Uint8Array(0);
  for await (const chunk of chunks) {
    const bytes = odd.length === 0 ? chunk : Buffer.concat([odd, chunk]);
    const whole = bytes.length - (bytes.length % BYTES_PER_SAMPLE);
    odd = bytes.slice(whole);
    if (whole > 0) yield bytes.subarray(0, whole);
  }
}

/** The chunks of a file whose length is not known before, up to the most that the model takes. */
async function* atMost(chunks: AsyncIterable<Uint8Array>, bytesMax: number | null): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytesMax !== null && bytes > bytesMax) throw new LegFailed(fileTooLarge(bytesMax));
    yield chunk;
  }
}
