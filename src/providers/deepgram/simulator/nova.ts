// One connection of a simulated `/v1/listen`: windows of text, ends of speech, keep-alives and the end of the stream.
import { objectOf } from '../../refusals.ts';
import type { Ear, EarMessage, SimulatedConnection, SimulatedPeer, SimulatorTools } from '../../simulation.ts';
import { Intake } from './intake.ts';
import { type HeardText, type WireWord, wireWords } from './words.ts';

type Query = URLSearchParams;
type Message = Readonly<Record<string, unknown>>;

/** Audio or a text message is expected at least so often, and audio first. */
const QUIET_MS = 10_000;
/** Words of one settled window. */
const WINDOW_WORDS_MAX = 4;

export class NovaConnection implements SimulatedConnection {
  readonly #query: Query;
  readonly #tools: SimulatorTools;
  readonly #peer: SimulatedPeer;
  readonly #requestId: string;
  readonly #sampleRate: number;
  readonly #intake: Intake;
  readonly #ear: Ear;
  readonly #timers = new Set<unknown>();
  #quietTimer: unknown;
  #consumedSamples = 0;
  #settledSeconds = 0;
  #hasAudio = false;
  #closing = false;
  /** All audio was heard. */
  #ended = false;
  #finalizing = false;
  /** Where the gap of an UtteranceEnd is over. */
  #gapEnd: { atSeconds: number; lastWordEnd: number } | undefined;

  constructor(query: Query, tools: SimulatorTools, peer: SimulatedPeer) {
    this.#query = query;
    this.#tools = tools;
    this.#peer = peer;
    this.#requestId = `request-${tools.newId()}`;
    this.#sampleRate = Number(query.get('sample_rate'));
    this.#intake = new Intake(tools.clock, this.#sampleRate, {
      audio: (bytes) => this.#consume(bytes),
      overflow: () => this.#hangUp(1011, 'NET-0000: more audio waits than is kept'),
    });
    const language = query.get('language') ?? undefined;
    this.#ear = tools.openEar({ sampleRate: this.#sampleRate, language }, (message) => this.#heard(message));
    this.#awaitSign();
  }

  text(text: string): void {
    if (this.#closing) return;
    const type = objectOf(text).type;
    if (type === 'KeepAlive' && !this.#hasAudio) return;
    this.#awaitSign();
    if (type === 'Finalize') this.#intake.message(() => this.#finalize());
    if (type === 'CloseStream') this.#closeStream();
  }

  bytes(bytes: Uint8Array): void {
    if (this.#closing) return;
    this.#hasAudio = true;
    this.#awaitSign();
    // An empty frame ends the stream, as CloseStream does.
    if (bytes.byteLength === 0) this.#closeStream();
    else this.#intake.audio(bytes);
  }

  gone(): void {
    const { clock } = this.#tools;
    this.#intake.stop();
    this.#ear.close();
    clock.clearTimeout(this.#quietTimer);
    for (const timer of this.#timers) clock.clearTimeout(timer);
    this.#timers.clear();
  }

  #awaitSign(): void {
    const { clock } = this.#tools;
    clock.clearTimeout(this.#quietTimer);
    this.#quietTimer = clock.setTimeout(
      () =>
        this.#hangUp(
          1011,
          'Deepgram did not receive audio data or a text message within the timeout window. See https://dpgr.am/net0001',
        ),
      QUIET_MS,
    );
  }

  #consume(bytes: Uint8Array): void {
    this.#consumedSamples += bytes.byteLength / 2;
    this.#ear.audio(bytes);
    const gap = this.#gapEnd;
    if (gap !== undefined && this.#consumedSeconds >= gap.atSeconds) this.#utteranceEnd(gap.lastWordEnd);
  }

  #finalize(): void {
    if (this.#tools.quirk('swallow-finalize') !== undefined) return;
    // With nothing left to say the provider says nothing.
    this.#finalizing = this.#consumedSeconds > this.#settledSeconds;
    this.#ear.finalize();
  }

  #closeStream(): void {
    this.#closing = true;
    this.#tools.clock.clearTimeout(this.#quietTimer);
    this.#intake.message(() => {
      this.#ended = true;
      this.#ear.finish();
    });
  }

  #heard(message: EarMessage): void {
    switch (message.type) {
      case 'speech_started':
        if (this.#query.get('vad_events') === 'true')
          this.#say({ type: 'SpeechStarted', channel: [0, 1], timestamp: message.start });
        return;
      case 'interim':
        this.#gapEnd = undefined;
        if (this.#query.get('interim_results') === 'true') {
          const { text, end } = message;
          this.#say(this.#results(text, this.#words(message, message.turn), { start: this.#settledSeconds, end }, {}));
        }
        return;
      case 'final':
        this.#final(message, message.turn);
        return;
      case 'no_match':
        this.#final({ text: '', start: message.start, end: message.end }, message.turn);
        return;
      case 'finished':
        if (this.#tools.quirk('no-metadata') === undefined) this.#say(this.#metadata());
        this.#hangUp(1000, '');
        return;
      case 'error':
        this.#hangUp(1011, `NET-0000: ${message.code}`);
        return;
      case 'ready':
    }
  }

  /** A turn is settled in several windows, the last of which ends it. */
  #final(heard: HeardText, turn: number): void {
    const words = this.#words(heard, turn);
    const size = Math.min(WINDOW_WORDS_MAX, Math.max(1, Math.ceil(words.length / 2)));
    const isFlush = this.#finalizing;
    const isLate = this.#tools.quirk('late-speech-final') !== undefined;
    const isRest = this.#isRest(heard.end);
    const isSpeechFinal = this.#endsBySpeech && !isRest && !isFlush && !isLate;
    this.#finalizing = false;
    for (let at = 0; at === 0 || at < words.length; at += size) {
      const piece = words.slice(at, at + size);
      const isLast = at + size >= words.length;
      const end = isLast ? heard.end : (piece.at(-1)?.end ?? heard.end);
      const text = piece.map(({ word }) => word).join(' ');
      const flags = { is_final: true, speech_final: isLast && isSpeechFinal, from_finalize: isLast && isFlush };
      this.#say(this.#results(text, piece, { start: this.#settledSeconds, end }, flags));
      this.#settledSeconds = end;
    }
    this.#afterWords(words, heard.end, isFlush, isLate && !isRest);
  }

  #afterWords(words: readonly WireWord[], end: number, isFlush: boolean, isLate: boolean): void {
    const lastWordEnd = words.at(-1)?.end;
    if (this.#tools.quirk('utterance-end-only') !== undefined) {
      this.#utteranceEnd(lastWordEnd ?? -1);
      return;
    }
    if (isLate && !isFlush) {
      const speechFinal = this.#results('', [], { start: end, end }, { is_final: true, speech_final: true });
      this.#later(delayMs(this.#tools.quirk('late-speech-final'), 500), () => this.#say(speechFinal));
    }
    const gapMs = Number(this.#query.get('utterance_end_ms') ?? 0);
    if (gapMs > 0 && lastWordEnd !== undefined) this.#gapEnd = { atSeconds: lastWordEnd + gapMs / 1_000, lastWordEnd };
  }

  #utteranceEnd(lastWordEnd: number): void {
    this.#gapEnd = undefined;
    if (this.#query.has('utterance_end_ms')) {
      this.#say({ type: 'UtteranceEnd', channel: [0, 1], last_word_end: lastWordEnd });
    }
  }

  get #endsBySpeech(): boolean {
    return this.#query.get('endpointing') !== 'false' && this.#tools.quirk('utterance-end-only') === undefined;
  }

  /**
   * What reaches the end of the stream is settled without an end of speech. The position tells, not the time: an ear may say
   * the end of an earlier turn when the end of the stream has long been read.
   */
  #isRest(endSeconds: number): boolean {
    return this.#ended && endSeconds >= this.#consumedSeconds;
  }

  get #consumedSeconds(): number {
    return this.#consumedSamples / this.#sampleRate;
  }

  #words(heard: HeardText, turn: number): WireWord[] {
    const isDiarized = this.#query.has('diarize_model') || this.#query.get('diarize') === 'true';
    return wireWords(heard, {
      ...(isDiarized ? { speaker: turn % 2 } : {}),
      ...(this.#query.get('language') === 'multi' ? { language: 'en' } : {}),
    });
  }

  #results(text: string, words: WireWord[], { start, end }: { start: number; end: number }, flags: Message): Message {
    const languages = this.#query.get('language') === 'multi' ? { languages: ['en'] } : {};
    return {
      type: 'Results',
      channel_index: [0, 1],
      start,
      duration: Math.max(0, end - start),
      is_final: false,
      speech_final: false,
      from_finalize: false,
      ...flags,
      channel: { alternatives: [{ transcript: text, confidence: text === '' ? 0 : 0.98, ...languages, words }] },
      metadata: {
        request_id: this.#requestId,
        model_uuid: 'simulated',
        model_info: { name: this.#query.get('model'), version: 'simulated', arch: this.#query.get('model') },
      },
    };
  }

  #metadata(): Message {
    return {
      type: 'Metadata',
      transaction_key: 'deprecated',
      request_id: this.#requestId,
      sha256: '0'.repeat(64),
      created: '2026-01-01T00:00:00.000Z',
      duration: this.#consumedSeconds,
      channels: 1,
    };
  }

  /** Everything is said in its order, also what comes late. */
  #say(message: Message): void {
    this.#slowly(() => this.#peer.send(message));
  }

  #hangUp(code: number, reason: string): void {
    this.#slowly(() => this.#peer.close(code, reason));
  }

  #slowly(work: () => void): void {
    const slow = this.#tools.quirk('slow-results');
    if (slow === undefined) work();
    else this.#later(delayMs(slow, 1_500), work);
  }

  #later(afterMs: number, work: () => void): void {
    const timer = this.#tools.clock.setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, afterMs);
    this.#timers.add(timer);
  }
}

/** The number of a quirk, or what it is without one. */
export function delayMs(value: string | undefined, otherwise: number): number {
  const number = Number(value);
  return value !== undefined && value !== '' && number >= 0 ? number : otherwise;
}
