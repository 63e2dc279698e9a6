// Figures and reasons as people read them.
import { expect, it } from 'vitest';
import {
  failoverText,
  percent,
  reasonText,
  shortId,
  shortSeconds,
  usd,
  usdParts,
} from '../../src/console/data/format.ts';

it.each([
  ['0', '$0.00', '', '$0.00'],
  ['0.00', '$0.00', '', '$0.00'],
  ['0.000603', '$0.00', '0603', '$0.000603'],
  ['0.5', '$0.50', '', '$0.50'],
  ['12.3400', '$12.34', '', '$12.34'],
  ['1234567.000001', '$1,234,567.00', '0001', '$1,234,567.000001'],
  ['-0.125', '−$0.12', '5', '−$0.125'],
])('%s USD has its cents, and what is smaller behind them', (amount, cents, rest, whole) => {
  expect(usdParts(amount)).toEqual({ cents, rest });
  expect(usd(amount)).toBe(whole);
});

it('shortens ids to their distinctive part, and times and shares to readable ones', () => {
  expect(shortId('ses_dkcy5o01a220296aed79f5ae3e52456f857645')).toBe('ses_…6f857645');
  expect(shortId('key_1')).toBe('key_1');
  expect([shortSeconds(0.3444), shortSeconds(2.54), percent(0.1234), percent(0)]).toEqual([
    '344 ms',
    '2.5 s',
    '12.3 %',
    '0 %',
  ]);
});

it('describes reasons in words, and unknown ones without underscores', () => {
  expect(reasonText('client_closed')).toBe('closed by the client');
  expect(reasonText('some_new_code')).toBe('some new code');
  expect(failoverText('a/b to c/d: connect_failed')).toBe('a/b → c/d: could not connect');
});
