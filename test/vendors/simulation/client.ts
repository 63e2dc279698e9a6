// A simulated provider of a test, and a plain client of it that keeps every message and how the connection ended.
import { WebSocket } from 'ws';
import { SimulatorServer, type SimulatorServerOptions } from '../../../src/vendors/simulation/server.ts';

export interface Message {
  readonly type?: string;
  readonly [member: string]: unknown;
}

export interface Refused {
  status: number;
  headers: Readonly<Record<string, unknown>>;
  body: string;
}

const servers: SimulatorServer[] = [];
const clients: Client[] = [];

/** A simulator of the running test. */
export async function serve(options: SimulatorServerOptions): Promise<SimulatorServer> {
  const server = await SimulatorServer.start(options);
  servers.push(server);
  return server;
}

/** Call after each test. */
export async function closeAll(): Promise<void> {
  for (const { socket } of clients.splice(0)) socket.terminate();
  for (const server of servers.splice(0)) await server.close();
}

export class Client {
  readonly said: Message[] = [];
  readonly socket: WebSocket;
  /** The upgrade was accepted. */
  readonly opened: Promise<void>;
  readonly refused: Promise<Refused>;
  readonly closed: Promise<{ code: number; reason: string }>;
  #wake = () => {};
  #over = false;

  /** `url` is a server's, with a path: `http://…/v1/listen?model=…`. */
  constructor(url: string, headers: Readonly<Record<string, string>> = {}, protocols: string[] = []) {
    this.socket = new WebSocket(url.replace('http', 'ws'), protocols, { headers });
    clients.push(this);
    this.socket.on('error', () => {});
    this.socket.on('message', (data: Buffer) => {
      this.said.push(JSON.parse(data.toString()) as Message);
      this.#wake();
    });
    this.opened = new Promise((resolve) => this.socket.on('open', resolve));
    this.closed = new Promise((resolve) =>
      this.socket.on('close', (code, reason) => {
        this.#over = true;
        this.#wake();
        resolve({ code, reason: reason.toString() });
      }),
    );
    this.refused = new Promise((resolve) =>
      this.socket.on('unexpected-response', (_, response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(pieces).toString(),
          }),
        );
      }),
    );
  }

  /** Objects are sent as JSON. */
  send(...frames: (string | Uint8Array | object)[]): void {
    for (const frame of frames)
      this.socket.send(typeof frame === 'string' || frame instanceof Uint8Array ? frame : JSON.stringify(frame));
  }

  /** Resolves with the n-th message that fits, from 1. Rejects when the connection ends without it. */
  async message(fits: ((message: Message) => boolean) | string, n = 1): Promise<Message> {
    const wanted = typeof fits === 'string' ? ({ type }: Message) => type === fits : fits;
    for (;;) {
      const found = this.said.filter(wanted)[n - 1];
      if (found !== undefined) return found;
      if (this.#over) throw new Error(`It ended after ${this.said.map(({ type }) => type).join(', ')}.`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  all(type: string): Message[] {
    return this.said.filter((message) => message.type === type);
  }

  /** Everything sent before was read at the other end, and what that end said to it has come. */
  async settled(): Promise<void> {
    for (let turn = 0; turn < 2; turn++) {
      const pong = new Promise<void>((resolve) => this.socket.once('pong', () => resolve()));
      this.socket.ping();
      await pong;
    }
  }
}

/** Silence: the ears of these tests go by position. */
export const silence = (seconds: number, sampleRate = 16_000): Uint8Array =>
  new Uint8Array(2 * Math.round(seconds * sampleRate));
