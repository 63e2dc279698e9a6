// Placeholders for what a machine needs and a host provides. A chart stays drawable without its services, and a chart that
// is started unprovided fails with a sentence that names what is missing.
import { fromPromise } from 'xstate';

/** A promise actor to be provided by the host. */
export function declaredPromise<Output, Input>(name: string) {
  return fromPromise<Output, Input>(async () => {
    throw new Error(
      `The actor "${name}" was not provided. Start the machine through its host, or call machine.provide({ actors }).`,
    );
  });
}

/** An action to be provided by the host. */
export function declaredAction(name: string): () => void {
  return () => {
    throw new Error(
      `The action "${name}" was not provided. Start the machine through its host, or call machine.provide({ actions }).`,
    );
  };
}
