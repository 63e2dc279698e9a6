// When a client is asked for a sign of life, and when it counts as gone. Sending the ping and dropping the socket are the
// host's work.
import type { Clock } from '../../../machines/clock.ts';
import type { ServerSocket } from '../../http/server.ts';

export interface KeepaliveActions {
  ping(): void;
  /** Nothing is read of the client for the moment: it cannot be heard. */
  isDeaf?(): boolean;
  /** Nothing was heard in time; called once, and nothing after it. */
  dead(): void;
}

/**
 * Pings every `pingMs`, also while frames arrive: proxies cut connections on which the server is silent. Anything heard
 * within `pongMs` of a ping is a sign of life. Starts when created.
 */
export class SocketKeepalive {
  readonly #clock: Clock;
  readonly #pingMs: number;
  readonly #pongMs: number;
  readonly #actions: KeepaliveActions;
  #heard = false;
  #timer: unknown;

  constructor(clock: Clock, periods: { pingMs: number; pongMs: number }, actions: KeepaliveActions) {
    this.#clock = clock;
    this.#pingMs = periods.pingMs;
    this.#pongMs = periods.pongMs;
    this.#actions = actions;
    this.#timer = clock.setTimeout(() => this.#ping(), this.#pingMs);
  }

  /** A frame or a pong arrived. Cheap enough for every frame. */
  heard(): void {
    this.#heard = true;
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
  }

  #ping(): void {
    this.#heard = false;
    // Armed first: the ping may find the connection gone and stop this.
    this.#timer = this.#clock.setTimeout(() => this.#judge(), this.#pongMs);
    this.#actions.ping();
  }

  #judge(): void {
    if (!this.#heard && this.#actions.isDeaf?.() !== true) {
      this.#actions.dead();
      return;
    }
    this.#timer = this.#clock.setTimeout(() => this.#ping(), Math.max(0, this.#pingMs - this.#pongMs));
  }
}

/** @param pinged called before each ping, and gives its text */
export const keepaliveOf = (
  socket: ServerSocket,
  clock: Clock,
  settings: { pingMs: number; pongMs: number },
  pinged: () => string,
): SocketKeepalive =>
  new SocketKeepalive(clock, settings, {
    ping: () => socket.ping(pinged()),
    isDeaf: () => socket.heldBack || socket.watchesSilence,
    dead: () => socket.terminate(),
  });
