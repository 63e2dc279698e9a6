// What the consumer is told of a session over all its connections: the gateway's events on one timeline, where a connection took the
// place of another, and what it cost in the end. Decides nothing about connections: that is live-link.ts.
import type { ServerEvent, SessionEvent } from '../events.ts';
import type { Discontinuity, ErrorEvent, EventHead, SessionEnded, SessionStarted } from '../types/events.ts';
import { Bill, type SessionSummary } from './summary.ts';
import { Timeline } from './timeline/timeline.ts';

/** How a connection took the place of one that broke. */
export interface Reconnection {
  attempt: number;
  reason: string;
}

export class SessionEvents {
  readonly #timeline: Timeline;
  readonly #tell: (event: SessionEvent) => void;
  readonly #bill = new Bill();
  /** Events that belong to the end of a session, if it ends: they are told only when another event follows, or the end does. */
  #held: (Discontinuity | ErrorEvent)[] = [];
  #ended: SessionEnded | undefined;

  constructor(sampleRate: number, tell: (event: SessionEvent) => void) {
    this.#timeline = new Timeline(sampleRate);
    this.#tell = tell;
  }

  /** Whether any session began. */
  get hasBegun(): boolean {
    return this.#bill.sessionIds.length > 0;
  }

  /** Everything before this sample has its final. */
  get coveredSample(): number {
    return this.#timeline.coveredSample;
  }

  /** Up to where the current session's own time has finals. */
  get heardSeconds(): number {
    return this.#timeline.heardSeconds;
  }

  /** The last error that the current session told, if nothing but its end followed. */
  get error(): ErrorEvent | undefined {
    return this.#held.findLast((event): event is ErrorEvent => event.type === 'error');
  }

  /** Why the current session ended, if it said so. */
  get endReason(): SessionEnded['reason'] | undefined {
    return this.#ended?.reason;
  }

  /** Another attempt follows. Nothing is told before there was a session. */
  reconnecting({ attempt, reason }: Reconnection, waitMs: number): void {
    const session_id = this.#bill.sessionIds.at(-1);
    if (session_id === undefined) return;
    const at = new Date().toISOString();
    const wait_seconds = Math.round(waitMs) / 1_000;
    this.#tell({ type: 'reconnecting', session_id, seq: 0, at, attempt, wait_seconds, reason });
  }

  /** A session began that hears from `originSample` on. */
  began(event: SessionStarted, originSample: number, replayedSamples: number, by: Reconnection): void {
    this.forget();
    const isFirst = !this.hasBegun;
    this.#bill.began(event.session_id);
    const from = this.#timeline.secondsOf(this.coveredSample);
    const to = this.#timeline.secondsOf(originSample);
    this.#timeline.begin(originSample);
    const { session_id, seq, at } = event;
    if (isFirst) this.#tell({ ...event, resume_token: null });
    else this.reconnected(event, by, { resumed: false, replayed_seconds: this.#timeline.secondsOf(replayedSamples) });
    if (to > from) this.#tell({ type: 'discontinuity', session_id, seq, at, from, to, reason: 'replay_exceeded' });
  }

  /** The connection is another one. */
  reconnected(
    { session_id, seq, at }: EventHead,
    { attempt, reason }: Reconnection,
    how = { resumed: true, replayed_seconds: 0 },
  ): void {
    this.#bill.reconnected();
    this.#tell({ type: 'reconnected', session_id, seq, at, attempt, ...how, reason });
  }

  /** The gateway says this. Whether it is the final of a turn. */
  heard(event: ServerEvent): boolean {
    if (event.type === 'discontinuity' || (event.type === 'error' && event.fatal !== false)) this.#held.push(event);
    else if (event.type === 'session_ended') {
      this.#ended = event;
      this.#bill.told(event);
    } else {
      this.#release();
      this.#place(event);
    }
    return event.type === 'transcript' && event.is_final;
  }

  /** The current session does not go on: none of its turns stays open, and its end does not matter. */
  forget(): void {
    this.#tellTurnsOver();
    this.#held = [];
    this.#ended = undefined;
  }

  /** The session ended in order: every turn that was shown has its final. */
  finish(seconds: number): SessionSummary {
    this.#tellTurnsOver();
    this.#release();
    for (const event of this.#timeline.rest()) this.#tell(event);
    const summary = this.#bill.summary(this.#ended?.reason ?? 'client_closed', seconds);
    this.#tellEnd(summary);
    return summary;
  }

  /** It does not go on, and did not end in order. */
  fail(seconds: number): void {
    this.#tellTurnsOver();
    this.#release(false);
    if (this.#ended !== undefined) this.#tellEnd(this.#bill.summary(this.#ended.reason, seconds));
  }

  /** The consumer ends it. */
  terminated(seconds: number): SessionSummary {
    return this.#bill.summary('terminated', seconds);
  }

  #place(event: ServerEvent): void {
    const placed = this.#timeline.place(event);
    if (placed === undefined) return;
    const restarted = placed.type === 'transcript' ? this.#timeline.restartWith(placed) : undefined;
    if (restarted !== undefined) this.#tell(restarted);
    this.#tell(placed);
  }

  #release(errors = true): void {
    for (const event of this.#held.splice(0)) if (errors || event.type !== 'error') this.#place(event);
  }

  #tellTurnsOver(): void {
    for (const event of this.#timeline.close()) this.#tell(event);
  }

  /** The last event, with what all sessions told. */
  #tellEnd({ reason, audioSeconds, usage, costUsd, sessionIds }: SessionSummary): void {
    const { session_id = sessionIds.at(-1) ?? '', at = new Date().toISOString(), ...rest } = this.#ended ?? {};
    const whole = { audio_seconds: audioSeconds, usage, cost_usd: costUsd };
    this.#tell({ ...rest, type: 'session_ended', session_id, seq: 0, at, reason, ...whole } as SessionEnded);
  }
}
