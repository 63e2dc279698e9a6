// The signals that end a gateway, for every process that has something to end: the first drains, the second stops.
import { tell } from './output.ts';

const HINT = '\n  Draining: live sessions end at their next turn boundary. Press Ctrl-C again to stop at once.\n';

/** Calls `onSignal` at each of them, instead of ending the process, until what it returns is called. */
export function onSignals(onSignal: () => void): () => void {
  let isFirst = true;
  const take = (signal: NodeJS.Signals): void => {
    if (isFirst && signal === 'SIGINT' && process.stderr.isTTY === true) tell(HINT);
    isFirst = false;
    onSignal();
  };
  process.on('SIGTERM', take);
  process.on('SIGINT', take);
  return () => {
    process.off('SIGTERM', take);
    process.off('SIGINT', take);
  };
}
