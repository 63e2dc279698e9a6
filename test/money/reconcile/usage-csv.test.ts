// Exports of providers as CSV: what people really have, and what must not be guessed at.
import { describe, expect, it } from 'vitest';
import { REPORT_ROWS_MAX, readUsageCsv } from '../../../src/money/reconcile/usage-csv.ts';

describe('a usage export as CSV', () => {
  it.each<[string, string, object[]]>([
    [
      'by day and model',
      'day,model,seconds,amount\n2026-11-03,nova-3,61.5,0.0044\n',
      [{ from: '2026-11-03', to: '2026-11-03', model: 'nova-3', seconds: 61.5, microUsd: 4_400n }],
    ],
    [
      'of a spreadsheet with semicolons',
      '\uFEFFDate;Model;Minutes\r\n2026-11-03;"best; universal";2\r\n\r\n',
      [{ from: '2026-11-03', to: '2026-11-03', model: 'best; universal', seconds: 120 }],
    ],
    [
      'with hours, a currency and a dollar sign',
      'Usage date,Audio hours,Cost (USD),Currency\n2026-11-03,0.5,$1.25,usd',
      [{ from: '2026-11-03', to: '2026-11-03', model: null, seconds: 1_800, microUsd: 1_250_000n }],
    ],
    [
      'with a credit, and quotation marks',
      'day,model,amount,requests\n2026-11-03,"a ""b"" c",-0.5,3',
      [{ from: '2026-11-03', to: '2026-11-03', model: 'a "b" c', microUsd: -500_000n, requests: 3 }],
    ],
    [
      'with times in zones, which have a day by UTC',
      'timestamp,seconds\n2026-11-03T23:30:00-05:00,1\n2026-11-03T00:30:00+01:00,2',
      [
        { from: '2026-11-04', to: '2026-11-04', model: null, seconds: 1 },
        { from: '2026-11-02', to: '2026-11-02', model: null, seconds: 2 },
      ],
    ],
    [
      'of several days together',
      'day,until,seconds\n2026-11-01,2026-11-30,5',
      [{ from: '2026-11-01', to: '2026-11-30', model: null, seconds: 5 }],
    ],
  ])('is read %s', (_, text, rows) => {
    expect(readUsageCsv(text)).toEqual(rows);
  });

  it.each<[string, string, string]>([
    ['without a header', '2026-11-03,nova-3,5\n', 'header'],
    ['without a measure', 'day,model\n2026-11-03,nova-3', 'header'],
    ['that is empty', '', 'header'],
    ['with two columns of one kind', 'day,date,seconds\n', 'two columns for the day'],
    ['with a formula for a number', 'day,seconds\n2026-11-03,=1+1', 'Line 2 has the seconds "=1+1"'],
    ['with a formula for an amount', 'day,amount\n2026-11-03,"=HYPERLINK(""http://x"")"', 'Line 2 has the amount'],
    ['with another currency', 'day,amount,currency\n2026-11-03,1,EUR', 'Line 2 has the currency "EUR"'],
    ['with another currency sign', 'day,amount\n2026-11-03,€1', 'Line 2 has the amount'],
    ['with a decimal comma', 'day;amount\n2026-11-03;1,5', 'Line 2 has the amount "1,5"'],
    ['with days that may be read in two ways', 'day,seconds\n11/03/2026,5', 'Line 2 has the day "11/03/2026"'],
    ['with times without a zone', 'day,seconds\n2026-11-03T10:00:00,5', 'Line 2 has the day'],
    ['with a day that does not exist', 'day,seconds\n2026-02-30,5', 'Line 2 has the day'],
    ['with days in the wrong order', 'day,until,seconds\n2026-11-03,2026-11-01,5', 'Line 2 has the last day'],
    [
      'with a model that moves a terminal',
      'day,model,seconds\n2026-11-03,\u001b[2Jx,5',
      'Line 2 has the model "??[2Jx"'.replace('??', '\\u001b'),
    ],
    ['with a number that is too large', 'day,seconds\n2026-11-03,1e99', 'Line 2 has the seconds'],
    ['with seconds below zero', 'day,seconds\n2026-11-03,-5', 'Line 2 has the seconds'],
    ['that is cut off in a cell', 'day,model,seconds\n\n2026-11-03,"nova', 'Line 3 has a quotation mark'],
    ['with a line that is one long row', `day,seconds\n${','.repeat(500)}`, 'more than 200 cells'],
  ])('is refused %s', (_, text, words) => {
    expect(() => readUsageCsv(text)).toThrow(words);
  });

  it('is refused with more rows than there may be, in time that grows with them alone', () => {
    const rows = '2026-11-03,1\n'.repeat(REPORT_ROWS_MAX);
    expect(readUsageCsv(`day,seconds\n${rows}`)).toHaveLength(REPORT_ROWS_MAX);
    expect(() => readUsageCsv(`day,seconds\n${rows}2026-11-03,1\n`)).toThrow('more than 200000 rows');
    expect(() => readUsageCsv(`day,seconds\n${'"'.repeat(1_000_000)}x`)).toThrow('quotation mark');
  });
});
