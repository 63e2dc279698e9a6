// What a session says, on its way to the client: numbered and stamped as it leaves, held back within a bound while the
// client does not read. An interim may be replaced by a later one; a final is never dropped in silence.
import type { EventEncoder, EventStamp, OutgoingEvent } from '../../api/listen-events.ts';
import type { TurnNote } from './watch/session-observer.ts';

/** The client's end, as far as the outbox needs it. */
export interface ClientLine {
  send(text: string): 'sent' | 'queued' | 'gone';
  readonly bufferedBytes: number;
  /** Nobody is at its end for now: it keeps what it is given for a client that comes back, within a bound of its own. */
  readonly isKeeping?: boolean;
  close(code: number, reason: string): void;
}

export interface OutboxOptions {
  sessionId: string;
  line: ClientLine;
  /** In whose words events are written; the gateway's own when absent. */
  encoder?: EventEncoder | undefined;
  /** Unread bytes in the socket from which events wait here. */
  unreadBytesMax: number;
  /** Events that may wait here. */
  unreadEventsMax: number;
  wallNow(): Date;
  /** Everything that is to be told, whether or not the client hears it. */
  onEvent?(event: OutgoingEvent): void;
  /** An event that matters could not be held any more: the client is to be cut off. Called once. */
  onOverflow(): void;
  /** An event was dropped: a later one says more, there was no room for it, or the client is gone. */
  onDrop(name: 'interim_coalesced' | 'event_dropped' | 'event_undeliverable'): void;
}

/** What stands between a session and its outbox where text is redacted or replaced. */
export interface EventTexts {
  push(event: OutgoingEvent): void;
  /** In the place of the session's log. */
  turn(note: TurnNote, text: string): void;
  /** Resolves when nothing waits for an answer about its text. */
  settled?(): Promise<void>;
  /** Nothing is waited for any more: everything that waits is sent now, without what was not checked. */
  conclude?(): void;
}

export class Outbox {
  readonly #options: OutboxOptions;
  /** Everything that is pushed goes there first, and comes back by `send`. */
  texts: EventTexts | undefined;
  #waiting: OutgoingEvent[] = [];
  #seq = 0;
  #phase: 'open' | 'ending' | 'ended' = 'open';
  #gone = false;
  #overflowed = false;
  #whenEmpty: (() => void) | undefined;
  /** Finals that could not be given to the client. */
  undeliveredFinals = 0;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Number of events that wait. */
  get size(): number {
    return this.#waiting.length;
  }

  push(event: OutgoingEvent): void {
    if (this.texts === undefined) this.send(event);
    else this.texts.push(event);
  }

  /** An event as it leaves. */
  send(event: OutgoingEvent): void {
    this.#options.onEvent?.(event);
    if (this.#gone || this.#phase === 'ended') {
      if (isFinal(event)) this.undeliveredFinals++;
      this.#options.onDrop('event_undeliverable');
      return;
    }
    if (this.#waiting.length === 0 && this.#options.line.bufferedBytes <= this.#options.unreadBytesMax)
      this.#emit(event);
    else this.#hold(event);
    if (event.type === 'session_ended') this.#phase = 'ended';
  }

  /** The session ends: the few events still to come are held whatever waits already, and none follows `session_ended`. */
  beginEnd(): void {
    if (this.#phase === 'open') this.#phase = 'ending';
  }

  /** The socket has room again. */
  drained(): void {
    while (this.#waiting.length > 0 && this.#options.line.bufferedBytes <= this.#options.unreadBytesMax) {
      this.#emit(this.#waiting.shift() as OutgoingEvent);
    }
    if (this.#waiting.length === 0) this.#whenEmpty?.();
  }

  /** The client is gone: nothing more is sent. */
  abandon(): void {
    this.#gone = true;
    this.undeliveredFinals += this.#waiting.filter(isFinal).length;
    this.#waiting = [];
    this.#whenEmpty?.();
  }

  /** Resolves when every event is in the socket, or when there is no hope of it. */
  async flushed(): Promise<void> {
    if (this.texts?.settled !== undefined) await this.texts.settled();
    if (this.#waiting.length === 0 || this.#overflowed) return;
    await new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
    });
  }

  /** Sends what waits, and the close frame behind it: a client that reads on until the socket is cut misses nothing. */
  close(code: number, reason: string): void {
    const { line, encoder } = this.#options;
    try {
      this.texts?.conclude?.();
      this.#emitAll();
    } finally {
      // Also where an event could not be sent: a socket that is not closed is kept by its client.
      this.#gone = true;
      const last = encoder === undefined ? { code, reason } : encoder.close(code, reason);
      line.close(last.code, last.reason);
    }
  }

  #emitAll(): void {
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) this.#emit(event);
  }

  #emit(event: OutgoingEvent): void {
    this.#seq++;
    const { sessionId, wallNow, line, encoder } = this.#options;
    const stamp = { sessionId, seq: this.#seq, at: wallNow() };
    if (encoder === undefined) {
      if (line.send(writtenOut(event, stamp)) !== 'gone') return;
    } else if (encoder.encode(event, stamp).every((text) => line.send(text) !== 'gone')) return;
    if (isFinal(event)) this.undeliveredFinals++;
    this.abandon();
  }

  #hold(event: OutgoingEvent): void {
    // Whatever this event says replaces the interims that wait: they are older.
    if (event.type === 'transcript') this.#dropInterims();
    if (event.type === 'received') this.#waiting = this.#waiting.filter(({ type }) => type !== 'received');
    if (this.#waiting.length >= this.#options.unreadEventsMax && this.#options.line.isKeeping === true) this.#emitAll();
    if (this.#waiting.length < this.#options.unreadEventsMax || this.#phase === 'ending') {
      this.#waiting.push(event);
      return;
    }
    if (isFinal(event)) this.undeliveredFinals++;
    this.#options.onDrop('event_dropped');
    if (isPassing(event) || this.#overflowed) return;
    this.#overflowed = true;
    this.#options.onOverflow();
  }

  #dropInterims(): void {
    const kept = this.#waiting.filter((event) => event.type !== 'transcript' || event.is_final);
    for (let count = this.#waiting.length - kept.length; count > 0; count--) this.#options.onDrop('interim_coalesced');
    this.#waiting = kept;
  }
}

/** Every event begins with its type; the stamp goes behind it as text, which is cheaper than another object. */
export function writtenOut(event: OutgoingEvent, { sessionId, seq, at }: EventStamp): string {
  const type = `{"type":"${event.type}"`;
  const stamp = `,"session_id":"${sessionId}","seq":${seq},"at":"${at.toISOString()}"`;
  return type + stamp + JSON.stringify(event).slice(type.length);
}

const isFinal = (event: OutgoingEvent): boolean => event.type === 'transcript' && event.is_final;

/** What a later event says again, or better. */
const isPassing = (event: OutgoingEvent): boolean =>
  event.type === 'speech_started' || event.type === 'received' || (event.type === 'transcript' && !event.is_final);
