// A file on its way in with what is requested: how the edge hands it over, whether all of it is needed before a model is asked, and
// what of it the models are handed.

import type { Utterance } from '../../machines/events.ts';
import { isSlug, providerOf } from '../api/slug.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import { rawRate, type UploadedFile } from '../http/multipart/form.ts';
import type { ChainDependencies, Degradation, ResolvedCandidate } from '../live/failover/chain.ts';
import type { LimitedSignal } from '../runtime/timeouts.ts';
import type { AudioFile } from './file-source.ts';
import { costsByLength } from './money/file-reservations.ts';
import { asLongAsSaid, type FileLength, isLengthHidden } from './money/length.ts';

export interface Upload {
  /** What was requested: by all of the form, or by what is in front of a file that is still arriving. */
  readonly request: TranscriptionRequest;
  readonly file: UploadedFile;
  /**
   * The upload when all of it is here: this one, or one that asks for more, in fields behind a file that was still arriving, and
   * whose file begins again. Rejects with an ApiError when it turns out to be broken, or is too slow.
   */
  readonly whole: Promise<this>;
  /** Nobody reads a file any more that is still arriving; the whole upload has it anyway. */
  leaveFile(): void;
  dispose(): void;
}

/**
 * Reads an upload as far as it has to be known before a model is asked.
 *
 * @param limit ends the upload
 * @param admit says of a large file whether it may come, by what is in front of it: what is refused is not read to its end
 */
export type ReadUpload<Own extends Upload = Upload> = (
  limit: LimitedSignal,
  admit: (request: TranscriptionRequest) => Promise<unknown>,
) => Promise<Own>;

/**
 * Whether the whole file is needed before the first model is asked: more than one may be, it may only cost or last so much, the
 * model wants its length, or what it costs goes by a length that only the whole file tells.
 *
 * @param model as the form names it; empty where it does not, or not yet
 */
export function needsWholeFile(
  { model, hasFallbacks, hasLimits }: { model: string; hasFallbacks: boolean; hasLimits: boolean },
  { contentType, head }: Pick<UploadedFile, 'contentType' | 'head'>,
  { providers, prices }: Pick<ChainDependencies, 'providers' | 'prices'>,
): boolean {
  if (hasFallbacks || hasLimits) return true;
  const provider = isSlug(model) ? providers.get(providerOf(model)) : undefined;
  const price = provider === undefined ? undefined : prices.priceOf(model, 'batch');
  if (price !== undefined && costsByLength([{ own: false, price }]) && isLengthHidden(contentType, head)) return true;
  const batch = provider?.batch;
  // Headerless samples become a WAV file, whose header says how long it is.
  return batch?.kind === 'http' && (batch.needsLength || rawRate(contentType) !== undefined);
}

/** The file as models are handed it. `onEnd`: the last byte of one that was still arriving has been read. */
export function audioFileOf(
  { file, whole }: Pick<Upload, 'file' | 'whole'>,
  length: FileLength,
  measure: (file: UploadedFile) => Promise<FileLength>,
  onEnd: () => void,
): AudioFile {
  const { size, head, pieces } = file;
  const { seconds, secondsMin, secondsMax } = length;
  let shortSeconds: number | undefined;
  const arriving = async function* () {
    yield* asLongAsSaid(file.read(), head, (fault) => {
      if (fault === 'goes on') length.goesOn = true;
      else ({ shortSeconds } = fault);
    });
    if (shortSeconds !== undefined) length.isDamaged = true;
    onEnd();
  };
  return {
    bytes: size,
    pieces,
    readAt: size === undefined ? undefined : (position, length) => file.readAt(position, length),
    rawSampleRate: rawRate(file.contentType),
    secondsMin,
    secondsMax,
    shortSeconds: () => shortSeconds,
    ...(seconds === undefined ? {} : { seconds }),
    // A transcript is not lost because its file could not be measured.
    measure: () => measureWhole(file, measure).catch(() => undefined),
    copy: async () => {
      await whole;
      const arrived = file.arrived?.();
      if (arrived === undefined) return undefined;
      return {
        ...{ bytes: arrived.size, rawSampleRate: undefined, secondsMin, secondsMax, readAt: arrived.readAt },
        measure: () => measureWhole(file, measure).catch(() => undefined),
        read: () => piecesOf(arrived),
      };
    },
    read: () => (size === undefined ? arriving() : file.read()),
  };
}

const PIECE_BYTES = 64 * 1024;

async function* piecesOf({
  size,
  readAt,
}: Pick<UploadedFile, 'readAt'> & { size: number }): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const piece = await readAt(at, PIECE_BYTES);
    if (piece.length === 0) throw new Error('The copy of an upload is shorter than the upload.');
    at += piece.length;
    yield piece;
  }
}

async function measureWhole(
  file: UploadedFile,
  measure: (file: UploadedFile) => Promise<FileLength>,
): Promise<FileLength | undefined> {
  const whole = file.size === undefined ? file.arrived?.() : file;
  return whole === undefined ? undefined : measure({ ...file, ...whole });
}

/** Hears what of an answer may be sent before all of it is there. */
export interface EarlyAnswer {
  /** An utterance that stays as it is, and what is known by then of things that were not honoured. The upload is whole. */
  heard(utterance: Utterance, request: TranscriptionRequest, warnings: () => readonly Degradation[]): void;
  /** Whether something of the answer is on its way to the client. */
  readonly isBegun: boolean;
}

type Tell = (utterance: Utterance, by: ResolvedCandidate) => void;

/** Keeps what is heard of a file that is still arriving until the upload is whole; never tells it where fields came after the file. */
export function onceWhole(upload: Upload, tell: Tell): Tell {
  if (upload.file.size !== undefined) return tell;
  const waiting: Parameters<Tell>[] = [];
  let take: Tell = (...heard) => void waiting.push(heard);
  upload.whole.then(
    (whole) => {
      take = whole === upload ? tell : () => {};
      try {
        for (const heard of waiting.splice(0)) take(...heard);
      } catch (error) {
        // Of the work on the file, which learns of it with the next that is heard.
        take = () => {
          throw error;
        };
      }
    },
    () => {},
  );
  return (...heard) => take(...heard);
}
