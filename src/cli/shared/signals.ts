// The signals that end a gateway, for every process that has something to end. What each of them means there is its matter.

/** Calls `onSignal` at each of them, instead of ending the process, until what it returns is called. */
export function onSignals(onSignal: () => void): () => void {
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return () => {
    process.off('SIGTERM', onSignal);
    process.off('SIGINT', onSignal);
  };
}
