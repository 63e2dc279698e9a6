// Which of the two doors a process opens. The fast one needs a binary for this machine that reads every request whole;
// where there is none, the other takes over and one sentence says why.
import type { Door, DoorHandlers, DoorOptions } from './door.ts';
import { openNodeDoor } from './node/door.ts';
import { openUwsDoor } from './uws/door.ts';
import { splitRequestFault } from './uws/split-request-check.ts';

export type DoorChoice = 'auto' | 'uws' | 'node';

/**
 * Opens a door. `auto` takes uWebSockets.js where it can be trusted and node:http otherwise, and then calls `onFallback`
 * once with the reason. Rejects with an Error of one sentence when the door, or its address, cannot be had.
 */
export async function openDoor(
  choice: DoorChoice,
  handlers: DoorHandlers,
  options: DoorOptions,
  onFallback: (reason: string) => void,
): Promise<Door> {
  if (choice === 'uws') return openUwsDoor(handlers, options);
  const reason = choice === 'auto' ? await reasonAgainstUws() : undefined;
  if (choice === 'auto' && reason === undefined) return openUwsDoor(handlers, options);
  if (reason !== undefined) onFallback(reason);
  return openNodeDoor(handlers, options);
}

/** Asked once: neither the build nor the machine changes under a process. */
let verdict: Promise<string | undefined> | undefined;

/** Why uWebSockets.js cannot be used here, in one sentence; undefined when it can. */
export function reasonAgainstUws(): Promise<string | undefined> {
  verdict ??= splitRequestFault(openUwsDoor).catch((error: Error) => error.message);
  return verdict;
}
