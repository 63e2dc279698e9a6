// What is done to the texts of a session between its turns and everything that receives events: redaction, replacement rules, or both.
// Turns, failover and billing know the words as they were heard.
//
// With both, a text is redacted, its rules are applied, and it is redacted again. Redaction has to read what was said: a rule may change or
// leave out a digit, and what is left of the number would not be found. It has to read what is sent as well: rules may make a number of
// words that were none; what a service finds is found in what was said alone. No rule finds anything within a label, so what is redacted stays so.
import type { Clock } from '../../../../machines/clock.ts';
import type { ListenRequest } from '../../../api/listen.ts';
import type { OutgoingEvent, TranscriptEvent } from '../../../api/listen-events.ts';
import { isServiceClass, REDACT_HOLD_MS, type RedactionClass } from '../../../api/redaction.ts';
import type { Redactions } from '../../../money/store/calls.ts';
import type { TextAnalyzer } from '../../../redaction/analyzer.ts';
import { LABELS } from '../../../redaction/labels.ts';
import { redactedMessage } from '../../../redaction/messages.ts';
import type { EventTexts, Outbox } from '../outbox.ts';
import { CheckedEvents } from '../redaction/checked-events.ts';
import { RedactedEvents } from '../redaction/redacted-events.ts';
import type { SessionTotals } from '../session-opening.ts';
import type { SessionLog } from '../watch/session-log.ts';
import type { TurnNote } from '../watch/session-observer.ts';
import { ReplacedEvents } from './replaced-events.ts';

export interface TextsParts {
  outbox: Pick<Outbox, 'send'>;
  log: Pick<SessionLog, 'turn'>;
  clock: Clock;
  totals: Pick<SessionTotals, 'redacted'>;
  /** Finds names and addresses, where there is a service. */
  analyzer: TextAnalyzer | undefined;
  organisationId: string;
  /** A fault in a promise or a timer of these parts: the session has to end. */
  onFault(error: unknown): void;
}

/** What a request says of its texts. */
export type RequestedTexts = Pick<ListenRequest, 'redacted' | 'redactHoldMs' | 'replacements' | 'language'>;

/** Whether the texts of a session leave as they were heard. */
export const leavesTexts = ({ redacted, replacements }: RequestedTexts): boolean =>
  redacted === undefined && replacements === undefined;

export class SessionTexts implements EventTexts {
  readonly #parts: TextsParts;
  /** Of what was heard. Once there is redaction, it stays: what is not requested any more is no class of it. */
  #redaction: RedactedEvents | CheckedEvents | undefined;
  /** Of what is redacted now. */
  #classes: readonly RedactionClass[] = [];
  #replacement: ReplacedEvents | undefined;
  /** Of what the rules have made. */
  #second: RedactedEvents | undefined;
  /** A final waits no longer for both redactions than for one. */
  readonly #dueMs = new WeakMap<TranscriptEvent, number>();
  readonly #counts = new Map<RedactionClass, number>();

  constructor(parts: TextsParts) {
    this.#parts = parts;
  }

  /** From here on. What waits leaves as it was requested until then; what a service is asked about, with the rules of then. */
  configure(request: RequestedTexts): void {
    const { redacted, replacements, language } = request;
    this.#classes = redacted ?? [];
    this.#redaction?.configure(redacted ?? [], language);
    this.#second?.configure(ownOf(redacted));
    this.#configureRedaction(request);
    const labels = this.#redaction === undefined ? undefined : LABELS;
    this.#replacement =
      replacements === undefined ? undefined : new ReplacedEvents({ rules: replacements, language, labels });
    if (this.#second !== undefined || redacted === undefined || replacements === undefined) return;
    const { outbox, log } = this.#parts;
    this.#second = this.#redactionBefore(ownOf(redacted), request, {
      send: (event) => outbox.send(event),
      turn: (note, text) => log.turn(note, text),
    });
  }

  #configureRedaction(request: RequestedTexts): void {
    const { analyzer, organisationId, onFault } = this.#parts;
    const { redacted: classes, language } = request;
    const needsService = classes?.some(isServiceClass) === true;
    if (needsService && analyzer === undefined) throw new Error('No service finds the names that the request names.');
    if (this.#redaction === undefined && classes !== undefined)
      this.#redaction = this.#redactionBefore(classes, request, {
        send: (event) => this.#replace(event),
        turn: (note, text) => this.#noteReplaced(note, text),
      });
    const events = this.#redaction;
    if (needsService && analyzer !== undefined && classes !== undefined && events instanceof RedactedEvents)
      this.#redaction = new CheckedEvents({ events, analyzer, organisationId, language, classes, onFault });
  }

  push(event: OutgoingEvent): void {
    if (this.#redaction === undefined) this.#replace(event);
    else this.#redaction.push(this.#withoutQuotes(event));
  }

  /** A provider may repeat in an error or a warning what it heard. */
  #withoutQuotes(event: OutgoingEvent): OutgoingEvent {
    if (this.#classes.length === 0) return event;
    if (event.type === 'warning') {
      // A warning of a provider names no parameter.
      const message = redactedMessage(event.message, this.#classes, event.param === undefined);
      return { ...event, message };
    }
    if (event.type !== 'error' || !QUOTING.has(event.error.type)) return event;
    return { ...event, error: { ...event.error, message: redactedMessage(event.error.message, this.#classes) } };
  }

  turn(note: TurnNote, text: string): void {
    if (this.#redaction === undefined) this.#noteReplaced(note, text);
    else this.#redaction.turn(note);
  }

  /** The client has asked for the end of the turn: what waits leaves, and so does the final that follows. */
  hurry(): void {
    this.#redaction?.hurry();
    this.#second?.hurry();
  }

  /** How often each class was redacted in finals that have left; undefined for nothing. */
  get redactions(): Redactions | undefined {
    return this.#counts.size === 0 ? undefined : Object.fromEntries(this.#counts);
  }

  /** Resolves when nothing waits for an answer about its text. */
  async settled(): Promise<void> {
    if (this.#redaction instanceof CheckedEvents) await this.#redaction.settled();
  }

  /** Nothing is waited for any more. */
  conclude(): void {
    if (this.#redaction instanceof CheckedEvents) this.#redaction.conclude();
  }

  /** Nothing follows. */
  stop(): void {
    this.#redaction?.stop();
    this.#second?.stop();
  }

  #redactionBefore(
    classes: readonly RedactionClass[],
    { redactHoldMs: holdMs = REDACT_HOLD_MS.default }: RequestedTexts,
    { send, turn }: Pick<Outbox, 'send'> & Pick<SessionLog, 'turn'>,
  ): RedactedEvents {
    const { clock, totals: all, onFault } = this.#parts;
    const totals: TextsParts['totals'] = {
      redacted: (kind) => {
        if (kind !== 'failed') this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
        all.redacted(kind);
      },
    };
    const dueMs = this.#dueMs;
    return new RedactedEvents({ outbox: { send }, log: { turn }, clock, totals, classes, holdMs, dueMs, onFault });
  }

  #replace(event: OutgoingEvent): void {
    const { outbox } = this.#parts;
    const replaced = this.#replacement === undefined ? event : this.#replacement.replaced(event);
    if (replaced === undefined) return;
    if (this.#replacement === undefined || this.#second === undefined) outbox.send(replaced);
    // What no rule has changed was cut where it may continue as data: it does not lose another word.
    else this.#second.push(replaced, [], !this.#replacement.hasChanged);
  }

  #noteReplaced(note: TurnNote, text: string): void {
    const { log } = this.#parts;
    if (this.#replacement === undefined) log.turn(note, text);
    else if (this.#second === undefined) log.turn(note, this.#replacement.lastFinal);
    else this.#second.turn(note);
  }
}

/** Types of errors whose messages may have words of a provider. */
const QUOTING: ReadonlySet<string> = new Set(['upstream_error', 'invalid_request_error']);

/** Those that need no service. */
const ownOf = (classes: readonly RedactionClass[] = []): readonly RedactionClass[] =>
  classes.filter((kind) => !isServiceClass(kind));
