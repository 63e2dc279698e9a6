// The bounds of turns, as events of their own for clients that ask for them: in the same words for all providers, whatever each of
// them tells, and never two that contradict each other.
import type { Utterance } from '../../../machines/events.ts';
import type { OutgoingEvent } from '../../api/listen.ts';
import type { TurnMessage } from '../../providers/turn-text.ts';
import type { Outbox } from '../outbox.ts';

/** Speech that begins so close to where it was said to begin is the same speech. */
const SAME_SPEECH_SECONDS = 0.2;

/** How sure the provider is that the turn is over, where it says so. */
export const endConfidenceOf = (message: TurnMessage): number | undefined =>
  'endConfidence' in message ? message.endConfidence : undefined;

export class TurnEvents {
  readonly isAskedFor: boolean;
  readonly #outbox: Pick<Outbox, 'push'>;
  /** Where speech began last, as a provider told it. */
  #speechSeconds = Number.NEGATIVE_INFINITY;
  /** A beginning of speech was told for the current turn, and words of it were heard. */
  #isSpeechTold = false;
  #hasWords = false;
  /** The words with which the current turn was said to be over, as long as it was not said to go on. */
  #eagerText: string | undefined;

  constructor(isAskedFor: boolean, outbox: Pick<Outbox, 'push'>) {
    this.isAskedFor = isAskedFor;
    this.#outbox = outbox;
  }

  /** A provider has heard somebody begin to speak. While a turn has words, that is told behind its end, if it lies there. */
  speech(turn: number, start: number): void {
    if (!this.isAskedFor) {
      this.#outbox.push({ type: 'speech_started', start });
      return;
    }
    // A leg that hears again what another has heard says so again.
    if (start <= this.#speechSeconds + SAME_SPEECH_SECONDS) return;
    this.#speechSeconds = start;
    if (!this.#hasWords) this.#tellSpeech(turn, start);
  }

  /** Words of the turn were heard. Called before they are told. */
  words(turn: number, start: number): void {
    this.#hasWords = true;
    if (!this.#isSpeechTold) this.#tellSpeech(turn, start);
  }

  /** These words of the turn are not settled, and were told. */
  unsettled(turn: number, model: string, { text, start, end }: Utterance, message: TurnMessage): void {
    const boundary = message.type === 'partial' ? message.boundary : undefined;
    if (boundary === 'resumed' || text !== this.#eagerText) this.#resumed(turn, 'speech');
    if (boundary !== 'eager_end' || this.#eagerText !== undefined) return;
    this.#eagerText = text;
    this.#push({ type: 'turn_eager_end', turn, text, start, end, model, ...confidence(endConfidenceOf(message)) });
  }

  /** The leg that heard the turn is no more: nothing that it said of its end holds. */
  lost(turn: number): void {
    this.#resumed(turn, 'reheard');
  }

  /** The turn's final is about to be told. */
  settling(turn: number, { text, start }: Utterance): void {
    this.words(turn, start);
    if (text !== this.#eagerText) this.#resumed(turn, 'revised');
  }

  /** The turn's final was told. */
  ended(turn: number, { start, end }: Utterance, endConfidence: number | undefined): void {
    this.#push({ type: 'turn_ended', turn, start, end, ...confidence(endConfidence) });
    this.#eagerText = undefined;
    this.#hasWords = false;
    this.#isSpeechTold = false;
    if (this.#speechSeconds >= end) this.#tellSpeech(turn + 1, this.#speechSeconds);
  }

  #tellSpeech(turn: number, start: number): void {
    this.#isSpeechTold = true;
    this.#push({ type: 'speech_started', start, turn });
  }

  #resumed(turn: number, reason: string): void {
    if (this.#eagerText === undefined) return;
    this.#eagerText = undefined;
    this.#push({ type: 'turn_resumed', turn, reason });
  }

  #push(event: OutgoingEvent): void {
    if (this.isAskedFor) this.#outbox.push(event);
  }
}

const confidence = (told: number | undefined): { end_of_turn_confidence?: number } =>
  told !== undefined && Number.isFinite(told) ? { end_of_turn_confidence: told } : {};
