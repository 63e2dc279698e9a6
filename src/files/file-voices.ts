// The voices of one file: it is decoded and given to the detector, beside its transcription, as fast as that has room.
import { setImmediate as afterOthers } from 'node:timers/promises';
import type { Clock } from '../../machines/clock.ts';
import { BYTES_PER_SAMPLE } from '../api/audio-formats.ts';
import { soundAt, VoiceRanges } from '../live/upstream/voice-ranges.ts';
import { FRAME_SAMPLES } from '../recogniser/dictation/voice-detector.ts';
import { SAMPLE_RATE, type StreamErrorCode, type StreamMessage } from '../recogniser/protocol.ts';
import { openVoices } from '../recogniser/voice/open-voices.ts';
import type { FairQueue } from '../runtime/limits/quota.ts';
import type { Engine, EngineConnection } from '../vendors/kit/provider.ts';
import type { FileDecodings } from './decoding/decoding.ts';
import { FileDecoder } from './file-decoder.ts';
import type { FileSource } from './file-source.ts';

/** Voices of one file: those of ten hours, at least. */
const RANGES_MAX = 32_768;
/** Handed to the detector at a time: a second. */
const PIECE_BYTES = BYTES_PER_SAMPLE * SAMPLE_RATE;
/** No more of a file waits for the detector: it tells when so much is left. */
const QUEUED_BYTES_MAX = 65_536;
/** After the file: a voice is known of some time after it began. */
const SILENCE_SECONDS = 0.5;

/** Why nothing of a file was checked. */
export type ScanFailure = 'overflow' | 'no_detector' | 'unreadable';

export interface FileVoicesOptions {
  /** The engine that has streams of voices. */
  engine: Engine;
  /** Not those of models, whose places a check must not take. */
  decodings: Pick<FileDecodings, 'open'>;
}

/** The voices of one file, as far as they are known. */
export class FileVoices {
  readonly organisationId: string;
  readonly voices = new VoiceRanges(RANGES_MAX);
  /** Up to here it is known where voices are; infinite once that is known of the whole file. */
  checkedSeconds = 0;
  failure: ScanFailure | undefined;
  isOver = false;
  readonly #options: FileVoicesOptions;
  readonly #file: FileSource;
  readonly #queue: FairQueue<FileVoices>;
  readonly #onOver: () => void;
  readonly #abort = new AbortController();
  #connection: EngineConnection | undefined;
  /** Seconds of the file where the detector's stream begins. */
  #origin = 0;
  #samples = 0;
  #hasFinished = false;
  /** It has a place, or waits for one. */
  #isQueued = false;
  #granted = () => {};
  /** Called when something has changed. */
  readonly #watching = new Set<() => void>();

  constructor(
    file: FileSource,
    organisationId: string,
    options: FileVoicesOptions,
    queue: FairQueue<FileVoices>,
    onOver: () => void,
  ) {
    this.#file = file;
    this.organisationId = organisationId;
    this.#options = options;
    this.#queue = queue;
    this.#onOver = onOver;
  }

  /** Seconds of the file that were read. */
  get seconds(): number {
    return this.#samples / SAMPLE_RATE;
  }

  /** There is a place for it: called by the queue. */
  granted(): void {
    this.#granted();
  }

  /** Resolves once it is over, or enough is known; after this time at the latest. */
  async enough(clock: Clock, waitMs: number, isEnough: () => boolean): Promise<void> {
    let isLate = false;
    const timer = clock.setTimeout(() => {
      isLate = true;
      this.#tell();
    }, waitMs);
    await this.#until(() => isLate || isEnough());
    clock.clearTimeout(timer);
  }

  /** The rest is not needed. Any number of times. */
  close(): void {
    this.#end();
  }

  /** Looks for voices. Never rejects. */
  async run(): Promise<void> {
    try {
      const file = await this.#file.again();
      if (file === undefined) this.fail('unreadable');
      else if (await this.#hasPlace()) await this.#read(file);
    } catch {
      this.fail('unreadable');
    } finally {
      this.#end();
      if (this.#isQueued) this.#queue.leave(this);
    }
  }

  /** Waits for a place. False where the scan is over by then. */
  async #hasPlace(): Promise<boolean> {
    if (this.isOver) return false;
    this.#isQueued = true;
    if (!this.#queue.enter(this)) {
      await new Promise<void>((resolve) => {
        this.#granted = resolve;
      });
    }
    return !this.isOver;
  }

  async #read(file: FileSource): Promise<void> {
    const { decodings } = this.#options;
    const decode = (opened: FileSource) => decodings.open(opened, this.organisationId, this.#abort.signal);
    const decoder = await FileDecoder.open(file, decode);
    try {
      for await (const bytes of decoder.audio(SAMPLE_RATE, null)) {
        await this.#take(bytes);
        if (this.isOver) return;
      }
      // A model may decode more of a damaged file.
      if (decoder.isDamaged) this.fail('unreadable');
      else await this.#finish();
    } finally {
      decoder.close();
    }
  }

  async #take(bytes: Uint8Array): Promise<void> {
    const samples = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / BYTES_PER_SAMPLE);
    const from = this.#connection === undefined ? this.#soundIn(samples) : 0;
    if (this.#connection === undefined && from !== undefined) this.#connect(this.seconds + from / SAMPLE_RATE);
    this.#samples += samples.length;
    if (this.#connection === undefined) this.checkedSeconds = this.seconds;
    else await this.#send(bytes.subarray((from ?? 0) * BYTES_PER_SAMPLE));
    // A file in memory is read without a pause else.
    await afterOthers();
  }

  /** The frame of the first sound. */
  #soundIn(samples: Int16Array): number | undefined {
    const at = soundAt(samples);
    return at < 0 ? undefined : Math.max(0, at - ((this.#samples + at) % FRAME_SAMPLES));
  }

  /** At the first sound, and not before: silence needs no detector, and after some of it whispers were missed. */
  #connect(soundSeconds: number): void {
    this.#origin = soundSeconds;
    this.#connection = openVoices(this.#options.engine, this.organisationId, {
      message: (message) => this.#hear(message),
      drained: () => this.#tell(),
      closed: () => {
        if (!this.#hasFinished) this.fail('no_detector');
      },
    });
    if (this.#connection === undefined) this.fail('no_detector');
  }

  async #send(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.byteLength && !this.isOver; at += PIECE_BYTES) {
      this.#connection?.send(bytes.subarray(at, at + PIECE_BYTES));
      await this.#until(() => (this.#connection?.bufferedBytes ?? 0) <= QUEUED_BYTES_MAX);
    }
  }

  async #finish(): Promise<void> {
    if (this.#connection !== undefined) {
      this.#connection.send(SILENCE);
      this.#connection.send({ type: 'finish' });
      await this.#until(() => this.#hasFinished);
    }
    if (!this.isOver) this.checkedSeconds = Number.POSITIVE_INFINITY;
  }

  #hear(message: StreamMessage): void {
    if (this.isOver) return;
    if (message.type === 'error') this.fail(IS_FULL.includes(message.code) ? 'overflow' : 'no_detector');
    else if (message.type === 'finished') this.#hasFinished = true;
    else if (message.type === 'voice') {
      for (const [start, end] of message.ranges) this.voices.add(this.#origin + start, this.#origin + end);
      this.checkedSeconds = Math.max(this.checkedSeconds, this.#origin + message.until);
      if (this.voices.isFull) this.fail('overflow');
    }
    this.#tell();
  }

  /** Resolves when that is so, or the scan is over. */
  async #until(isSo: () => boolean): Promise<void> {
    if (this.isOver || isSo()) return;
    await new Promise<void>((resolve) => {
      const look = () => {
        if (!this.isOver && !isSo()) return;
        this.#watching.delete(look);
        resolve();
      };
      this.#watching.add(look);
    });
  }

  #tell(): void {
    for (const look of [...this.#watching]) look();
  }

  /** Nothing of the file counts as checked. */
  fail(failure: ScanFailure): void {
    if (!this.isOver) this.failure = failure;
    this.#end();
  }

  #end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#abort.abort();
    this.#connection?.terminate();
    this.#granted();
    this.#onOver();
    this.#tell();
  }
}

/** The detector has no room now. */
const IS_FULL: readonly StreamErrorCode[] = ['recogniser_overloaded', 'recogniser_share_used', 'recogniser_queue_full'];

const SILENCE = new Uint8Array(BYTES_PER_SAMPLE * SAMPLE_RATE * SILENCE_SECONDS);
