// A live session's audio from the client's chunks to a leg's frames: ingest, tape with spool, lane, speech energy. Pure and
// synchronous: the host says what time it is, asks for frames and decides when a leg opens, fails and is replaced.
import type { Encoding } from '../api/listen.ts';
import type { OpusDecoder } from './codecs/opus-decoder.ts';
import { type SampleSource, sourceOf, type Taken } from './ingest.ts';
import { type AudioFrame, Lane, type LaneContract } from './lane.ts';
import { LegTimeline } from './leg-timeline.ts';
import { replayStart } from './replay-start.ts';
import type { Spool, SpoolShortage } from './tape/spool.ts';
import { Tape } from './tape/tape.ts';
import { SpeechMeter } from './voice/energy.ts';

export type { AudioFrame, LaneContract };

export interface PipelineOptions {
  /** Hertz of the client's audio, an integer; of what it is decoded to, where that is Opus. */
  sampleRate: number;
  encoding: Encoding;
  /** For Opus, which cannot do without; the pipeline frees it. */
  decoder?: OpusDecoder | undefined;
  /** Audio ahead of the lane kept in memory, as linear16; beyond it the spool takes it. */
  memoryBytesMax: number;
  /** Audio sent and not covered by a final: this much is kept in memory, and this much beyond that in a spool. */
  replayMs: number;
  replaySpoolMs: number;
  /** Audio that the spool may hold, as linear16. */
  spoolBytesMax: number;
  /** Called when memory is first full, of audio ahead of the lane and of audio kept for a replay. */
  openSpool(): Spool;
}

/**
 * Positions are samples since the beginning of the session, on the client's clock. Audio is held as linear16 at the client's
 * rate: [covered, sent) for a replay, [sent, received) ahead of the lane. Every sample leaves on a lane once and in order,
 * except for silence in the pauses where the lane is behind; a new lane begins again at the end of the last final.
 */
export class AudioPipeline {
  readonly #sampleRate: number;
  readonly #tape: Tape;
  readonly #meter: SpeechMeter;
  #lane: Lane | undefined;
  #timeline = new LegTimeline();
  readonly #ingest: SampleSource;
  #droppedBytes = 0;
  #flushTo = 0;
  #ended = false;
  #disposed = false;
  /** Nothing behind this position is given out. */
  #limit = Number.POSITIVE_INFINITY;
  #cut = false;

  constructor(options: PipelineOptions) {
    const { sampleRate, memoryBytesMax, spoolBytesMax, replayMs, replaySpoolMs } = options;
    this.#sampleRate = sampleRate;
    const samplesOf = (ms: number) => Math.floor((ms * sampleRate) / 1000);
    const replay = { replaySamplesMax: samplesOf(replayMs), replaySpoolSamplesMax: samplesOf(replaySpoolMs) };
    this.#tape = new Tape({ memoryBytesMax, spoolBytesMax, ...replay }, () => options.openSpool());
    this.#meter = new SpeechMeter(sampleRate);
    this.#ingest = sourceOf(options, this.#tape, this.#meter);
  }

  /** Bytes taken by `push`, in the client's encoding. */
  get receivedBytes(): number {
    return this.#ingest.receivedBytes;
  }

  get receivedSamples(): number {
    return this.#tape.received;
  }

  /** The lane's position: everything before was given out. Stays where it is when the lane closes. */
  get sentSamples(): number {
    return this.#tape.sent;
  }

  /** Everything before was trimmed, or reported as lost by `openLane`. */
  get coveredSamples(): number {
    return this.#tape.covered;
  }

  /** Where what the leg of the last lane heard lies in the session. */
  get legTimeline(): LegTimeline {
    return this.#timeline;
  }

  /** More can be decoded of what was pushed: a `push` of no bytes continues with it. */
  get isDecoding(): boolean {
    return this.#ingest.isDecoding;
  }

  /** Pieces of what is decoded that were damaged, and passed over. */
  get damagedPieces(): number {
    return this.#ingest.damaged;
  }

  /** Why nothing more can be taken, for the client, once `push` has said `unsupported`. */
  get fault(): string | undefined {
    return this.#ingest.fault;
  }

  /** Bytes that became no sample: a lone last byte, a packet that was cut off, and what was pushed after `end`. */
  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  /** Memory held for audio, in bytes. None when all audio is covered. */
  get bufferedBytes(): number {
    return this.#tape.memoryBytes;
  }

  /** Audio in spools, in bytes. */
  get spooledBytes(): number {
    return this.#tape.spooledBytes;
  }

  /** Why the spool takes no more, once `push` has said `backlog_exceeded`; undefined when the session holds as much as it may. */
  get shortage(): SpoolShortage | undefined {
    return this.#tape.shortage;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The audio has ended, and the open lane has given all of it out. */
  get drained(): boolean {
    return this.#whole && this.#lane !== undefined && this.#lane.available(this.#end, true) <= 0;
  }

  /** Audio is there, and only the limit keeps it from being given out. */
  get starved(): boolean {
    const { received } = this.#tape;
    if (this.#lane === undefined || this.#cut || received <= this.#limit) return false;
    return this.#lane.size(this.#limit, this.#flushTo, false) === 0;
  }

  /** A frame could leave, and waits for more audio. The rest must be flushed when none comes. */
  get gathering(): boolean {
    const { received } = this.#tape;
    if (this.#lane === undefined || this.#ended || received > this.#limit) return false;
    return this.#lane.isGathering(received, this.#flushTo);
  }

  /** Bytes of the client that may wait unpushed: a chunk that leaves the sum below it completes no frame. 0 where none may. */
  get waitingBytesMax(): number {
    const { received } = this.#tape;
    if (this.#lane === undefined || this.#ended) return 0;
    const samples = this.#lane.missing(received, this.#flushTo);
    return samples <= 0 || received + samples > this.#limit ? 0 : this.#ingest.bytesBefore(samples);
  }

  /** Where the audio ends that may be given out: behind it nothing was received, or the limit stands. */
  get #end(): number {
    return Math.min(this.#tape.received, this.#limit);
  }

  /** Nothing more will come before `#end` is reached. */
  get #whole(): boolean {
    return this.#cut || (this.#ended && this.#tape.received <= this.#limit);
  }

  /** Gives out nothing behind this position until the limit is moved. Infinity for none, as at first. After `cut` it moves back only. */
  limitTo(sample: number): void {
    if (!this.#cut || sample < this.#limit) this.#limit = sample;
  }

  /** The limit is final: the audio ends there, and what was received behind it is never given out. */
  cut(): void {
    this.end();
    this.#cut = true;
  }

  /** Audio that was received and cut off, which is none unless `cut` was called. */
  get cutSamples(): number {
    return this.#cut ? Math.max(0, this.#tape.received - Math.max(this.#limit, this.#tape.sent)) : 0;
  }

  /**
   * Takes a chunk of any length. The bytes are copied: the caller's memory may be gone after the call.
   *
   * @returns `backlog_exceeded` when memory and spool have no room for the chunk; then nothing of it was taken, or, of Opus, what had
   *   room. `unsupported` when it cannot be decoded; then `fault` says why, and there is no use in pushing more.
   */
  push(bytes: Uint8Array): Taken {
    if (this.#ended || this.#disposed) {
      this.#droppedBytes += bytes.length;
      return 'accepted';
    }
    return this.#ingest.take(bytes);
  }

  /** No more audio will be pushed. */
  end(): void {
    if (!this.#ended) this.#droppedBytes += this.#ingest.end();
    this.#ended = true;
  }

  /**
   * Begins a leg, instead of the one before if that is still open: audio is given out again from the end of the last final,
   * less what its last word still sounds and the silence that follows.
   *
   * @returns where on the session's clock the leg's clock is 0; how much of what follows was sent before, on another leg;
   *   and the audio in between that the bound on replays has dropped, told once.
   */
  openLane(
    contract: LaneContract,
    nowMs: number,
  ): { originSample: number; replaySamples: number; lost: { from: number; to: number } | undefined } {
    if (!this.#disposed) this.trim(this.replaySample);
    const { from, lost } = this.#tape.rewind();
    this.#timeline = new LegTimeline(from);
    const way = { tape: this.#tape, meter: this.#meter, timeline: this.#timeline };
    this.#lane = this.#disposed ? undefined : new Lane(way, contract, this.#sampleRate, nowMs);
    return { originSample: from, replaySamples: this.#tape.sentMax - from, lost };
  }

  /** Where a leg that is opened now would hear from: what the last final leaves over, less the sound of its last word and silence. */
  get replaySample(): number {
    return replayStart(this.#tape, this.#meter, this.#sampleRate);
  }

  /** For the open leg a pause of another length ends a turn from now on. */
  turnPause(turnPauseMs: number): void {
    this.#lane?.turnPause(turnPauseMs);
  }

  /** The leg is over; audio waits for the next. */
  closeLane(): void {
    this.#lane = undefined;
  }

  /**
   * The next frame that may leave now. Its bytes are valid until the next call.
   *
   * @throws Error when audio cannot be read back from the spool: the session cannot continue without a gap.
   */
  next(nowMs: number): AudioFrame | undefined {
    const lane = this.#lane;
    const size = lane?.size(this.#end, this.#flushTo, this.#whole) ?? 0;
    if (lane === undefined || size === 0 || lane.waitMs(size, nowMs) > 0) return undefined;
    return lane.take(size, this.#end, this.#whole, nowMs);
  }

  /** 0 when `next` would give a frame; milliseconds until the pace allows it; Infinity when something else must come first. */
  waitMs(nowMs: number): number {
    const size = this.#lane?.size(this.#end, this.#flushTo, this.#whole) ?? 0;
    return this.#lane === undefined || size === 0 ? Number.POSITIVE_INFINITY : this.#lane.waitMs(size, nowMs);
  }

  /**
   * What was received up to now does not wait for a frame's minimum: it leaves on legs that take short pieces, this one or the
   * next. On the others it is held, since padding in the middle would shift the leg's clock.
   */
  flush(): void {
    this.#flushTo = this.#tape.received;
  }

  /** Everything before `toSample` is covered by a final. Never goes back, and never beyond what some leg was sent. */
  trim(toSample: number): void {
    this.#tape.trim(toSample);
    this.#meter.forget(this.#tape.covered);
    this.#timeline.forget(this.#tape.covered);
  }

  /** End of the last speech received, or undefined when there was none after `fromSample`. */
  lastSpeechSample(fromSample = 0): number | undefined {
    const end = this.#meter.speech.lastEnd;
    return end !== undefined && end > fromSample ? end : undefined;
  }

  /** A copy of what was given out from `sample` on, at most `samplesMax`: of the open lane, or of the last. May throw as `next` does. */
  copyOfSent(sample: number, samplesMax: number): Int16Array {
    return this.#tape.copyOfSent(sample, Math.max(0, Math.min(samplesMax, this.#tape.sent - sample)));
  }

  /** Whether there was speech after `sample` (not before `coveredSamples`) in what the lane has given out. */
  speechSince(sample: number): boolean {
    return this.#meter.speech.between(sample, this.#tape.sent);
  }

  /** Where there is what in the audio received, from `coveredSamples` on. */
  get meter(): Pick<SpeechMeter, 'speech' | 'audible'> {
    return this.#meter;
  }

  /** Where the first speech after `sample` (not before `coveredSamples`) begins, or where what was received ends. */
  speechStartAfter(sample: number): number {
    return this.#meter.speech.startAfter(sample);
  }

  /** Whether there was anything to be heard after `sample` in what the lane has given out, speech or not. */
  soundSince(sample: number): boolean {
    return this.#meter.sound.between(sample, this.#tape.sent);
  }

  /** Gives memory and spool back. Everything after it is harmless and comes to nothing. */
  dispose(): void {
    this.#disposed = true;
    this.#lane = undefined;
    this.#ingest.dispose();
    this.#tape.dispose();
  }
}
