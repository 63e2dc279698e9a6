// A file's transcription by a provider's HTTP interface: what the provider is handed, the limits that are known before, and
// the seconds that are billed.
import { modelOf } from '../api/slug.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import type { BatchFile, BatchRequest, BatchResult, HttpBatchCodec, ProviderAccess } from '../providers/provider.ts';
import { LegFailed } from '../upstream/batch.ts';
import { type HttpBatchDependencies, runHttpBatch } from '../upstream/http-batch.ts';
import type { ChainMember } from './chain.ts';
import type { FileSource } from './file-source.ts';
import { audioTooLong, fileTooLarge } from './transcription-attempts.ts';

/** Where a model takes a value of the form: as one of its provider's options, honoured for files. */
export function takesField({ provider, slug }: ChainMember, name: 'prompt' | 'temperature'): boolean {
  if (provider.batch?.kind !== 'http') return false;
  const model = modelOf(slug);
  return name in provider.options(model).properties && (provider.honours?.(name, model, 'batch') ?? true);
}

/** Transcribes the file. Throws as `runHttpBatch` does. */
export async function transcribeByHttp(
  codec: HttpBatchCodec,
  member: ChainMember,
  request: TranscriptionRequest,
  source: FileSource,
  access: ProviderAccess,
  signal: AbortSignal,
  dependencies: HttpBatchDependencies,
): Promise<BatchResult & { seconds: number }> {
  const { max_file_bytes: bytesMax, max_seconds: secondsMax } = member.card.audio;
  const { file, read } = packed(source);
  if (bytesMax !== null && file.bytes !== undefined && file.bytes > bytesMax)
    throw new LegFailed(fileTooLarge(bytesMax));
  if (secondsMax !== null && file.seconds !== undefined && file.seconds > secondsMax) {
    throw new LegFailed(audioTooLong(secondsMax));
  }
  const batch: BatchRequest = {
    model: modelOf(member.slug),
    language: request.language,
    diarization: request.diarization,
    prompt: takesField(member, 'prompt') && request.prompt !== '' ? request.prompt : undefined,
    temperature: takesField(member, 'temperature') ? request.temperature : undefined,
    wordTimestamps: request.wordTimestamps,
    params: member.params,
    access,
    file,
  };
  const result = await runHttpBatch(codec, batch, () => atMost(read(), bytesMax), signal, dependencies);
  return withSeconds(result, file.seconds);
}

/** Seconds are the provider's, else the file's, else those that were spoken in. */
function withSeconds(result: BatchResult, fileSeconds: number | undefined): BatchResult & { seconds: number } {
  const known = result.seconds ?? fileSeconds;
  if (known !== undefined) return { ...result, seconds: known };
  const warning = {
    code: 'duration_unknown',
    message: 'Neither the provider nor the file says how long the audio is; what was said in it ends there.',
  };
  const seconds = result.utterances.reduce((latest, { end }) => Math.max(latest, end), 0);
  return { ...result, seconds, warnings: [...result.warnings, warning] };
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

const WAV_HEADER_BYTES = 44;
const BYTES_PER_SAMPLE = 2;
/** What a WAV header says when the length is not known, or larger than it can say. */
const UNKNOWN_SIZE = 0xffff_ffff;

/** The header of mono linear16. */
function wavHeader(sampleRate: number, sampleBytes: number | undefined): Uint8Array {
  const size = (bytes: number) => Math.min(bytes, UNKNOWN_SIZE);
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(size((sampleBytes ?? UNKNOWN_SIZE) + WAV_HEADER_BYTES - 8), 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write('data', 36);
  header.writeUInt32LE(size(sampleBytes ?? UNKNOWN_SIZE), 40);
  return header;
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
