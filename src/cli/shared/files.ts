// Files that a command is given by name: what is wrong with one, in a sentence, before anything is done.
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { CommandError } from './output.ts';

/** Throws a CommandError unless there is such a file with content, and this user may read it. `what`: what it should be, `an audio file`. */
export function requireReadable(file: string, what: string): void {
  const state = statSync(file, { throwIfNoEntry: false });
  if (state === undefined) throw new CommandError(`there is no file ${file}.`);
  if (state.isDirectory()) throw new CommandError(`${file} is a folder. Name ${what}.`);
  if (state.isFile() && state.size === 0) throw new CommandError(`${file} is empty. Name ${what}.`);
  if (!may(file, constants.R_OK)) throw new CommandError(`this user may not read ${file}.`);
}

/** Throws a CommandError unless a file of this name can be written. */
export function requireWritable(file: string): void {
  const state = statSync(file, { throwIfNoEntry: false });
  if (state?.isDirectory()) throw new CommandError(`${file} is a folder. Name a file to write to.`);
  const folder = dirname(file);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new CommandError(`there is no folder ${folder} to write ${file} to.`);
  if (!may(state === undefined ? folder : file, constants.W_OK))
    throw new CommandError(`this user may not write ${file}.`);
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
