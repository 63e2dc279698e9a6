// Texts that a person reads as a card, an IBAN or an address, and that are written so that a pattern does not; and honest texts that look like them.
import { describe, expect, it } from 'vitest';
import { isServiceClass, REDACTION_CLASSES, type RedactionClass } from '../../src/api/redaction.ts';
import { find } from '../../src/redaction/find.ts';
import { examine } from '../../src/redaction/pieces.ts';

const classes = new Set(REDACTION_CLASSES.filter((kind) => !isServiceClass(kind)));
const found = (text: string) => find(text, classes).matches.map((match) => match.class);
const joined = (between: string) => [...'4111111111111111'].join(between);
const grouped = (between: string) => ['4111', '1111', '1111', '1111'].join(between);

const UNSEEN = ['\u200b', '\u200c', '\u200d', '\u2060', '\u00ad', '\ufeff', '\u200e', '\u200f', '\u202e', '\u2066'];
const MARKS = [
  '\u0000',
  '\u0007',
  '\u0301',
  '\ufe0f',
  '\ufe0f\u20e3',
  '<b>',
  '</span><span>',
  '<br/>',
  '&#8203;',
  '&shy;',
];
const BETWEEN = ['*', '** **', '|', ' | ', '·', '•', '~', '" "', '] [', ':', '; ', '&nbsp;', '<b> </b>', '\u00a0', '_'];

describe('a card', () => {
  it.each([...UNSEEN, ...MARKS].map((each) => [named(each), each]))(
    'is found with %s between its digits',
    (_, each) => {
      expect(found(`it is ${joined(each)} okay`)).toEqual(['card']);
    },
  );

  it.each(BETWEEN.map((each) => [named(each), each]))('is found with %s between its groups', (_, each) => {
    expect(found(`it is ${grouped(each)} okay`)).toEqual(['card']);
  });

  it.each(['４', '٤', '۴', '४', '৪', '੪', '௪', '๔', '៤', '𝟒', '④', '⁴', '₄', '&#52;', '&#x34;'])(
    'is found with the digit %s',
    (four) => {
      const text = `so ${four}111 1111 1111 1111 okay`;
      expect(found(text)).toEqual(['card']);
      expect(examine('', [{ text }], classes, 'settled').redacted(0).text).toBe('so [CARD] okay');
    },
  );

  it('is found in words that split it in another way than the text, that are empty, and whose times go backwards', () => {
    const spoken = ['my', 'card', '', '41', '1\u200b1', '1111', '1111', '', '11', '11', 'okay'];
    const words = spoken.map((word, index) => ({ word, start: 9 - index, end: 8 - index }));
    for (const text of ['my card 4111111111111111 okay', `my card ${joined('\u200b')} okay`, 'my card is okay', '']) {
      const redacted = examine('', [{ text, words }], classes, 'settled').redacted(0);
      expect(JSON.stringify(redacted)).not.toMatch(/11/);
    }
  });
});

it.each([
  'DE89\u200b3704\u200b0044\u200b0532\u200b0130\u200b00',
  'D\u00adE89 3704 0044 0532 0130 00',
  'ＤＥ８９ ３７０４ ００４４ ０５３２ ０１３０ ００',
  'DЕ89 3704 0044 0532 0130 00',
  '<b>DE</b>89 3704 0044 0532 0130 00',
  'DE89|3704|0044|0532|0130|00',
  'NL91 АВNА 0417 1643 00',
])('finds the IBAN %j', (text) => {
  expect(found(`it is ${text} okay`)).toEqual(['iban']);
});

it.each([
  'john.doe＠example.com',
  'john.doe﹫example.com',
  'ｊｏｈｎ＠ｅｘａｍｐｌｅ．ｃｏｍ',
  'jоhn.dоe@exаmple.соm',
  'john\u200b@\u200bexample\u200b.\u200bcom',
  'john@exam\u00adple.com',
  'john@example．com',
  'john@example․com',
  'john@example。com',
  'john<wbr>@<wbr>example.com',
  'john&#64;example.com',
  'john&commat;example&period;com',
  'john [at] example [dot] com',
  'john (at) example (dot) com',
  '\u202ejohn@example.com\u202c',
  '<john@example.com>',
  '"john doe"@example.com',
])('finds the address %j', (text) => {
  const { matches } = find(`write to ${text} okay`, classes);
  expect(matches.map((match) => match.class)).toEqual(['email']);
});

it('hides nothing in what looks like markup', () => {
  expect(found('<card 4111 1111 1111 1111>')).toEqual<RedactionClass[]>(['card']);
  expect(found('<a href="4111-1111-1111-1111">')).toEqual(['card']);
  expect(found('<a title="john@example.com">')).toEqual(['email']);
  expect(found('<four one one one one one one one one one one one one one one one>')).toEqual(['card']);
});

it.each([
  'order 4111-1111-1111-1112 is on its way',
  'tracking number 1234567890123456',
  'tracking 9400 1000 0000 0000 0000 00',
  'from 12:30:45 to 14:15:30',
  '10:30 | 11:45 | 12:00 | 13:15',
  'on 2024-11-29 21:38:39.606 it stopped',
  'the score was 21:19, 18:21, 21:17',
  'in "1999" "2004" "2008" and "2012"',
  '[2019] [2020] [2021] [2022]',
  '| 4111 | 2222 | 3333 |',
  '1999 * 2 = 3998',
  '10² + 20² = 500, and ½ of ¾',
  '• 4 eggs • 2 cups • 300 g',
  '€ 4.111.111,11 or $1,299.00',
  'lat 40.712776, lon -74.005974',
  'if x<5 and y>3, a < b and c > d',
  'AT&T and R&D at 5',
  '[at] noon (at) home, meet me (at) the dot',
  '<john> said: at the example',
  'a ratio of 1000:1, ref 5555:1234',
])('finds nothing in %j', (text) => {
  expect(found(text)).toEqual([]);
});

function named(text: string): string {
  return JSON.stringify(text).replace(/[^\x20-\x7e]/g, (letter) => `U+${letter.charCodeAt(0).toString(16)}`);
}
