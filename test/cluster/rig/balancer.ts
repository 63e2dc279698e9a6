// A balancer as stands in front of several nodes: it passes connections on as they are, each new one to a node that is ready, the
// one with the fewest of them. It asks the nodes at each connection, so what it knows is never old.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

export interface Backend {
  readonly id: string;
  /** Where it listens now; it may be another port after each start. */
  readonly port: number;
}

export class Balancer {
  /** When connections came, on the clock of `performance.now`. */
  readonly cameAtMs: number[] = [];
  /** Connections that found no node. */
  refused = 0;
  readonly #backends: readonly Backend[];
  readonly #server: Server;
  readonly #open = new Map<Backend, number>();
  readonly #sockets = new Set<Socket>();

  private constructor(backends: readonly Backend[]) {
    this.#backends = backends;
    this.#server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => void this.#pass(socket));
  }

  static async start(backends: readonly Backend[]): Promise<Balancer> {
    const balancer = new Balancer(backends);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections that a node has through it. */
  connections({ id }: Backend): number {
    const backend = this.#backends.find((each) => each.id === id);
    return backend === undefined ? 0 : this.#load(backend);
  }

  async end(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #pass(client: Socket): Promise<void> {
    this.cameAtMs.push(performance.now());
    this.#keep(client);
    const backend = await this.#choose();
    if (backend === undefined) {
      this.refused++;
      client.destroy();
      return;
    }
    const upstream = connect({ port: backend.port, host: '127.0.0.1', noDelay: true });
    this.#keep(upstream);
    upstream.once('close', () => this.#count(backend, -1));
    pipeline(client, upstream, client, () => {
      client.destroy();
      upstream.destroy();
    });
  }

  /** It is counted at once: others are being chosen for meanwhile. */
  async #choose(): Promise<Backend | undefined> {
    const refusing = new Set<Backend>();
    for (;;) {
      const [backend] = this.#backends
        .filter((each) => !refusing.has(each))
        .sort((one, other) => this.#load(one) - this.#load(other));
      if (backend === undefined) return undefined;
      this.#count(backend, 1);
      if (await isReady(backend)) return backend;
      this.#count(backend, -1);
      refusing.add(backend);
    }
  }

  #load(backend: Backend): number {
    return this.#open.get(backend) ?? 0;
  }

  #count(backend: Backend, change: 1 | -1): void {
    this.#open.set(backend, this.#load(backend) + change);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

async function isReady({ port }: Backend): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`);
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
