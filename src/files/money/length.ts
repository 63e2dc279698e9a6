// How much audio an uploaded file can hold: money is held for that before a model is asked.

import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import { apiError } from '../../api/errors.ts';
import { fileKindOf, sniffContainer } from '../../audio/containers/detection.ts';
import { UNKNOWN_BYTES_MIN } from '../../audio/containers/wav.ts';
import { type WavLength, wavLength } from '../../audio/containers/wav-length.ts';
import { secondsAtMost } from '../../audio/scan.ts';
import { rawRate, type UploadedFile } from '../../http/multipart/form.ts';
import type { Degradation } from '../../live/failover/chain.ts';
import type { LengthMeter } from '../measuring/length-meter.ts';

/** Longer than any recording is, all channels together: what says so is broken, or a trap. */
const SECONDS_MAX = 360_000;
/** More than any recording has, lossless ones too: money is held as if a file without pictures had no more. */
export const BYTES_PER_SECOND_MAX = 625_000;
/** Eight channels of 32 bits at 192 kHz. */
const WAV_BYTES_PER_SECOND_MAX = 6_144_000;
/** Tags and pictures may follow the samples of a WAV file. */
const TRAILER_BYTES_MAX = 1_048_576;
const TRAILING_CHUNKS_MAX = 64;
const CHUNK_HEAD_BYTES = 8;

/** How long a file is. */
export interface FileLength {
  /** The most that one channel can hold: money is held for it, and nobody is charged for more. */
  secondsMax: number;
  /** 1 where nobody can tell. */
  channels: number;
  /** As far as anybody can tell: charged where the model that heard it does not say. */
  seconds: number | undefined;
  /** The least that it holds, where that is less. */
  secondsMin?: number | undefined;
  /** Where nobody can tell: what the file says of itself. */
  statedSeconds?: number | undefined;
  /** The file is cut off, or some of it cannot be read. */
  isDamaged?: boolean;
  /** A WAV file continues after the samples that its header declares, with something else than tags. */
  goesOn?: boolean;
}

/**
 * @param isMeasured whether it matters
 * @throws ApiError `unsupported_audio` for a file that claims an absurd length
 */
export async function lengthOf(
  file: UploadedFile,
  isMeasured: boolean,
  meter: Pick<LengthMeter, 'measure'>,
  organisationId: string,
): Promise<FileLength> {
  const { head, size, readAt } = file;
  const samples = samplesSeconds(file);
  if (samples !== undefined) return { secondsMax: plausible(samples), channels: 1, seconds: samples };
  const wav = plainWav(head);
  if (wav !== undefined && (size ?? wav.sampleBytes) !== undefined) return wavFileLength(file, wav);
  const said = size === undefined || !isMeasured ? undefined : await meter.measure({ size, readAt }, organisationId);
  if (size !== undefined && said !== undefined && said.isStated !== true) {
    const { seconds, secondsMin = seconds, channels, hasVideo = false, isDamaged = false } = said;
    const leastSeconds = hasVideo ? 0 : size / BYTES_PER_SECOND_MAX;
    const secondsMax = Math.max(plausible(said.secondsMax), leastSeconds);
    return { secondsMax, channels, seconds, secondsMin, isDamaged };
  }
  const bytesSeconds = size === undefined ? SECONDS_MAX : secondsAtMost(fileKindOf(head)?.title, size);
  return {
    secondsMax: Math.min(SECONDS_MAX, bytesSeconds),
    channels: 1,
    seconds: undefined,
    statedSeconds: said?.seconds,
  };
}

/** Whether a file has to be whole before anybody can say how long it is. */
export const isLengthHidden = (contentType: string | undefined, head: Uint8Array): boolean =>
  /^audio\/l16\b/i.test(contentType ?? '') || plainWav(head)?.sampleBytes === undefined;

/**
 * The bytes of a file that is read while it arrives, and whose header said how long it is: no more than that.
 * Fails with the ApiError `unsupported_audio`.
 *
 * @param onFault called at the end where the header says more than came: then with the seconds that came; or where another WAV file
 * follows
 */
export async function* asLongAsSaid(
  chunks: AsyncIterable<Uint8Array>,
  head: Uint8Array,
  onFault: (fault: { shortSeconds: number } | 'goes on') => void,
): AsyncGenerator<Uint8Array> {
  const wav = plainWav(head);
  const { samplesAt = 0, sampleBytes = Number.POSITIVE_INFINITY } = wav ?? {};
  let bytes = 0;
  let after = Buffer.alloc(0);
  for await (const chunk of chunks) {
    bytes += chunk.length;
    const beyond = Math.min(chunk.length, bytes - samplesAt - sampleBytes);
    if (beyond > 0 && after.length < CHUNK_HEAD_BYTES)
      after = Buffer.concat([after, chunk.subarray(chunk.length - beyond, chunk.length - beyond + CHUNK_HEAD_BYTES)]);
    if (bytes > samplesAt + sampleBytes + TRAILER_BYTES_MAX) {
      throw unsupported(
        'The WAV file continues after the length that its header declares, for example with a second WAV file. Send one file for each recording.',
      );
    }
    yield chunk;
  }
  const bytesHere = Math.max(0, bytes - samplesAt);
  if (wav !== undefined && isCutOff(sampleBytes, bytesHere)) onFault({ shortSeconds: bytesHere / wav.bytesPerSecond });
  // A byte of padding may be in front.
  if (after.includes('RIFF')) onFault('goes on');
}

/** Whether samples are missing. */
const isCutOff = (sampleBytes: number | undefined, bytesHere: number): boolean =>
  bytesHere === 0 || (sampleBytes !== undefined && sampleBytes < UNKNOWN_BYTES_MIN && sampleBytes > bytesHere);

/** Of headerless samples that are all here. */
function samplesSeconds({ contentType, size }: UploadedFile): number | undefined {
  const rate = rawRate(contentType);
  return rate === undefined || size === undefined ? undefined : size / BYTES_PER_SAMPLE / rate;
}

/** The header of a WAV file, where it makes sense. */
function plainWav(head: Uint8Array): WavLength | undefined {
  const length = sniffContainer(head)?.startsWith('WAV') === true ? wavLength(head) : undefined;
  return length === undefined || !length.isPlain || length.bytesPerSecond > WAV_BYTES_PER_SECOND_MAX
    ? undefined
    : length;
}

/** By its bytes, which may all be samples whatever the header says; and by the header, where nothing but tags follows. */
async function wavFileLength(file: UploadedFile, wav: WavLength): Promise<FileLength> {
  const { samplesAt, sampleBytes, bytesPerSecond, channels } = wav;
  const { size } = file;
  const bytesHere = size === undefined ? (sampleBytes ?? 0) + TRAILER_BYTES_MAX : Math.max(0, size - samplesAt);
  const isSaid = sampleBytes !== undefined && sampleBytes < bytesHere;
  const isBelieved = isSaid && (size === undefined || (await endsInTags(file, size, samplesAt + sampleBytes)));
  const seconds = (isBelieved ? sampleBytes : bytesHere) / bytesPerSecond;
  plausible(seconds);
  const isDamaged = size !== undefined && isCutOff(sampleBytes, bytesHere);
  return { secondsMax: bytesHere / bytesPerSecond, channels, seconds, isDamaged, goesOn: isSaid && !isBelieved };
}

/** Whether whole chunks follow from a position to the end of a file, and no more samples: some decoders continue with those. */
async function endsInTags({ readAt }: UploadedFile, size: number, samplesEnd: number): Promise<boolean> {
  if (size - samplesEnd > TRAILER_BYTES_MAX) return false;
  const tags = Buffer.from(await readAt(samplesEnd, size - samplesEnd));
  // Wherever it stands: decoders differ in the byte that fills up an odd number.
  if (tags.includes('data')) return false;
  let at = samplesEnd % 2;
  for (let chunks = 0; chunks < TRAILING_CHUNKS_MAX && at < tags.length; chunks++) {
    if (at + CHUNK_HEAD_BYTES > tags.length || !/^[ -~]{4}$/.test(tags.toString('latin1', at, at + 4))) return false;
    const bytes = tags.readUInt32LE(at + 4);
    at += CHUNK_HEAD_BYTES + bytes + (bytes % 2);
  }
  return at === tags.length || at === tags.length + 1;
}

export function plausible(seconds: number): number {
  if (seconds <= SECONDS_MAX) return seconds;
  throw unsupported(
    `The file says that it is ${Math.round(seconds)} s long; at most ${SECONDS_MAX} s are taken. Write it anew, or split it.`,
  );
}

export const unsupported = (message: string) => apiError('unsupported_audio', message, { param: 'file' });

/** @param known warnings that the answer has already */
export function withFileWarnings({ isDamaged, goesOn }: FileLength, known: readonly Degradation[]): Degradation[] {
  const isTold = known.some(({ code }) => code === damagedWarning.code);
  return [...known, ...(isDamaged && !isTold ? [damagedWarning] : []), ...(goesOn ? [continuedWarning] : [])];
}

/** What a client is told of a file that is not whole, or more than one. */
export const damagedWarning: Degradation = {
  code: 'audio_damaged',
  message:
    'The file is cut off or damaged; only the audio that could be read was transcribed. Words may be missing, and times after the damage may be too early.',
};

const continuedWarning: Degradation = {
  code: 'audio_continues',
  message:
    'The WAV file continues after the samples that its header declares, for example with a second WAV file. Models may transcribe only the first part. Send one file for each recording.',
};
