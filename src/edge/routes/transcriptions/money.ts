// How much audio a file can hold, and for what of it its models are paid: money is held for that before one is asked. Holding and
// charging it is the ledger's.
import { refuse } from '../../../api/errors.ts';
import { sniffContainer, type WavLength, wavLength } from '../../../audio/container.ts';
import { secondsAtMost } from '../../../audio/length/measured.ts';
import type { ChainMember } from '../../../failover/chain.ts';
import type { MeterMember } from '../../../ledger/meter.ts';
import type { LedgerPrice } from '../../../store/ledger/calls.ts';
import type { LengthMeter } from '../../../transcription/measuring/length-meter.ts';
import type { FileMember } from '../../../transcription/money/reservations.ts';
import type { FormFile } from '../../multipart/form.ts';
import { rawRate } from './form.ts';

/** Longer than any recording is, all channels together: what says so is broken, or a trap. */
const SECONDS_MAX = 360_000;
/** More than any recording has, lossless ones too: what is said to be shorter than that is not believed. */
const BYTES_PER_SECOND_MAX = 625_000;
/** Eight channels of 32 bits at 192 kHz. */
const WAV_BYTES_PER_SECOND_MAX = 6_144_000;
const BYTES_PER_SAMPLE = 2;
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
}

/** Whether the length of the audio decides what it costs. */
export const costsByLength = (members: readonly { own: boolean; price: LedgerPrice }[]): boolean =>
  members.some(({ own, price }) => !own && price.unit === 'minute' && price.microUsd > 0n);

/**
 * @param isMeasured whether it matters
 * @throws Refusal `unsupported_audio` for a file that claims an absurd length
 */
export async function lengthOf(
  file: FormFile,
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
  if (size !== undefined && said !== undefined) {
    const secondsMax = Math.max(plausible(said.secondsMax), size / BYTES_PER_SECOND_MAX);
    return { secondsMax, channels: said.channels, seconds: secondsMax };
  }
  const bytesSeconds = size === undefined ? SECONDS_MAX : secondsAtMost(sniffContainer(head), size);
  return { secondsMax: Math.min(SECONDS_MAX, bytesSeconds), channels: 1, seconds: undefined };
}

/**
 * The chain with the channels that each member is paid for. Throws the Refusal `unsupported_audio` where nobody will know what to
 * charge: the file does not say how long it is, or how many channels it has, and a model that it may come to does not either.
 */
export function fileMembers(
  members: readonly ChainMember[],
  priced: readonly MeterMember[],
  { secondsMax, channels, seconds }: FileLength,
): FileMember[] {
  const isUnknown = seconds === undefined && costsByLength(priced);
  return priced.map((each, index) => {
    const member = members[index] as ChainMember;
    const isSilent = member.card.capabilities.segment_timestamps === false;
    const isEach = billsEachChannel(member);
    if (isUnknown && !each.own && (isSilent || isEach)) {
      const what = isEach ? 'how many channels of what length the file has' : 'how long the file is';
      throw unsupported(
        `Nobody can tell ${what}, and ${each.slug} ${isEach ? 'is billed by it' : 'does not say it'}. Convert it to WAV, FLAC or MP3, and send it again.`,
      );
    }
    if (isEach && !each.own) plausible(secondsMax * channels);
    return { ...each, channels: isEach ? channels : 1 };
  });
}

function billsEachChannel({ provider, params }: Pick<ChainMember, 'provider' | 'params'>): boolean {
  if (provider.batch?.kind !== 'http') return false;
  const { billsChannels } = provider.batch;
  return typeof billsChannels === 'object' ? params[billsChannels.whenAsked] === true : billsChannels === 'always';
}

/** The longest audio that every member of the chain would take at least one of. */
export const longestOf = (members: readonly ChainMember[]): number =>
  Math.max(...members.map(({ card }) => card.audio.max_seconds ?? Number.POSITIVE_INFINITY));

/** Whether a file has to be whole before anybody can say how long it is. */
export const isLengthHidden = (contentType: string | undefined, head: Uint8Array): boolean =>
  /^audio\/l16\b/i.test(contentType ?? '') || plainWav(head)?.sampleBytes === undefined;

/**
 * The bytes of a file that is read while it arrives, and whose header said how long it is: no more than that.
 * Fails with the Refusal `unsupported_audio`.
 */
export async function* asLongAsSaid(chunks: AsyncIterable<Uint8Array>, head: Uint8Array): AsyncGenerator<Uint8Array> {
  const { samplesAt = 0, sampleBytes = Number.POSITIVE_INFINITY } = plainWav(head) ?? {};
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > samplesAt + sampleBytes + TRAILER_BYTES_MAX) {
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

/** The header of a WAV file, where it makes sense. */
function plainWav(head: Uint8Array): WavLength | undefined {
  const length = sniffContainer(head)?.startsWith('WAV') === true ? wavLength(head) : undefined;
  return length === undefined || !length.isPlain || length.bytesPerSecond > WAV_BYTES_PER_SECOND_MAX
    ? undefined
    : length;
}

/** By its bytes, which may all be samples whatever the header says; and by the header, where nothing but tags follows. */
async function wavFileLength(file: FormFile, wav: WavLength): Promise<FileLength> {
  const { samplesAt, sampleBytes, bytesPerSecond, channels } = wav;
  const { size } = file;
  const bytesHere = size === undefined ? (sampleBytes ?? 0) + TRAILER_BYTES_MAX : Math.max(0, size - samplesAt);
  const isSaid = sampleBytes !== undefined && sampleBytes < bytesHere;
  const isBelieved = isSaid && (size === undefined || (await endsInTags(file, size, samplesAt + sampleBytes)));
  const seconds = (isBelieved ? sampleBytes : bytesHere) / bytesPerSecond;
  plausible(seconds);
  return { secondsMax: bytesHere / bytesPerSecond, channels, seconds };
}

/** Whether whole chunks follow from a position to the end of a file, and no more samples: some decoders go on with those. */
async function endsInTags({ readAt }: FormFile, size: number, samplesEnd: number): Promise<boolean> {
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

function plausible(seconds: number): number {
  if (seconds <= SECONDS_MAX) return seconds;
  throw unsupported(
    `The file says that it is ${Math.round(seconds)} s long; at most ${SECONDS_MAX} s are taken. Write it anew, or split it.`,
  );
}

const unsupported = (message: string) => refuse('unsupported_audio', message, { param: 'file' });
