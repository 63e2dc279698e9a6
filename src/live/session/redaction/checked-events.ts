// What a session says whose names and addresses a service finds, in front of `RedactedEvents`: no text goes on before the service has
// answered about it. Finals wait for the answer in their order, and what follows waits as well. Of interims one is asked about at a
// time, and then the newest.
import { setMaxListeners } from 'node:events';
import type { OutgoingEvent, TranscriptEvent } from '../../../api/listen-events.ts';
import { isServiceClass, type RedactionClass, type ServiceClass } from '../../../api/redaction.ts';
import type { TextAnalyzer } from '../../../redaction/analyzer.ts';
import type { Match } from '../../../redaction/match.ts';
import { contextAfter, dropOtherWords, type Known } from '../../../redaction/pieces.ts';
import type { EventTexts } from '../outbox.ts';
import type { TurnNote } from '../watch/session-observer.ts';
import { HELD_EVENTS_MAX, type RedactedEvents } from './redacted-events.ts';

export interface CheckedEventsParts {
  /** Receives the events, with what was found in their texts. */
  events: Pick<RedactedEvents, 'push' | 'turn' | 'hurry' | 'configure' | 'stop'>;
  analyzer: TextAnalyzer;
  organisationId: string;
  language: string | undefined;
  classes: readonly RedactionClass[];
  /** Work after an answer has failed, in a promise that nothing waits for: the session has to end. */
  onFault(error: unknown): void;
}

type EagerEnd = Extract<OutgoingEvent, { type: 'turn_eager_end' }>;
type Texted = TranscriptEvent | EagerEnd;

type Waiting =
  /** `known`: undefined until there is an answer. */
  | { kind: 'checked'; event: Texted; known: Known | undefined }
  | { kind: 'event'; event: OutgoingEvent }
  | { kind: 'note'; note: TurnNote }
  | { kind: 'hurry' }
  | { kind: 'configure'; classes: readonly RedactionClass[] };

export class CheckedEvents implements EventTexts {
  readonly #parts: CheckedEventsParts;
  readonly #end = new AbortController();
  #classes: readonly ServiceClass[];
  #language: string | undefined;
  #waiting: Waiting[] = [];
  /** The finals so far, as they were said: the service is told of their end, since it says what a word is. */
  #context = '';
  /** The text that the service was asked about last, and what it answers: the last interim often is the final. */
  #last: { text: string; answer: Promise<readonly Match[]> } | undefined;
  #nextInterim: TranscriptEvent | undefined;
  #isInterimAsked = false;
  /** Grows with what makes interims from before it worthless. */
  #round = 0;
  #whenSettled: (() => void) | undefined;

  constructor(parts: CheckedEventsParts) {
    this.#parts = parts;
    this.#classes = parts.classes.filter(isServiceClass);
    this.#language = parts.language;
    // One for each call.
    setMaxListeners(HELD_EVENTS_MAX + 2, this.#end.signal);
  }

  push(event: OutgoingEvent): void {
    if (event.type === 'received') {
      this.#parts.events.push(event);
      return;
    }
    if (event.type === 'transcript' && !event.is_final && this.#classes.length > 0) {
      this.#nextInterim = event;
      this.#askAboutInterim();
      return;
    }
    if (event.type !== 'speech_started') this.#passOverInterims();
    const isTexted = event.type === 'transcript' || event.type === 'turn_eager_end';
    if (isTexted) this.#check(event);
    else this.#follow({ kind: 'event', event });
  }

  turn(note: TurnNote): void {
    this.#follow({ kind: 'note', note });
  }

  /** The client has asked for the end of the turn. */
  hurry(): void {
    this.#follow({ kind: 'hurry' });
  }

  /** The request has changed in mid-session: from here on. */
  configure(classes: readonly RedactionClass[], language: string | undefined): void {
    this.#passOverInterims();
    this.#classes = classes.filter(isServiceClass);
    this.#language = language;
    // What is asked from now on may be more, or in another language.
    this.#last = undefined;
    this.#follow({ kind: 'configure', classes });
  }

  async settled(): Promise<void> {
    if (this.#waiting.length === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenSettled = resolve;
    });
  }

  conclude(): void {
    for (const each of this.#waiting) if (each.kind === 'checked') each.known ??= 'withheld';
    this.#drain();
  }

  /** Nothing follows. */
  stop(): void {
    this.#end.abort();
    this.#parts.events.stop();
    this.#whenSettled?.();
  }

  #check(event: Texted): void {
    if (this.#classes.length === 0 || event.text === '') {
      this.#follow({ kind: 'event', event });
      this.#remember(event);
      return;
    }
    const waiting: Waiting = { kind: 'checked', event, known: undefined };
    const answer = this.#knownOf(event);
    this.#remember(event);
    this.#hold(waiting);
    this.#then(answer, (known) => {
      waiting.known ??= known;
      this.#drain();
    });
  }

  #remember(event: Texted): void {
    if (event.type === 'transcript') this.#context = contextAfter(this.#context, event.text);
  }

  #askAboutInterim(): void {
    const event = this.#nextInterim;
    if (event === undefined || this.#isInterimAsked || this.#waiting.length > 0) return;
    this.#nextInterim = undefined;
    this.#isInterimAsked = true;
    const round = this.#round;
    this.#then(this.#knownOf(event), (known) => {
      this.#isInterimAsked = false;
      // What was not checked is not shown; its final says so.
      if (round === this.#round && known !== 'withheld') this.#parts.events.push(event, known);
      this.#askAboutInterim();
    });
  }

  /** Unless the session has ended meanwhile. */
  #then(answer: Promise<Known>, work: (known: Known) => void): void {
    answer
      .then((known) => {
        if (!this.#end.signal.aborted) work(known);
      })
      .catch((error: unknown) => this.#parts.onFault(error));
  }

  #passOverInterims(): void {
    this.#round++;
    this.#nextInterim = undefined;
  }

  /** What is in the text of an event; never rejects. */
  async #knownOf(event: Texted): Promise<Known> {
    dropOtherWords(event as Parameters<typeof dropOtherWords>[0]);
    const begin = this.#context === '' ? 0 : this.#context.length + 1;
    const whole = begin === 0 ? event.text : `${this.#context} ${event.text}`;
    try {
      const found: Match[] = [];
      for (const match of await this.#found(whole)) {
        if (match.to <= begin) continue;
        found.push({ class: match.class, from: Math.max(0, match.from - begin), to: match.to - begin });
      }
      return found;
    } catch {
      return 'withheld';
    }
  }

  #found(text: string): Promise<readonly Match[]> {
    if (this.#last?.text === text) return this.#last.answer;
    const { analyzer, organisationId } = this.#parts;
    const [language, classes, { signal }] = [this.#language, this.#classes, this.#end];
    const answer = analyzer.find({ text, language, classes, organisationId, signal });
    const last = { text, answer };
    this.#last = last;
    answer.catch(() => {
      // Another call may be answered.
      if (this.#last === last) this.#last = undefined;
    });
    return answer;
  }

  #follow(next: Waiting): void {
    if (this.#waiting.length === 0) this.#pass(next);
    else this.#hold(next);
  }

  #hold(next: Waiting): void {
    this.#waiting.push(next);
    if (this.#waiting.length > HELD_EVENTS_MAX) this.conclude();
  }

  /** In their order, up to the first that has no answer yet. */
  #drain(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (next.kind === 'checked' && next.known === undefined) return;
      this.#waiting.shift();
      this.#pass(next);
    }
    this.#whenSettled?.();
    this.#whenSettled = undefined;
    this.#askAboutInterim();
  }

  #pass(next: Waiting): void {
    const { events } = this.#parts;
    switch (next.kind) {
      case 'checked':
        events.push(next.event, next.known ?? 'withheld');
        return;
      case 'event':
        events.push(next.event);
        return;
      case 'note':
        events.turn(next.note);
        return;
      case 'hurry':
        events.hurry();
        return;
      case 'configure':
        events.configure(next.classes);
    }
  }
}
