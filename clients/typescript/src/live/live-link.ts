// A live session over as many connections as it takes: where one broke its session goes on with another, or a new one begins. What
// the consumer may call is live-session.ts, what it is told session-events.ts; when to try again is reconnect.ts.

import type { Credentials } from '../credentials.ts';
import { ConnectionError, TimeoutError, VoxgateError } from '../errors.ts';
import { type SessionEvent, WIRE_EVENTS, type WireEvent } from '../events.ts';
import { pause } from '../http/backoff.ts';
import type { ErrorEvent, EventHead, SessionResumed, SessionStarted } from '../types/events.ts';
import { Connection, type ConnectionHandlers } from './connection.ts';
import { inTime } from './in-time.ts';
import type { StartMessage } from './listen-options.ts';
import { OutgoingAudio } from './outgoing-audio.ts';
import { type Closed, CONNECT_TIMEOUT, type Loss, lossOf } from './reconnection/loss.ts';
import { Progress } from './reconnection/progress.ts';
import { isLost, type ReconnectOptions, Retries } from './reconnection/reconnect.ts';
import { Resumption } from './reconnection/resumption.ts';
import { type Reconnection, SessionEvents } from './session-events.ts';
import type { SessionSummary } from './summary.ts';
import { type WebSocketConstructor, webSocketOf } from './web-socket.ts';

export interface LiveLinkOptions {
  url: string;
  /** Sent as soon as a connection is there. */
  start: StartMessage | undefined;
  credentials: Credentials;
  webSocket: WebSocketConstructor | undefined;
  sampleRate: number;
  bytesPerSample: number;
  reconnect: Required<ReconnectOptions>;
  connectTimeoutMs: number;
  onEvent(event: SessionEvent): void;
  /** Once, and nothing after it. */
  onEnd(outcome: { summary: SessionSummary } | { error: unknown }): void;
}

export class LiveLink {
  readonly audio: OutgoingAudio;
  readonly #options: LiveLinkOptions;
  readonly #events: SessionEvents;
  readonly #retries: Retries;
  readonly #progress: Progress;
  readonly #resumption: Resumption;
  readonly #stop = new AbortController();
  #connection: Connection | undefined;
  #connectTimer: ReturnType<typeof setTimeout> | undefined;
  #isOpen = false;
  /** What the gateway said to a connection that it did not open. */
  #refusal: ErrorEvent | undefined;
  /** All is heard but the end of the session and its bill: worth one more connection. */
  #seeksEnd = false;
  /** What broke the last session, and not the attempts that followed. */
  #broke: Loss | undefined;
  #hasRenewed = false;
  #isOver = false;

  constructor(options: LiveLinkOptions) {
    this.#options = options;
    const { sampleRate, bytesPerSample, reconnect, onEvent } = options;
    this.#events = new SessionEvents(sampleRate, onEvent);
    this.#retries = new Retries(reconnect);
    this.#progress = new Progress(reconnect.totalMs);
    this.#resumption = new Resumption(reconnect.attemptsMax > 0);
    this.audio = new OutgoingAudio({ sampleRate, bytesPerSample, replaySecondsMax: reconnect.replaySecondsMax });
    this.#run().catch((error) => this.#end({ error }));
  }

  /** Ends it at once; nothing more is heard. */
  terminate(outcome?: { error: unknown }): void {
    if (this.#isOver) return;
    this.#end(outcome ?? { summary: this.#events.terminated(this.audio.seconds) });
    this.#connection?.abandon(1000, '');
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const loss = await this.#connect();
      if (this.#isOver) return;
      if (loss === 'ask_for_less') continue;
      const waitMs = loss === undefined ? undefined : this.#waitMs(loss);
      if (loss === undefined || waitMs === undefined) {
        this.#conclude(loss);
        return;
      }
      this.#broke ??= loss;
      if (!this.#resumption.isWaiting) this.#events.forget();
      this.#events.reconnecting({ attempt: this.#retries.attempts, reason: loss.reason }, waitMs);
      await pause(waitMs, this.#stop.signal);
    }
  }

  /** Milliseconds until the next connection; undefined where there is to be none. */
  #waitMs({ advice, error }: Loss): number | undefined {
    if (error.code === 'token_expired' && this.#options.credentials.isRenewable && !this.#hasRenewed) {
      this.#hasRenewed = true;
      return 0;
    }
    return this.#retries.next(advice, performance.now());
  }

  /**
   * Resolves when the connection is over: with nothing where the session ended in order, with `ask_for_less` where the gateway does
   * not go on with the session, and is to be asked for a new one at once.
   */
  async #connect(): Promise<Loss | 'ask_for_less' | undefined> {
    this.#isOpen = false;
    this.#progress.begin();
    this.#refusal = undefined;
    const { credentials, webSocket, connectTimeoutMs } = this.#options;
    const untilMs = performance.now() + connectTimeoutMs;
    let credential: string;
    let Socket: WebSocketConstructor;
    try {
      credential = await inTime(credentials.forConnection(), connectTimeoutMs, this.#stop.signal);
      Socket = await webSocketOf(webSocket);
    } catch (error) {
      if (!(error instanceof VoxgateError)) throw error;
      const isPassing = error instanceof ConnectionError || error instanceof TimeoutError;
      return { reason: error.code, advice: isPassing ? 'back_off' : 'stop', error };
    }
    if (this.#isOver) return undefined;
    return new Promise((resolve, reject) => {
      const handlers: ConnectionHandlers = {
        event: (event) => this.#hear(event),
        closed: (code, reason, cause) => {
          clearTimeout(this.#connectTimer);
          this.audio.disconnect();
          resolve(this.#closed({ code, reason, cause }));
        },
      };
      try {
        const connection = new Connection(Socket, this.#dialed(), credential, handlers);
        this.#connection = connection;
        const restMs = Math.max(1, untilMs - performance.now());
        this.#connectTimer = setTimeout(() => connection.abandon(1006, CONNECT_TIMEOUT), restMs);
      } catch (cause) {
        // A page that came by https may not dial ws://, say.
        reject(new ConnectionError('A WebSocket to this URL cannot be made.', { code: 'connection_failed', cause }));
      }
    });
  }

  /** A new session, or the one that waits. Where it may not be wanted, nothing says how a new one would be opened. */
  #dialed() {
    const { url, start } = this.#options;
    const { isWaiting } = this.#resumption;
    const anew = !this.#seeksEnd && start === undefined;
    const address = this.#resumption.address(url, this.#events.heardSeconds, anew);
    return { url: address, start: isWaiting ? undefined : start };
  }

  #hear(heard: EventHead & { type: string }): void {
    const event = WIRE_EVENTS.has(heard.type) ? (heard as WireEvent) : undefined;
    if (event?.type === 'session_started') this.#begin(event);
    else if (event?.type === 'session_resumed') this.#goOn(event);
    else if (!this.#isOpen) {
      if (event?.type === 'error') this.#refusal = event;
      return;
    }
    this.#resumption.heard(heard.seq);
    if (event !== undefined) this.#heard(event);
  }

  #heard(event: WireEvent): void {
    if (event.type === 'session_started' || event.type === 'session_resumed') return;
    if (event.type === 'received') {
      this.#took(event.bytes);
      return;
    }
    this.#progress.heard(event, performance.now());
    if (this.#events.heard(event)) {
      this.#retries.reset();
      this.audio.covered(this.#events.coveredSample);
    }
  }

  #open(): void {
    clearTimeout(this.#connectTimer);
    this.#connection?.watch(() => this.audio.pendingMs);
    this.#isOpen = true;
    this.#progress.opened(performance.now());
    this.#hasRenewed = false;
  }

  #begin(event: SessionStarted): void {
    this.#open();
    const { audio } = this;
    this.#resumption.began(event);
    const frameBytesMax = event.limits.binary_frame_bytes;
    const from = audio.connect(this.#connection as Connection, frameBytesMax, this.#events.coveredSample);
    this.#progress.began(from.originSample);
    this.#events.began(event, from.originSample, from.replayedSamples, this.#reconnection());
    audio.pump();
  }

  /** The session goes on, unless what follows the audio that it has is kept no longer. */
  #goOn(event: SessionResumed): void {
    this.#open();
    const connection = this.#connection as Connection;
    if (!this.audio.resume(connection, event.received_bytes)) {
      this.#resumption.drop();
      connection.abandon(1000, '');
      return;
    }
    this.#events.reconnected(event, this.#reconnection());
    this.#took(event.received_bytes);
    this.audio.pump();
  }

  /** The gateway has so many bytes of what the session was sent. */
  #took(bytes: number): void {
    this.#progress.took(bytes / this.#options.bytesPerSample);
  }

  #reconnection(): Reconnection {
    const reason = this.#broke?.reason ?? 'close_1006';
    this.#broke = undefined;
    return { attempt: this.#retries.attempts, reason };
  }

  /** Undefined where the session ended in order, or has nothing left to be heard. */
  #closed(closed: Closed): Loss | 'ask_for_less' | undefined {
    const wasOpen = this.#isOpen;
    const { endReason } = this.#events;
    const isCut = endReason === undefined && isLost(closed.code);
    if (this.#progress.isMade(isCut, performance.now())) this.#retries.reset();
    const told = wasOpen ? this.#events.error : this.#refusal;
    if (wasOpen) this.#resumption.closed(closed.code, endReason !== undefined);
    // What the gateway said of its end counts, whether or not its close frame came through.
    if (endReason === 'client_closed' || (endReason !== undefined && closed.code === 1000)) return undefined;
    const isRefused = !wasOpen && this.#resumption.refused(closed.code, told?.error.param ?? null);
    const loss = lossOf(closed, told);
    const isHeard = this.#events.hasBegun && this.audio.isClosed && this.audio.isCovered;
    if (isHeard && (isRefused || loss.advice !== 'stop')) {
      // Nothing is left to be heard: of its end the session is asked once, and does not matter any more then.
      if (!this.#resumption.isWaiting || this.#seeksEnd) {
        this.#events.forget();
        return undefined;
      }
      this.#seeksEnd = true;
    }
    return isRefused ? 'ask_for_less' : loss;
  }

  /** There is no other connection: it ended in order where nothing is left to be heard. */
  #conclude(loss: Loss | undefined): void {
    const { seconds } = this.audio;
    if (loss === undefined || this.#seeksEnd) this.#end({ summary: this.#events.finish(seconds) });
    else {
      this.#events.fail(seconds);
      this.#end({ error: loss.error });
    }
  }

  #end(outcome: { summary: SessionSummary } | { error: unknown }): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stop.abort();
    clearTimeout(this.#connectTimer);
    this.audio.end('error' in outcome ? outcome.error : undefined);
    this.#options.onEnd(outcome);
  }
}
