// Ends sockets that the NATS library leaves open: one to a server that takes nothing any more (it waits for its last bytes to
// leave, for ever), and those of attempts that were never greeted. Reaches into the library; test/bus/slow/nats-faults.test.ts tells
// when a newer one is made otherwise.
import type { NatsConnection } from 'nats';

interface Transport {
  socket?: { destroy(): void };
  close(): Promise<void>;
}

const transportOf = (connection: NatsConnection): Transport | undefined =>
  (connection as unknown as { protocol?: { transport?: Transport } }).protocol?.transport;

export class Sockets {
  #attempt: Transport | undefined;

  /** The connection is given up as it is, with what has not left yet. */
  cut(connection: NatsConnection): void {
    // Connecting again follows.
    transportOf(connection)
      ?.close()
      .catch(() => {});
  }

  /** A new attempt has begun: an earlier one has failed. */
  attempt(connection: NatsConnection): void {
    const next = transportOf(connection);
    if (next === this.#attempt) return;
    if (this.#attempt !== undefined) end(this.#attempt);
    this.#attempt = next;
  }

  /** The last attempt is the connection. */
  connected(): void {
    this.#attempt = undefined;
  }

  /** Nothing is to be connected any more. */
  destroyAll(connection: NatsConnection): void {
    for (const transport of [this.#attempt, transportOf(connection)]) if (transport !== undefined) end(transport);
  }
}

/** Ends its socket, also when it gets it only later: the library has it when it is connected. */
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
