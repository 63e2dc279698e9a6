// A client that sends several channels: each is a session of its own, with its own leg, place and money, and all of them together
// are one session to the client. What one of them says is decided in session.ts.
import type { ClientMessage } from '../../api/listen.ts';
import { ChannelSplit } from '../../audio/channel-split.ts';
import { ContainerSniffer } from '../../audio/container.ts';
import { containerWords } from '../../audio/opus/packet-source.ts';
import type { AbortCode, OrderlyCode } from '../billing/end-charges.ts';
import type { SessionHost } from '../host.ts';
import type { ClientLine } from '../outbox.ts';
import type { LiveSession } from '../session.ts';
import type { SessionOpening } from '../session-opening.ts';
import { ChannelEvents } from './channel-events.ts';

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

  /** One channel is over: without it the others are not the session that was asked for. Each has its last finals first. */
  #endOthers(isDrain: boolean): void {
    if (this.#events.isOpening) return;
    if (!isDrain) this.control({ type: 'close' });
    else for (const session of this.#open) session.drain();
  }
}
