// The turns of a session: what its legs hear becomes transcript events on the session's own timeline. Texts and positions
// live here; when a final is due is the turn chart's decision, which this class is told of boundaries by.

import type { Utterance, Word } from '../../../machines/events.ts';
import type { TurnEvent } from '../../../machines/turn.ts';
import type { TranscriptEvent } from '../../api/listen.ts';
import { readable } from '../../api/text.ts';
import { type TurnMessage, TurnText } from '../../providers/turn-text.ts';

export interface TurnsOptions {
  /** Hertz of the session's own timeline. */
  sampleRate: number;
  interimResults: boolean;
  /** Tells the turn chart. */
  tell(event: TurnEvent): void;
  emit(event: TranscriptEvent): void;
  /** Everything before this sample is covered by a final, or was found to hold no words. */
  covered(sample: number, model: string): void;
  /** Samples received so far: nothing can have been heard beyond. */
  received(): number;
  onDrop(name: 'duplicate_final' | 'late_formatted' | 'late_partial'): void;
}

/** One for each session. `beginLeg` starts anew with each leg; turn numbers and positions go on. */
export class Turns {
  readonly #options: TurnsOptions;
  #text = new TurnText();
  #originSample = 0;
  #model = '';
  #due: Utterance | undefined;
  /** End of the last final: nothing later may start before it. */
  #lastEndSample = 0;
  /** Number of the current turn. */
  number = 0;
  #interimShown = false;
  /** Up to where words of the current turn were shown by a leg that failed. */
  #shownToSample = 0;
  #lastShownSample = 0;
  /** Up to where the legs have said anything of the audio. */
  heardSamples = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** A new leg hears from `originSample` of the session on. */
  beginLeg(model: string, originSample: number): void {
    this.#text = new TurnText();
    this.#model = model;
    this.#originSample = originSample;
    // The client does not see its text shrink: what is heard again is shown once it says more.
    this.#shownToSample = this.#interimShown ? this.#lastShownSample : 0;
  }

  /** Whether words were heard that have no final yet. */
  get open(): boolean {
    return this.#text.open;
  }

  /** A time on the current leg's clock as one on the session's. */
  placedSeconds(seconds: number): number {
    return this.secondsOf(this.#clamp(this.#sampleOf(seconds)));
  }

  secondsOf(sample: number): number {
    return Math.round((sample / this.#options.sampleRate) * 1e6) / 1e6;
  }

  hear(message: TurnMessage): void {
    const step = this.#text.hear(message);
    if ('utterance' in step && step.utterance.text !== '') {
      this.heardSamples = Math.max(this.heardSamples, this.#clamp(this.#sampleOf(step.utterance.end)));
    }
    switch (step.type) {
      case 'interim':
        if (step.begins) this.#options.tell({ type: 'turn.heard' });
        this.#interim(step.utterance);
        return;
      case 'ended': {
        const text = this.#text;
        if (step.begins) this.#options.tell({ type: 'turn.heard' });
        // The turn before was settled by it, and the leg replaced: the next one hears this turn again.
        if (this.#text !== text) return;
        this.#due = this.#placed(step.utterance);
        this.#options.tell({ type: 'turn.ended', formattedFollows: step.formattedFollows });
        return;
      }
      case 'formatted':
        if (this.#due === undefined) {
          this.#options.onDrop('late_formatted');
          return;
        }
        this.#due = this.#placed(step.utterance);
        this.#options.tell({ type: 'turn.formatted' });
        return;
      case 'empty':
        this.#empty(step.until, step.heard);
        return;
      case 'dropped':
        this.#options.onDrop(step.why);
    }
  }

  /** Called by the turn chart: gives the final that is due, and begins the next turn. */
  deliver(): void {
    const final = this.#due;
    if (final === undefined) return;
    this.#due = undefined;
    this.#interimShown = false;
    this.#shownToSample = 0;
    this.#options.emit(this.#event(final, true));
    this.number++;
    this.#lastEndSample = Math.round(final.end * this.#options.sampleRate);
    this.#options.covered(this.#lastEndSample, this.#model);
  }

  /** Forgets the unfinished turn: its leg failed, and the next one hears it from its beginning. */
  discard(): void {
    this.#text = new TurnText();
    this.#options.tell({ type: 'turn.discarded' });
  }

  /** No leg will say more: a turn that was shown and not heard again gets its final all the same, without words. */
  finish(): void {
    if (this.#interimShown) this.#empty(undefined, false);
  }

  #interim(utterance: Utterance): void {
    if (!this.#options.interimResults || utterance.text === '') return;
    const placed = this.#placed(utterance);
    const endSample = Math.round(placed.end * this.#options.sampleRate);
    if (endSample < this.#shownToSample) return;
    this.#interimShown = true;
    this.#lastShownSample = endSample;
    this.#options.emit(this.#event(placed, false));
  }

  /** A turn without words: one that was shown still gets its final, any other leaves no trace. */
  #empty(until: number | undefined, heard: boolean): void {
    // While a turn waits for its formatted version, what was shown is its own.
    if (this.#interimShown && this.#due === undefined) {
      // It may have been shown by a leg that failed: then the chart does not know of it any more.
      if (!heard) this.#options.tell({ type: 'turn.heard' });
      const end = until ?? this.secondsOf(this.#lastEndSample - this.#originSample);
      this.#due = this.#placed({ text: '', start: end, end });
      this.#options.tell({ type: 'turn.ended', formattedFollows: false });
      return;
    }
    if (heard) this.#options.tell({ type: 'turn.discarded' });
    if (until !== undefined) {
      this.#lastEndSample = this.#clamp(this.#sampleOf(until));
      this.#options.covered(this.#lastEndSample, this.#model);
    }
  }

  /** The utterance with its times on the session's timeline: rising, finite, and within the audio received. */
  #placed(utterance: Utterance): Utterance {
    const start = this.#clamp(this.#sampleOf(utterance.start));
    const end = Math.max(start, this.#clamp(this.#sampleOf(utterance.end)));
    const text = readable(utterance.text);
    const placed: Utterance = { ...utterance, text, start: this.secondsOf(start), end: this.secondsOf(end) };
    if (utterance.words !== undefined) placed.words = utterance.words.map((word) => this.#placedWord(word, start, end));
    return placed;
  }

  #placedWord(word: Word, start: number, end: number): Word {
    const from = within(start, this.#sampleOf(word.start), end);
    const to = within(from, this.#sampleOf(word.end), end);
    return { ...word, word: readable(word.word), start: this.secondsOf(from), end: this.secondsOf(to) };
  }

  #sampleOf(seconds: number): number {
    return this.#originSample + Math.round(seconds * this.#options.sampleRate);
  }

  #clamp(sample: number): number {
    return within(this.#lastEndSample, sample, this.#options.received());
  }

  #event(utterance: Utterance, isFinal: boolean): TranscriptEvent {
    const { text, start, end, confidence, speaker, language, words } = utterance;
    return {
      type: 'transcript',
      text,
      is_final: isFinal,
      turn: this.number,
      start,
      end,
      model: this.#model,
      ...(Number.isFinite(confidence) ? { confidence: confidence as number } : {}),
      ...(speaker === undefined ? {} : { speaker }),
      ...(language === undefined ? {} : { language }),
      ...(words === undefined ? {} : { words }),
    };
  }
}

/** The sample kept between two others; one that is no number is the first of them. */
const within = (low: number, sample: number, high: number): number =>
  Number.isFinite(sample) ? Math.min(high, Math.max(low, sample)) : low;
