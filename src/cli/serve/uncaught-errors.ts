// What nobody has caught: the process cannot be sure of itself any more, but its sessions deserve their last words. It takes
// nobody new, lets them end, and whoever started it starts another.
import type { Logger } from '../../telemetry/log.ts';

/** After so many it is no single accident: nothing that still runs is to be trusted. */
const FAULTS_MAX = 100;

export interface LastResort {
  /** Whether something was uncaught: the process is not to end as if all were well. */
  readonly faulted: boolean;
  detach(): void;
}

/** Drains the gateway at the first uncaught error or rejection, and stops it at the hundredth. */
export function drainOnFault(gateway: { drain(): void; stop(): void }, logger: Pick<Logger, 'fatal'>): LastResort {
  let faults = 0;
  const uncaught = (error: unknown, origin: string) => {
    faults++;
    logger.fatal({ err: error, origin, faults }, 'uncaught fault');
    if (faults === 1) gateway.drain();
    if (faults === FAULTS_MAX) gateway.stop();
  };
  // Also for rejections: without a listener of their own they come here.
  process.on('uncaughtException', uncaught);
  return {
    get faulted() {
      return faults > 0;
    },
    detach: () => void process.off('uncaughtException', uncaught),
  };
}
