// A file on its way to a model: what it is by its first bytes, how long it is where that can be known, and whether it can
// still be read from the beginning. Which model gets it is decided by whoever asks.

import { BYTES_PER_SAMPLE, FILE_FORMAT_TITLES, FILE_FORMATS, type FileFormat } from '../api/audio-formats.ts';
import { apiError } from '../api/errors.ts';
import { fileKindOf, sniffContainer, tagBytes } from '../audio/containers/detection.ts';
import { wavLength } from '../audio/containers/wav-length.ts';
import type { FileLength } from './money/length.ts';

/** A file as the edge hands it over: a container, or headerless linear16 at `rawSampleRate`. */
export interface AudioFile {
  /** Known when the whole file is kept; it can then be read any number of times, otherwise once. */
  bytes: number | undefined;
  rawSampleRate: number | undefined;
  /** Of audio, where somebody has measured it; else what its header says, or its bytes. */
  seconds?: number;
  /** The least that it holds, where that is less. */
  secondsMin?: number | undefined;
  /** The most that it can hold, of each channel: no provider is believed to have heard more. */
  secondsMax?: number;
  /** What came of a file that was read while it arrived, where its header says more. Known at its end. */
  shortSeconds?(): number | undefined;
  /** All of it, where it is in memory: then nothing has to be read. */
  pieces?: readonly Uint8Array[] | undefined;
  /** Measures one that nobody has measured, once all of it is here. Undefined where it cannot be. */
  measure?(): Promise<FileLength | undefined>;
  /** The copy of a file that can be read once, when all of it is here. Undefined where there is none; rejects where it never is. */
  copy?(): Promise<AudioFile | undefined>;
  /** Some of it from a position on, or less at its end; only of a file that is kept. */
  readAt?: ((position: number, length: number) => Promise<Uint8Array>) | undefined;
  /** Its bytes from the first on; each chunk is a buffer of its own. */
  read(): AsyncIterable<Uint8Array>;
}

/** What a file is. */
export type FileKind =
  | { kind: 'raw'; sampleRate: number }
  | {
      kind: 'container';
      title: string;
      format: FileFormat;
      extension: string;
      contentType: string;
      /** Where it begins, after tags of ID3. */
      at: number;
    };

/** Enough for every container's mark, and for the header of most WAV files. */
const HEAD_BYTES = 16 * 1024;
/** Pictures in a tag, or zeros, in front of the file: what follows more of them is not looked at. */
const FRONT_BYTES_MAX = 1024 * 1024;

const CONTAINERS: Readonly<Record<string, { format: FileFormat; extension?: string; contentType: string }>> = {
  WAV: { format: 'wav', contentType: 'audio/wav' },
  'WAV (64-bit)': { format: 'wav', contentType: 'audio/wav' },
  'WAV (big-endian)': { format: 'rifx', extension: 'wav', contentType: 'audio/wav' },
  Wave64: { format: 'w64', contentType: 'audio/x-w64' },
  MP3: { format: 'mp3', contentType: 'audio/mpeg' },
  MP2: { format: 'mp2', contentType: 'audio/mpeg' },
  AAC: { format: 'aac', contentType: 'audio/aac' },
  FLAC: { format: 'flac', contentType: 'audio/flac' },
  Ogg: { format: 'ogg', contentType: 'audio/ogg' },
  'WebM or Matroska': { format: 'webm', contentType: 'audio/webm' },
  MP4: { format: 'm4a', contentType: 'audio/mp4' },
  AIFF: { format: 'aiff', contentType: 'audio/aiff' },
  AU: { format: 'au', contentType: 'audio/basic' },
  CAF: { format: 'caf', contentType: 'audio/x-caf' },
  AMR: { format: 'amr', contentType: 'audio/amr' },
  WMA: { format: 'wma', contentType: 'audio/x-ms-wma' },
};
const KINDS = FILE_FORMATS.map((format) => FILE_FORMAT_TITLES[format]).join(', ');

/** A file whose beginning was looked at. */
export class FileSource {
  readonly kind: FileKind;
  /** Seconds, where the file says so or its bytes do. */
  readonly seconds: number | undefined;
  readonly #file: AudioFile;
  /** The beginning and the rest of a file that can be read once; undefined from then on, and where it is kept. */
  #once: { head: Uint8Array[]; rest: AsyncIterator<Uint8Array> } | undefined;

  private constructor(
    file: AudioFile,
    kind: FileKind,
    seconds: number | undefined,
    once: { head: Uint8Array[]; rest: AsyncIterator<Uint8Array> } | undefined,
  ) {
    this.#file = file;
    this.kind = kind;
    this.seconds = seconds;
    this.#once = once;
  }

  /** Reads the beginning. Throws the ApiErrors `missing_file` and `unsupported_audio`. */
  static async open(file: AudioFile): Promise<FileSource> {
    if (file.pieces !== undefined) return FileSource.#of(file, file.pieces, undefined);
    const chunks = file.read()[Symbol.asyncIterator]();
    const pieces: Uint8Array[] = [];
    for (let held = 0, wanted = HEAD_BYTES; held < wanted; ) {
      const next = await chunks.next();
      if (next.done === true) break;
      pieces.push(next.value);
      held += next.value.length;
      if (held >= HEAD_BYTES) wanted = headBytes(Buffer.concat(pieces));
    }
    const kept = file.bytes !== undefined;
    if (kept) await chunks.return?.();
    return FileSource.#of(file, pieces, kept ? undefined : chunks);
  }

  /** @param rest what comes after these pieces of a file that can be read once */
  static #of(file: AudioFile, pieces: readonly Uint8Array[], rest: AsyncIterator<Uint8Array> | undefined): FileSource {
    const first = pieces[0];
    const wanted = first === undefined ? 0 : headBytes(first);
    const isEnough = first !== undefined && (pieces.length === 1 || first.length >= wanted);
    const head = (isEnough ? first : Buffer.concat(pieces)).subarray(0, Math.max(HEAD_BYTES, wanted));
    const kind = kindOf(head, file.rawSampleRate);
    const seconds = file.seconds ?? secondsOf(kind, head, file.bytes);
    return new FileSource(file, kind, seconds, rest && { head: [...pieces], rest });
  }

  /** Bytes of the file, where the whole of it is kept. */
  get bytes(): number | undefined {
    return this.#file.bytes;
  }

  /** The least that it holds, where that is less than `seconds`. */
  get secondsMin(): number | undefined {
    return this.#file.secondsMin;
  }

  /** The most that it can hold, where somebody has said so. */
  get secondsMax(): number | undefined {
    return this.#file.secondsMax;
  }

  /** What came of it, where that is less than its header says. Known once all of it was read. */
  get shortSeconds(): number | undefined {
    return this.#file.shortSeconds?.();
  }

  /** Measures it; undefined where it cannot be. */
  async measure(): Promise<FileLength | undefined> {
    return this.#file.measure?.();
  }

  /** All of it, where it is in memory. */
  get pieces(): readonly Uint8Array[] | undefined {
    return this.#file.pieces;
  }

  /** Reads some of it; undefined where only all of it can be read. */
  get readAt(): AudioFile['readAt'] {
    return this.#file.readAt;
  }

  /** Whether it can be read from its beginning. */
  get left(): boolean {
    return this.#once !== undefined || this.#file.bytes !== undefined;
  }

  /** The file to be read beside another reader; undefined where no copy of it is kept. Waits until all of it is here. */
  async again(): Promise<FileSource | undefined> {
    if (this.#file.bytes !== undefined) return this;
    const copy = await this.#file.copy?.();
    return copy && new FileSource(copy, this.kind, this.seconds, undefined);
  }

  /** Its bytes without tags in front. */
  async *readUntagged(): AsyncGenerator<Uint8Array> {
    let skip = this.kind.kind === 'container' ? this.kind.at : 0;
    for await (const chunk of this.read()) {
      if (skip < chunk.length) yield skip === 0 ? chunk : chunk.subarray(skip);
      skip = Math.max(0, skip - chunk.length);
    }
  }

  /** Its bytes from the first on. */
  async *read(): AsyncGenerator<Uint8Array> {
    const once = this.#once;
    if (once === undefined) {
      if (this.#file.bytes === undefined) throw new Error('The file was read already, and is not kept.');
      yield* this.#file.read();
      return;
    }
    this.#once = undefined;
    try {
      yield* once.head;
      for (;;) {
        const next = await once.rest.next();
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await once.rest.return?.();
    }
  }
}

/** What the beginning of a file says that it is; undefined where that is not a file to transcribe. */
export function likelyKindOf(head: Uint8Array, rawSampleRate: number | undefined): FileKind | undefined {
  try {
    return kindOf(head, rawSampleRate);
  } catch {
    return undefined;
  }
}

function kindOf(head: Uint8Array, rawSampleRate: number | undefined): FileKind {
  if (head.length === 0) {
    throw apiError(
      'missing_file',
      'The `file` part has no audio. Send an audio file, or headerless PCM as audio/l16;rate=16000.',
      { param: 'file' },
    );
  }
  // Of samples, silence in front is nothing special.
  const { title, at = 0 } =
    (rawSampleRate === undefined ? fileKindOf(head) : { title: sniffContainer(head), at: 0 }) ?? {};
  if (rawSampleRate !== undefined) {
    if (title === undefined) return { kind: 'raw', sampleRate: rawSampleRate };
    throw unsupported(`The file is ${title}, and its content type says headerless PCM. Leave the content type out.`);
  }
  if (title === undefined && isText(head)) {
    throw unsupported(
      'The file is text, not audio. Send the content of an audio file, not its name or address; with curl, `-F file=@NAME`.',
    );
  }
  const container = title === undefined ? undefined : CONTAINERS[title];
  if (title === undefined || container === undefined || (container.format === 'wav' && !isWave(head.subarray(at)))) {
    const what =
      title === undefined || container !== undefined
        ? 'The kind of the file is unknown.'
        : `Files of the kind ${title} are not accepted.`;
    throw unsupported(`${what} Send ${KINDS}, or headerless PCM as audio/l16;rate=16000.`);
  }
  return { kind: 'container', title, extension: container.format, ...container, at };
}

/** Bytes of the beginning that say what the file is: with the tag or zeros that are in front. */
function headBytes(beginning: Uint8Array): number {
  const isZeros = beginning.length >= HEAD_BYTES && beginning.subarray(0, HEAD_BYTES).every((byte) => byte === 0);
  return (isZeros ? FRONT_BYTES_MAX : Math.min(tagBytes(beginning), FRONT_BYTES_MAX)) + HEAD_BYTES;
}

/** The name of a file in the place of its content, or what a server said where the audio was requested. */
const isText = (head: Uint8Array): boolean =>
  head.every((byte) => (byte >= 0x20 && byte < 0x7f) || LINE.includes(byte));

const LINE: readonly number[] = [0x09, 0x0a, 0x0d];

/** RIFF is the frame of other formats as well. A header cut off before it says which is left to the reader of WAV. */
const isWave = (head: Uint8Array): boolean =>
  head.length < 12 || Buffer.from(head.buffer, head.byteOffset + 8, 4).toString('latin1') === 'WAVE';

function secondsOf(kind: FileKind, head: Uint8Array, bytes: number | undefined): number | undefined {
  if (kind.kind === 'raw') {
    return bytes === undefined ? undefined : Math.floor(bytes / BYTES_PER_SAMPLE) / kind.sampleRate;
  }
  const length = kind.format === 'wav' && kind.at === 0 ? wavLength(head) : undefined;
  // Of packed samples, or where the header contradicts itself, bytes say nothing of time.
  if (length === undefined || !length.isPlain) return undefined;
  // A header may say anything; a file has no more samples than bytes.
  const here = bytes === undefined ? undefined : Math.max(0, bytes - length.samplesAt);
  const sampleBytes = Math.min(length.sampleBytes ?? Number.POSITIVE_INFINITY, here ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(sampleBytes) ? sampleBytes / length.bytesPerSecond : undefined;
}

const unsupported = (message: string) => apiError('unsupported_audio', message, { param: 'file' });
