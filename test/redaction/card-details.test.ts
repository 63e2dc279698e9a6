// Security codes and expiry dates of cards: what is found, what is not about a card, and what waits for its end.
import { expect, it } from 'vitest';
import type { RedactionClass } from '../../src/api/redaction.ts';
import { find } from '../../src/redaction/find.ts';

const CARD: ReadonlySet<RedactionClass> = new Set<RedactionClass>(['card']);
const found = (text: string) => find(text, CARD).matches.map(({ from, to }) => text.slice(from, to));

it.each<[string, string[]]>([
  ['security code one two three', ['one two three']],
  ['The security code on the back is 1234.', ['1234']],
  ['the CVV’s, let me see, 123', ['123']],
  ['c v v is oh four two', ['oh four two']],
  ['123 is my security code', ['123']],
  ['My visa expires 12/27 and the CVC is 987.', ['12/27', '987']],
  ['the card expires december twenty twenty seven', ['december twenty twenty seven']],
  ['it is a mastercard, valid until oh three twenty eight', ['oh three twenty eight']],
  ['4111 1111 1111 1111 exp 0327', ['4111 1111 1111 1111', '0327']],
  [
    'card 4111 1111 1111 1111 twelve twenty seven one two three',
    ['4111 1111 1111 1111 twelve twenty seven one two three'],
  ],
  ['Kreditkarte gültig bis 03/28, Prüfnummer 456', ['03/28', '456']],
  ['ma carte expire 04/29, cryptogramme 321', ['04/29', '321']],
])('finds in %j what belongs to a card', (text, expected) => {
  expect(found(text)).toEqual(expected);
});

it.each([
  'the offer expires 12/27',
  'my licence expires 04/28',
  'the card expires soon',
  'the card expires in 30 days',
  'the security code is on the back',
  'what is the security code',
  'charge my card 500 dollars',
  'the security code has 3 digits and my order is 99887766554',
  'I lost my card on 12/27, so the trip in 2027 is off',
])('finds nothing in %j', (text) => {
  expect(found(text)).toEqual([]);
});

it('waits for the rest of a security code', () => {
  expect(find('the security code is one', CARD, 'settled').openFrom).toBe('the security code is '.length);
  expect(find('the security code is one two three', CARD, 'settled').openFrom).toBeUndefined();
});

it.each<[string, string]>([
  [
    'Sure, the card is four, four, eight, six, six, three, seven, two, five, three, five, nine, nine, two, one, five.',
    'four, four, eight, six, six, three, seven, two, five, three, five, nine, nine, two, one, five',
  ],
  ['Sure, the card is 0604 6019 6623.', '0604 6019 6623'],
])('hides all of %j, of which the beginning may be a card as well', (text, card) => {
  expect(found(text)).toEqual([card]);
});

it('reads a long text of such words in time that grows with its length', () => {
  const text = 'my card security code expires '.repeat(20_000);
  expect(found(text)).toEqual([]);
});
