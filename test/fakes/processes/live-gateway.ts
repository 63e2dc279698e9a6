// A whole gateway on a free port with a data directory of its own, and clients that wait for events instead of time.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { afterAll } from 'vitest';
import WebSocket, { type ClientOptions } from 'ws';
import type { ServerEvent } from '../../../src/api/listen-events.ts';
import { WavReader } from '../../../src/audio/containers/wav.ts';
import { type Gateway, loadConfig, startGateway } from '../../../src/index.ts';
import { createLogger } from '../../../src/runtime/telemetry/log.ts';
import { providers } from '../../../src/vendors/index.ts';
import '../../setup/documented-sockets.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { UNDER_TEST } from './voxgate.ts';

export interface LiveGateway {
  gateway: Gateway;
  url: string;
  key: string;
  directory: string;
  /** Everything logged so far, one line each. */
  log: string[];
  /** A request with the first key. */
  request(path: string, init?: RequestInit): Promise<Response>;
  connect(query: Record<string, string>, options?: ConnectOptions): LiveClient;
}

export interface ConnectOptions extends ClientOptions {
  protocols?: string[];
  /** False: no Authorization header. */
  authorize?: boolean;
}

const started: Gateway[] = [];
// Registered on import: a hook that a hook registers is never run. It runs before the directories are removed, which were
// imported first.
afterAll(async () => {
  await Promise.all(
    started.splice(0).map((gateway) => {
      gateway.stop();
      return gateway.ended;
    }),
  );
});

/** Starts a gateway; it is stopped after the tests of the file. */
export async function startLiveGateway(env: Record<string, string> = {}): Promise<LiveGateway> {
  const directory = env.VOXGATE_DATA_DIRECTORY ?? temporaryDirectory();
  const log: string[] = [];
  const config = loadConfig(
    {
      VOXGATE_PORT: '0',
      VOXGATE_DATA_DIRECTORY: directory,
      VOXGATE_DOOR: process.env.VOXGATE_DOOR,
      ...UNDER_TEST,
      ...env,
    },
    { providers: providers.map((provider) => provider.name) },
  );
  const destination = new Writable({
    write(chunk, _, done) {
      log.push(String(chunk));
      done();
    },
  });
  const gateway = await startGateway({ config, logger: createLogger('info', destination) });
  started.push(gateway);
  const key = gateway.firstKey?.secret ?? '';
  return {
    gateway,
    url: gateway.url,
    key,
    directory,
    log,
    request: (path, init = {}) =>
      fetch(`${gateway.url}${path}`, {
        ...init,
        headers: { Authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) },
      }),
    connect: (query, { protocols = [], authorize = true, ...options } = {}) =>
      new LiveClient(`${gateway.url.replace('http', 'ws')}/v1/listen?${new URLSearchParams(query)}`, protocols, {
        ...options,
        headers: { ...(authorize ? { Authorization: `Bearer ${key}` } : {}), ...options.headers },
      }),
  };
}

type EventOf<Type extends ServerEvent['type']> = Extract<ServerEvent, { type: Type }>;

/** One client on a real socket. */
export class LiveClient {
  readonly socket: WebSocket;
  readonly events: ServerEvent[] = [];
  /** When each event came, on the clock of `performance.now`. */
  readonly times: number[] = [];
  closed: { code: number; reason: string } | undefined;
  refusal: { status: number; headers: Record<string, string | string[] | undefined>; body: string } | undefined;
  error: Error | undefined;
  private readonly watchers = new Set<() => void>();

  constructor(url: string, protocols: string[], options: ClientOptions) {
    this.socket = new WebSocket(url, protocols, options);
    this.socket.on('message', (data) => {
      this.events.push(JSON.parse(String(data)) as ServerEvent);
      this.times.push(performance.now());
      this.tell();
    });
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.tell();
    });
    this.socket.on('unexpected-response', (_, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        this.refusal = {
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        };
        this.tell();
      });
    });
    this.socket.on('error', (error) => {
      this.error = error;
    });
  }

  of<Type extends ServerEvent['type']>(type: Type): EventOf<Type>[] {
    return this.events.filter((event): event is EventOf<Type> => event.type === type);
  }

  get finals() {
    return this.of('transcript').filter((event) => event.is_final);
  }

  /** Resolves with the event as soon as it has come; rejects when the socket closes before. */
  event<Type extends ServerEvent['type']>(
    type: Type,
    matches: (event: EventOf<Type>) => boolean = () => true,
  ): Promise<EventOf<Type>> {
    return this.until(() => this.of(type).find(matches), `the event "${type}"`);
  }

  /** Resolves when the handshake was accepted. */
  async opened(): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING) await once(this.socket, 'open');
  }

  /** Resolves with the close code and reason. */
  async close(): Promise<{ code: number; reason: string }> {
    return this.until(() => this.closed, 'the close', true);
  }

  async refused() {
    return this.until(() => this.refusal, 'the refusal', true);
  }

  send(data: Uint8Array | object): void {
    this.socket.send(data instanceof Uint8Array ? data : JSON.stringify(data));
  }

  /** Resolves with what is found in what was told, as soon as it is there. */
  until<Value>(look: () => Value | undefined, what: string, closeIsFine = false): Promise<Value> {
    return new Promise((resolve, reject) => {
      const watch = (): void => {
        const found = look();
        if (found !== undefined) resolve(found);
        else if (this.closed !== undefined && !closeIsFine) {
          reject(
            new Error(
              `The socket closed with ${this.closed.code} before ${what}: ${this.error?.message ?? JSON.stringify(this.events.at(-1))}`,
            ),
          );
        } else return;
        this.watchers.delete(watch);
      };
      this.watchers.add(watch);
      watch();
    });
  }

  private tell(): void {
    for (const watch of [...this.watchers]) watch();
  }
}

export interface Sample {
  file: string;
  model: string;
  text: string;
  language: string;
  seconds: number;
}

const AUDIO = new URL('../../fixtures/audio/', import.meta.url);

/** The samples with their texts. */
export function samples(): Sample[] {
  return JSON.parse(readFileSync(new URL('samples.json', AUDIO), 'utf8')) as Sample[];
}

/** A sample's file, and its samples as headerless linear16. */
export function sampleAudio(file: string): { bytes: Buffer<ArrayBuffer>; pcm: Uint8Array; sampleRate: number } {
  const bytes = readFileSync(new URL(file, AUDIO));
  const wav = new WavReader();
  const pcm = wav.push(bytes);
  return {
    bytes,
    pcm: new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength).slice(),
    sampleRate: wav.format?.sampleRate ?? 0,
  };
}
