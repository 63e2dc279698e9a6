// How commands speak: results on standard output, words for people on standard error, and exit codes by sysexits.

import { tableLines } from './table.ts';

/** Exit codes. 64, 75 and 78 are those of sysexits.h for usage, a temporary failure and configuration. */
export const EXIT = { ok: 0, failed: 1, usage: 64, temporary: 75, config: 78 } as const;

/** Ends the command with one sentence and a code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Arguments that cannot be used: one sentence, how the command is called, and where more is told. */
export class UsageError extends CommandError {
  /** @param usage what `--help` prints: its first lines are how the command is called */
  constructor(sentence: string, usage: string) {
    const [synopsis = ''] = usage.split('\n\n');
    const [, , name] = synopsis.split(' ');
    super(`${sentence}\n\n${synopsis}\n\nvoxgate ${name} --help tells more.`, EXIT.usage);
  }
}

let hearsReader = false;

/** A result, for people and pipes. The reader may stop before the end: `voxgate ledger export | head`. */
export function print(line: string): void {
  if (!hearsReader) process.stdout.on('error', endWithReader);
  hearsReader = true;
  process.stdout.write(`${line}\n`);
}

function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
}

/** Words beside the result. */
export function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Rows as aligned columns, the first row as their head; on a terminal as wide as that is. */
export function printTable(rows: readonly (readonly string[])[]): void {
  for (const line of tableLines(rows, process.stdout.isTTY ? (process.stdout.columns ?? 80) : undefined)) print(line);
}
