// An engine behind a real WebSocket: each connection to the server is one to the engine, frame by frame.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Engine } from '../../../src/vendors/kit/provider.ts';

export class EngineServer {
  private readonly engine: Engine;
  private readonly http: Server = createServer();
  private readonly sockets: WebSocketServer;
  private whenIdle: (() => void)[] = [];
  /** Close codes of the connections that are over: 1006 for those that were dropped. */
  readonly closeCodes: number[] = [];
  private open = 0;

  private constructor(engine: Engine) {
    this.engine = engine;
    this.sockets = new WebSocketServer({ server: this.http });
    this.sockets.on('connection', (socket) => this.serve(socket));
    this.http.on('connection', (connection) => {
      this.open++;
      connection.once('close', () => {
        this.open--;
        if (this.open === 0) for (const tell of this.whenIdle.splice(0)) tell();
      });
    });
  }

  /** Listens on a free port of this machine. */
  static async start(engine: Engine): Promise<EngineServer> {
    const server = new EngineServer(engine);
    await new Promise<void>((resolve) => server.http.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  /** Resolves when no connection is open. */
  async idle(): Promise<void> {
    if (this.open > 0) await new Promise<void>((resolve) => this.whenIdle.push(resolve));
  }

  async close(): Promise<void> {
    for (const socket of this.sockets.clients) socket.terminate();
    await new Promise((resolve) => this.http.close(resolve));
  }

  private serve(socket: WebSocket): void {
    const connection = this.engine.connect(
      {},
      {
        // To the client its own handshake has told it.
        open: () => {},
        message: (json) => socket.send(JSON.stringify(json)),
        drained: () => {},
        closed: (code, reason) => socket.close(code, reason),
      },
    );
    socket.on('message', (data: Buffer, isBinary) => connection.send(isBinary ? data : data.toString()));
    socket.on('close', (code) => {
      this.closeCodes.push(code);
      connection.terminate();
    });
    socket.on('error', () => {});
  }
}
