// How many seconds of audio money is asked for before a file is transcribed. Holding and charging it is the
// ledger's; how long the audio really was is told by whoever transcribed it.
import { refuse } from '../../api/errors.ts';
import { sniffContainer, wavLength } from '../../audio/container.ts';
import type { MeterMember } from '../../ledger/meter.ts';
import type { ChainMember } from '../../session/chain.ts';
import type { LedgerPrice } from '../../store/ledger-calls.ts';
import type { LengthMeter } from '../audio-length.ts';
import type { FormFile } from '../multipart.ts';
import { rawRate } from './transcriptions-form.ts';

/** Longer than any recording is: what says so is broken, or a trap. */
const SECONDS_MAX = 360_000;
/** Fewer bytes a second than any codec for speech makes of sound. */
const BYTES_PER_SECOND_MIN = 1_000;
/** And more than any recording has, lossless ones too: what is said to be shorter than that is not believed. */
const BYTES_PER_SECOND_MAX = 625_000;
/** Eight channels of 32 bits at 192 kHz. */
const WAV_BYTES_PER_SECOND_MAX = 6_144_000;
const BYTES_PER_SAMPLE = 2;
/** Tags and pictures may follow the samples of a WAV file. */
const TRAILER_BYTES_MAX = 1_048_576;

/** Whether the length of the audio decides what it costs. */
export const costsByLength = (members: readonly { own: boolean; price: LedgerPrice }[]): boolean =>
  members.some(({ own, price }) => !own && price.unit === 'minute' && price.microUsd > 0n);

/** The seconds that money is asked for. Throws the Refusal `unsupported_audio` for a file that claims an absurd length. */
export async function secondsToReserve(
  file: FormFile,
  members: readonly MeterMember[],
  secondsMax: number,
  meter: Pick<LengthMeter, 'measure'>,
  organisationId: string,
): Promise<{ seconds: number; measured: number | undefined; isGuess: boolean }> {
  const known = samplesSeconds(file) ?? wavSeconds(file.head, file.size)?.seconds;
  const isGuess = false;
  if (known !== undefined) return { seconds: Math.min(plausible(known), secondsMax), measured: undefined, isGuess };
  const { size } = file;
  if (size === undefined || !costsByLength(members))
    return { seconds: Math.min(SECONDS_MAX, secondsMax), measured: undefined, isGuess };
  const said = (await meter.measure({ size, readAt: file.readAt }, organisationId))?.secondsMax;
  if (said === undefined) {
    return { seconds: Math.min(size / BYTES_PER_SECOND_MIN, secondsMax), measured: undefined, isGuess: true };
  }
  const measured = Math.max(plausible(said), size / BYTES_PER_SECOND_MAX);
  return { seconds: Math.min(measured, secondsMax), measured, isGuess };
}

/**
 * Throws the Refusal `unsupported_audio` where nobody will know how long the audio was: the file does not say, and a model that it may
 * come to does not either.
 */
export function requireTold(members: readonly Pick<ChainMember, 'slug' | 'card' | 'own'>[]): void {
  const silent = members.find(({ card, own }) => !own && card.capabilities.segment_timestamps === false);
  if (silent === undefined) return;
  throw unsupported(
    `Nobody can tell how long the file is, and ${silent.slug} does not say it. Convert it to WAV, FLAC or MP3, and send it again.`,
  );
}

/** The longest audio that every member of the chain would take at least one of. */
export const longestOf = (members: readonly ChainMember[]): number =>
  Math.max(...members.map(({ card }) => card.audio.max_seconds ?? Number.POSITIVE_INFINITY));

/** Whether a file has to be whole before anybody can say how long it is. */
export const isLengthHidden = (contentType: string | undefined, head: Uint8Array): boolean =>
  /^audio\/l16\b/i.test(contentType ?? '') || wavSeconds(head, undefined) === undefined;

/**
 * The bytes of a file that is read while it arrives, and whose header said how long it is: no more than that.
 * Fails with the Refusal `unsupported_audio`.
 */
export async function* asLongAsSaid(chunks: AsyncIterable<Uint8Array>, head: Uint8Array): AsyncGenerator<Uint8Array> {
  const endsAt = wavSeconds(head, undefined)?.endsAt ?? Number.POSITIVE_INFINITY;
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > endsAt + TRAILER_BYTES_MAX) {
      throw unsupported(
        'The WAV file goes on behind the length that its header says. Write it anew, and send it again.',
      );
    }
    yield chunk;
  }
}

/** Of headerless samples that are all here. */
function samplesSeconds({ contentType, size }: FormFile): number | undefined {
  const rate = rawRate(contentType);
  return rate === undefined || size === undefined ? undefined : size / BYTES_PER_SAMPLE / rate;
}

/** By the header of a WAV file that makes sense, and by its bytes where all of them are here. */
function wavSeconds(head: Uint8Array, size: number | undefined): { seconds: number; endsAt: number } | undefined {
  const length = sniffContainer(head)?.startsWith('WAV') === true ? wavLength(head) : undefined;
  if (length === undefined || !length.isPlain || length.bytesPerSecond > WAV_BYTES_PER_SECOND_MAX) return undefined;
  const { samplesAt, bytesPerSecond } = length;
  const sampleBytes = size === undefined ? length.sampleBytes : size - samplesAt;
  if (sampleBytes === undefined) return undefined;
  return { seconds: Math.max(0, sampleBytes) / bytesPerSecond, endsAt: samplesAt + sampleBytes };
}

function plausible(seconds: number): number {
  if (seconds <= SECONDS_MAX) return seconds;
  throw unsupported(
    `The file says that it is ${Math.round(seconds)} s long; at most ${SECONDS_MAX} s are taken. Write it anew, or split it.`,
  );
}

const unsupported = (message: string) => refuse('unsupported_audio', message, { param: 'file' });
