// What is found in a text, what is not, and what of its end is open.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelOf, REDACTION_CLASSES, type RedactionClass } from '../../src/api/redaction.ts';
import { find, TEXT_CHARS_MAX } from '../../src/redaction/find.ts';
import { textWith } from '../../src/redaction/spoken-words.ts';
import { drawn } from '../fakes/drawn.ts';

const ALL: ReadonlySet<RedactionClass> = new Set(REDACTION_CLASSES);
const redacted = (text: string, classes = ALL): string => textWith(text, find(text, classes).matches);
const open = (text: string, caution: 'shown' | 'settled'): string | undefined => {
  const { openFrom } = find(text, ALL, caution);
  return openFrom === undefined ? undefined : text.slice(openFrom);
};

describe('find', () => {
  it.each([
    ['4111 1111 1111 1111', '[CARD]'],
    ['It is 4111-1111-1111-1111, okay?', 'It is [CARD], okay?'],
    ['four one one one, one one one one. One one one one. one one one one', '[CARD]'],
    ['forty-one eleven eleven eleven eleven eleven eleven eleven', '[CARD]'],
    [
      'quadruple one at first? No: four triple one double one double one quadruple one quadruple one',
      'quadruple one at first? No: [CARD]',
    ],
    ['4, 1, 1, 1, 1, 1, 1, 1, uh, 1, 1, 1, 1, 1, 1, 1, 1 12 26', '[CARD] 12 26'],
    ['my card is 4111 1111 1111 1112', 'my card is [CARD]'],
    ['３７８２ ８２２４６３ １０００５', '[CARD]'],
    ['4111 1111 1111 1111 and 5555 5555 5555 4444', '[CARD] and [CARD]'],
    ['the iban is DE89 3704 0044 0532 0130 00.', 'the iban is [IBAN].'],
    ['d e eight nine three seven oh four oh oh four four oh five three two oh one three oh oh oh', '[IBAN]'],
    ['call +49 171 1234567 now', 'call [PHONE] now'],
    ['(415) 555-2671', '[PHONE]'],
    ['mail me: John.Doe+x@mail.example.co.uk.', 'mail me: [EMAIL].'],
    ['my email is john smith at gmail dot com', 'my email is [EMAIL]'],
    ['support at acme dot io', '[EMAIL]'],
    ['123-45-6789', '[NATIONAL_ID]'],
    ['born on the fourth of march nineteen eighty five', 'born on [DATE_OF_BIRTH]'],
    ['April 5th 1990 is my birthday', '[DATE_OF_BIRTH] is my birthday'],
  ])('redacts “%s”', (text, expected) => {
    expect(redacted(text)).toBe(expected);
  });

  it.each([
    'order 4111 1111 1111 1112',
    'at 10:30 in room 204',
    'look at example dot com',
    '$1,234,567.89',
    'version 20.19.0',
    'born in 1985',
    '192.168.100.200',
    'from 2019 to 2024',
    'one two three four five six seven eight nine ten',
  ])('leaves “%s” as it is', (text) => {
    expect(redacted(text)).toBe(text);
  });

  it('finds only the classes that are requested', () => {
    const text = '4111 1111 1111 1111 or a@b.com';
    expect(redacted(text, new Set(['email']))).toBe('4111 1111 1111 1111 or [EMAIL]');
    expect(redacted(text, new Set())).toBe(text);
  });

  it.each<[string, 'shown' | 'settled', string | undefined]>([
    ['my card is four one one one', 'settled', 'four one one one'],
    ['it is 4111 1111', 'settled', '4111 1111'],
    ['it is 4111 1111,', 'shown', '4111 1111,'],
    ['I have two', 'settled', undefined],
    ['I have two', 'shown', 'have two'],
    ['that is two', 'shown', 'two'],
    ['in 2024', 'settled', undefined],
    ['order number 123456', 'settled', undefined],
    ['it is 4111 1111 1111 1111', 'settled', undefined],
    ['my mail is john dot', 'settled', 'john dot'],
    ['my mail is john at', 'settled', 'john at'],
    ['my mail is john at example dot', 'settled', 'john at example dot'],
    ['see you at', 'settled', undefined],
    ['my mail is john at example dot com', 'settled', undefined],
    ['DE89 3704 0044', 'settled', 'DE89 3704 0044'],
    ['I was born in march', 'settled', 'march'],
    ['that is all.', 'settled', undefined],
  ])('of “%s” holds open, when %s: %s', (text, caution, expected) => {
    expect(open(text, caution)).toBe(expected);
  });
});

describe('hostile text', () => {
  const LENGTH = drawn(400_000);
  const hostile: Record<string, string> = {
    digits: '4'.repeat(LENGTH),
    'single digits': '4 1 '.repeat(LENGTH / 4),
    'spoken digits': 'four one '.repeat(LENGTH / 9),
    'at and dot': 'at dot '.repeat(LENGTH / 7),
    'signs of addresses': 'a@b.'.repeat(LENGTH / 4),
    'dots alone': '.'.repeat(LENGTH),
    'letters of an account': 'd e 8 9 '.repeat(LENGTH / 8),
    'words of birth': 'born 1 '.repeat(LENGTH / 7),
    months: 'may 1 '.repeat(LENGTH / 6),
    'plus signs': '+1'.repeat(LENGTH / 2),
    emoji: '👩‍👩‍👧‍👦4'.repeat(LENGTH / 12),
    'halves of characters': '\ud83d4'.repeat(LENGTH / 2),
    hundreds: 'one hundred thousand '.repeat(LENGTH / 21),
    'cards in a row': `card ${'4111111111111111 '.repeat(LENGTH / 17)}`,
    'cards with their dates': `card ${'4111 1111 1111 1111 1227 123 '.repeat(LENGTH / 29)}`,
    'a code and words for it': `123 ${'cvv '.repeat(LENGTH / 4)}`,
    'a code, words for it and marks': `123 ${'.'.repeat(LENGTH / 2)}${'cvv '.repeat(LENGTH / 8)}`,
  };

  // What grows with the square of the length would take minutes.
  it.each(Object.keys(hostile))('of %s is read in time for the test', (name) => {
    const text = hostile[name] as string;
    for (const caution of ['shown', 'settled'] as const) expect(find(text, ALL, caution).matches).toBeInstanceOf(Array);
  });

  it('never throws, and gives matches in order within the text, for any text', () => {
    const piece = fc.constantFrom(
      '4',
      '1111',
      'four',
      'at',
      'dot',
      'com',
      '@',
      '.',
      ' ',
      '-',
      'born',
      'may',
      'DE89',
      '+',
      'double',
      'x',
      '😀',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 60 }), (pieces) => {
        const text = pieces.join(' ');
        for (const caution of ['shown', 'settled'] as const) {
          const { matches, openFrom = text.length } = find(text, ALL, caution);
          let at = 0;
          for (const { from, to } of matches) {
            expect(from).toBeGreaterThanOrEqual(at);
            expect(to).toBeGreaterThan(from);
            at = to;
          }
          expect(Math.max(at, openFrom)).toBeLessThanOrEqual(text.length);
        }
      }),
    );
  });

  it('is refused beyond the longest text', () => {
    expect(() => find('x'.repeat(TEXT_CHARS_MAX + 1), ALL)).toThrow(RangeError);
  });
});

it('names a label for each class', () => {
  expect(REDACTION_CLASSES.map(labelOf)).toEqual([
    '[CARD]',
    '[IBAN]',
    '[PHONE]',
    '[EMAIL]',
    '[NATIONAL_ID]',
    '[DATE_OF_BIRTH]',
    '[NAME]',
    '[ADDRESS]',
  ]);
});
