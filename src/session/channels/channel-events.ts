// What the sessions of several channels say, told to their client as one session: numbered together, each event with the channel
// that it is about. One beginning, one end, and one bill.
import type { EventEncoder } from '../../api/listen/event-encoder.ts';
import type { OutgoingEvent } from '../../api/listen.ts';
import { type ClientLine, writtenOut } from '../outbox.ts';
import type { SessionOpening } from '../session-opening.ts';
import { billOf, type Ended } from './channel-bill.ts';

export interface ChannelEventsOptions {
  /** Of all channels, in their order. */
  openings: readonly SessionOpening[];
  line: ClientLine;
  wallNow(): Date;
  /** Bytes that came to no whole frame. */
  restBytes(): number;
  /** A channel is over, and others are not. */
  onClosed(reason: Ended['reason'] | undefined): void;
}

interface Close {
  code: number;
  reason: string;
}

/** Warnings that every channel gives where one does. */
const OF_ALL: ReadonlySet<string> = new Set(['node_draining', 'audio_rate_suspect', 'audio_encoding_suspect']);

export class ChannelEvents {
  readonly #options: ChannelEventsOptions;
  readonly #encoder: EventEncoder | undefined;
  readonly #ended: (Ended | undefined)[] = [];
  readonly #closed = new Set<number>();
  /** Warnings and errors that are told once, by their codes. */
  readonly #told = new Set<string>();
  #seq = 0;
  /** Whose end is that of the session: the first that was not asked for. */
  #first: { channel: number; close: Close } | undefined;
  /** While it is opened, the channels say all the same. */
  isOpening = true;

  constructor(options: ChannelEventsOptions) {
    this.#options = options;
    this.#encoder = options.openings[0]?.encoder;
  }

  isClosed(channel: number): boolean {
    return this.#closed.has(channel);
  }

  get hasClosed(): boolean {
    return this.#closed.size > 0;
  }

  /** What the session of a channel is opened with, in the place of the client's own. */
  partsOf(channel: number): { encoder: EventEncoder; line: ClientLine } {
    const { line } = this.#options;
    return {
      encoder: {
        encode: (event, { at }) => this.#encode(channel, event, at),
        close: (code, reason) => ({ code, reason }),
      },
      line: {
        send: (text) => line.send(text),
        get bufferedBytes() {
          return line.bufferedBytes;
        },
        close: (code, reason) => this.#close(channel, { code, reason }),
      },
    };
  }

  #encode(channel: number, event: OutgoingEvent, at: Date): readonly string[] {
    if (event.type === 'session_started') return channel === 0 ? this.#write(this.#started(event), at) : [];
    if (event.type === 'session_ended') {
      this.#ended[channel] = event;
      return [];
    }
    if (event.type === 'error' || event.type === 'warning') return this.#notice(channel, event, at);
    if (event.type !== 'received') event.channel = channel;
    return this.#write(event, at);
  }

  /** What is about the whole session is told once, and of no channel. */
  #notice(channel: number, event: Extract<OutgoingEvent, { type: 'error' | 'warning' }>, at: Date): readonly string[] {
    const isError = event.type === 'error';
    if (!isError && this.isOpening) return channel === 0 ? this.#write(event, at) : [];
    const isOfAll = isError ? event.error.type !== 'upstream_error' : OF_ALL.has(event.code);
    if (!isOfAll) event.channel = channel;
    else if (!isError || event.error.code !== 'invalid_request') {
      const code = isError ? event.error.code : event.code;
      if (this.#told.has(code)) return [];
      this.#told.add(code);
    }
    return this.#write(event, at);
  }

  #started(event: Extract<OutgoingEvent, { type: 'session_started' }>): OutgoingEvent {
    const { openings } = this.#options;
    const sessions = openings.map(({ sessionId }) => sessionId);
    return { ...event, channels: openings.length, channel_sessions: sessions };
  }

  #write(event: OutgoingEvent, at: Date): readonly string[] {
    this.#seq++;
    const stamp = { sessionId: this.#options.openings[0]?.sessionId ?? '', seq: this.#seq, at };
    return this.#encoder === undefined ? [writtenOut(event, stamp)] : this.#encoder.encode(event, stamp);
  }

  #close(channel: number, close: Close): void {
    if (this.#closed.has(channel)) return;
    this.#closed.add(channel);
    if (close.code !== 1000) this.#first ??= { channel, close };
    if (this.#closed.size < this.#options.openings.length) this.#options.onClosed(this.#ended[channel]?.reason);
    else this.#finish();
  }

  #finish(): void {
    const { line, wallNow, restBytes } = this.#options;
    const { channel, close } = this.#first ?? { channel: 0, close: { code: 1000, reason: '' } };
    const ended = this.#ended.filter((each) => each !== undefined);
    const reason = this.#ended[channel]?.reason ?? 'error';
    for (const text of this.#write(billOf(ended, reason, restBytes()), wallNow())) line.send(text);
    const { code, reason: why } = this.#encoder?.close(close.code, close.reason) ?? close;
    line.close(code, why);
  }
}
