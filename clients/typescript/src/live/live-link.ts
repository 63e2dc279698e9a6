// A live session over as many connections as it takes: audio out with back-pressure, events in on one timeline, and a new session
// where one broke. What the consumer may call is live-session.ts; when to try again is reconnect.ts.

import type { Credentials } from '../credentials.ts';
import { ConnectionError, errorOf, TimeoutError, VoxgateError } from '../errors.ts';
import type { ServerEvent, SessionEvent } from '../events.ts';
import { pause } from '../http/backoff.ts';
import type { Discontinuity, ErrorEvent, SessionEnded, SessionStarted } from '../types/events.ts';
import { Connection, type ConnectionHandlers } from './connection.ts';
import { inTime } from './in-time.ts';
import type { StartMessage } from './listen-options.ts';
import { OutgoingAudio } from './outgoing-audio.ts';
import { type Advice, adviceOf, type ReconnectOptions, Retries } from './reconnect.ts';
import { Bill, type SessionSummary } from './summary.ts';
import { Timeline } from './timeline/timeline.ts';
import { type WebSocketConstructor, webSocketOf } from './web-socket.ts';

/** A connection that held so long was no failed attempt, whatever it heard. */
const STABLE_MS = 30_000;
const CONNECT_TIMEOUT = 'connect_timeout';

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

/** How a connection ended. */
interface Loss {
  /** As events say it. */
  reason: string;
  advice: Advice;
  error: VoxgateError;
}

export class LiveLink {
  readonly audio: OutgoingAudio;
  readonly #options: LiveLinkOptions;
  readonly #timeline: Timeline;
  readonly #bill = new Bill();
  readonly #retries: Retries;
  readonly #stop = new AbortController();
  #connection: Connection | undefined;
  #connectTimer: ReturnType<typeof setTimeout> | undefined;
  #openedAtMs: number | undefined;
  /** Events that belong to the end of a session, if it ends: they are told only when another event follows, or the end does. */
  #held: (Discontinuity | ErrorEvent)[] = [];
  #ended: SessionEnded | undefined;
  /** What broke the last session, and not the attempts that followed. */
  #broke: Loss | undefined;
  #hasRenewed = false;
  #isOver = false;

  constructor(options: LiveLinkOptions) {
    this.#options = options;
    const { sampleRate, bytesPerSample, reconnect } = options;
    this.#timeline = new Timeline(sampleRate);
    this.#retries = new Retries(reconnect);
    this.audio = new OutgoingAudio({ sampleRate, bytesPerSample, replaySecondsMax: reconnect.replaySecondsMax });
    this.#run().catch((error) => this.#end({ error }));
  }

  /** Ends it at once; nothing more is heard. */
  terminate(outcome?: { error: unknown }): void {
    if (this.#isOver) return;
    this.#end(outcome ?? { summary: this.#bill.summary('terminated', this.audio.seconds) });
    this.#connection?.abandon(1000, '');
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const loss = await this.#connect();
      if (this.#isOver) return;
      if (loss === undefined) {
        this.#finish();
        return;
      }
      const waitMs = this.#waitMs(loss);
      if (waitMs === undefined) {
        this.#fail(loss.error);
        return;
      }
      this.#broke ??= loss;
      this.#held = [];
      this.#ended = undefined;
      this.#tellAttempt(loss, waitMs);
      await pause(waitMs, this.#stop.signal);
    }
  }

  #tellAttempt({ reason }: Loss, waitMs: number): void {
    const session_id = this.#bill.sessionIds.at(-1);
    if (session_id === undefined) return;
    this.#options.onEvent({
      type: 'reconnecting',
      session_id,
      seq: 0,
      at: new Date().toISOString(),
      attempt: this.#retries.attempts,
      wait_seconds: Math.round(waitMs) / 1_000,
      reason,
    });
  }

  /** Milliseconds until the next connection; undefined where there is to be none. */
  #waitMs({ advice, error }: Loss): number | undefined {
    if (error.code === 'token_expired' && this.#options.credentials.isRenewable && !this.#hasRenewed) {
      this.#hasRenewed = true;
      return 0;
    }
    if (this.#openedAtMs !== undefined && performance.now() - this.#openedAtMs >= STABLE_MS) this.#retries.reset();
    return this.#retries.next(advice, performance.now());
  }

  /** Resolves when the connection is over: with nothing where the session ended in order. */
  async #connect(): Promise<Loss | undefined> {
    this.#openedAtMs = undefined;
    const { credentials, webSocket, url, start, connectTimeoutMs } = this.#options;
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
          for (const event of this.#timeline.close()) this.#options.onEvent(event);
          resolve(this.#lossOf(code, reason, cause));
        },
      };
      try {
        const connection = new Connection(Socket, { url, start }, credential, handlers);
        this.#connection = connection;
        const restMs = Math.max(1, untilMs - performance.now());
        this.#connectTimer = setTimeout(() => connection.abandon(1006, CONNECT_TIMEOUT), restMs);
      } catch (cause) {
        // A page that came by https may not dial ws://, say.
        reject(new ConnectionError('A WebSocket to this URL cannot be made.', { code: 'connection_failed', cause }));
      }
    });
  }

  #hear(event: ServerEvent): void {
    if (event.type === 'session_started') this.#begin(event);
    else if (event.type === 'error' || event.type === 'discontinuity') this.#held.push(event);
    else if (event.type === 'session_ended') {
      this.#ended = event;
      this.#bill.told(event);
    } else {
      this.#release();
      this.#tell(event);
    }
  }

  #begin(event: SessionStarted): void {
    clearTimeout(this.#connectTimer);
    const { audio } = this;
    this.#connection?.watch(() => audio.pendingMs);
    this.#openedAtMs = performance.now();
    this.#hasRenewed = false;
    const isFirst = this.#bill.sessionIds.length === 0;
    this.#bill.began(event.session_id);
    const { originSample, replayedSamples } = audio.connect(
      this.#connection as Connection,
      event.limits.binary_frame_bytes,
      this.#timeline.coveredSample,
    );
    const lostFrom = this.#timeline.secondsOf(this.#timeline.coveredSample);
    const lostTo = this.#timeline.secondsOf(originSample);
    this.#timeline.begin(originSample);
    const { session_id, seq, at } = event;
    if (isFirst) this.#options.onEvent(event);
    else {
      this.#options.onEvent({
        type: 'reconnected',
        session_id,
        seq,
        at,
        attempt: this.#retries.attempts,
        replayed_seconds: this.#timeline.secondsOf(replayedSamples),
        reason: this.#broke?.reason ?? 'close_1006',
      });
    }
    this.#broke = undefined;
    if (lostTo > lostFrom) {
      const reason = 'replay_exceeded';
      this.#options.onEvent({ type: 'discontinuity', session_id, seq, at, from: lostFrom, to: lostTo, reason });
    }
    audio.pump();
  }

  #tell(event: ServerEvent): void {
    const placed = this.#timeline.place(event);
    if (placed === undefined) return;
    if (placed.type === 'transcript') {
      const restarted = this.#timeline.restartWith(placed);
      if (restarted !== undefined) this.#options.onEvent(restarted);
      if (placed.is_final) {
        this.#retries.reset();
        this.audio.covered(this.#timeline.coveredSample);
      }
    }
    this.#options.onEvent(placed);
  }

  #release(errors = true): void {
    for (const event of this.#held.splice(0)) if (errors || event.type !== 'error') this.#tell(event);
  }

  /** Undefined where the session ended in order, or has nothing left to be heard. */
  #lossOf(closeCode: number, reason: string, cause: unknown): Loss | undefined {
    // What the gateway said of its end counts, whether or not its close frame came through.
    if (this.#ended !== undefined && (closeCode === 1000 || this.#ended.reason === 'client_closed')) return undefined;
    const advice = adviceOf(closeCode);
    const isHeard = this.#bill.sessionIds.length > 0 && this.audio.isCovered;
    if (this.audio.isClosed && isHeard && advice !== 'stop') {
      // Nothing is left to be heard: what the session said of its end does not matter any more.
      this.#held = [];
      this.#ended = undefined;
      return undefined;
    }
    const told = this.#held.findLast((event) => event.type === 'error');
    if (told === undefined) return { reason: `close_${closeCode}`, advice, error: lost(closeCode, reason, cause) };
    return { reason: told.error.code, advice, error: errorOf(told.error, { closeCode }) };
  }

  /** The session ended in order: every turn that was shown has its final. */
  #finish(): void {
    this.#release();
    for (const event of this.#timeline.rest()) this.#options.onEvent(event);
    const summary = this.#bill.summary(this.#ended?.reason ?? 'client_closed', this.audio.seconds);
    this.#tellEnd(summary);
    this.#end({ summary });
  }

  #fail(error: VoxgateError): void {
    this.#release(false);
    if (this.#ended !== undefined) this.#tellEnd(this.#bill.summary(this.#ended.reason, this.audio.seconds));
    this.#end({ error });
  }

  /** The last event, with what all sessions told. */
  #tellEnd({ reason, audioSeconds, usage, costUsd, sessionIds }: SessionSummary): void {
    const { session_id = sessionIds.at(-1) ?? '', at = new Date().toISOString(), ...rest } = this.#ended ?? {};
    const whole = { audio_seconds: audioSeconds, usage, cost_usd: costUsd };
    const ended = { ...rest, type: 'session_ended', session_id, seq: 0, at, reason, ...whole } as SessionEnded;
    this.#options.onEvent(ended);
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

/** A close without a word of the gateway before it. */
function lost(closeCode: number, reason: string, cause: unknown): VoxgateError {
  if (reason === CONNECT_TIMEOUT) {
    return new TimeoutError('The gateway did not open the session in time.', { code: 'timeout', closeCode });
  }
  const said = cause instanceof Error ? `: ${cause.message}` : '';
  return new ConnectionError(`The connection was lost with close code ${closeCode}${said}.`, {
    code: 'connection_lost',
    closeCode,
    cause,
  });
}
