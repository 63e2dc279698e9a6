// One connection of a simulated `/v1/listen`: windows of text, ends of speech, keep-alives and the end of the stream.
import type { Word } from '../../../../machines/events.ts';
import { type JsonObject, objectOf } from '../../kit/json.ts';
import type { SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { type HeardText, wordsOf } from '../../kit/simulator/words.ts';
import { alternativeOf, metadataOf, resultsMessage, speechStarted, utteranceEnd } from '../messages.ts';

/** Audio is processed at 1.25 times real time: faster audio waits, and nothing is refused for its speed. */
export const SPEED_MAX = 1.25;
/** When everything was made. */
export const CREATED = new Date('2026-01-01T00:00:00.000Z');
const CONFIDENCE = 0.98;
const CHANNEL = [0, 1] as const;

export const heardWords = (heard: HeardText, speaker?: number): Word[] =>
  wordsOf(heard).map(({ word, start, end, confidence = CONFIDENCE }) => ({
    ...{ word, start, end, confidence },
    ...(speaker === undefined ? {} : { speaker }),
  }));

/** Audio or a text message is expected at least so often, and audio first: ten seconds by the documents, twelve as it was seen. */
const QUIET_MS = 12_000;
/** From the last message to the close of a quiet connection. */
const HANG_UP_MS = 25;
const QUIET =
  'Deepgram did not receive audio data or a text message within the timeout window. See https://dpgr.am/net0001';
/** Words of one settled window. */
const WINDOW_WORDS_MAX = 4;

const textOf = (words: readonly Word[]): string => words.map(({ word }) => word).join(' ');

export class NovaSession extends SimulatedSession {
  readonly #query: URLSearchParams;
  readonly #requestId: string;
  #quietTimer: unknown;
  #settledSeconds = 0;
  #hasAudio = false;
  #finalizing = false;
  /** The last word of the turn before, whose `UtteranceEnd` is late. */
  #lateWordEnd: number | undefined;
  /** Where the gap of an UtteranceEnd is over. */
  #gapEnd: { atSeconds: number; lastWordEnd: number } | undefined;

  constructor(peer: SimulatedPeer, tools: SimulatorTools, query: URLSearchParams) {
    super(peer, tools);
    this.#query = query;
    this.#requestId = `request-${tools.newId()}`;
    const language = query.get('language') ?? undefined;
    this.listen({ sampleRate: Number(query.get('sample_rate')), language, speedMax: SPEED_MAX });
    this.#awaitSign();
  }

  protected message(text: string): void {
    if (this.closing) return;
    const { type } = objectOf(text);
    if (type === 'KeepAlive' && !this.#hasAudio) return;
    this.#awaitSign();
    if (type === 'Finalize') this.inTurn(() => this.#finalize());
    if (type === 'CloseStream') this.#closeStream();
  }

  protected override audio(bytes: Uint8Array): void {
    this.#hasAudio = true;
    this.#awaitSign();
    // An empty frame ends the stream, as CloseStream does.
    if (bytes.byteLength === 0) this.#closeStream();
    else this.hear(bytes);
  }

  #awaitSign(): void {
    this.cancel(this.#quietTimer);
    this.#quietTimer = this.later(QUIET_MS, () => this.#hangUpQuiet());
  }

  #hangUpQuiet(): void {
    this.#say({ type: 'Metadata', ...metadataOf(this.#requestId, CREATED, this.seconds), sha256: 'incomplete' });
    this.later(HANG_UP_MS, () => this.#hangUp(1011, QUIET));
  }

  protected override progressed(): void {
    this.#silentUntil(this.seconds);
    if (this.has('error-message') && this.seconds >= this.numberOf('error-message', 1)) this.#fail();
  }

  /** An error is told, and the connection stays open. */
  #fail(): void {
    this.#say({ type: 'Error', variant: 'UNKNOWN', description: 'Something went wrong.' });
    this.end();
  }

  #silentUntil(seconds: number): void {
    const gap = this.#gapEnd;
    if (gap !== undefined && seconds >= gap.atSeconds) this.#utteranceEnd(gap.lastWordEnd);
  }

  #finalize(): void {
    if (this.has('swallow-finalize')) return;
    // With nothing left to say the provider says nothing.
    this.#finalizing = this.seconds > this.#settledSeconds;
    this.finalize();
  }

  #closeStream(): void {
    this.cancel(this.#quietTimer);
    this.finish();
  }

  protected override speechStarted(start: number): void {
    if (this.#query.get('vad_events') === 'true') this.#say(speechStarted(CHANNEL, start));
  }

  protected interim(heard: HeardTurnText): void {
    this.#gapEnd = undefined;
    if (this.has('settles')) this.#settle(heard.end - this.numberOf('settles', 3), this.#openWords(heard));
    if (this.#query.get('interim_results') !== 'true') return;
    const words = this.#openWords(heard);
    this.#say(this.#results(textOf(words), words, heard.end));
  }

  /** A window of an open turn is settled, up to there, once it is long enough. */
  #settle(untilSeconds: number, words: Word[]): void {
    const settled = words.filter(({ end }) => end <= untilSeconds);
    if (settled.length < WINDOW_WORDS_MAX) return;
    const end = settled.at(-1)?.end ?? untilSeconds;
    this.#say(this.#results(textOf(settled), settled, end, { is_final: true }));
    this.#settledSeconds = end;
  }

  /** Words of the turn that are not settled. */
  #openWords(heard: HeardTurnText): Word[] {
    const words = this.#words(heard);
    return this.has('settles') ? words.filter(({ end }) => end > this.#settledSeconds) : words;
  }

  /** A turn is settled in several windows, the last of which ends it. */
  protected final(heard: HeardTurnText): void {
    const words = this.#openWords(heard);
    if (words.length === 0) this.#silentUntil(heard.end);
    const size = Math.min(WINDOW_WORDS_MAX, Math.max(1, Math.ceil(words.length / 2)));
    const isFlush = this.#finalizing;
    const isLate = this.has('late-speech-final');
    // What is left at the end of the stream is settled without an end of speech.
    const isRest = this.isRest(heard.end);
    const isSpeechFinal = this.#endsBySpeech && !isRest && !isFlush && !isLate;
    this.#finalizing = false;
    for (let at = 0; at === 0 || at < words.length; at += size) {
      const piece = words.slice(at, at + size);
      const isLast = at + size >= words.length;
      const end = isLast ? heard.end : (piece.at(-1)?.end ?? heard.end);
      const flags = {
        is_final: true,
        speech_final: isLast && (isSpeechFinal || isFlush),
        from_finalize: isLast && isFlush,
      };
      this.#say(this.#results(textOf(piece), piece, end, flags));
      this.#settledSeconds = end;
      if (at === 0) this.#lateEnd();
    }
    this.#afterWords(words.at(-1)?.end, isLate && !isRest && !isFlush);
  }

  /** The end of speech of the turn before, behind the first words of this one. */
  #lateEnd(): void {
    if (this.#lateWordEnd !== undefined) this.#utteranceEnd(this.#lateWordEnd);
    this.#lateWordEnd = undefined;
  }

  #afterWords(lastWordEnd: number | undefined, isSpeechFinalLate: boolean): void {
    if (this.has('utterance-end-only')) {
      this.#utteranceEnd(lastWordEnd ?? -1);
      return;
    }
    if (isSpeechFinalLate) {
      const speechFinal = this.#results('', [], this.#settledSeconds, { is_final: true, speech_final: true });
      this.later(this.numberOf('late-speech-final', 500), () => this.#say(speechFinal));
    }
    if (this.has('late-utterance-end')) {
      this.#lateWordEnd = lastWordEnd;
      return;
    }
    const gapMs = Number(this.#query.get('utterance_end_ms') ?? 0);
    if (gapMs > 0 && lastWordEnd !== undefined) this.#gapEnd = { atSeconds: lastWordEnd + gapMs / 1_000, lastWordEnd };
  }

  #utteranceEnd(lastWordEnd: number): void {
    this.#gapEnd = undefined;
    if (this.#query.has('utterance_end_ms')) this.#say(utteranceEnd(CHANNEL, lastWordEnd));
  }

  protected override finished(): void {
    if (!this.has('no-metadata'))
      this.#say({ type: 'Metadata', ...metadataOf(this.#requestId, CREATED, this.seconds) });
    this.#hangUp(1000, '');
  }

  protected failed(code: string): void {
    this.#hangUp(1011, `NET-0000: ${code}`);
  }

  get #endsBySpeech(): boolean {
    return this.#query.get('endpointing') !== 'false' && !this.has('utterance-end-only');
  }

  #words(heard: HeardTurnText): Word[] {
    const isDiarized = this.#query.has('diarize_model') || this.#query.get('diarize') === 'true';
    return heardWords(heard, isDiarized ? heard.turn % 2 : undefined);
  }

  /** A window of text from what is settled to its end. */
  #results(text: string, words: readonly Word[], end: number, flags: object = {}): JsonObject {
    const isMulti = this.#query.get('language') === 'multi';
    const alternative = alternativeOf(text, CONFIDENCE, words);
    const model = this.#query.get('model') ?? '';
    return resultsMessage(
      { requestId: this.#requestId, name: model, arch: model },
      CHANNEL,
      { start: this.#settledSeconds, duration: Math.max(0, end - this.#settledSeconds) },
      flags,
      isMulti
        ? { ...alternative, words: alternative.words.map((word) => ({ ...word, language: 'en' })), languages: ['en'] }
        : alternative,
    );
  }

  /** Everything is said in its order, also what comes late. */
  #say(message: JsonObject): void {
    this.#slowly(() => this.peer.send(message));
  }

  #hangUp(code: number, reason: string): void {
    this.#slowly(() => this.close(code, reason));
  }

  #slowly(work: () => void): void {
    this.later(this.has('slow-results') ? this.numberOf('slow-results', 1_500) : 0, work);
  }
}
