// A TCP connection that can be cut without a word, as by a broken network: sockets stay open on both sides, and nothing passes until
// it is mended.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll } from 'vitest';

const HOST = '127.0.0.1';

const cables: Cable[] = [];
afterAll(() => {
  for (const cable of cables.splice(0)) cable.remove();
});

export class Cable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(port: number) {
    this.#server = createServer((client) => this.#join(client, connect(port, HOST)));
    cables.push(this);
  }

  /** To that port on this machine. */
  static async to(port: number): Promise<Cable> {
    const cable = new Cable(port);
    await new Promise<void>((resolve) => cable.#server.listen(0, HOST, resolve));
    return cable;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** What was sent meanwhile arrives late, as TCP sends it again. */
  mend(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.resume();
  }

  remove(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket, server: Socket): void {
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (bytes) => to.write(bytes));
      from.on('error', () => {});
      from.on('close', () => {
        this.#sockets.delete(from);
        if (!this.#isCut) to.destroy();
      });
      if (this.#isCut) from.pause();
    }
  }
}
