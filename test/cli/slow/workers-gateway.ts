// A gateway of several processes, as `voxgate serve --workers` starts it, and clients that speak to it.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import WebSocket from 'ws';
import type { ServerEvent } from '../../../src/api/listen-events.ts';
import { nodeOfSession } from '../../../src/live/session/session-opening.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { firstKeyIn, startVoxgate } from '../../fakes/processes/voxgate.ts';

const RATE = 16_000;
/** So many sessions find every process: each goes to one of three at random, or nearly. */
const SESSIONS_MAX = 200;

interface LogLine {
  msg: string;
  pid: number;
}

export interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export class WorkersGateway {
  readonly directory: string;
  readonly port: number;
  readonly key: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #log: LogLine[];
  readonly #watchers: Set<() => void>;

  private constructor(
    child: ChildProcessWithoutNullStreams,
    told: { directory: string; port: number; key: string; log: LogLine[]; watchers: Set<() => void> },
  ) {
    this.#child = child;
    this.directory = told.directory;
    this.port = told.port;
    this.key = told.key;
    this.#log = told.log;
    this.#watchers = told.watchers;
  }

  /** Resolves when all of them listen. */
  static async start(workers: number, env: Record<string, string>): Promise<WorkersGateway> {
    const child = startVoxgate(['serve', '--workers', String(workers)], env);
    const log: LogLine[] = [];
    const watchers = new Set<() => void>();
    createInterface({ input: child.stdout }).on('line', (line) => {
      log.push(JSON.parse(line) as LogLine);
      for (const watch of [...watchers]) watch();
    });
    let said = '';
    for await (const line of createInterface({ input: child.stderr })) {
      said += `${line}\n`;
      const port = /Voxgate listens on http:\/\/127\.0\.0\.1:(\d+), with \d processes/.exec(said)?.[1];
      if (port === undefined || !said.includes('curl')) continue;
      // What it says at its end explains a code that is wrong.
      child.stderr.on('data', (chunk) => process.stderr.write(chunk)).resume();
      const directory = env.VOXGATE_DATA_DIRECTORY as string;
      const key = firstKeyIn(directory) ?? '';
      const told = { directory, port: Number(port), key, log, watchers };
      return new WorkersGateway(child, told);
    }
    throw new Error(`It ended before it listened: ${said}`);
  }

  messages(msg: string): LogLine[] {
    return this.#log.filter((line) => line.msg === msg);
  }

  /** Of the processes, in the order they began to listen. */
  pids(): number[] {
    return this.messages('listening').map(({ pid }) => pid);
  }

  /** Resolves when so many lines of the message were logged. */
  logged(msg: string, count: number): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.messages(msg).length < count) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** One session on each of so many processes. */
  async sessionsOnEach(processes: number): Promise<WorkersSession[]> {
    const found = new Map<string, WorkersSession>();
    for (let tried = 0; found.size < processes; tried++) {
      if (tried === SESSIONS_MAX) throw new Error(`${SESSIONS_MAX} sessions came to ${found.size} processes.`);
      const session = await WorkersSession.begin(this.port, this.key);
      if (found.has(session.node)) session.leave();
      else found.set(session.node, session);
    }
    return [...found.values()];
  }

  /** A connection to its nats-server, which is closed when that has gone. */
  async natsConnection(): Promise<Socket> {
    const configuration = readFileSync(join(this.directory, 'nats', 'nats-server.conf'), 'utf8');
    const socket = connect(Number(/^port: (\d+)$/m.exec(configuration)?.[1]), '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'data');
    return socket.resume();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves when the first process has ended, and no other has its standard output any more. */
  async end(signal: NodeJS.Signals): Promise<End> {
    const child = this.#child;
    const closed = child.stdout.closed ? undefined : once(child, 'close');
    child.kill(signal);
    await closed;
    return { code: child.exitCode, signal: child.signalCode };
  }
}

/** One client of one process. */
export class WorkersSession {
  /** The process that has it. */
  readonly node: string;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  readonly #events: ServerEvent[] = [];
  #samples = 0;

  private constructor(socket: WebSocket, id: string) {
    this.#socket = socket;
    this.node = nodeOfSession(id) ?? '';
    this.closed = once(socket, 'close').then(([code]) => code as number);
    socket.on('message', (data) => this.#events.push(JSON.parse(String(data)) as ServerEvent));
  }

  static async begin(port: number, key: string): Promise<WorkersSession> {
    const params = encodeURIComponent('{"turn_seconds":0.5}');
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/listen?model=loopback/numbered&provider_params=${params}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    socket.on('unexpected-response', (_, response) => response.pipe(process.stderr));
    const [data] = (await once(socket, 'message')) as [Buffer];
    const started = JSON.parse(String(data)) as ServerEvent;
    if (started.type !== 'session_started') throw new Error(`The session began with ${String(data)}`);
    return new WorkersSession(socket, started.session_id);
  }

  get open(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  say(seconds: number): void {
    const from = this.#samples;
    this.#samples += Math.round(seconds * RATE);
    this.#socket.send(numberedAudio(from, this.#samples));
  }

  /** Resolves when there is a final, of the samples it is about. Rejects when the session ends before. */
  final(): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!this.#events.some((event) => event.type === 'transcript' && event.is_final)) return;
        socket.off('message', look);
        resolve();
      };
      socket.on('message', look);
      socket.once('close', (code) => reject(new Error(`The session ended with ${code} before its final.`)));
      look();
    });
  }

  leave(): void {
    this.#socket.terminate();
  }
}
