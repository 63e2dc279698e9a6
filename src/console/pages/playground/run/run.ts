// One session of the playground: what was asked, and what has come of it so far, for the page to show.
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
  type Warning,
} from '@voxgate/client';
import { ask } from '../../../data/api.ts';
import type { Asked } from '../asked.ts';
import { plain } from './plain.ts';
import { ServerFigures } from './server-figures.ts';
import type { Source } from './source.ts';
import { Tape } from './tape.ts';

/** Older events, and older finals, are counted only. */
const EVENTS_MAX = 200;
export const FINALS_MAX = 500;
/** Later warnings are among the events only. */
const WARNINGS_MAX = 20;

export interface Final extends Transcript {
  /** From the end of the speech to its final, as this page saw it. */
  delayMs: number;
}

/** A failover, and up to where audio had been sent by then. */
export interface Change {
  event: Failover;
  at: number;
}

export type RunState = 'opening' | 'listening' | 'reconnecting' | 'finishing' | 'ended';

export class Run {
  readonly asked: Asked;
  readonly state: Signal<RunState> = signal('opening');
  readonly sessionId: Signal<string | undefined> = signal(undefined);
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

  constructor(asked: Asked) {
    this.asked = asked;
  }

  /** Until the session has ended. Never rejects: what went wrong is `failure`. */
  async go(client: Voxgate, open: () => Promise<Source>): Promise<void> {
    try {
      this.#source = await open();
      const session = client.listen(optionsOf(this.asked, this.#source.sampleRate));
      // The same failure comes out of the events.
      session.pipe(this.#recorded(this.#source), { close: true }).catch(() => {});
      this.state.value = 'listening';
      for await (const event of session) this.#hear(event);
    } catch (error) {
      this.failure.value = plain(error);
    } finally {
      this.#source?.stop();
      this.state.value = 'ended';
      this.interim.value = undefined;
      this.reconnecting.value = undefined;
      this.figures.peek()?.close();
    }
  }

  /** No more audio; what is left is heard. */
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

  #hear(event: SessionEvent): void {
    this.events.value = [...this.events.value.slice(1 - EVENTS_MAX), event];
    switch (event.type) {
      case 'session_started':
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
    const isTold = all.some(
      ({ code, param, message }) => code === event.code && param === event.param && message === event.message,
    );
    if (!isTold && all.length < WARNINGS_MAX) this.warnings.value = [...all, event];
  }

  /** After a broken connection it is another session. */
  #watch(sessionId: string): void {
    if (this.sessionId.peek() === sessionId) return;
    this.sessionId.value = sessionId;
    this.figures.peek()?.close();
    this.figures.value = new ServerFigures(sessionId);
  }

  #transcript(told: Transcript): void {
    // Escape sequences and the like are no words.
    const event = { ...told, text: told.text.replaceAll(/\p{Cc}/gu, '') };
    this.interim.value = event.is_final ? undefined : event;
    if (!event.is_final) return;
    const delayMs = performance.now() - (this.#startedMs + event.end * 1000);
    const all = [...this.finals.value, { ...event, delayMs }];
    this.forgottenFinals.value += Math.max(0, all.length - FINALS_MAX);
    this.finals.value = all.slice(-FINALS_MAX);
  }
}

/** A client that shows the gateway short-lived tokens of this login, and never a key. */
export function createClient(): Voxgate {
  return new Voxgate({ baseUrl: location.origin, getToken: () => ask<{ token: string }>('POST', 'playground') });
}

function optionsOf(
  { model, fallbacks, language, languages, diarization, keyterms, prompt, redact, vocabularyBoost, params }: Asked,
  sampleRate: number,
): ListenOptions {
  return {
    model,
    sampleRate,
    ...(fallbacks.length === 0 ? {} : { fallbacks: [...fallbacks] }),
    ...(language === '' ? {} : { language }),
    ...(diarization ? { diarization } : {}),
    ...(keyterms.length === 0 ? {} : { keyterms }),
    ...(prompt === '' ? {} : { prompt }),
    ...(languages.length === 0 ? {} : { languages }),
    ...(redact.length === 0 ? {} : { redact }),
    ...(vocabularyBoost === undefined ? {} : { vocabularyBoost }),
    ...(Object.keys(params).length === 0 ? {} : { providerParams: params }),
  } as ListenOptions;
}
