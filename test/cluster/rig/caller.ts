// Somebody who speaks without a pause through the TypeScript client, and leaves it to the client to come back where a connection
// ends. Says at the end whether it was one session to its user: every sample in exactly one final.
import { setTimeout as after } from 'node:timers/promises';
import { expect } from 'vitest';
import WebSocket from 'ws';
import {
  type LiveSession,
  type SessionEvent,
  type SessionSummary,
  type Transcript,
  Voxgate,
} from '../../../clients/typescript/src/index.ts';
import type { WebSocketConstructor } from '../../../clients/typescript/src/live/web-socket.ts';
import type { ServerEvent } from '../../../src/api/listen-events.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../fakes/audio/numbered-finals.ts';
import { MODEL } from './cluster.ts';

const RATE = 16_000;
/** A machine that runs many tests may take long to answer. */
const CONNECT_MS_MAX = 60_000;
const CHUNK_MS = 100;
const CHUNK_SAMPLES = (RATE * CHUNK_MS) / 1000;
/** A sample is its position modulo 65,536: audio of any length is read out of twice that. */
const CIRCLE = 65_536;
const audio = numberedAudio(0, 2 * CIRCLE);

/** How a connection of the client went; times on the clock of `performance.now`. */
export interface CallerConnection {
  /** When its session started; undefined where it was refused, or not answered in time. */
  startedAtMs?: number;
  /** Within how many seconds the node that drains said it would close it. */
  hintSeconds?: number | undefined;
  closeCode?: number;
}

type EventOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

export class Caller {
  readonly events: SessionEvent[] = [];
  readonly connections: CallerConnection[] = [];
  samples = 0;
  readonly #session: LiveSession;
  readonly #reading: Promise<void>;
  readonly #speaking: Promise<void>;
  readonly #silence = new AbortController();
  readonly #watchers = new Set<() => void>();
  #whenStarted!: () => void;
  readonly started = new Promise<void>((resolve) => {
    this.#whenStarted = resolve;
  });

  /** Speaks from now on. */
  constructor(url: string, apiKey: string, turnSeconds: number) {
    const client = new Voxgate({ baseUrl: url, apiKey, webSocket: recording(this.connections) });
    this.#session = client.listen({
      model: MODEL,
      interimResults: false,
      connectTimeoutMs: CONNECT_MS_MAX,
      providerParams: { turn_seconds: turnSeconds },
    });
    this.#reading = this.#read();
    this.#speaking = this.#speak();
    // Both are awaited at the end.
    for (const each of [this.#reading, this.#speaking]) each.catch(() => {});
  }

  of<Type extends SessionEvent['type']>(type: Type): EventOf<Type>[] {
    return this.events.filter((event): event is EventOf<Type> => event.type === type);
  }

  get finals(): Transcript[] {
    return this.of('transcript').filter((event) => event.is_final);
  }

  /** Resolves when so many finals have come; rejects when the session ends before. */
  async final(count: number): Promise<void> {
    const heard = new Promise<void>((resolve) => {
      const watch = () => {
        if (this.finals.length < count) return;
        this.#watchers.delete(watch);
        resolve();
      };
      this.#watchers.add(watch);
      watch();
    });
    const ended = this.#reading.then(() => {
      throw new Error(`The session ended before ${count} finals had come.`);
    });
    ended.catch(() => {});
    await Promise.race([heard, ended]);
  }

  /** Falls silent, ends in order, and resolves with the bill. Throws where anything was lost, doubled or told as an error. */
  async finish(): Promise<SessionSummary> {
    this.#silence.abort();
    await this.#speaking;
    const summary = await this.#session.close();
    await this.#reading;
    expect(this.of('error')).toEqual([]);
    expect(this.of('discontinuity')).toEqual([]);
    expect(this.of('session_started')).toHaveLength(1);
    expectWhole(this.finals, this.samples);
    const how = JSON.stringify({ connections: this.connections, sessionIds: summary.sessionIds });
    expect(summary, `Its connections: ${how}`).toMatchObject({ reason: 'client_closed', isUsageComplete: true });
    return summary;
  }

  terminate(): void {
    this.#silence.abort();
    this.#session.terminate();
  }

  async #read(): Promise<void> {
    for await (const event of this.#session) {
      this.events.push(event);
      if (event.type === 'session_started') this.#whenStarted();
      for (const watch of [...this.#watchers]) watch();
    }
  }

  /** By the clock: a late timer is made up for. */
  async #speak(): Promise<void> {
    await Promise.race([this.started, this.#reading]);
    const startedAtMs = performance.now();
    const { signal } = this.#silence;
    while (!signal.aborted) {
      const due = Math.floor((performance.now() - startedAtMs) / CHUNK_MS) * CHUNK_SAMPLES;
      for (; this.samples < due; this.samples += CHUNK_SAMPLES) {
        const from = 2 * (this.samples % CIRCLE);
        await this.#session.send(audio.subarray(from, from + 2 * CHUNK_SAMPLES));
      }
      await after(CHUNK_MS / 2, undefined, { signal }).catch(() => {});
    }
  }
}

function recording(connections: CallerConnection[]): WebSocketConstructor {
  return class extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols, { perMessageDeflate: false });
      const connection: CallerConnection = {};
      connections.push(connection);
      this.on('message', (data) => {
        const event = JSON.parse(String(data)) as ServerEvent;
        if (event.type === 'session_started') connection.startedAtMs = performance.now();
        if (event.type === 'warning' && event.code === 'node_draining')
          connection.hintSeconds = event.reconnect_within_seconds;
      });
      this.once('close', (code) => {
        connection.closeCode = code;
      });
    }
  } as unknown as WebSocketConstructor;
}

/** How long a turn is, exact by samples. */
export const secondsOf = ({ start, end }: Transcript): number => Math.round((end - start) * RATE) / RATE;

/** The most of them within any second. */
export function peakPerSecond(timesMs: readonly number[]): number {
  const sorted = timesMs.toSorted((one, other) => one - other);
  let peak = 0;
  let first = 0;
  for (const [index, atMs] of sorted.entries()) {
    while (atMs - (sorted[first] as number) >= 1000) first++;
    peak = Math.max(peak, index - first + 1);
  }
  return peak;
}
