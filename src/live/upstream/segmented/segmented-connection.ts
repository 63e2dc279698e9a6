// The connection of a leg whose model hears files only: the audio is cut into utterances, and each is sent to the provider as a file
// of its own. To the session it is a leg like any other: it hears speech begin, and one final for each turn.
import type { OpenLeg, Utterance } from '../../../../machines/events.ts';
import { modelOf } from '../../../api/slug.ts';
import { type Segment, Segmenter, type SegmenterRules } from '../../../audio/voice/segmenter.ts';
import { limitedSignal } from '../../../runtime/timeouts.ts';
import { UTTERANCE, UTTERANCE_TIMING } from '../../../vendors/live-turns.ts';
import type { BatchRequest, BatchResult, HttpBatchCodec, Provider, ProviderAccess } from '../../../vendors/provider.ts';
import { failureOfStatus } from '../../../vendors/refusals.ts';
import { type HttpBatchDependencies, runHttpBatch } from '../http/batch-codec.ts';
import { plainContentOf } from '../http/body.ts';
import { exchange } from '../http/exchange.ts';
import { answerTimeout } from '../http/failures.ts';
import type { ConnectionLeg, LegConnection } from '../leg-connection.ts';
import { LegFailed } from '../leg-failed.ts';
import { ownFault } from '../leg-failures.ts';
import { fileOf, turnOf } from './utterance.ts';
import { UtteranceQueue } from './utterance-queue.ts';

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
/** Utterances that wait to be asked for, and audio without an answer: beyond either the session is asked to hold back. */
const WAITING_MAX = 2;
const UNANSWERED_MS_MAX = 35_000;
/** Silence is told of once it is so long: the session need not keep it for a replay. */
const SILENCE_MS = 5_000;

export class SegmentedConnection implements LegConnection {
  readonly timing = UTTERANCE_TIMING;
  /** Nothing stays open that could be broken. */
  readonly #leg: ConnectionLeg;
  readonly #provider: Provider;
  readonly #codec: HttpBatchCodec;
  readonly #http: HttpBatchDependencies;
  readonly #segmenter: Segmenter;
  readonly #queue: UtteranceQueue;
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
      started: (sample) => this.#leg.heard({ type: 'speech.started', start: this.#secondsOf(sample) }),
      ended: (segment) => this.#queue.push(segment),
    });
    this.#queue = new UtteranceQueue({
      transcribe: (segment, signal) => this.#transcribe(segment, signal),
      answered: (segment, result) => this.#leg.guarded('answer', () => this.#answered(segment, result)),
      changed: () => this.#leg.guarded('answer', () => this.#settle()),
      failed: (error) => this.#failed(error),
    });
    leg.scope.defer(() => this.#queue.stop());
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
  askForSign(): void {
    this.#leg.tell({ type: 'wire.alive' });
  }

  finalize(): void {
    this.#segmenter.flush();
    this.#settle();
  }

  /** Each utterance is asked for by itself. */
  reconfigure(to: OpenLeg): void {
    this.#leg.request = to;
    this.#leg.heard({ type: 'reconfigured', isInForce: true });
  }

  audio(bytes: Uint8Array): void {
    this.#segmenter.take(bytes);
    this.#settle();
  }

  async #greet(access: ProviderAccess, signal: AbortSignal): Promise<void> {
    const { credentialCheck } = this.#provider;
    if (credentialCheck === undefined) return;
    const { url, headers } = credentialCheck.request(access, Date.now());
    const { connectMs: answerMs } = this.timing;
    const answer = await exchange(
      { method: 'GET', url, headers, content: plainContentOf({ kind: 'none' }), answerMs },
      signal,
      this.#http,
    );
    if (credentialCheck.verdict(answer) === 'refused') throw new LegFailed(failureOfStatus(answer));
  }

  async #transcribe(segment: Segment, signal: AbortSignal): Promise<BatchResult> {
    const limit = limitedSignal(this.#leg.dependencies.clock, UTTERANCE.answerMs, signal);
    const { file, read } = fileOf(segment, this.#leg.request.sampleRate);
    const request: BatchRequest = {
      model: modelOf(this.#leg.request.slug),
      language: this.#leg.request.language ?? undefined,
      diarization: this.#leg.request.diarization,
      wordTimestamps: true,
      params: this.#leg.request.params,
      access: this.#access as ProviderAccess,
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

/** The provider found no audio in an utterance that it could use: not worth the session, and said. */
const UNUSABLE = 'audio_unusable';

const nothingHeard = (slug: string, message: string): BatchResult => ({
  utterances: [],
  language: undefined,
  seconds: undefined,
  warnings: [{ code: 'utterance_unusable', message: `${slug} could not use the audio of an utterance: ${message}` }],
});
