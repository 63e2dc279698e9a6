// Bills and usage as CSV (RFC 4180), safe to open in a spreadsheet: no text in it is taken for a formula.
import type { BillAnswer, UsageList } from '../api/usage.ts';
import type { WholeReply } from '../http/server.ts';

const HEADER = [
  'type',
  'date',
  'item',
  'mode',
  'byok',
  'sessions',
  'audio_seconds',
  'amount_usd',
  'note',
  'connection_seconds',
];
const NUMBER = /^-?\d+(?:\.\d+)?$/;
const FORMULA = /^[\s\0]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

/**
 * One row for each balance, credit and line of usage. Amounts of usage are negative, so that the opening balance and
 * everything below it add up to the closing balance.
 */
export function billCsv(bill: BillAnswer): string {
  const rows = [
    HEADER,
    row('opening_balance', bill.month, '', bill.opening_balance_usd),
    ...bill.credits.map(({ at, kind, amount_usd, note }) => row('credit', at, kind, amount_usd, note)),
    ...bill.usage.map(({ model, mode, byok, sessions, audio_seconds, connection_seconds = '', cost_usd }) => [
      'usage',
      bill.month,
      model,
      mode,
      String(byok),
      String(sessions),
      String(audio_seconds),
      negative(cost_usd),
      '',
      String(connection_seconds),
    ]),
    row('closing_balance', bill.month, '', bill.closing_balance_usd),
  ];
  return textOf(rows);
}

const textOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => `${cells.map(cell).join(',')}\r\n`).join('');

function row(type: string, date: string, item: string, amount: string, note = ''): string[] {
  return [type, date, item, '', '', '', '', amount, note, ''];
}

const negative = (amount: string): string => (/^[0.]*$/.test(amount) ? amount : `-${amount}`);

/** Text that a spreadsheet would compute begins with an apostrophe; numbers are left alone. */
function cell(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One row for each group; the first column is what they are of, and empty for what has no such tag. The amounts add up to the total. */
export function usageCsv({ group_by: groupBy, data }: Pick<UsageList, 'group_by' | 'data'>): string {
  const rows = data.map(({ group, byok, sessions, audio_seconds, connection_seconds = '', cost_usd }) => [
    group ?? '',
    String(byok),
    String(sessions),
    String(audio_seconds),
    String(connection_seconds),
    cost_usd,
  ]);
  return textOf([[groupBy, 'byok', 'sessions', 'audio_seconds', 'connection_seconds', 'cost_usd'], ...rows]);
}

/** @param name of the file that a browser makes of it, without its ending */
export const csvReply = (body: string, name: string): WholeReply => ({
  status: 200,
  headers: {
    'Content-Type': 'text/csv; charset=utf-8; header=present',
    'Content-Disposition': `attachment; filename="${name}.csv"`,
  },
  body,
});
