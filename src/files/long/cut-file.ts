// A file that is cut: decoded, and cut at pauses; or, where it is not decoded here, in stretches as it is.
import type { LegFailure } from '../../../machines/events.ts';
import { LegFailed } from '../../live/upstream/leg-failures.ts';
import type { FileDecodings } from '../decoding/decoding.ts';
import { FileDecoder } from '../file-decoder.ts';
import type { FileKind, FileSource } from '../file-source.ts';
import { type CutPart, cutParts, type PartAudio, type PartFile } from './cutter.ts';
import { type PartLimits, partsOf, rulesOf } from './plan.ts';
import { type UnitPart, type Units, unitFile, unitParts, unitsOf } from './units.ts';

/** What models of speech are made for; more would only make the parts larger. */
const SAMPLE_RATE = 16_000;
/** What the decoders of this gateway read. */
const DECODED_FORMATS: readonly string[] = [
  ...['wav', 'rifx', 'w64', 'aiff', 'au', 'caf'],
  ...['mp3', 'mp2', 'flac', 'ogg', 'webm'],
];
/** Units with several blocks, or an edit list that leaves out more than silence: what each holds is not known then. */
const UNKNOWN_SHARE = 0.01;
const UNKNOWN_SECONDS = 1;

/** Whether a file of this kind can be cut. */
export const isCuttable = (kind: FileKind): boolean =>
  kind.kind === 'raw' || kind.format === 'm4a' || DECODED_FORMATS.includes(kind.format);

/** Whether the parts of a file keep its channels. */
export const keepsChannels = (kind: FileKind): boolean => kind.kind === 'container' && kind.format === 'm4a';

/** A part, in seconds of the file. */
export interface TimedPart extends PartAudio {
  start: number;
  end: number;
  /** The end of it that the next part has as well. */
  overlap: number;
}

export interface CutFile {
  parts: AsyncIterable<TimedPart>;
  /** About how many there will be. */
  expected: number;
  /** No pauses are looked for. */
  isBlind: boolean;
  /** Audio in all parts. Known at the end. */
  readonly seconds: number;
  /** Some of the sound that the file once had is missing. Known at the end. */
  readonly isDamaged: boolean;
  close(): void;
}

export interface CutRequest {
  source: FileSource;
  organisationId: string;
  /** Length, where that is known. */
  seconds: number | undefined;
  limits: PartLimits;
  /** Thrown where it cannot be cut. */
  excess: LegFailure;
}

export interface CutDependencies {
  decodings: Pick<FileDecodings, 'open'>;
  /** A file on the disk for one part. Rejects with an ApiError where there is no room. */
  openFile(organisationId: string): Promise<PartFile>;
}

/** Throws LegFailed where it cannot be cut. */
export function openCut(request: CutRequest, dependencies: CutDependencies, signal: AbortSignal): Promise<CutFile> {
  const { kind } = request.source;
  return kind.kind === 'container' && kind.format === 'm4a'
    ? openUnits(request)
    : openDecoded(request, dependencies, signal);
}

async function openDecoded(
  { source, organisationId, seconds, limits, excess }: CutRequest,
  { decodings, openFile }: CutDependencies,
  signal: AbortSignal,
): Promise<CutFile> {
  const decoder = await FileDecoder.open(source, (opened) => decodings.open(opened, organisationId, signal));
  const sampleRate = Math.min(SAMPLE_RATE, decoder.sampleRate);
  const rules = rulesOf(limits, sampleRate);
  if (rules === undefined || sampleRate === 0) {
    decoder.close();
    throw new LegFailed(excess);
  }
  const samples = seconds === undefined ? undefined : Math.round(seconds * sampleRate);
  const options = { sampleRate, rules, samples, openFile: () => openFile(organisationId) };
  return {
    parts: timed(cutParts(decoder.audio(sampleRate, null), options), sampleRate),
    expected: samples === undefined ? 1 : partsOf(samples, rules),
    isBlind: false,
    get seconds() {
      return decoder.seconds;
    },
    get isDamaged() {
      return decoder.isDamaged;
    },
    close: () => decoder.close(),
  };
}

async function* timed(parts: AsyncIterable<CutPart>, sampleRate: number): AsyncGenerator<TimedPart> {
  for await (const { start, end, overlap, ...audio } of parts) {
    yield { ...audio, start: start / sampleRate, end: end / sampleRate, overlap: overlap / sampleRate };
  }
}

async function openUnits({ source, seconds, limits, excess }: CutRequest): Promise<CutFile> {
  const { readAt, bytes } = source;
  const units = readAt && bytes !== undefined ? await unitsOf(readAt, bytes) : undefined;
  const parts = units && unitParts(units, limits);
  if (readAt === undefined || units === undefined || parts === undefined) throw new LegFailed(excess);
  const held = units.sizes.length * units.seconds - units.leadSeconds;
  if (seconds !== undefined && Math.abs(held - seconds) > UNKNOWN_SECONDS + UNKNOWN_SHARE * seconds)
    throw new LegFailed(excess);
  const of = (part: UnitPart, index: number): TimedPart => ({
    index,
    ...placeOf(part, units),
    file: unitFile(units, part, readAt),
    close: async () => {},
  });
  return {
    parts: (async function* () {
      for (const [index, part] of parts.entries()) yield of(part, index);
    })(),
    expected: parts.length,
    isBlind: true,
    seconds: held,
    isDamaged: false,
    close: () => {},
  };
}

/** Times of the file begin behind the silence that the encoder has put in front. */
const placeOf = ({ from, to, overlap }: UnitPart, { seconds, leadSeconds }: Units) => ({
  start: from * seconds - leadSeconds,
  end: to * seconds - leadSeconds,
  overlap: overlap * seconds,
});
