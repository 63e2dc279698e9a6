// Rows as lines. What does not fit a terminal is folded: first the last column, then each row becomes a block of its own.

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

function wrapped(text: string, width: number): string[] {
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

/** One line for each cell that has something in it, below each other, with the column's name before it. */
function blocks([head = [], ...rows]: Rows): string[] {
  const width = Math.max(...head.map(({ length }) => length));
  return rows.flatMap((row, at) => [
    ...(at === 0 ? [] : ['']),
    ...row.flatMap((cell, column) => (cell === '' ? [] : [`${(head[column] ?? '').padEnd(width)}${GAP}${cell}`])),
  ]);
}
