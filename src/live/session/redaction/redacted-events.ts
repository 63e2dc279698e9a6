// What a session with redaction says, between its turns and everything that receives events: the client, the console, transcripts for
// webhooks. A final that ends in the beginning of a number waits for the next turn, within a bound, and what follows waits behind it.
import type { Clock } from '../../../../machines/clock.ts';
import type { OutgoingEvent, TranscriptEvent } from '../../../api/listen-events.ts';
import type { RedactionClass } from '../../../api/redaction.ts';
import { GrowingText } from '../../../redaction/growing-text.ts';
import {
  contextAfter,
  type Examined,
  examine,
  type Known,
  type Piece,
  type Redacted,
  UNREADABLE,
} from '../../../redaction/pieces.ts';
import type { Outbox } from '../outbox.ts';
import type { SessionTotals } from '../session-opening.ts';
import type { SessionLog } from '../watch/session-log.ts';
import type { TurnNote } from '../watch/session-observer.ts';

/** Events that may wait behind a final. With one more, all leave. */
export const HELD_EVENTS_MAX = 64;

export interface RedactedEventsParts {
  outbox: Pick<Outbox, 'send'>;
  log: Pick<SessionLog, 'turn'>;
  clock: Clock;
  classes: readonly RedactionClass[];
  /** How long a final may wait. */
  holdMs: number;
  totals: Pick<SessionTotals, 'redacted'>;
  /** What left when its time was over has failed, in a timer: the session has to end. */
  onFault(error: unknown): void;
  /** When finals are due that have waited elsewhere. */
  dueMs?: WeakMap<TranscriptEvent, number>;
  /** Reads texts; another one in tests. */
  examine?: typeof examine;
}

type EagerEnd = Extract<OutgoingEvent, { type: 'turn_eager_end' }>;

type Held =
  | { kind: 'final'; event: TranscriptEvent; raw: string; known: Known; dueMs: number }
  | { kind: 'event'; event: OutgoingEvent }
  | { kind: 'note'; note: TurnNote; final: TranscriptEvent };
type HeldFinal = Extract<Held, { kind: 'final' }>;

/** Without a service. */
const NONE: Known = [];

/** Made for each session: what an event says of its channel is written into it. */
const failedWarning = (): OutgoingEvent => ({
  type: 'warning',
  code: 'redaction_failed',
  message: `A text could not be redacted, so it was left out: it is \`${UNREADABLE}\` instead. The audio was transcribed and is billed.`,
  param: 'redact',
});

export class RedactedEvents {
  readonly #parts: RedactedEventsParts;
  readonly #examine: typeof examine;
  #classes: ReadonlySet<RedactionClass>;
  #held: Held[] = [];
  #timer: unknown;
  /** The text of finals that have left, as it was said: no event has it. */
  #context = '';
  /** Of interims. Finals are read as a whole. */
  readonly #growing = new GrowingText();
  #lastFinal: TranscriptEvent | undefined;
  /** Text of the interim that was sent last of the turn. */
  #shown: { turn: number; text: string } | undefined;
  /** The client does not know of an eager end, since its text may change with the next words. */
  #isEagerEndHidden = false;
  /** The client has ended the turn: its final does not wait. */
  #isHurried = false;
  #hasWarned = false;
  readonly #counts = new Map<RedactionClass, number>();

  constructor(parts: RedactedEventsParts) {
    this.#parts = parts;
    this.#examine = parts.examine ?? examine;
    this.#classes = new Set(parts.classes);
  }

  /** The request has changed in mid-session. What waits leaves as it was requested until then. */
  configure(classes: readonly RedactionClass[], _language?: string): void {
    this.flush();
    this.#classes = new Set(classes);
  }

  /** The client has asked for the end of the turn: what waits leaves, and so does the final that follows. */
  hurry(): void {
    this.flush();
    this.#isHurried = true;
  }

  /**
   * @param known what a service has found in its text
   * @param isCut an interim without the words that may continue as data
   */
  push(event: OutgoingEvent, known = NONE, isCut = false): void {
    switch (event.type) {
      case 'transcript':
        if (event.is_final) this.#final(event, known);
        else this.#interim(event, known, isCut);
        return;
      case 'turn_eager_end':
        this.#eagerEnd(event, known);
        return;
      case 'turn_resumed':
        if (!this.#isEagerEndHidden) this.#follow(event);
        this.#isEagerEndHidden = false;
        return;
      case 'turn_ended':
        this.#isEagerEndHidden = false;
        this.#follow(event);
        return;
      case 'speech_started':
      // A number may continue with the next model.
      case 'failover':
      case 'warning':
        this.#follow(event);
        return;
      case 'received':
        this.#parts.outbox.send(event);
        return;
      case 'session_ended':
        this.flush();
        this.#parts.outbox.send(this.#withCounts(event));
        return;
      default:
        this.flush();
        this.#parts.outbox.send(event);
    }
  }

  /** In the place of the session's log: a turn whose final may still wait. */
  turn(note: TurnNote): void {
    const final = this.#lastFinal;
    if (final === undefined) return;
    if (this.#held.length === 0) this.#parts.log.turn(note, final.text);
    else this.#hold({ kind: 'note', note, final });
  }

  /** Everything that waits leaves now. */
  flush(): void {
    const finals = this.#finals();
    if (finals.length > 0) this.#release(finals.length, this.#examined(finals, undefined, 'settled'));
  }

  /** Nothing follows. */
  stop(): void {
    this.#parts.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #final(event: TranscriptEvent, known: Known): void {
    this.#lastFinal = event;
    this.#shown = undefined;
    this.#dropInterims();
    const { holdMs, clock, dueMs: dues } = this.#parts;
    const dueMs = dues?.get(event) ?? clock.now() + holdMs;
    dues?.set(event, dueMs);
    this.#held.push({ kind: 'final', event, raw: event.text, known, dueMs });
    const finals = this.#finals();
    const examined = this.#examined(finals, undefined, 'settled');
    const mayWait = holdMs > 0 && !this.#isHurried && this.#held.length < HELD_EVENTS_MAX;
    this.#isHurried = false;
    this.#release(mayWait ? (examined?.settled ?? finals.length) : finals.length, examined);
  }

  #interim(event: TranscriptEvent, known: Known, isCut: boolean): void {
    const finals = this.#finals();
    const examined = this.#examined(finals, pieceOf(event, known), 'shown');
    if (finals.length > 0) this.#release(Math.min(finals.length, examined?.settled ?? finals.length), examined);
    // What cannot be read is not shown; its final says so.
    const redacted = known === 'withheld' ? undefined : this.#read(examined, finals.length, !isCut);
    if (redacted === undefined || redacted.text === '') return;
    if (this.#shown?.turn === event.turn && this.#shown.text === redacted.text) return;
    this.#shown = { turn: event.turn, text: redacted.text };
    give(event, redacted);
    this.#dropInterims();
    this.#follow(event);
  }

  #eagerEnd(event: EagerEnd, known: Known): void {
    const finals = this.#finals();
    const examined = this.#examined(finals, pieceOf(event, known), 'settled');
    const redacted = known === 'withheld' ? undefined : this.#read(examined, finals.length, false);
    if (redacted === undefined || (examined?.settled ?? 0) <= finals.length) {
      this.#isEagerEndHidden = true;
      return;
    }
    event.text = redacted.text;
    this.#follow(event);
  }

  /** Behind what waits. */
  #follow(event: OutgoingEvent): void {
    if (this.#held.length === 0) this.#parts.outbox.send(event);
    else this.#hold({ kind: 'event', event });
  }

  #hold(held: Held): void {
    this.#held.push(held);
    if (this.#held.length > HELD_EVENTS_MAX) this.flush();
  }

  #dropInterims(): void {
    if (this.#held.length === 0) return;
    this.#held = this.#held.filter((held) => held.kind !== 'event' || !isInterim(held.event));
  }

  #finals(): HeldFinal[] {
    return this.#held.filter((held) => held.kind === 'final');
  }

  /** Undefined where the texts could not be read. */
  #examined(finals: readonly HeldFinal[], next: Piece | undefined, caution: 'shown' | 'settled'): Examined | undefined {
    const pieces = finals.map(({ event, known }) => pieceOf(event, known));
    const finder = caution === 'shown' ? this.#growing.find : undefined;
    const all = next === undefined ? pieces : [...pieces, next];
    try {
      return this.#examine(this.#context, all, this.#classes, caution, finder);
    } catch {
      this.#fail();
      return undefined;
    }
  }

  #read(examined: Examined | undefined, index: number, isCut: boolean): Redacted | undefined {
    try {
      return examined?.redacted(index, isCut);
    } catch {
      this.#fail();
      return undefined;
    }
  }

  #fail(): void {
    this.#parts.totals.redacted('failed');
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#parts.outbox.send(failedWarning());
  }

  /** The first finals leave, with what follows each. */
  #release(count: number, examined: Examined | undefined): void {
    let finals = 0;
    // One by one: the client may be cut off by any of them, and then the end of the session follows those that are left.
    for (let next = this.#held[0]; next !== undefined; next = this.#held[0]) {
      if (next.kind === 'final' && finals === count) break;
      if (next.kind === 'final') this.#settle(next, this.#read(examined, finals++, false));
      this.#held.shift();
      if (next.kind === 'note') this.#parts.log.turn(next.note, next.final.text);
      else this.#parts.outbox.send(next.event);
    }
    this.#wait();
  }

  #settle({ event, raw, known }: HeldFinal, read: Redacted | undefined): void {
    this.#context = contextAfter(this.#context, raw);
    const redacted = known === 'withheld' ? undefined : read;
    if (known === 'withheld') this.#fail();
    give(event, redacted ?? { text: raw === '' ? '' : UNREADABLE, found: [] });
    for (const kind of redacted?.found ?? []) {
      this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
      this.#parts.totals.redacted(kind);
    }
  }

  /** Until the first final that waits has waited long enough. */
  #wait(): void {
    const { clock } = this.#parts;
    this.stop();
    const [first] = this.#finals();
    if (first === undefined) return;
    this.#timer = clock.setTimeout(() => this.#expire(), Math.max(0, first.dueMs - clock.now()));
  }

  #expire(): void {
    const { clock, onFault } = this.#parts;
    this.#timer = undefined;
    const finals = this.#finals();
    const now = clock.now();
    const due = finals.filter(({ dueMs }) => dueMs <= now).length;
    try {
      if (due > 0) this.#release(due, this.#examined(finals, undefined, 'settled'));
      else this.#wait();
    } catch (error) {
      onFault(error);
    }
  }

  #withCounts(event: Extract<OutgoingEvent, { type: 'session_ended' }>): OutgoingEvent {
    if (this.#counts.size === 0) return event;
    const redactions = { ...event.redactions };
    for (const [kind, count] of this.#counts) redactions[kind] = (redactions[kind] ?? 0) + count;
    return { ...event, redactions };
  }
}

/** Most events are pieces as they are. */
const pieceOf = (event: Pick<TranscriptEvent, 'text' | 'words'>, known: Known): Piece =>
  known === 'withheld' || known.length === 0 ? event : { text: event.text, words: event.words, known };

const isInterim = (event: OutgoingEvent): boolean => event.type === 'transcript' && !event.is_final;

function give(event: TranscriptEvent, { text, words }: Redacted): void {
  event.text = text;
  if (words === undefined) delete event.words;
  else event.words = words;
}
