// Turns as the events of the client: words as transcripts, speakers by numbers of the session, and the bounds of turns for clients
// that ask for them.
import type { Utterance, Word } from '../../../../machines/events.ts';
import type { OutgoingEvent, TranscriptEvent } from '../../../api/listen-events.ts';
import type { TurnMessage } from '../../../vendors/kit/turn-text.ts';
import type { Outbox } from '../outbox.ts';

/** Speech that begins so close to where it was said to begin is the same speech. */
const SAME_SPEECH_SECONDS = 0.2;

/** How sure the provider is that the turn is over, where it says so. */
export const endConfidenceOf = (message: TurnMessage): number | undefined =>
  'endConfidence' in message ? message.endConfidence : undefined;

/** The bounds of turns, in the same words for all providers, and never two events that contradict each other. */
export class TurnEvents {
  readonly isAskedFor: boolean;
  readonly #outbox: Pick<Outbox, 'push'>;
  /** Where speech began last, as a provider told it. */
  #speechSeconds = Number.NEGATIVE_INFINITY;
  /** A beginning of speech was told for the current turn, and words of it were heard. */
  #isSpeechTold = false;
  #hasWords = false;
  /** The words with which the current turn was said to be over, as long as it was not said to continue. */
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

/** Words of a turn. Members are added one by one: an object made of spreads would have a shape of its own each time. */
export function transcriptEvent(utterance: Utterance, isFinal: boolean, turn: number, model: string): TranscriptEvent {
  const { text, start, end, confidence, speaker, language, words, noSpeech } = utterance;
  const event: TranscriptEvent = { type: 'transcript', text, is_final: isFinal, turn, start, end, model };
  if (Number.isFinite(confidence)) event.confidence = confidence as number;
  if (speaker !== undefined) event.speaker = speaker;
  if (language !== undefined) event.language = language;
  if (words !== undefined) event.words = words;
  if (noSpeech !== undefined) event.no_speech = noSpeech;
  return event;
}

/**
 * Speaker numbers belong to a leg: the next leg does not know who spoke before, and begins at 0. Its numbers follow all that were
 * given before, so that one number never means two people.
 */
export class SpeakerNumbers {
  /** The first number of the current leg. */
  first = 0;
  /** Behind the highest number so far. */
  #next = 0;
  #isToldOf = true;

  /** Another leg hears. */
  beginLeg(): void {
    this.first = this.#next;
    this.#isToldOf = this.first === 0;
  }

  /** Gives the numbers of a leg those of the session, in place. */
  renumber(utterance: Utterance): void {
    this.#give(utterance);
    for (const word of utterance.words ?? []) this.#give(word);
  }

  /** Whether the utterance is the first with numbers that nobody had before, of a leg behind which others were given. */
  restartWith({ speaker, words }: Pick<Utterance, 'speaker' | 'words'>): boolean {
    if (this.#isToldOf || (speaker === undefined && !words?.some((word) => word.speaker !== undefined))) return false;
    this.#isToldOf = true;
    return true;
  }

  #give(of: Pick<Word, 'speaker'>): void {
    if (of.speaker === undefined) return;
    of.speaker += this.first;
    this.#next = Math.max(this.#next, of.speaker + 1);
  }
}
