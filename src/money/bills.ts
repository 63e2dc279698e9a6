// A bill as a page to read and to print: no script, no request to anywhere, and every text escaped.
import type { BillAnswer } from '../api/usage.ts';
import { connectionSeconds, usdOf } from '../config/prices/price.ts';
import { escaped, htmlPage, pageHeaders } from '../runtime/html.ts';
import type { Bill } from './store/calls.ts';

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 0.35rem 0.5rem; border-bottom: 1px solid #d8d8d8; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tfoot th, tfoot td { border-bottom: 0; border-top: 2px solid #1a1a1a; }
@media print { body { margin: 0; max-width: none; font-size: 11pt; } tr { break-inside: avoid; } thead { display: table-header-group; } }
`;
export const BILL_PAGE_HEADERS: Readonly<Record<string, string>> = pageHeaders(STYLE);

export function billHtml(bill: BillAnswer): string {
  const title = `Bill for ${bill.month}`;
  const body = `<h1>${escaped(title)}</h1>
<p>${escaped(bill.organisation.name)} (${escaped(bill.organisation.id)})${bill.final ? '' : '<br>The month is not over: this bill is not final.'}</p>
<h2>Balance</h2>
${table(
  ['', 'USD'],
  [
    ['Opening balance', bill.opening_balance_usd],
    ...bill.credits.map(({ at, kind, amount_usd, note }) => [
      `${at.slice(0, 10)} ${kind.replaceAll('_', ' ')}${note === '' ? '' : `: ${note}`}`,
      amount_usd,
    ]),
    ['Usage, all providers', bill.total_usd === '0.00' ? '0.00' : `-${bill.total_usd}`],
  ],
  ['Closing balance', bill.closing_balance_usd],
  1,
)}
<h2>Usage</h2>
${table(
  ['Model', 'Kind', 'Provider account', 'Sessions', 'Audio', 'Connection', 'USD'],
  bill.usage.map(({ model, mode, byok, sessions, audio_seconds, connection_seconds, cost_usd }) => [
    model,
    mode === 'batch' ? 'files' : 'live',
    byok ? 'your own key' : 'this service',
    String(sessions),
    hours(audio_seconds),
    connection_seconds === undefined ? '' : hours(connection_seconds),
    cost_usd,
  ]),
  ['Total', '', '', '', '', '', bill.total_usd],
  3,
)}`;
  return htmlPage(title, STYLE, body);
}

/** @param numbersFrom the first column that holds numbers */
function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  foot: readonly string[],
  numbersFrom: number,
): string {
  const cells = (name: 'th' | 'td', texts: readonly string[], scope = '') =>
    texts
      .map((text, at) => `<${name}${scope}${at >= numbersFrom ? ' class="number"' : ''}>${escaped(text)}</${name}>`)
      .join('');
  return `<table>
<thead><tr>${cells('th', head, ' scope="col"')}</tr></thead>
<tbody>
${rows.map((row) => `<tr>${cells('td', row)}</tr>\n`).join('')}</tbody>
<tfoot><tr>${cells('td', foot)}</tr></tfoot>
</table>`;
}

/** Hours, minutes and seconds with milliseconds: nothing that is billed is rounded away. */
function hours(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  const whole = Math.floor(ms / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  const rest = ms % 1000 === 0 ? '' : `.${String(ms % 1000).padStart(3, '0')}`;
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${rest}`;
}

// A month's bill as JSON. The amounts are the ledger's own; nothing is computed again.
/** @param isFinal whether the month is over */
export function billAnswer(bill: Bill, organisation: { id: string; name: string }, isFinal: boolean): BillAnswer {
  const { month, openingMicroUsd, credits, lines, totalMicroUsd, closingMicroUsd } = bill;
  return {
    object: 'bill',
    month,
    final: isFinal,
    currency: 'USD',
    organisation: { id: organisation.id, name: organisation.name },
    opening_balance_usd: usdOf(openingMicroUsd),
    credits: credits.map(({ at, kind, microUsd, note }) => ({ at, kind, amount_usd: usdOf(microUsd), note })),
    usage: lines.map(({ model, mode, own, sessions, audioMs, connectionMs, costMicroUsd }) => ({
      model,
      mode,
      byok: own,
      sessions,
      audio_seconds: audioMs / 1000,
      ...connectionSeconds({ connectionMs }),
      cost_usd: usdOf(costMicroUsd),
    })),
    total_usd: usdOf(totalMicroUsd),
    closing_balance_usd: usdOf(closingMicroUsd),
  };
}
