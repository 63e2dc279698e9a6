// A client that sends several channels: each is a session of its own, with its own leg, place and money, and all of them together
// are one session to the client. What one of them says is decided in session.ts.

import type { ClientMessage } from '../../api/listen.ts';
import type { EventEncoder, OutgoingEvent, UsageRow } from '../../api/listen-events.ts';
import { ChannelSplit } from '../../audio/channel-split.ts';
import { ContainerSniffer } from '../../audio/containers/detection.ts';
import { containerWords } from '../../audio/streams/sound-stream.ts';
import { microUsdOf, usdOf } from '../../config/prices/price.ts';
import type { AbortCode, OrderlyCode } from './billing/end-charges.ts';
import type { SessionHost } from './host.ts';
import { type ClientLine, writtenOut } from './outbox.ts';
import type { LiveSession } from './session.ts';
import type { SessionOpening } from './session-opening.ts';

/** A session as its socket knows it, of one channel or of several. */
export interface ClientSession
  extends Pick<
    LiveSession,
    'audio' | 'control' | 'misunderstood' | 'received' | 'abort' | 'stop' | 'drained' | 'gone' | 'fault'
  > {
  readonly pipeline: Pick<LiveSession['pipeline'], 'isDecoding'>;
}

/** @param wallNow stamps what is said of the whole */
export function openSession(
  host: Pick<SessionHost, 'open'>,
  opening: SessionOpening,
  line: ClientLine,
  wallNow: () => Date,
): ClientSession {
  return opening.others === undefined ? host.open(opening, line) : new ChannelGroup(host, opening, line, wallNow);
}

class ChannelGroup implements ClientSession {
  /** Samples only. */
  readonly pipeline = { isDecoding: false };
  readonly #events: ChannelEvents;
  readonly #split: ChannelSplit;
  readonly #sniffer = new ContainerSniffer();
  readonly #encoding: string;
  readonly #sessions: LiveSession[] = [];
  /** No more audio is taken. */
  #isEnding = false;

  constructor(host: Pick<SessionHost, 'open'>, first: SessionOpening, line: ClientLine, wallNow: () => Date) {
    const { request, others = [], ...shared } = first;
    const openings = [first, ...others];
    this.#encoding = request.encoding;
    this.#split = new ChannelSplit(openings.length, request.encoding === 'linear16' ? 2 : 1);
    this.#events = new ChannelEvents({
      openings,
      line,
      wallNow,
      restBytes: () => this.#split.restBytes,
      onClosed: (reason) => this.#endOthers(reason === 'draining'),
    });
    const more = shared.messageBytesMax === undefined ? {} : { messageBytesMax: shared.messageBytesMax };
    try {
      for (const [channel, opening] of openings.entries()) {
        const { encoder, line: own } = this.#events.partsOf(channel);
        this.#sessions.push(host.open({ ...opening, ...more, encoder }, own));
      }
    } catch (error) {
      this.fault('open', error);
      throw error;
    }
    this.#events.isOpening = false;
    if (this.#events.hasClosed) this.#endOthers(false);
  }

  audio(bytes: Uint8Array): void {
    // Refused there, in its words.
    if (this.#isEnding) {
      this.#open[0]?.audio(bytes);
      return;
    }
    const container = this.#sniffer.settled ? undefined : this.#sniffer.look(bytes);
    if (container !== undefined) this.abort('unsupported_audio', containerWords(container, this.#encoding));
    else this.#split.take(bytes, this.#give);
  }

  readonly #give = (channel: number, bytes: Uint8Array): void => this.#sessions[channel]?.audio(bytes);

  control(message: ClientMessage): void {
    if (message.type === 'close') this.#isEnding = true;
    for (const session of this.#open) session.control(message);
  }

  misunderstood(message: string, param?: string): void {
    this.#open[0]?.misunderstood(message, param);
  }

  received(bytes: number): void {
    this.#open[0]?.received(bytes);
  }

  abort(code: AbortCode, message: string): void {
    for (const session of this.#open) session.abort(code, message);
  }

  stop(reason: Parameters<LiveSession['stop']>[0], code: OrderlyCode, message: string): void {
    for (const session of this.#open) session.stop(reason, code, message);
  }

  drained(): void {
    for (const session of this.#open) session.drained();
  }

  gone(): void {
    this.#isEnding = true;
    for (const session of this.#open) session.gone();
  }

  fault(name: string, error: unknown): void {
    for (const session of this.#open) session.fault(name, error);
  }

  get #open(): LiveSession[] {
    return this.#sessions.filter((_, channel) => !this.#events.isClosed(channel));
  }

  /** One channel is over: without it the others are not the session that was requested. Each has its last finals first. */
  #endOthers(isDrain: boolean): void {
    if (this.#events.isOpening) return;
    if (!isDrain) this.control({ type: 'close' });
    else for (const session of this.#open) session.drain();
  }
}

interface ChannelEventsOptions {
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

/** The events of the channels as those of one session: numbered together, each with its channel, with one beginning and one end. */
class ChannelEvents {
  readonly #options: ChannelEventsOptions;
  readonly #encoder: EventEncoder | undefined;
  readonly #ended: (Ended | undefined)[] = [];
  readonly #closed = new Set<number>();
  /** Warnings and errors that are told once, by their codes. */
  readonly #told = new Set<string>();
  #seq = 0;
  /** Whose end is that of the session: the first that was not requested. */
  #first: { channel: number; close: Close } | undefined;
  /** While it is opened, the channels say anyway. */
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

type Ended = Extract<OutgoingEvent, { type: 'session_ended' }>;

/**
 * The bill of the whole: the sum of the channels'.
 *
 * @param restBytes that came to no whole sample of every channel
 */
function billOf(ended: readonly Ended[], reason: Ended['reason'], restBytes: number): Ended {
  const redactions = redactionsOf(ended);
  const droppedBytes = ended.reduce((sum, { dropped_bytes = 0 }) => sum + dropped_bytes, restBytes);
  return {
    type: 'session_ended',
    reason,
    audio_seconds: Math.max(0, ...ended.map(({ audio_seconds: seconds }) => seconds)),
    usage: usageOf(ended.flatMap(({ usage }) => usage)),
    cost_usd: sumOf(ended.map(({ cost_usd: cost }) => cost)),
    ...(redactions === undefined ? {} : { redactions }),
    ...(droppedBytes === 0 ? {} : { dropped_bytes: droppedBytes }),
  };
}

function redactionsOf(ended: readonly Ended[]): Ended['redactions'] {
  const counts: Record<string, number> = {};
  for (const { redactions = {} } of ended)
    for (const [kind, count] of Object.entries(redactions)) counts[kind] = (counts[kind] ?? 0) + count;
  return Object.keys(counts).length === 0 ? undefined : counts;
}

/** One row for each model and account. */
function usageOf(rows: readonly UsageRow[]): UsageRow[] {
  const byModel = new Map<string, UsageRow[]>();
  for (const row of rows) {
    const key = `${row.model} ${row.byok}`;
    byModel.set(key, [...(byModel.get(key) ?? []), row]);
  }
  return [...byModel.values()].map((same) => {
    const connections = same.flatMap(({ connection_seconds: seconds }) => seconds ?? []);
    return {
      ...(same[0] as UsageRow),
      seconds: secondsIn(same.map(({ seconds }) => seconds)),
      ...(connections.length === 0 ? {} : { connection_seconds: secondsIn(connections) }),
      cost_usd: sumOf(same.map(({ cost_usd: cost }) => cost)),
    };
  });
}

const sumOf = (amounts: readonly string[]): string =>
  usdOf(amounts.reduce((sum, amount) => sum + microUsdOf(amount), 0n));

/** In whole milliseconds, as each of them is. */
const secondsIn = (values: readonly number[]): number =>
  Math.round(values.reduce((sum, seconds) => sum + seconds, 0) * 1_000) / 1_000;
