// After an uncaught error the process may be in a wrong state: it drains, so that its sessions can end, and then exits with a
// failure, so that its supervisor starts a new process.
import type { Logger } from '../../runtime/telemetry/log.ts';

/** After this many errors the process stops without draining. */
const ERRORS_MAX = 100;

export interface UncaughtErrors {
  /** Whether there was one: the exit code must say so. */
  readonly occurred: boolean;
  detach(): void;
}

/** Drains the gateway at the first uncaught error or rejection, and stops it at the hundredth. */
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
