// One session of the playground: its request, and everything received so far, for the page to show.
import { type Signal, signal } from '@preact/signals';
import {
  type Discontinuity,
  type Failover,
  type ListenOptions,
  type Reconnecting,
  type SessionEnded,
  type SessionEvent,
  type Transcript,
  Voxgate,
  VoxgateError,
  type Warning,
} from '@voxgate/client';
import type { ChosenModel } from '../../../api/choice.ts';
import type { WatchedFrame } from '../../../api/console/watching.ts';
import { request } from '../../data/api.ts';
import { optionsOf, type SessionRequest } from './code.ts';
import type { Source } from './source.ts';
import { Tape } from './tape.ts';

/** Older events, and older finals, are counted only. */
const EVENTS_MAX = 200;
const FINALS_MAX = 500;
/** Later warnings are among the events only. */
const WARNINGS_MAX = 20;

export interface Final extends Transcript {
  /** From the end of the speech to its final, as this page saw it. */
  delayMs: number;
}

/** A failover, and the seconds of audio sent by then. */
interface Change {
  event: Failover;
  at: number;
}

export type RunState = 'opening' | 'listening' | 'reconnecting' | 'finishing' | 'ended';

export class Run {
  readonly request: SessionRequest;
  readonly state: Signal<RunState> = signal('opening');
  readonly sessionId: Signal<string | undefined> = signal(undefined);
  /** The models that the gateway chose, in order, and why. */
  readonly choice: Signal<readonly ChosenModel[]> = signal([]);
  readonly finals: Signal<readonly Final[]> = signal([]);
  readonly forgottenFinals: Signal<number> = signal(0);
  readonly interim: Signal<Transcript | undefined> = signal(undefined);
  readonly events: Signal<readonly SessionEvent[]> = signal([]);
  readonly changes: Signal<readonly Change[]> = signal([]);
  /** Each of them once. */
  readonly warnings: Signal<readonly Warning[]> = signal([]);
  /** While the connection is lost. */
  readonly reconnecting: Signal<Reconnecting | undefined> = signal(undefined);
  readonly gaps: Signal<readonly Discontinuity[]> = signal([]);
  readonly ended: Signal<SessionEnded | undefined> = signal(undefined);
  readonly failure: Signal<Error | undefined> = signal(undefined);
  readonly figures: Signal<ServerFigures | undefined> = signal(undefined);
  readonly tape: Signal<Tape | undefined> = signal(undefined);
  /** Grows with every piece of audio. */
  readonly sent: Signal<number> = signal(0);
  #source: Source | undefined;
  #startedMs = 0;

  constructor(request: SessionRequest) {
    this.request = request;
  }

  /** Resolves when the session has ended. Never rejects: `failure` has the error. */
  async go(client: Voxgate, open: () => Promise<Source>): Promise<void> {
    try {
      this.#source = await open();
      const session = client.listen({
        ...Object.fromEntries(optionsOf(this.request)),
        sampleRate: this.#source.sampleRate,
      } as ListenOptions);
      // The same failure comes out of the events.
      session.pipe(this.#recorded(this.#source), { close: true }).catch(() => {});
      this.state.value = 'listening';
      for await (const event of session) this.#receive(event);
    } catch (error) {
      this.failure.value = inPlainWords(error);
    } finally {
      this.#source?.stop();
      this.state.value = 'ended';
      this.interim.value = undefined;
      this.reconnecting.value = undefined;
      this.figures.peek()?.close();
    }
  }

  /** Ends the audio; the rest is still transcribed. */
  stop(): void {
    this.#source?.stop();
    if (this.state.peek() === 'listening') this.state.value = 'finishing';
  }

  async *#recorded({ pieces, sampleRate }: Source): AsyncGenerator<Uint8Array> {
    const tape = new Tape(sampleRate);
    this.tape.value = tape;
    for await (const piece of pieces) {
      if (this.#startedMs === 0) this.#startedMs = performance.now() - (piece.byteLength / 2 / sampleRate) * 1000;
      tape.push(piece);
      this.sent.value++;
      yield piece;
    }
    if (this.state.peek() === 'listening') this.state.value = 'finishing';
  }

  #receive(event: SessionEvent): void {
    this.events.value = [...this.events.value.slice(1 - EVENTS_MAX), event];
    switch (event.type) {
      case 'session_started':
        this.choice.value = event.choice ?? [];
        this.#watch(event.session_id);
        break;
      case 'transcript':
        this.#transcript(event);
        break;
      case 'failover':
        this.changes.value = [...this.changes.value, { event, at: this.tape.peek()?.seconds ?? 0 }];
        break;
      case 'discontinuity':
        this.gaps.value = [...this.gaps.value, event];
        break;
      case 'warning':
        this.#warn(event);
        break;
      case 'reconnecting':
        this.state.value = 'reconnecting';
        this.reconnecting.value = event;
        break;
      case 'reconnected':
        this.state.value = 'listening';
        this.reconnecting.value = undefined;
        this.#watch(event.session_id);
        break;
      case 'session_ended':
        this.ended.value = event;
    }
  }

  #warn(event: Warning): void {
    const all = this.warnings.peek();
    const isReported = all.some(
      ({ code, param, message }) => code === event.code && param === event.param && message === event.message,
    );
    if (!isReported && all.length < WARNINGS_MAX) this.warnings.value = [...all, event];
  }

  /** After a broken connection it is another session. */
  #watch(sessionId: string): void {
    if (this.sessionId.peek() === sessionId) return;
    this.sessionId.value = sessionId;
    this.figures.peek()?.close();
    this.figures.value = new ServerFigures(sessionId);
  }

  #transcript(transcript: Transcript): void {
    // Escape sequences and the like are no words.
    const event = { ...transcript, text: transcript.text.replaceAll(/\p{Cc}/gu, '') };
    this.interim.value = event.is_final ? undefined : event;
    if (!event.is_final) return;
    const delayMs = performance.now() - (this.#startedMs + event.end * 1000);
    const all = [...this.finals.value, { ...event, delayMs }];
    this.forgottenFinals.value += Math.max(0, all.length - FINALS_MAX);
    this.finals.value = all.slice(-FINALS_MAX);
  }
}

/** A client with short-lived tokens of this login, and never a key. */
export function createClient(): Voxgate {
  return new Voxgate({ baseUrl: location.origin, getToken: () => request<{ token: string }>('POST', 'playground') });
}

const DELAYS_MAX = 500;

/** What only the gateway knows of a run: its cost so far, and the gateway's own delay of each final. */
class ServerFigures {
  readonly costUsd: Signal<string | undefined> = signal(undefined);
  /** Milliseconds from the provider's final, as it was read, until it was written to this page. */
  readonly gatewayMs: Signal<readonly number[]> = signal([]);
  readonly #source: EventSource;

  constructor(sessionId: string) {
    this.#source = new EventSource(`/console/api/sessions/${encodeURIComponent(sessionId)}/events?after=0`);
    this.#source.onmessage = ({ data }) => this.#receive(JSON.parse(data) as WatchedFrame);
  }

  close(): void {
    this.#source.close();
  }

  #receive(frame: WatchedFrame): void {
    if (frame.kind === 'audio') this.costUsd.value = frame.cost_usd;
    else if (frame.kind === 'ended') this.close();
    else if (frame.kind === 'mark' && frame.gateway_ms !== undefined) {
      this.gatewayMs.value = [...this.gatewayMs.value.slice(1 - DELAYS_MAX), frame.gateway_ms];
    }
  }
}

const START_AGAIN = 'The transcript so far is kept here. Start again at any time: that is a new session.';

const ERRORS: Readonly<Record<string, string>> = {
  microphone_denied:
    'The browser does not let this page use the microphone. Allow it in the site settings next to the address and press Speak again, or play the sample.',
  microphone_missing: 'No microphone was found. Connect one and press Speak again, or play the sample or a file.',
  microphone_busy: 'The microphone cannot be used: another program may have it. Close that and press Speak again.',
  connection_failed: `The gateway could not be reached. ${START_AGAIN}`,
  connection_lost: `The connection to the gateway was lost, and could not be restored. ${START_AGAIN}`,
  timeout: `The gateway did not answer in time. ${START_AGAIN}`,
  token_expired: `The token of this page had expired when the session was opened. ${START_AGAIN}`,
};

/** An error as one sentence, with what to do about it. */
function inPlainWords(error: unknown): Error {
  if (!(error instanceof VoxgateError)) return error as Error;
  // The gateway's own words on why there is no token.
  if (error.code === 'token_unavailable' && error.cause instanceof Error) return error.cause;
  return new Error(ERRORS[error.code] ?? error.message);
}

const ENDS: Readonly<Record<string, string>> = {
  idle: 'The gateway ended the session: no audio came for a while.',
  too_long: 'The gateway ended the session: it reached its longest duration.',
  credit: 'The gateway ended the session: no credit is left. Add credit, or choose a model that is free.',
  ledger: 'The gateway ended the session: it cannot reach its accounts at the moment.',
  upstream:
    'The gateway ended the session: no model of the list could continue. Add a fallback, or choose another model.',
  draining: 'The gateway ended the session: this node is shutting down. Start again: another node answers.',
};

/** Why the gateway ended a session; undefined where nothing needs to be explained. */
export const endOf = (reason: string): string | undefined => ENDS[reason];
