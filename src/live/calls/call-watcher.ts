// One socket on which the events of a call are told. Its client has nothing to say.
import { refuse } from '../../api/errors.ts';
import type { ServerSocket, SocketPace } from '../../http/server.ts';
import type { Excess } from '../pace/socket-pace.ts';
import type { RelayedHandlers } from '../resume/relay/session-end.ts';
import { keepaliveOf, type SocketKeepalive } from '../socket/keepalive.ts';
import type { ListenDependencies } from '../socket/listen-dependencies.ts';
import { excessWords, refuseOnSocket } from '../socket/refuse-on-socket.ts';
import type { Call } from './call.ts';

/** Characters that a client may leave unread; beyond that it is closed, and may come again. */
const UNREAD_BYTES_MAX = 4 * 1024 * 1024;
/** How often it is asked whether its key still opens this. */
const ALLOWED_MS = 15_000;

export interface WatcherOptions {
  call: Call;
  /** Number of the last event that the client has. */
  after: number;
  requestId: string;
  pace: SocketPace & { release(): void };
  isStillAllowed(): Promise<boolean>;
  /** Gives back its place. */
  left(): void;
}

export class CallWatcher implements RelayedHandlers {
  readonly pace: WatcherOptions['pace'];
  readonly #options: WatcherOptions;
  readonly #dependencies: ListenDependencies;
  #keepalive: SocketKeepalive | undefined;
  #detach: () => void = () => {};
  #timer: unknown;
  #isOpen = false;

  constructor(options: WatcherOptions, dependencies: ListenDependencies) {
    this.pace = options.pace;
    this.#options = options;
    this.#dependencies = dependencies;
  }

  open(socket: ServerSocket): void {
    const { clock, settings, sockets } = this.#dependencies;
    this.#isOpen = true;
    sockets.opened();
    this.#keepalive = keepaliveOf(socket, clock, settings, () => '');
    this.#ask(socket);
    const { call, after } = this.#options;
    this.#detach = call.attach(
      {
        say: (text) => {
          socket.send(text);
          if (socket.bufferedBytes > UNREAD_BYTES_MAX) this.#refuse(socket, 'slow_consumer', SLOW);
        },
        over: (code, reason) => socket.close(code, reason),
      },
      after,
    );
  }

  message(socket: ServerSocket): void {
    this.#refuse(socket, 'invalid_request', NOTHING_TAKEN);
  }

  arriving(socket: ServerSocket): void {
    this.message(socket);
  }

  part(socket: ServerSocket): void {
    this.message(socket);
  }

  exceeded(socket: ServerSocket, excess: Excess): void {
    this.#refuse(socket, 'rate_limit_exceeded', excessWords(excess, this.#dependencies.settings));
  }

  pong(): void {
    this.#keepalive?.heard();
  }

  drained(): void {}

  closed(): void {
    if (this.#isOpen) this.#dependencies.sockets.closed();
    this.#keepalive?.stop();
    this.#dependencies.clock.clearTimeout(this.#timer);
    this.#detach();
    this.pace.release();
    this.#options.left();
  }

  #refuse(socket: ServerSocket, code: Parameters<typeof refuse>[0], words: string): void {
    if (socket.closed) return;
    this.#detach();
    const refusal = refuse(code, words);
    this.#dependencies.onRefused(refusal);
    refuseOnSocket(socket, refusal, this.#options.requestId, this.#dependencies);
  }

  /** Who was shut out meanwhile hears no more. */
  #ask(socket: ServerSocket): void {
    this.#timer = this.#dependencies.clock.setTimeout(() => {
      this.#ask(socket);
      void this.#options.isStillAllowed().then((isAllowed) => {
        if (!isAllowed) this.#refuse(socket, 'key_revoked', REVOKED);
      });
    }, ALLOWED_MS);
  }
}

const SLOW =
  'More than 4 MiB of events were left unread. Connect again with `last_seq`, the `seq` of the last event that you have had.';
const NOTHING_TAKEN =
  'Nothing is taken on this socket: it tells the events of a call. The call itself is ended by its carrier.';
const REVOKED = 'The key that this socket was opened with is good no longer.';
