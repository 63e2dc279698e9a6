// One session of the playground: what was asked, and what has come of it so far, for the page to show.
import { type Signal, signal } from '@preact/signals';
import {
  type Failover,
  type ListenOptions,
  type SessionEnded,
  type SessionEvent,
  type Transcript,
  Voxgate,
} from '@voxgate/client';
import { ask } from '../../data/api.ts';
import type { Source } from './source.ts';

/** Events that are shown; older ones are counted only. */
const EVENTS_MAX = 200;
/** Peaks of the waveform, one for each 50 ms: ten minutes. */
const PEAKS_MAX = 12_000;

export interface Asked {
  model: string;
  fallbacks: readonly string[];
  language: string;
  diarization: boolean;
  params: Readonly<Record<string, unknown>>;
}

export interface Final extends Transcript {
  /** From the end of the speech to its final, as this page saw it. */
  delayMs: number;
}

export class Run {
  readonly asked: Asked;
  readonly state: Signal<'opening' | 'listening' | 'finishing' | 'ended'> = signal('opening');
  readonly sessionId: Signal<string | undefined> = signal(undefined);
  readonly finals: Signal<readonly Final[]> = signal([]);
  readonly interim: Signal<string> = signal('');
  readonly events: Signal<readonly SessionEvent[]> = signal([]);
  readonly failovers: Signal<readonly Failover[]> = signal([]);
  readonly ended: Signal<SessionEnded | undefined> = signal(undefined);
  readonly failure: Signal<Error | undefined> = signal(undefined);
  /** Loudest sample of each 50 ms, from 0 to 1. */
  readonly peaks: Signal<readonly number[]> = signal([]);
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
      void session.pipe(this.#watched(this.#source), { close: true });
      this.state.value = 'listening';
      for await (const event of session) this.#hear(event);
    } catch (error) {
      this.failure.value = error as Error;
    } finally {
      this.#source?.stop();
      this.state.value = 'ended';
      this.interim.value = '';
    }
  }

  /** No more audio; what is left is heard. */
  stop(): void {
    this.#source?.stop();
    if (this.state.value === 'listening') this.state.value = 'finishing';
  }

  async *#watched({ pieces, sampleRate }: Source): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      if (this.#startedMs === 0) this.#startedMs = performance.now() - (piece.byteLength / 2 / sampleRate) * 1000;
      this.#notePeak(piece);
      yield piece;
    }
    if (this.state.value === 'listening') this.state.value = 'finishing';
  }

  #notePeak(piece: Uint8Array): void {
    if (this.peaks.value.length >= PEAKS_MAX) return;
    const samples = new Int16Array(piece.buffer, piece.byteOffset, piece.byteLength >> 1);
    let peak = 0;
    for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
    this.peaks.value = [...this.peaks.value, peak / 0x8000];
  }

  #hear(event: SessionEvent): void {
    this.events.value = [...this.events.value.slice(1 - EVENTS_MAX), event];
    if (event.type === 'session_started') this.sessionId.value = event.session_id;
    else if (event.type === 'transcript') this.#transcript(event);
    else if (event.type === 'failover') this.failovers.value = [...this.failovers.value, event];
    else if (event.type === 'session_ended') this.ended.value = event;
  }

  #transcript(event: Transcript): void {
    this.interim.value = event.is_final ? '' : event.text;
    if (!event.is_final) return;
    const delayMs = performance.now() - (this.#startedMs + event.end * 1000);
    this.finals.value = [...this.finals.value, { ...event, delayMs }];
  }
}

/** A client that shows the gateway short-lived tokens of this login, and never a key. */
export function createClient(): Voxgate {
  return new Voxgate({ baseUrl: location.origin, getToken: () => ask<{ token: string }>('POST', 'playground') });
}

function optionsOf({ model, fallbacks, language, diarization, params }: Asked, sampleRate: number): ListenOptions {
  return {
    model,
    sampleRate,
    ...(fallbacks.length === 0 ? {} : { fallbacks: [...fallbacks] }),
    ...(language === '' ? {} : { language }),
    ...(diarization ? { diarization } : {}),
    ...(Object.keys(params).length === 0 ? {} : { providerParams: params }),
  } as ListenOptions;
}
