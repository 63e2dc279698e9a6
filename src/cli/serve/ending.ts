// What ends a gateway that serves: signals, of which the first drains and the second stops, and uncaught errors.

import type { Gateway } from '../../node/gateway.ts';
import type { Logger } from '../../runtime/telemetry/log.ts';
import { tell } from '../shared/output.ts';

const HINT = '\n  Draining: live sessions end at their next turn boundary. Press Ctrl-C again to stop at once.\n';

/** Calls `onSignal` at each of them, instead of ending the process, until the returned function is called. */
export function onSignals(onSignal: () => void): () => void {
  let isFirst = true;
  const receive = (signal: NodeJS.Signals): void => {
    if (isFirst && signal === 'SIGINT' && process.stderr.isTTY === true) tell(HINT);
    isFirst = false;
    onSignal();
  };
  process.on('SIGTERM', receive);
  process.on('SIGINT', receive);
  return () => {
    process.off('SIGTERM', receive);
    process.off('SIGINT', receive);
  };
}

/** The first signal drains, the second stops. A signal between the opening of the port and the end of the start is kept. */
export class EndSignals {
  #count = 0;
  #gateway: Pick<Gateway, 'drain' | 'stop'> | undefined;
  #detach = () => {};

  listen(): void {
    this.#detach = onSignals(() => {
      this.#count++;
      this.#apply();
    });
  }

  appliedTo(gateway: Pick<Gateway, 'drain' | 'stop'>): () => void {
    this.#gateway = gateway;
    this.#apply();
    return this.#detach;
  }

  #apply(): void {
    if (this.#count === 1) this.#gateway?.drain();
    else if (this.#count > 1) this.#gateway?.stop();
  }
}

/** After this many errors the process stops without draining. */
const ERRORS_MAX = 100;

interface UncaughtErrors {
  /** Whether there was one: the exit code must say so. */
  readonly occurred: boolean;
  detach(): void;
}

/**
 * Drains the gateway at the first uncaught error or rejection, since the process may be in a wrong state, and stops it at the hundredth.
 * The process then exits with a failure, so that its supervisor starts a new one.
 */
export function drainOnUncaughtError(
  gateway: { drain(): void; stop(): void },
  logger: Pick<Logger, 'fatal'>,
): UncaughtErrors {
  let errors = 0;
  const uncaught = (error: unknown, origin: string) => {
    errors++;
    logger.fatal({ err: error, origin, faults: errors }, 'uncaught fault');
    if (errors === 1) gateway.drain();
    if (errors === ERRORS_MAX) gateway.stop();
  };
  // Unhandled rejections arrive here too, as long as nothing listens to `unhandledRejection`.
  process.on('uncaughtException', uncaught);
  return {
    get occurred() {
      return errors > 0;
    },
    detach: () => void process.off('uncaughtException', uncaught),
  };
}
