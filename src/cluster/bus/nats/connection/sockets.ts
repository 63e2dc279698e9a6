// Closes sockets that the NATS library leaves open: to a server that accepts nothing any more (the library waits for its last
// bytes without end), and of connection attempts that got no INFO line. It reaches into the library;
// test/cluster/bus/slow/nats-faults.test.ts fails if a newer version works differently.
import type { NatsConnection } from '@nats-io/transport-node';

interface Transport {
  socket?: { destroy(): void };
  close(): Promise<void>;
}

const transportOf = (connection: NatsConnection): Transport | undefined =>
  (connection as unknown as { protocol?: { transport?: Transport } }).protocol?.transport;

export class Sockets {
  #attempt: Transport | undefined;

  /** Gives the connection up at once, with what was not sent. */
  cut(connection: NatsConnection): void {
    // The library reconnects after that.
    transportOf(connection)
      ?.close()
      .catch(() => {});
  }

  /** A new attempt began, so an earlier one failed. */
  attempt(connection: NatsConnection): void {
    const next = transportOf(connection);
    if (next === this.#attempt) return;
    if (this.#attempt !== undefined) end(this.#attempt);
    this.#attempt = next;
  }

  /** The last attempt became the connection. */
  connected(): void {
    this.#attempt = undefined;
  }

  /** Closed: no more attempts. */
  destroyAll(connection: NatsConnection): void {
    for (const transport of [this.#attempt, transportOf(connection)]) if (transport !== undefined) end(transport);
  }
}

/** Destroys the socket, also when the library attaches it only later, at the connection. */
function end(transport: Transport): void {
  let socket = transport.socket;
  socket?.destroy();
  Object.defineProperty(transport, 'socket', {
    configurable: true,
    get: () => socket,
    set(late: Transport['socket']) {
      socket = late;
      late?.destroy();
    },
  });
}
