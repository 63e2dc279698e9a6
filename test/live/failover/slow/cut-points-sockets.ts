// Every TCP socket of this process that is open now, whoever made it: what is left of a session shows here.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

const CHANNELS = ['net.client.socket', 'net.server.socket'];

/** Counts from its making on, until `stop`. */
export class OpenSockets {
  readonly #sockets = new Set<Socket>();
  #whenGone: (() => void) | undefined;

  constructor() {
    for (const channel of CHANNELS) subscribe(channel, this.#hear);
  }

  /** The ports of those that are open: its own, and where it leads. */
  get open(): string[] {
    return [...this.#sockets].map(({ localPort, remotePort }) => `${localPort} to ${remotePort}`);
  }

  /** Resolves when none is open. */
  gone(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenGone = resolve;
      this.#look();
    });
  }

  stop(): void {
    for (const channel of CHANNELS) unsubscribe(channel, this.#hear);
  }

  readonly #hear = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#look();
    });
  };

  #look(): void {
    if (this.#sockets.size === 0) this.#whenGone?.();
  }
}
