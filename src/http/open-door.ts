// Which of the two doors a process opens. The fast one needs a binary for this machine that reads every request whole;
// where there is none, the other takes over and one sentence says why.
import type { Door, DoorHandlers, DoorOptions } from './door.ts';
import { openNodeDoor } from './node/door.ts';
import { NoUwsBinary } from './uws/build.ts';
import { openUwsDoor } from './uws/door.ts';
import { splitRequestFault } from './uws/split-request-check.ts';

export type DoorChoice = 'auto' | 'uws' | 'node';

/**
 * Opens a door. `auto` takes uWebSockets.js where it can be trusted and node:http otherwise, and then calls `onFallback`
 * once with the reason, which is expected where no binary exists for the system and the version of Node. Rejects with an Error of
 * one sentence when the door, or its address, cannot be had.
 */
export async function openDoor(
  choice: DoorChoice,
  handlers: DoorHandlers,
  options: DoorOptions,
  onFallback: (reason: string, isExpected: boolean) => void,
): Promise<Door> {
  if (choice === 'uws') return openUwsDoor(handlers, options);
  const fault = choice === 'auto' ? await uwsFault() : undefined;
  if (choice === 'auto' && fault === undefined) return openUwsDoor(handlers, options);
  if (fault !== undefined) onFallback(fault.message, fault instanceof NoUwsBinary);
  return openNodeDoor(handlers, options);
}

/** Asked once: neither the build nor the machine changes under a process. */
let verdict: Promise<Error | undefined> | undefined;

function uwsFault(): Promise<Error | undefined> {
  verdict ??= splitRequestFault(openUwsDoor).then(
    (fault) => (fault === undefined ? undefined : new Error(fault)),
    (error: Error) => error,
  );
  return verdict;
}

/** Why uWebSockets.js cannot be used here, in one sentence; undefined when it can. */
export async function reasonAgainstUws(): Promise<string | undefined> {
  return (await uwsFault())?.message;
}
