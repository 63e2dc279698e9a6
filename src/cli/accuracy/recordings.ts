// A folder of recordings, each with a text of what is really said in it: `call.mp3` and `call.txt`.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { codeOf } from '../../runtime/error-code.ts';
import { CommandError } from '../shared/output.ts';

export const RECORDINGS_MAX = 1_000;
const ENTRIES_MAX = 10_000;
const TEXT_BYTES_MAX = 1024 * 1024;

export interface Recording {
  file: string;
  reference: string;
}

export interface Folder {
  recordings: Recording[];
  /** Names of files without their counterpart. */
  alone: string[];
}

/** In the order of their names. Throws a CommandError. */
export function recordingsIn(directory: string): Folder {
  const names = namesIn(directory);
  const texts = new Set(names.filter((name) => extname(name).toLowerCase() === '.txt'));
  const used = new Set<string>();
  const alone: string[] = [];
  const recordings: Recording[] = [];
  for (const name of names) {
    if (texts.has(name)) continue;
    const text = `${name.slice(0, name.length - extname(name).length)}.txt`;
    if (!texts.has(text)) alone.push(name);
    else {
      used.add(text);
      recordings.push({ file: join(directory, name), reference: textIn(join(directory, text)) });
    }
  }
  if (recordings.length === 0)
    throw new CommandError(
      `${directory} has no recording with a text. Put a .txt of what is said next to each one: call.mp3 and call.txt.`,
    );
  if (recordings.length > RECORDINGS_MAX)
    throw new CommandError(
      `${directory} has ${recordings.length} recordings with texts; at most ${RECORDINGS_MAX} are measured. Use several folders.`,
    );
  return { recordings, alone: [...alone, ...[...texts].filter((name) => !used.has(name))] };
}

function namesIn(directory: string): string[] {
  let entries: { name: string; isDirectory(): boolean }[];
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR')
      throw new CommandError(`${directory} is a file. Name the folder of the recordings.`);
    if (codeOf(error) === 'ENOENT') throw new CommandError(`there is no folder ${directory}.`);
    throw new CommandError(`${directory} cannot be read (${codeOf(error) ?? 'error'}).`);
  }
  if (entries.length > ENTRIES_MAX)
    throw new CommandError(`${directory} has ${entries.length} files; at most ${ENTRIES_MAX} are looked through.`);
  return entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
}

function textIn(path: string): string {
  const { size } = statSync(path);
  if (size > TEXT_BYTES_MAX)
    throw new CommandError(`${path} has ${size} bytes; a text has at most ${TEXT_BYTES_MAX}. Split the recording.`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch {
    throw new CommandError(`${path} is not UTF-8 text. Save it as UTF-8.`);
  }
}
