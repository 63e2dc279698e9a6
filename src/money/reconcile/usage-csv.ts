// A provider's usage as CSV, as people export or write it: columns are found by their names. What could be read in two ways is refused with
// its line.
import { dayOf, type ReportedUsage, shown, UsageReportError, usdIn } from '../../vendors/kit/usage-report.ts';

export const REPORT_ROWS_MAX = 200_000;
const CELLS_MAX = 200;
const MODEL = /^[!-~](?:[ -~]{0,198}[!-~])?$/;
const NUMBER = /^\d{1,12}(?:\.\d{1,12})?$/;
const AMOUNT = /^\$?(-?\d{1,10}(?:\.\d{1,30})?)$/;

/** Names of columns, in lower case without what is no letter. */
const NAMES = {
  day: ['day', 'date', 'usagedate', 'time', 'timestamp', 'starttime', 'createdat'],
  to: ['to', 'until', 'enddate', 'lastday'],
  model: ['model', 'modelname', 'speechmodel'],
  seconds: ['seconds', 'audioseconds', 'durationseconds', 'billedseconds'],
  minutes: ['minutes', 'audiominutes', 'billedminutes'],
  hours: ['hours', 'audiohours', 'durationhrs', 'billedhours'],
  amount: ['amount', 'amountusd', 'cost', 'costusd', 'totalusd', 'usd'],
  currency: ['currency'],
  requests: ['requests', 'count', 'sessions'],
} as const;
type Column = keyof typeof NAMES;
const UNIT_SECONDS = { seconds: 1, minutes: 60, hours: 3600 } as const;

/** Throws a UsageReportError. */
export function readUsageCsv(text: string): ReportedUsage[] {
  const lines = linesOf(text.replace(/^\uFEFF/, ''));
  const [head, ...rows] = lines;
  const columns = columnsOf(head?.cells ?? []);
  return rows
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
    .map(({ cells, line }) => rowOf((column) => cells[columns.get(column) ?? -1]?.trim(), line));
}

function columnsOf(head: readonly string[]): Map<Column, number> {
  const columns = new Map<Column, number>();
  for (const [at, name] of head.entries()) {
    const plain = name.toLowerCase().replace(/[^a-z]/g, '');
    const column = (Object.keys(NAMES) as Column[]).find((each) => (NAMES[each] as readonly string[]).includes(plain));
    if (column === undefined) continue;
    if (columns.has(column)) throw new UsageReportError(`The file has two columns for the ${column}.`);
    columns.set(column, at);
  }
  const isMeasured = (['seconds', 'minutes', 'hours', 'amount'] as const).some((each) => columns.has(each));
  if (columns.has('day') && isMeasured) return columns;
  throw new UsageReportError(
    'The file has no header with the columns day and seconds, minutes, hours or amount, and model if there are several.',
  );
}

function rowOf(cell: (column: Column) => string | undefined, line: number): ReportedUsage {
  const wrong = (what: string, value: string, accepted: string): never => {
    throw new UsageReportError(`Line ${line} has the ${what} ${shown(value)}; it must be ${accepted}.`);
  };
  const dayIn = (value: string): string =>
    dayOf(value) ?? wrong('day', value, 'YYYY-MM-DD, or a time with a time zone');
  const from = dayIn(cell('day') ?? '');
  const to = cell('to') ? dayIn(cell('to') as string) : from;
  if (to < from) wrong('last day', to, 'the first day or later');
  const model = cell('model') || null;
  if (model !== null && !MODEL.test(model)) wrong('model', model, 'up to 200 printable characters');
  const currency = cell('currency') || 'USD';
  if (currency.toUpperCase() !== 'USD') wrong('currency', currency, 'USD');
  const usage: ReportedUsage = { from, to, model };
  for (const [unit, seconds] of Object.entries(UNIT_SECONDS)) {
    const value = cell(unit as keyof typeof UNIT_SECONDS);
    if (!value) continue;
    if (!NUMBER.test(value)) wrong(unit, value, 'a number such as 12.5');
    usage.seconds = Number(value) * seconds;
    break;
  }
  const amount = cell('amount');
  if (amount)
    usage.microUsd = usdIn(AMOUNT.exec(amount)?.[1] ?? wrong('amount', amount, 'a number of USD such as 12.50'));
  const requests = cell('requests');
  if (requests) usage.requests = NUMBER.test(requests) ? Number(requests) : wrong('count', requests, 'a number');
  return usage;
}

/** RFC 4180, with commas or semicolons, whichever the header has. */
function linesOf(text: string): { cells: string[]; line: number }[] {
  const end = text.search(/[\r\n]/);
  const separator = (end === -1 ? text : text.slice(0, end)).includes(';') ? ';' : ',';
  const lines: { cells: string[]; line: number }[] = [];
  let cells: string[] = [];
  let line = 1;
  let firstLine = 1;
  let at = 0;
  const endLine = () => {
    lines.push({ cells, line: firstLine });
    if (lines.length > REPORT_ROWS_MAX + 1)
      throw new UsageReportError(`The file has more than ${REPORT_ROWS_MAX} rows.`);
    cells = [];
    firstLine = ++line;
  };
  while (at < text.length) {
    const { cell, next, breaks } = cellAt(text, at, separator, line);
    line += breaks;
    cells.push(cell);
    if (cells.length > CELLS_MAX) throw new UsageReportError(`Line ${line} has more than ${CELLS_MAX} cells.`);
    at = next;
    if (text[at] === separator) {
      at++;
      if (at === text.length) cells.push('');
    } else if (at < text.length) {
      at += text.startsWith('\r\n', at) ? 2 : 1;
      endLine();
    }
  }
  if (cells.length > 0) endLine();
  return lines;
}

function cellAt(text: string, from: number, separator: string, line: number) {
  if (text[from] !== '"') {
    let next = from;
    while (next < text.length && text[next] !== separator && text[next] !== '\n' && text[next] !== '\r') next++;
    return { cell: text.slice(from, next), next, breaks: 0 };
  }
  let end = text.indexOf('"', from + 1);
  while (end !== -1 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  const after = text[end + 1];
  if (end === -1 || (after !== undefined && after !== separator && after !== '\n' && after !== '\r'))
    throw new UsageReportError(`Line ${line} has a quotation mark that is not closed.`);
  const cell = text.slice(from + 1, end).replaceAll('""', '"');
  return { cell, next: end + 1, breaks: cell.split('\n').length - 1 };
}
