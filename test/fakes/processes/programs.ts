// Programs of the machine that a test needs.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where the first of some programs is, by the PATH; undefined where there is none. Under `CI=true` one has to be there. */
export function programOf(...names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
  if (found === undefined && process.env.CI === 'true') throw new Error(`None of ${names.join(', ')} is on the PATH.`);
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
