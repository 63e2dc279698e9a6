// One telephone call: what is told of its session is kept for whoever comes late, and goes to all who listen, and to its webhook.

import type { EventEncoder, EventStamp, OutgoingEvent } from '../../api/listen-events.ts';
import { KeptTexts } from '../resume/kept-texts.ts';
import { type ClientLine, writtenOut } from '../session/outbox.ts';
import type { Webhook } from './webhook.ts';

/** What is kept of one call: some minutes of events. */
const KEPT_BYTES_MAX = 1024 * 1024;
/** Listeners of one call. */
const LISTENERS_MAX = 16;

/** Who is told of a call. */
export interface CallListener {
  say(text: string): void;
  /** Nothing follows. */
  over(code: number, reason: string): void;
}

export interface CallOptions {
  sessionId: string;
  organisationId: string;
  names: readonly string[];
  webhook: Webhook | undefined;
  wallNow(): Date;
  /** Everything was said. */
  ended(call: Call): void;
}

export class Call {
  readonly #options: CallOptions;
  readonly #kept = new KeptTexts(KEPT_BYTES_MAX);
  readonly #listeners = new Set<CallListener>();
  #end: { code: number; reason: string } | undefined;

  constructor(options: CallOptions) {
    this.#options = options;
  }

  get sessionId(): string {
    return this.#options.sessionId;
  }

  get organisationId(): string {
    return this.#options.organisationId;
  }

  get names(): readonly string[] {
    return this.#options.names;
  }

  get keptBytes(): number {
    return this.#kept.bytes;
  }

  /** Number of the last event. */
  get lastSeq(): number {
    return this.#kept.lastSeq;
  }

  get isFull(): boolean {
    return this.#listeners.size >= LISTENERS_MAX;
  }

  /** Interims pass: of them the listeners hear, and the webhook does not. */
  tell(event: OutgoingEvent, stamp: EventStamp): void {
    const text = writtenOut(event, stamp);
    this.#kept.add(text);
    for (const listener of this.#listeners) listener.say(text);
    if (event.type !== 'transcript' || event.is_final) this.#options.webhook?.say(text);
  }

  end(code: number, reason: string): void {
    if (this.#end !== undefined) return;
    this.#end = { code, reason };
    for (const listener of this.#listeners) listener.over(code, reason);
    this.#listeners.clear();
    this.#options.webhook?.end();
    this.#options.ended(this);
  }

  /** Tells what is kept behind that event, and what comes. Gives back what ends it. */
  attach(listener: CallListener, after: number): () => void {
    const missing = this.#kept.firstSeq - 1 - after;
    if (missing > 0) listener.say(this.#missed(missing));
    for (const text of this.#kept.after(after)) listener.say(text);
    if (this.#end !== undefined) listener.over(this.#end.code, this.#end.reason);
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #missed(count: number): string {
    const message = `${count} events before this one are kept no longer.`;
    const warning = { type: 'warning', code: 'events_not_kept', message } as const;
    const { sessionId, wallNow } = this.#options;
    return writtenOut(warning, { sessionId, seq: this.#kept.firstSeq - 1, at: wallNow() });
  }
}

/**
 * The carrier's end of a call: its client is told in its own words, and the session goes on to its last final when the carrier has
 * hung up.
 */
export function carrierEnd(
  call: Call,
  socket: ClientLine,
  encoder: EventEncoder,
): { encoder: EventEncoder; line: ClientLine } {
  let isGone = false;
  return {
    encoder: {
      encode: (event, stamp) => {
        call.tell(event, stamp);
        return encoder.encode(event, stamp);
      },
      // Others are told in the gateway's words.
      close: (code, reason) => ({ code, reason }),
    },
    line: {
      send: (text) => {
        isGone ||= socket.send(text) === 'gone';
        return 'sent';
      },
      get bufferedBytes() {
        return isGone ? 0 : socket.bufferedBytes;
      },
      close: (code, reason) => {
        call.end(code, reason);
        const own = encoder.close(code, reason);
        socket.close(own.code, own.reason);
      },
    },
  };
}
