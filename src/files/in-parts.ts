// Files that go to a model in parts: for which models a file is cut, and which models each part may come to. How it is cut and joined
// is decided in long/.
import type { FailureReason, LegFailure } from '../../machines/events.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import type { ResolvedCandidate } from '../live/failover/chain.ts';
import { excessOf } from './by-http.ts';
import type { AudioFile, FileKind, FileSource } from './file-source.ts';
import { isCuttable, keepsChannels } from './long/cut-file.ts';
import type { LongFiles, PartsProgress } from './long/long-files.ts';
import type { Transcript } from './long/merge.ts';
import type { PartLimits } from './long/plan.ts';
import type { FileLength } from './money/length.ts';

/** Hears of the attempts at a file, one at a time. */
interface AttemptObserver {
  asked(model: string): void;
  answered(model: string): void;
  failed(model: string, reason: FailureReason): void;
}

/** A part, as a file of its own. */
export interface PartJob {
  index: number;
  file: AudioFile;
  /** Models that have not failed at the whole file. */
  chain: readonly ResolvedCandidate[];
  signal: AbortSignal;
  observer: AttemptObserver;
}

export interface InPartsOptions {
  /** Absent: no file is cut. */
  longFiles: LongFiles | undefined;
  request: Pick<TranscriptionRequest, 'strict'>;
  organisationId: string;
  signal: AbortSignal;
  observer: AttemptObserver | undefined;
  /** The file is itself a part. */
  isPart: boolean;
  onProgress: ((progress: PartsProgress) => void) | undefined;
  transcribe(part: PartJob): Promise<Transcript>;
}

/** Codes of failures that another model's limits, or parts, could help with. */
const TOO_MUCH: readonly string[] = ['file_too_large', 'audio_too_long', 'http_413'];
/** Thinner speech is rare: a smaller file is not measured to learn whether it is too long. */
const BYTES_PER_SECOND_MIN = 500;

export class InParts {
  readonly #options: InPartsOptions;
  #measured: Promise<FileLength | undefined> | undefined;

  constructor(options: InPartsOptions) {
    this.#options = options;
  }

  /**
   * Why the first of these models does not take the file whole, where the file is to be cut for it. Undefined where it goes whole, or is
   * left to another model: one that keeps speakers apart in the whole file, if that was requested.
   */
  async excess(left: readonly ResolvedCandidate[], source: FileSource): Promise<LegFailure | undefined> {
    const [member, ...others] = left;
    const { longFiles, request } = this.#options;
    if (longFiles === undefined || member === undefined || source.bytes === undefined) return undefined;
    if (!isCuttable(source.kind) || !takesParts(member)) return undefined;
    // A part is charged as one channel.
    if (keepsChannels(source.kind) && (source.readAt === undefined || left.some(billsEach))) return undefined;
    const seconds = await this.#secondsOf(source, member);
    const excess = excessOf(member, source, seconds);
    if (excess === undefined || !member.diarization) return excess;
    const isTaken = others.some((other) => other.diarization && excessOf(other, source, seconds) === undefined);
    return request.strict || isTaken ? undefined : excess;
  }

  /** The copy of a file that turned out to be too much while it was sent, where it is to be cut. */
  async copy(
    failure: LegFailure,
    left: readonly ResolvedCandidate[],
    source: FileSource,
  ): Promise<FileSource | undefined> {
    if (this.#options.longFiles === undefined || source.bytes !== undefined) return undefined;
    if (!TOO_MUCH.includes(failure.code) || !isCuttable(source.kind)) return undefined;
    const copy = await source.again();
    return copy !== undefined && (await this.excess(left, copy)) !== undefined ? copy : undefined;
  }

  /**
   * Transcribes the file in parts that the first of these models takes. A part that it fails at goes to the others, and no other
   * part does.
   */
  async transcribe(left: readonly ResolvedCandidate[], source: FileSource, excess: LegFailure): Promise<Transcript> {
    const { longFiles, organisationId, signal, isPart, onProgress } = this.#options;
    const member = left[0] as ResolvedCandidate;
    if (longFiles === undefined) throw new Error('No file is cut.');
    const observer = new PartsObserver(this.#options.observer);
    observer.asked(member.slug);
    const transcript = await longFiles.transcribe({
      ...{ organisationId, source, excess, isPart, signal, onProgress },
      seconds: await this.#secondsOf(source, member),
      limits: limitsOf(member),
      transcribe: ({ index, file }, partSignal) =>
        this.#options.transcribe({ index, file, chain: left, signal: partSignal, observer }),
    });
    observer.ended(transcript.member.slug);
    return transcript;
  }

  /** A file that costs nothing by its length was not measured. */
  async #secondsOf(source: FileSource, { card }: ResolvedCandidate): Promise<number | undefined> {
    const { seconds, bytes = 0 } = source;
    const { max_seconds: secondsMax } = card.audio;
    if (seconds !== undefined || secondsMax === null || bytes < secondsMax * BYTES_PER_SECOND_MIN) return seconds;
    this.#measured ??= source.measure();
    return (await this.#measured)?.seconds;
  }
}

/** Whether a file may be cut for any of these models, as far as that is known before it is read: then all of it may be charged. */
export const mayBeCut = (
  kind: FileKind | undefined,
  members: readonly ResolvedCandidate[],
  { bytes = 0, seconds = 0 }: { bytes: number | undefined; seconds: number | undefined },
): boolean =>
  kind !== undefined &&
  isCuttable(kind) &&
  members.filter(takesParts).some((member) => {
    const { bytesMax, secondsMax } = limitsOf(member);
    return (secondsMax !== null && seconds > secondsMax) || (bytesMax !== null && bytes > bytesMax);
  });

const limitsOf = ({ card: { audio } }: ResolvedCandidate): PartLimits => ({
  bytesMax: audio.max_file_bytes,
  secondsMax: audio.max_seconds,
});

const billsEach = ({ provider }: ResolvedCandidate): boolean =>
  provider.batch?.kind === 'http' && provider.batch.billsChannels === 'always';

/** Not where each channel is to be transcribed separately: parts have one. Models behind a live leg are sent the whole file, as samples. */
function takesParts({ provider, params }: ResolvedCandidate): boolean {
  if (provider.batch?.kind !== 'http') return false;
  const { billsChannels: bills } = provider.batch;
  return typeof bills !== 'object' || params[bills.whenAsked] !== true;
}

/** The attempts at the parts, as if they were attempts at the whole file. */
class PartsObserver implements AttemptObserver {
  readonly #observer: AttemptObserver | undefined;
  #asked: string | undefined;

  constructor(observer: AttemptObserver | undefined) {
    this.#observer = observer;
  }

  asked(model: string): void {
    if (this.#asked !== undefined) return;
    this.#asked = model;
    this.#observer?.asked(model);
  }

  answered(): void {}

  failed(model: string, reason: FailureReason): void {
    this.asked(model);
    this.#asked = undefined;
    this.#observer?.failed(model, reason);
  }

  ended(model: string): void {
    this.asked(model);
    this.#observer?.answered(this.#asked ?? model);
  }
}
