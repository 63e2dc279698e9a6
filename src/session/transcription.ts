// One file's transcription: reads the container, converts to the model's rate, sends it through the provider, and says how
// it went. The form and the formats of the answer are the edge's.
import type { OpenLeg } from '../../machines/events.ts';
import { refuse } from '../api/errors.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import { PcmConverter } from '../audio/resampler.ts';
import { WavReader } from '../audio/wav.ts';
import type { BatchResult } from '../providers/provider.ts';
import { LegFailed, transcribeThroughLeg } from '../upstream/batch.ts';
import type { UpstreamHost } from '../upstream/live.ts';
import { type ChainMember, rateFor } from './chain.ts';

/** Audio of a file: any container the gateway reads, or headerless linear16 at `rawSampleRate`. */
export interface AudioFile {
  chunks: AsyncIterable<Uint8Array>;
  rawSampleRate: number | undefined;
}

export interface TranscriptionJob {
  jobId: string;
  request: TranscriptionRequest;
  member: ChainMember;
  file: AudioFile;
  signal: AbortSignal;
}

export interface TranscriptionOutcome extends Omit<BatchResult, 'seconds'> {
  /** Audio seconds of the file. */
  seconds: number;
}

/** Transcribes a file. Throws a Refusal for everything that the client is to know. */
export async function transcribe(upstream: UpstreamHost, job: TranscriptionJob): Promise<TranscriptionOutcome> {
  const { member, request } = job;
  const decoder = await FileDecoder.open(job.file);
  const sampleRate = rateFor(member.card, decoder.sampleRate);
  const leg: OpenLeg = {
    type: 'leg.open',
    session: '',
    sessionId: job.jobId,
    generation: 1,
    slug: member.slug,
    sampleRate,
    language: request.language ?? null,
    interimResults: false,
    diarization: request.diarization,
    params: { ...member.params },
  };
  const secondsMax = member.card.audio.max_seconds;
  try {
    const result = await transcribeThroughLeg(
      upstream,
      `job.${job.jobId}`,
      leg,
      decoder.audio(sampleRate, secondsMax),
      job.signal,
    );
    return { ...result, seconds: decoder.seconds };
  } catch (error) {
    if (!(error instanceof LegFailed)) throw error;
    const { kind, reason, message } = error.failure;
    if (kind === 'caller') throw refuse('invalid_provider_params', message, { param: 'provider_params' });
    const code = reason === 'connect_timeout' || reason === 'stalled' ? 'upstream_timeout' : 'upstream_failed';
    throw refuse(code, `${member.slug}: ${message}`, { details: [{ model: member.slug, reason }] });
  }
}

/** Mono linear16 out of a file's chunks, at any rate. */
class FileDecoder {
  private readonly chunks: AsyncIterator<Uint8Array>;
  private readonly head: Int16Array[];
  private readonly read: (bytes: Uint8Array) => Int16Array;
  private readonly finish: () => void;
  readonly sampleRate: number;
  private samples = 0;

  private constructor(
    chunks: AsyncIterator<Uint8Array>,
    head: Int16Array[],
    sampleRate: number,
    read: (bytes: Uint8Array) => Int16Array,
    finish: () => void,
  ) {
    this.chunks = chunks;
    this.head = head;
    this.sampleRate = sampleRate;
    this.read = read;
    this.finish = finish;
  }

  /** Reads as much as the header takes. */
  static async open(file: AudioFile): Promise<FileDecoder> {
    const chunks = file.chunks[Symbol.asyncIterator]();
    if (file.rawSampleRate !== undefined) {
      const pcm = new RawReader();
      return new FileDecoder(
        chunks,
        [],
        file.rawSampleRate,
        (bytes) => pcm.push(bytes),
        () => {},
      );
    }
    const wav = new WavReader();
    const read = (bytes: Uint8Array) => wav.push(bytes);
    const finish = () => wav.end();
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) break;
      const samples = read(next.value);
      if (wav.format !== undefined)
        return new FileDecoder(chunks, [samples.slice()], wav.format.sampleRate, read, finish);
    }
    wav.end();
    throw refuse(
      'missing_file',
      'The `file` part has no audio. Send a WAV file, or headerless PCM as audio/l16;rate=16000.',
      { param: 'file' },
    );
  }

  get seconds(): number {
    return this.samples / this.sampleRate;
  }

  async *audio(sampleRate: number, secondsMax: number | null): AsyncGenerator<Uint8Array> {
    const converter = new PcmConverter(this.sampleRate, sampleRate);
    for await (const samples of this.decoded()) {
      this.samples += samples.length;
      if (secondsMax !== null && this.seconds > secondsMax) {
        throw refuse(
          'file_too_large',
          `The audio is longer than ${secondsMax} s, the most that this model takes. Split it, or choose another model.`,
          { param: 'file' },
        );
      }
      yield bytesOf(converter.push(samples));
    }
    yield bytesOf(converter.end());
  }

  private async *decoded(): AsyncGenerator<Int16Array> {
    yield* this.head;
    for (;;) {
      const next = await this.chunks.next();
      if (next.done === true) break;
      yield this.read(next.value);
    }
    this.finish();
  }
}

/** Headerless little-endian linear16 in chunks of any length. */
class RawReader {
  private odd: number | undefined;

  push(bytes: Uint8Array): Int16Array {
    const carried = this.odd === undefined ? 0 : 1;
    const samples = new Int16Array((bytes.length + carried) >> 1);
    if (samples.length === 0) {
      this.odd ??= bytes[0];
      return samples;
    }
    const out = new Uint8Array(samples.buffer);
    if (this.odd !== undefined) out[0] = this.odd;
    const taken = out.length - carried;
    out.set(bytes.subarray(0, taken), carried);
    this.odd = bytes[taken];
    return samples;
  }
}

const bytesOf = (samples: Int16Array): Uint8Array =>
  new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
