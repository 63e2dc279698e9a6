// A file as it was uploaded, and what its content type says of it. What it is by its bytes is file-source.ts.
import { refuse } from '../../api/errors.ts';

export interface UploadedFile {
  readonly contentType: string | undefined;
  /** Bytes, where the whole file is here. */
  readonly size: number | undefined;
  /** Its first 64 KiB, or all of a smaller file. */
  readonly head: Uint8Array;
  /** All of it, where it is in memory. */
  readonly pieces: readonly Uint8Array[] | undefined;
  /**
   * The file from its first byte on, until the upload is disposed of: any number of times where it has a `size`, else once.
   * Fails with a Refusal when the file turns out to be too large or the upload to be broken.
   */
  read(): AsyncIterable<Uint8Array>;
  /** Some of it from a position on, or less at its end. Only where it has a `size`. */
  readAt(position: number, length: number): Promise<Uint8Array>;
  /** The copy of a file without a `size`, once it has arrived; undefined before, and where no copy was kept. */
  arrived?(): { size: number; readAt: UploadedFile['readAt'] } | undefined;
}

/** The rate of headerless PCM, which says so in its content type: `audio/l16;rate=16000`, little-endian, one channel. */
export function rawRate(contentType: string | undefined): number | undefined {
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
