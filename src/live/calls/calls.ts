// The calls of this node: found by their sessions and by their names, while they last and for a while behind that.
import type { BlockList } from 'node:net';
import type { Clock } from '../../../machines/clock.ts';
import type { ApiError } from '../../api/errors.ts';
import type { EventEncoder, EventStamp, OutgoingEvent } from '../../api/listen-events.ts';
import type { CallRequest } from '../../vendors/compat/dialect.ts';
import { KeptTexts } from '../resume/resumable-line.ts';
import { type ClientLine, writtenOut } from '../session/outbox.ts';
import type { SessionOpening } from '../session/session-opening.ts';
import { openPoster, type Poster, Webhook } from './webhook.ts';

/** What is kept of all calls that have ended; the oldest is released beyond it. */
const ENDED_BYTES_MAX = 64 * 1024 * 1024;
/** What every one of them counts besides. */
const ENDED_BYTES = 1024;

export interface CallsOptions {
  clock: Clock;
  wallNow(): Date;
  /** How long a call that has ended is kept. */
  keptMs: number;
  /** Private networks that events may be posted to. */
  networks: BlockList | undefined;
  /** A webhook begins, and is done: a node that stops waits for it. */
  posts: { opened(): void; closed(): void };
  onDrop(name: 'webhook_event' | 'ended_call'): void;
}

export class Calls {
  readonly #options: CallsOptions;
  readonly #poster: Poster;
  readonly #bySession = new Map<string, Call>();
  /** Of one organisation: a name that comes again is that of the later call. */
  readonly #byName = new Map<string, Call>();
  /** In the order of their ends. */
  readonly #ended = new Map<Call, { bytes: number; timer: unknown }>();
  #endedBytes = 0;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#poster = openPoster(options.networks);
  }

  get size(): number {
    return this.#bySession.size;
  }

  /** @param encoder in whose words the carrier is told */
  open(
    clientRequest: CallRequest,
    { sessionId, organisationId }: SessionOpening,
    socket: ClientLine,
    encoder: EventEncoder,
  ) {
    const { carrier, names } = clientRequest;
    const about = { session_id: sessionId, call: { carrier, names } };
    const webhook = this.#webhookOf(clientRequest, organisationId, sessionId, about);
    const { wallNow } = this.#options;
    const ended = (call: Call) => this.#keep(call);
    const call = new Call({ sessionId, organisationId, names, webhook, wallNow, ended });
    this.#bySession.set(sessionId, call);
    for (const name of names) {
      const key = keyOf(organisationId, name);
      const before = this.#byName.get(key);
      // A call that continues keeps its names, whoever else says them.
      if (before === undefined || this.#ended.has(before)) this.#byName.set(key, call);
    }
    return carrierEnd(call, socket, encoder);
  }

  /** A call whose session was not opened: its webhook hears why, since its carrier tells nobody. */
  refused(clientRequest: CallRequest, refusal: ApiError, requestId: string): void {
    const { carrier, names } = clientRequest;
    const webhook = this.#webhookOf(clientRequest, '', requestId, { session_id: null, call: { carrier, names } });
    webhook?.say(JSON.stringify({ type: 'error', error: refusal.body(requestId) }));
    webhook?.end();
  }

  /** @param name the id of its session, or one of its names */
  find(organisationId: string, name: string): Call | undefined {
    const call = this.#bySession.get(name) ?? this.#byName.get(keyOf(organisationId, name));
    return call?.organisationId === organisationId ? call : undefined;
  }

  close(): void {
    for (const call of this.#ended.keys()) this.#forget(call);
    this.#poster.close();
  }

  #webhookOf(
    { eventsUrl, eventsSecret }: CallRequest,
    customer: string,
    id: string,
    about: object,
  ): Webhook | undefined {
    if (eventsUrl === undefined) return undefined;
    const { clock, wallNow, posts, onDrop } = this.#options;
    const url = new URL(eventsUrl);
    posts.opened();
    return new Webhook({
      ...{ url, secret: eventsSecret, about, id, post: this.#poster.postOf(customer), clock, wallNow },
      dropped: () => onDrop('webhook_event'),
      done: () => posts.closed(),
    });
  }

  #keep(call: Call): void {
    const bytes = call.keptBytes + ENDED_BYTES;
    const { clock, keptMs, onDrop } = this.#options;
    this.#ended.set(call, { bytes, timer: clock.setTimeout(() => this.#forget(call), keptMs) });
    this.#endedBytes += bytes;
    for (const oldest of this.#ended.keys()) {
      if (this.#endedBytes <= ENDED_BYTES_MAX) break;
      onDrop('ended_call');
      this.#forget(oldest);
    }
  }

  #forget(call: Call): void {
    const kept = this.#ended.get(call);
    if (kept === undefined) return;
    this.#ended.delete(call);
    this.#endedBytes -= kept.bytes;
    this.#options.clock.clearTimeout(kept.timer);
    this.#bySession.delete(call.sessionId);
    for (const name of call.names) {
      const key = keyOf(call.organisationId, name);
      if (this.#byName.get(key) === call) this.#byName.delete(key);
    }
  }
}

const keyOf = (organisationId: string, name: string): string => `${organisationId} ${name}`;

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

/** One telephone call: what is told of its session is kept for whoever comes late, and goes to all who listen, and to its webhook. */
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
function carrierEnd(
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
