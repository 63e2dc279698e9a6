// A gateway in a process of its own that is killed while clients speak to it in real time, and what those clients had sent.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import WebSocket from 'ws';
import type { ServerEvent } from '../../../src/api/listen-events.ts';
import { sendInRealTime } from '../../../src/cli/shared/live-client.ts';
import { numberedAudio } from '../audio/numbered-audio.ts';
import { startVoxgate } from './voxgate.ts';

const RATE = 16_000;
const BYTES_PER_SECOND = RATE * 2;
export const MODEL = 'loopback/numbered';
const SECONDS = 30;

/** Long enough for everybody; the same for all. */
const audio = numberedAudio(0, SECONDS * RATE);

/** What one client had sent when its gateway was killed. */
export interface Sent {
  sessionId: string;
  audioMs: number;
}

/** What every start on the directory is given: the scripted model costs 0.6 USD a minute. */
export function killedEnvironment(directory: string): Record<string, string> {
  const prices = join(directory, 'prices.json');
  writeFileSync(prices, JSON.stringify({ [MODEL]: { live: { unit: 'minute', amount: '0.6' } } }));
  return { VOXGATE_PORT: '0', VOXGATE_DATA_DIRECTORY: directory, VOXGATE_PRICES_FILE: prices };
}

export class KilledGateway {
  readonly url: string;
  private readonly process: ChildProcessWithoutNullStreams;

  private constructor(process: ChildProcessWithoutNullStreams, url: string) {
    this.process = process;
    this.url = url;
  }

  /** Resolves when it listens; everything that earlier ones left behind is settled then. */
  static async start(env: Record<string, string>): Promise<KilledGateway> {
    const process = startVoxgate(['serve'], env);
    process.stderr.resume();
    for await (const line of createInterface({ input: process.stdout })) {
      const { msg, port } = JSON.parse(line) as { msg: string; port?: number };
      if (msg !== 'listening') continue;
      process.stdout.resume();
      return new KilledGateway(process, `ws://127.0.0.1:${port}`);
    }
    throw new Error('The gateway ended before it listened.');
  }

  /** Sessions that speak; resolves when all have begun. */
  async speak(sessions: number, key: string): Promise<Speaker[]> {
    return Promise.all(
      Array.from({ length: sessions }, (_, index) => Speaker.begin(this.url, key, 0.5 + (index % 40) / 10)),
    );
  }

  async kill(): Promise<void> {
    const exited = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await exited;
  }

  async stop(): Promise<void> {
    const exited = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await exited;
  }
}

export class Speaker {
  readonly sent: Sent;
  readonly closed: Promise<unknown>;
  private readonly socket: WebSocket;
  private readonly watchers = new Set<() => void>();

  private constructor(socket: WebSocket, sessionId: string) {
    this.socket = socket;
    this.sent = { sessionId, audioMs: 0 };
    this.closed = once(socket, 'close');
    socket.on('error', () => {});
    sendInRealTime(socket, audio, BYTES_PER_SECOND, (bytes) => {
      this.sent.audioMs = (bytes / BYTES_PER_SECOND) * 1000;
      for (const reached of [...this.watchers]) reached();
    });
  }

  static async begin(url: string, key: string, turnSeconds: number): Promise<Speaker> {
    const params = encodeURIComponent(JSON.stringify({ turn_seconds: turnSeconds }));
    const socket = new WebSocket(`${url}/v1/listen?model=${MODEL}&provider_params=${params}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    socket.on('unexpected-response', (_, response) => response.pipe(process.stderr));
    const [data] = (await once(socket, 'message')) as [Buffer];
    const { session_id, type } = JSON.parse(String(data)) as ServerEvent;
    if (type !== 'session_started') throw new Error(`The session began with ${String(data)}`);
    return new Speaker(socket, session_id);
  }

  /** Resolves when so much audio was sent. */
  reached(audioMs: number): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.sent.audioMs < audioMs) return;
        this.watchers.delete(look);
        resolve();
      };
      this.watchers.add(look);
      look();
    });
  }

  /** Says that no more comes. */
  finish(): void {
    this.socket.send('{"type":"close"}');
  }
}
