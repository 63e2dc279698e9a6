// The connection of a leg whose model hears files only: the audio is cut into utterances, and each is sent to the provider as a file
// of its own. To the session it is a leg like any other: it hears speech begin, and one final for each turn.
import type { OpenLeg, Utterance, Word } from '../../../machines/events.ts';
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import { modelOf } from '../../api/slug.ts';
import { WAV_HEADER_BYTES, wavHeader } from '../../audio/containers/wav.ts';
import { type Segment, Segmenter, type SegmenterRules } from '../../audio/voice/segmenter.ts';
import { type VoiceCheckOutcome, VoiceScan } from '../../recogniser/voice/scan.ts';
import { limitedSignal } from '../../runtime/timeouts.ts';
import { UTTERANCE, UTTERANCE_TIMING } from '../../vendors/kit/live-turns.ts';
import type { BatchFile, BatchResult, HttpBatchCodec, Provider, ProviderAccess } from '../../vendors/kit/provider.ts';
import { failureOfStatus } from '../../vendors/kit/refusals.ts';
import { joinUtterances } from '../../vendors/kit/turn-text.ts';
import { lasting } from '../../vendors/kit/words.ts';
import { type HttpBatchDependencies, type HttpBatchRequest, runHttpBatch } from './http/batch-codec.ts';
import { exchange, plainContentOf, type ReadFile } from './http/exchange.ts';
import type { ConnectionLeg, LegConnection } from './leg-connection.ts';
import { answerTimeout, LegFailed, ownFault } from './leg-failures.ts';

const RULES: SegmenterRules = {
  silenceMs: UTTERANCE.silenceMs,
  beforeMs: 300,
  afterMs: 300,
  shortestMs: 100,
  longestMs: UTTERANCE.longestMs,
  searchMs: 5_000,
};
/** Of one request of an utterance; what is asked in several has {@link UTTERANCE} in all. */
const ANSWER_MS = 15_000;
/** Utterances that wait to be requested, and audio without an answer: beyond either the session is asked to hold back. */
const WAITING_MAX = 2;
const UNANSWERED_MS_MAX = 35_000;
/**
 * Where it is loud and nobody speaks: after a voice, this much silence ends the utterance; so much noise without one is an utterance that
 * is not sent where its text would be dropped. One shorter than `fromMs` ends in quiet, so it is not followed beyond its first voice.
 */
const NOISY = { silenceMs: RULES.silenceMs + 500, noiseMs: 2_000, searchMs: 700, fromMs: 3_000 } as const;
/** Less is always sent: a whispered word may be missed. */
const VOICELESS_MS_MIN = 500;

/** Silence is told of once it is so long: the session need not keep it for a replay. */
const SILENCE_MS = 5_000;

/**
 * The connection of a leg whose model hears files only: the audio is cut into utterances, and each is sent to the provider as a
 * file of its own. To the session it is a leg like any other: it hears speech begin, and one final for each turn.
 */
export class SegmentedConnection implements LegConnection {
  readonly timing = UTTERANCE_TIMING;
  /** Nothing stays open that could be broken. */
  readonly #leg: ConnectionLeg;
  readonly #provider: Provider;
  readonly #codec: HttpBatchCodec;
  readonly #http: HttpBatchDependencies;
  readonly #segmenter: Segmenter;
  readonly #queue: UtteranceQueue;
  /** Of the utterance in progress. */
  #scan: VoiceScan | undefined;
  /** Utterances that are not sent: nobody speaks in them. */
  readonly #voiceless = new WeakSet<Segment>();
  /** An utterance is being ended though the noise goes on: what begins there opens no turn before there is a voice in it. */
  #isAfterNoise = false;
  /** Where the utterance in progress began, if the session does not know of it: what went before was noise. */
  #unreportedStart: number | undefined;
  #access: ProviderAccess | undefined;
  readonly #warned = new Set<string>();
  #turns = 0;
  /** Everything before this sample was answered, or is silence; the session was told. */
  #covered = 0;
  #heldBack = false;
  #finishing = false;

  constructor(provider: Provider, codec: HttpBatchCodec, http: HttpBatchDependencies, leg: ConnectionLeg) {
    this.#leg = leg;
    this.#provider = provider;
    this.#codec = { ...codec, answerMs: Math.min(codec.answerMs, ANSWER_MS) };
    this.#http = http;
    this.#segmenter = new Segmenter(leg.request.sampleRate, RULES, {
      started: (sample) => this.#started(sample),
      ended: (segment) => this.#ended(segment),
    });
    this.#queue = new UtteranceQueue({
      transcribe: (segment, signal) => this.#transcribe(segment, signal),
      answered: (segment, result) => this.#leg.guarded('answer', () => this.#answered(segment, result)),
      changed: () => this.#leg.guarded('answer', () => this.#settle()),
      failed: (error) => this.#failed(error),
    });
    leg.scope.defer(() => this.#queue.stop());
    leg.scope.defer(() => this.#scan?.stop());
  }

  /** Nothing stays open between two utterances; so that a session does not begin with a model that is not there, it is asked. */
  connect(access: ProviderAccess): void {
    this.#access = access;
    const end = new AbortController();
    this.#leg.scope.defer(() => end.abort());
    this.#greet(access, end.signal).then(
      () => this.#leg.tell({ type: 'wire.opened' }),
      (error) => this.#failed(error),
    );
  }

  breakDown(): void {}

  sendHello(): void {
    this.#leg.tell({ type: 'provider.ready' });
  }

  sendFinish(): void {
    this.#segmenter.flush();
    this.#finishing = true;
    this.#settle();
  }

  /** What is asked of the provider has deadlines of its own. */
  ping(): void {
    this.#leg.tell({ type: 'wire.alive' });
  }

  finalize(): void {
    this.#segmenter.flush();
    this.#settle();
  }

  /** Each utterance is requested separately. */
  reconfigure(to: OpenLeg): void {
    this.#leg.request = to;
    this.#leg.heard({ type: 'reconfigured', isInForce: true });
  }

  audio(bytes: Uint8Array): void {
    this.#segmenter.take(bytes);
    this.#followVoice();
    this.#settle();
  }

  #started(sample: number): void {
    const start = this.#segmenter.utteranceStart ?? sample;
    this.#scan?.stop();
    this.#scan = new VoiceScan({
      engine: this.#leg.dependencies.voices,
      organisationId: this.#leg.request.organisationId,
      sampleRate: this.#leg.request.sampleRate,
      from: start,
      read: (position, samplesMax) => this.#segmenter.copyFrom(position, samplesMax),
    });
    if (this.#isAfterNoise) this.#unreportedStart = sample;
    else this.#reportStart(sample);
  }

  #reportStart(sample: number): void {
    this.#unreportedStart = undefined;
    this.#leg.heard({ type: 'speech.started', start: this.#secondsOf(sample) });
  }

  #ended(segment: Segment): void {
    const scan = this.#scan;
    this.#scan = undefined;
    this.#unreportedStart = undefined;
    const isLong = segment.voicedEnd - segment.voicedStart >= this.#samplesOf(VOICELESS_MS_MIN);
    if (scan?.firstVoice !== undefined) this.#checked('voice');
    else if (scan?.isOver === true) this.#checked('no_detector');
    else if (scan !== undefined && scan.knownTo < segment.voicedEnd) this.#checked('late');
    else if (scan !== undefined && isLong) {
      this.#checked('no_voice');
      if (this.#dropsText) this.#voiceless.add(segment);
    }
    scan?.stop();
    this.#queue.push(segment);
  }

  /** Text for audio without a voice is dropped. Otherwise everything is sent: in loud noise a word may be missed that the model finds. */
  get #dropsText(): boolean {
    return this.#leg.request.speechGate === 'drop';
  }

  /** Ends the utterance in progress where its voice has ended and the noise goes on. */
  #followVoice(): void {
    const scan = this.#scan;
    const start = this.#segmenter.utteranceStart;
    if (scan === undefined || start === undefined) return;
    const { firstVoice, lastVoiceEnd, knownTo } = scan;
    if (firstVoice !== undefined && this.#unreportedStart !== undefined)
      this.#reportStart(Math.max(this.#unreportedStart, firstVoice));
    if (firstVoice !== undefined && this.#segmenter.position - start < this.#samplesOf(NOISY.fromMs)) return;
    const isNoise = firstVoice === undefined && this.#dropsText && knownTo - start >= this.#samplesOf(NOISY.noiseMs);
    const isPause = lastVoiceEnd !== undefined && knownTo - lastVoiceEnd >= this.#samplesOf(NOISY.silenceMs);
    if (!isNoise && !isPause) {
      scan.advance();
      return;
    }
    // The next voice may begin behind it, quietly.
    const to = knownTo - this.#samplesOf(RULES.beforeMs);
    this.#isAfterNoise = true;
    this.#segmenter.endWithin(to - this.#samplesOf(NOISY.searchMs), to);
    this.#isAfterNoise = false;
  }

  #checked(outcome: VoiceCheckOutcome): void {
    this.#leg.dependencies.onEvent?.({ type: 'voice.checked', outcome });
  }

  async #greet(access: ProviderAccess, signal: AbortSignal): Promise<void> {
    const { credentialCheck } = this.#provider;
    if (credentialCheck === undefined) return;
    const { url, headers } = credentialCheck.request(access, Date.now());
    const { connectMs: answerMs } = this.timing;
    const { organisationId } = this.#leg.request;
    const answer = await exchange(
      { method: 'GET', url, headers, content: plainContentOf({ kind: 'none' }), organisationId, answerMs },
      signal,
      this.#http,
    );
    if (credentialCheck.verdict(answer) === 'refused') throw new LegFailed(failureOfStatus(answer));
  }

  async #transcribe(segment: Segment, signal: AbortSignal): Promise<BatchResult> {
    if (this.#voiceless.has(segment)) return NOBODY_SPOKE;
    const limit = limitedSignal(this.#leg.dependencies.clock, UTTERANCE.answerMs, signal);
    const { file, read } = fileOf(segment, this.#leg.request.sampleRate);
    const request: HttpBatchRequest = {
      model: modelOf(this.#leg.request.slug),
      language: this.#leg.request.language ?? undefined,
      diarization: this.#leg.request.diarization,
      wordTimestamps: true,
      params: this.#leg.request.params,
      access: this.#access as ProviderAccess,
      organisationId: this.#leg.request.organisationId,
      file,
    };
    try {
      return await runHttpBatch(this.#codec, request, read, limit.signal, this.#http);
    } catch (error) {
      if (limit.isTimedOut) throw new LegFailed(answerTimeout);
      if (!(error instanceof LegFailed) || error.failure.code !== UNUSABLE) throw error;
      return nothingHeard(this.#leg.request.slug, error.failure.message);
    } finally {
      limit.release();
    }
  }

  #answered(segment: Segment, result: BatchResult): void {
    for (const { code, message } of result.warnings) this.#warn(code, message);
    const turn = turnOf(result, segment, this.#leg.request.sampleRate);
    this.#turns++;
    if (turn.text !== '')
      this.#leg.heard({ type: 'turn.ended', turnId: String(this.#turns), utterance: turn, formattedFollows: false });
    // What is left of the utterance behind its last word was heard as well.
    this.#cover(segment.end);
    this.#settle();
  }

  #warn(code: string, message: string): void {
    if (this.#warned.has(code)) return;
    this.#warned.add(code);
    this.#leg.heard({ type: 'warned', code, message });
  }

  #failed(error: unknown): void {
    if (this.#leg.scope.disposed) return;
    if (!(error instanceof LegFailed)) {
      this.#leg.dependencies.onEvent?.({
        type: 'fault',
        name: 'utterance',
        error: this.#leg.scrubber.cleanError(error),
      });
    }
    const failure = error instanceof LegFailed ? error.failure : ownFault;
    this.#leg.tell({ type: 'wire.failed', failure: this.#leg.scrubber.cleanFailure(failure) });
  }

  /** After everything that came in or was answered. */
  #settle(): void {
    if (this.#queue.size === 0) this.#settleSilence();
    this.#settlePressure();
    if (this.#finishing && this.#queue.size === 0) this.#leg.tell({ type: 'provider.finished' });
  }

  /** With nothing on its way, everything is silence that no utterance will hold. */
  #settleSilence(): void {
    const { settled, position } = this.#segmenter;
    const until = this.#finishing ? position : settled;
    const least = this.#finishing ? 1 : this.#samplesOf(SILENCE_MS);
    if (until - this.#covered >= least) this.#cover(until);
  }

  #settlePressure(): void {
    const unanswered = this.#segmenter.position - this.#covered;
    const isHigh =
      this.#queue.size > 0 && (this.#queue.waiting >= WAITING_MAX || unanswered > this.#samplesOf(UNANSWERED_MS_MAX));
    if (isHigh === this.#heldBack || this.#leg.scope.disposed) return;
    this.#heldBack = isHigh;
    this.#leg.pressed(isHigh);
  }

  /** A turn that ends without words: the session learns how far everything was heard. */
  #cover(sample: number): void {
    this.#covered = sample;
    const at = this.#secondsOf(sample);
    const utterance: Utterance = { text: '', start: at, end: at };
    this.#leg.heard({ type: 'turn.ended', turnId: `until ${sample}`, utterance, formattedFollows: false });
  }

  #samplesOf(ms: number): number {
    return (this.#leg.request.sampleRate * ms) / 1000;
  }

  #secondsOf(sample: number): number {
    return sample / this.#leg.request.sampleRate;
  }
}

/** Of an utterance that was not sent. */
const NOBODY_SPOKE: BatchResult = { utterances: [], language: undefined, seconds: undefined, warnings: [] };

/** The provider found no audio in an utterance that it could use: not worth the session, and said. */
const UNUSABLE = 'audio_unusable';

const nothingHeard = (slug: string, message: string): BatchResult => ({
  utterances: [],
  language: undefined,
  seconds: undefined,
  warnings: [{ code: 'utterance_unusable', message: `${slug} could not use the audio of an utterance: ${message}` }],
});

/** Requests of one leg at a time. */
const IN_FLIGHT_MAX = 2;

export interface QueueCalls {
  /** Rejects when it cannot be; the signal is aborted when the leg has ended. */
  transcribe(segment: Segment, signal: AbortSignal): Promise<BatchResult>;
  /** The answers, in the order of the utterances. */
  answered(segment: Segment, result: BatchResult): void;
  /** There is more room than before. */
  changed(): void;
  /** One could not be transcribed: the queue has stopped. */
  failed(error: unknown): void;
}

interface Entry {
  segment: Segment;
  begun: boolean;
  result: BatchResult | undefined;
}

class UtteranceQueue {
  readonly #calls: QueueCalls;
  #entries: Entry[] = [];
  #inFlight = 0;
  readonly #end = new AbortController();

  constructor(calls: QueueCalls) {
    this.#calls = calls;
  }

  /** Utterances that were not answered yet, or wait for one before them. */
  get size(): number {
    return this.#entries.length;
  }

  /** Utterances that were not sent to the provider yet. */
  get waiting(): number {
    return this.#entries.filter(({ begun }) => !begun).length;
  }

  push(segment: Segment): void {
    if (this.#end.signal.aborted) return;
    this.#entries.push({ segment, begun: false, result: undefined });
    this.#begin();
  }

  /** Ends every request. Nothing is told any more. */
  stop(): void {
    this.#entries = [];
    this.#end.abort();
  }

  #begin(): void {
    for (const entry of this.#entries) {
      if (this.#inFlight >= IN_FLIGHT_MAX) return;
      if (!entry.begun) void this.#ask(entry);
    }
  }

  async #ask(entry: Entry): Promise<void> {
    const { signal } = this.#end;
    entry.begun = true;
    this.#inFlight++;
    try {
      entry.result = await this.#calls.transcribe(entry.segment, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.stop();
      this.#calls.failed(error);
      return;
    }
    this.#inFlight--;
    // Before it is told what was heard: what is begun now waits no more.
    this.#begin();
    this.#giveOn();
    this.#calls.changed();
  }

  #giveOn(): void {
    for (;;) {
      const [first] = this.#entries;
      if (first?.result === undefined) return;
      this.#entries.shift();
      this.#calls.answered(first.segment, first.result);
    }
  }
}

/** Providers refuse files of less than a tenth of a second, and hear little in those of less than one: silence makes up for it. */
const FILE_MS_MIN = 1_000;

/** The utterance as a WAV file. */
function fileOf({ samples }: Segment, sampleRate: number): { file: BatchFile; read: ReadFile } {
  const sampleBytes = samples.length * BYTES_PER_SAMPLE;
  const missing = Math.max(0, Math.ceil((sampleRate * FILE_MS_MIN) / 1000) - samples.length) * BYTES_PER_SAMPLE;
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, sampleBytes);
  return {
    file: {
      name: 'audio.wav',
      contentType: 'audio/wav',
      bytes: WAV_HEADER_BYTES + sampleBytes + missing,
      seconds: (sampleBytes + missing) / BYTES_PER_SAMPLE / sampleRate,
    },
    read: async function* () {
      yield wavHeader(sampleRate, sampleBytes + missing);
      yield bytes;
      if (missing > 0) yield new Uint8Array(missing);
    },
  };
}

/** The answer as one turn, on the leg's clock. Its text is empty where nothing was understood. */
function turnOf({ utterances, language, seconds = 0 }: BatchResult, segment: Segment, sampleRate: number): Utterance {
  const [start, end] = [segment.start / sampleRate, segment.end / sampleRate];
  const placed = (seconds: number) => Math.min(end, Math.max(start, start + seconds));
  const parts = utterances.filter(({ text }) => text.trim() !== '');
  if (parts.length === 0) return { text: '', start: end, end };
  const timed = parts.map((part) => lasting({ ...part, text: part.text.trim() }, seconds, end - start));
  const whole = joinUtterances(timed);
  const turn: Utterance = {
    ...whole,
    ...spanOf(whole, segment, sampleRate, placed),
    ...(whole.language === undefined && language !== undefined ? { language } : {}),
  };
  if (whole.words !== undefined) turn.words = whole.words.map((word) => placedWord(word, placed));
  return turn;
}

/** Times that rest on no word are often those of the file: nothing is said outside of what is loud. */
function spanOf(
  { start, end, words = [] }: Utterance,
  { voicedStart, voicedEnd }: Segment,
  sampleRate: number,
  placed: (seconds: number) => number,
): Pick<Utterance, 'start' | 'end'> {
  if (words.length > 0) return { start: placed(start), end: placed(Math.max(start, end)) };
  const [from, to] = [voicedStart / sampleRate, voicedEnd / sampleRate];
  const within = (seconds: number) => Math.min(to, Math.max(from, placed(seconds)));
  return { start: within(start), end: within(Math.max(start, end)) };
}

const placedWord = (word: Word, placed: (seconds: number) => number): Word => ({
  ...word,
  start: placed(word.start),
  end: placed(Math.max(word.start, word.end)),
});
