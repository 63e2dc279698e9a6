// Files that a model does not take whole: cut into parts that it takes, which are transcribed side by side and joined. Which models
// transcribe a part, and what follows when one fails, is the caller's decision.
import { deferred } from '../../http/deferred.ts';
import { LegFailed } from '../../live/upstream/leg-failures.ts';
import { FairQueue, Quota } from '../../runtime/limits/quota.ts';
import { damagedWarning } from '../money/length.ts';
import { type CutDependencies, type CutFile, type CutRequest, openCut, type TimedPart } from './cut-file.ts';
import type { PartAudio } from './cutter.ts';
import { type DonePart, merged, type Transcript } from './merge.ts';

/** Parts of one file that are transcribed at a time. */
export const PARTS_PER_FILE = 4;
/** Parts of all files of a node that are, with a share for each organisation. Each takes up to 38 MB of the disk. */
export const PARTS_MAX = 32;
/** Of one file: a hundred hours at a model that takes ten minutes. A file that would make more is not cut. */
export const PARTS_OF_FILE_MAX = 600;
/** How far a file is. */
export interface PartsProgress {
  /** Parts that have their transcript. */
  done: number;
  /** Estimated from the length of the file until all of it was cut. */
  parts: number;
}

export interface LongFilesOptions extends CutDependencies {
  partsMax?: number;
  partsPerFile?: number;
  partsOfFileMax?: number;
}

/** One file, for one model that does not take it whole. It can be read from its beginning. */
export interface LongFile extends CutRequest {
  /** It is itself a part: its own parts come one after the other, and wait for no place. */
  isPart: boolean;
  signal: AbortSignal;
  /** Transcribes a part. Rejects with what ends the whole file. */
  transcribe(part: PartAudio, signal: AbortSignal): Promise<Transcript>;
  onProgress?: ((progress: PartsProgress) => void) | undefined;
}

export class LongFiles {
  readonly #options: LongFilesOptions;
  readonly #queue: FairQueue<Place>;
  readonly #partsPerFile: number;
  readonly #partsOfFileMax: number;
  #parts = 0;

  constructor(options: LongFilesOptions) {
    this.#options = options;
    this.#queue = new FairQueue(new Quota(options.partsMax ?? PARTS_MAX));
    this.#partsPerFile = options.partsPerFile ?? PARTS_PER_FILE;
    this.#partsOfFileMax = options.partsOfFileMax ?? PARTS_OF_FILE_MAX;
  }

  /** Parts that are cut and have no transcript yet. */
  get size(): number {
    return this.#parts;
  }

  /**
   * Transcribes the file in parts.
   *
   * @throws LegFailed where it cannot be cut; what a part fails with; the signal's reason when aborted
   */
  async transcribe(file: LongFile): Promise<Transcript> {
    const { organisationId, excess, isPart } = file;
    const abort = new AbortController();
    const leave = () => abort.abort(file.signal.reason);
    if (file.signal.aborted) leave();
    else file.signal.addEventListener('abort', leave, { once: true });
    let cut: CutFile | undefined;
    try {
      cut = await openCut(file, this.#options, abort.signal);
      if (cut.expected > this.#partsOfFileMax) throw new LegFailed(excess);
      const run = new PartsRun(file, abort, {
        expected: cut.expected,
        partsMax: this.#partsOfFileMax,
        partsAtOnce: isPart ? 1 : this.#partsPerFile,
        enter: () => (isPart ? Promise.resolve(() => {}) : this.#enter(organisationId, abort.signal)),
        count: (change) => {
          this.#parts += change;
        },
      });
      const done = await run.all(cut.parts);
      if (done.length === 0) throw new LegFailed(excess);
      return whole(done, cut, file);
    } finally {
      cut?.close();
      file.signal.removeEventListener('abort', leave);
    }
  }

  /** Waits for a place. Resolves with what gives it back; rejects with the signal's reason. */
  async #enter(organisationId: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const place = new Place(organisationId);
    const leave = () => this.#queue.leave(place);
    if (this.#queue.enter(place)) return leave;
    const stop = () => place.granted();
    signal.addEventListener('abort', stop, { once: true });
    await place.waiting;
    signal.removeEventListener('abort', stop);
    if (!signal.aborted) return leave;
    leave();
    throw signal.reason;
  }
}

class Place {
  readonly organisationId: string;
  readonly #granted = deferred<void>();

  constructor(organisationId: string) {
    this.organisationId = organisationId;
  }

  get waiting(): Promise<void> {
    return this.#granted.promise;
  }

  granted(): void {
    this.#granted.resolve();
  }
}

interface RunOptions {
  /** About how many parts there will be, and how many there may be. */
  expected: number;
  partsMax: number;
  partsAtOnce: number;
  enter(): Promise<() => void>;
  /** Counts a part that was cut or is over. */
  count(change: 1 | -1): void;
}

/** The parts of one file. */
class PartsRun {
  readonly #file: LongFile;
  readonly #abort: AbortController;
  readonly #options: RunOptions;
  readonly #done: DonePart[] = [];
  readonly #running = new Set<Promise<void>>();
  #cut = 0;
  /** There are no more parts. */
  #isCut = false;
  #fault: { error: unknown } | undefined;

  constructor(file: LongFile, abort: AbortController, options: RunOptions) {
    this.#file = file;
    this.#abort = abort;
    this.#options = options;
  }

  /** All parts with their transcripts, in their order. The first that fails ends the others. */
  async all(parts: AsyncIterable<TimedPart>): Promise<DonePart[]> {
    try {
      for await (const part of parts) {
        this.#begin(part);
        if (this.#cut > this.#options.partsMax) throw new LegFailed(this.#file.excess);
        while (this.#running.size >= this.#options.partsAtOnce) await Promise.race(this.#running);
        this.#abort.signal.throwIfAborted();
      }
      this.#isCut = true;
      this.#tell();
    } catch (error) {
      this.#fail(error);
    }
    await Promise.all(this.#running);
    if (this.#fault !== undefined) throw this.#fault.error;
    return this.#done.sort((one, other) => one.start - other.start);
  }

  #begin(part: TimedPart): void {
    this.#cut++;
    this.#options.count(1);
    const running = this.#run(part)
      .catch((error: unknown) => this.#fail(error))
      .then(async () => {
        // Fails only where the system could not even close a file.
        await part.close().catch(() => {});
        this.#options.count(-1);
        this.#running.delete(running);
      });
    this.#running.add(running);
  }

  async #run(part: TimedPart): Promise<void> {
    const leave = await this.#options.enter();
    try {
      const transcript = await this.#file.transcribe(part, this.#abort.signal);
      const { start, end, overlap } = part;
      this.#done.push({ start, end, overlap, transcript });
      this.#tell();
    } finally {
      leave();
    }
  }

  #tell(): void {
    const parts = this.#isCut ? this.#cut : Math.max(this.#options.expected, this.#cut);
    this.#file.onProgress?.({ done: this.#done.length, parts });
  }

  #fail(error: unknown): void {
    if (this.#fault !== undefined) return;
    this.#fault = { error };
    this.#abort.abort(error);
  }
}

/** The transcript of the file, for as many seconds as a model that takes it whole is charged for. */
function whole(done: readonly DonePart[], cut: CutFile, { source, seconds }: LongFile): Transcript {
  const { isDamaged, seconds: decoded } = cut;
  const least = source.secondsMin ?? seconds ?? 0;
  const counted = seconds === undefined || isDamaged ? decoded : Math.min(seconds, Math.max(least, decoded));
  const result = merged(done, Math.min(counted, source.secondsMax ?? counted));
  const warnings = [...result.warnings];
  if (done.length > 1) warnings.push(cutWarning(result.member.slug, done, cut));
  if (isDamaged) warnings.push(damagedWarning);
  return { ...result, warnings };
}

function cutWarning(slug: string, done: readonly DonePart[], { isBlind }: CutFile): Transcript['warnings'][number] {
  const parts = done.length;
  const inSpeech = done.filter(({ overlap }) => overlap > 0).length;
  const some = isBlind
    ? '. The gateway does not decode this file, so the cuts may be in speech; check the words there.'
    : `. ${inSpeech} of ${parts - 1} cuts had no pause within reach; check the words there.`;
  const how = inSpeech === 0 ? ', cut at pauses.' : some;
  return {
    code: 'file_cut',
    message: `${slug} does not take the whole file: it was transcribed in ${parts} parts${how}`,
  };
}
