// Files that are decoded now, each in a thread of its own: how many there may be, of all and of one organisation.
import type { Clock } from '../../../machines/clock.ts';
import { LegFailed } from '../../live/upstream/leg-failed.ts';
import { FairQuota } from '../../runtime/limits/fair-quota.ts';
import { decodersBusy, formatUnsupported } from '../failures.ts';
import type { FileSource } from '../file/file-source.ts';
import { Decoding } from './decoding.ts';
import type { Decoded } from './protocol.ts';

/** A thread takes 10 to 20 MB, and its file as long as it is transcribed. */
const FILES_MAX = 16;
/** Of these one organisation's: a file that is sent slowly has its thread for as long. */
const ORGANISATION_SHARE = 3 / 4;

const FORMATS: readonly string[] = ['mp3', 'flac', 'ogg', 'webm'] satisfies Decoded[];

export interface FileDecodingsOptions {
  clock: Clock;
  /** Hears when a thread failed; the file is refused. */
  onFault?: (error: Error) => void;
  /** Hears of the name of an overflow. */
  onOverflow?: (name: string) => void;
}

export class FileDecodings {
  readonly #options: FileDecodingsOptions;
  readonly #open = new Set<Decoding>();
  readonly #quota = new FairQuota(FILES_MAX, ORGANISATION_SHARE);

  constructor(options: FileDecodingsOptions) {
    this.#options = options;
  }

  /** Files that are decoded. */
  get size(): number {
    return this.#open.size;
  }

  /** Begins with a container. Throws LegFailed where it is none that is decoded here, or there are too many. */
  open(file: FileSource, organisationId: string, signal: AbortSignal): Decoding {
    const { kind } = file;
    if (kind.kind === 'raw') throw new Error('Headerless samples need no decoder.');
    // One decoder knows all layers of MPEG.
    const format = kind.format === 'mp2' ? 'mp3' : kind.format;
    if (!isDecoded(format)) throw new LegFailed(formatUnsupported(kind.title));
    const shortage = this.#quota.take(organisationId);
    if (shortage !== undefined) {
      this.#options.onOverflow?.('decoded_files');
      throw new LegFailed(decodersBusy(shortage));
    }
    const decoding: Decoding = new Decoding({
      clock: this.#options.clock,
      format,
      title: kind.title,
      chunks: file.readUntagged(),
      signal,
      onEnd: () => {
        if (this.#open.delete(decoding)) this.#quota.giveBack(organisationId);
      },
      onFault: (error) => this.#options.onFault?.(error),
    });
    this.#open.add(decoding);
    return decoding;
  }

  close(): void {
    for (const decoding of [...this.#open]) decoding.close();
  }
}

const isDecoded = (format: string): format is Decoded => FORMATS.includes(format);
