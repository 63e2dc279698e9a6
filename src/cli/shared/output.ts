// The output of commands: results and tables on standard output, messages for people on standard error, and exit codes by sysexits.

/** Exit codes. 64, 75 and 78 are those of sysexits.h for usage, a temporary failure and configuration. */
export const EXIT = { ok: 0, failed: 1, usage: 64, temporary: 75, config: 78 } as const;

/** Ends the command with one sentence and a code. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Wrong arguments: one sentence, the synopsis of the command, and where to read more. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError';
  /** @param usage what `--help` prints: its first lines are the synopsis */
  constructor(sentence: string, usage: string) {
    const [synopsis = ''] = usage.split('\n\n');
    const [, , name] = synopsis.split(' ');
    super(`${sentence}\n\n${synopsis}\n\nvoxgate ${name} --help tells more.`, EXIT.usage);
  }
}

let watchesReader = false;

/** Standard output or standard error, or what stands for it. */
export interface OutputStream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

/** Goes back to the first column and clears the line. */
export const CLEAR_LINE = '\r\x1b[K';

/** A result, for people and pipes. The reader may stop before the end: `voxgate ledger export | head`. */
export function print(line: string): void {
  if (!watchesReader) process.stdout.on('error', exitWithReader);
  watchesReader = true;
  process.stdout.write(`${line}\n`);
}

function exitWithReader(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
}

/** A message next to the result. */
export function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Rows as aligned columns, the first row as their head; on a terminal as wide as that is. */
export function printTable(rows: readonly (readonly string[])[]): void {
  for (const line of tableLines(rows, process.stdout.isTTY ? (process.stdout.columns ?? 80) : undefined)) print(line);
}

const GAP = '  ';
/** The last column is not folded to less. */
const LAST_MIN = 24;

type Rows = readonly (readonly string[])[];

/** @param columns of the terminal; lines of any length where it is absent */
export function tableLines(rows: Rows, columns = Number.POSITIVE_INFINITY): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  if (before + (widths.at(-1) ?? 0) <= columns) return rows.map((row) => lineOf(row, widths));
  const room = columns - before;
  const longestWord = Math.max(0, ...rows.flatMap((row) => (row.at(-1) ?? '').split(' ').map(({ length }) => length)));
  return room >= Math.max(LAST_MIN, longestWord) ? rows.flatMap((row) => folded(row, widths, room)) : blocks(rows);
}

const lineOf = (row: readonly string[], widths: readonly number[]): string =>
  row
    .map((cell, column) => cell.padEnd(widths[column] as number))
    .join(GAP)
    .trimEnd();

function folded(row: readonly string[], widths: readonly number[], room: number): string[] {
  const [first = '', ...more] = wrapped(row.at(-1) ?? '', room);
  const others = row.slice(0, -1);
  return [lineOf([...others, first], widths), ...more.map((line) => lineOf([...others.map(() => ''), line], widths))];
}

/** Lines of at most `width` characters; a longer word has a line of its own. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length > width && line !== '') {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** One line for each cell that is not empty, with the name of its column before it. */
function blocks([head = [], ...rows]: Rows): string[] {
  const width = Math.max(...head.map(({ length }) => length));
  return rows.flatMap((row, at) => [
    ...(at === 0 ? [] : ['']),
    ...row.flatMap((cell, column) => (cell === '' ? [] : [`${(head[column] ?? '').padEnd(width)}${GAP}${cell}`])),
  ]);
}
