// Utterances as people and recognisers say and write them, each with what of it is to be redacted: 500, the same each time. The numbers
// and addresses are made up; the ways of writing them are written down here and do not know how the gateway looks for them.
import { isServiceClass, REDACTION_CLASSES, type RedactionClass } from '../../src/api/redaction.ts';
import { HAND_WRITTEN } from './hand-written.ts';
import { NEAR_MISSES } from './near-misses.ts';

export const CORPUS_SIZE = 500;

export interface Sample {
  text: string;
  /** What is to be redacted, in order. */
  spans: { class: RedactionClass; from: number; to: number }[];
  /** What the sample is about; of a near miss undefined. */
  about: RedactionClass | undefined;
}

/** The same numbers each time. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Draw = ReturnType<typeof numbersFrom>;

const pick = <Item>(draw: Draw, items: readonly Item[]): Item => items[draw(items.length)] as Item;
const digitsOf = (draw: Draw, count: number): string => Array.from({ length: count }, () => draw(10)).join('');

/** The last digit by the rule of card networks, counted from the right. */
function withCheckDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

const CARDS = [
  { prefix: '4', length: 16 },
  { prefix: '4539', length: 16 },
  { prefix: '51', length: 16 },
  { prefix: '5425', length: 16 },
  { prefix: '2223', length: 16 },
  { prefix: '34', length: 15 },
  { prefix: '3782', length: 15 },
  { prefix: '6011', length: 16 },
  { prefix: '3530', length: 16 },
  { prefix: '3056', length: 14 },
];

const SAID = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const TEENS = [
  'ten',
  'eleven',
  'twelve',
  'thirteen',
  'fourteen',
  'fifteen',
  'sixteen',
  'seventeen',
  'eighteen',
  'nineteen',
];
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const GERMAN = ['null', 'eins', 'zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun'];
const FRENCH = ['zéro', 'un', 'deux', 'trois', 'quatre', 'cinq', 'six', 'sept', 'huit', 'neuf'];
const SPANISH = ['cero', 'uno', 'dos', 'tres', 'cuatro', 'cinco', 'seis', 'siete', 'ocho', 'nueve'];

const inGroups = (digits: string, ...lengths: number[]): string[] => {
  const groups: string[] = [];
  let at = 0;
  for (let index = 0; at < digits.length; index++) {
    const length = lengths[index % lengths.length] as number;
    groups.push(digits.slice(at, at + length));
    at += length;
  }
  return groups;
};

const said = (digits: string, words = SAID): string => [...digits].map((digit) => words[Number(digit)]).join(' ');
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** "forty-one eleven": of two digits each. */
const inPairs = (digits: string): string =>
  inGroups(digits, 2)
    .map((pair) => {
      const value = Number(pair);
      if (pair.length === 1 || value < 10) return said(pair);
      if (value < 20) return TEENS[value - 10];
      const unit = value % 10;
      return unit === 0 ? TENS[Math.floor(value / 10)] : `${TENS[Math.floor(value / 10)]}-${SAID[unit]}`;
    })
    .join(' ');

/** "double five", where a digit comes twice. */
const withDoubles = (digits: string): string =>
  digits
    .replace(/(\d)\1/g, 'd$1')
    .replace(/d?\d/g, (part) => (part.length === 2 ? ` double ${SAID[Number(part[1])]}` : ` ${SAID[Number(part)]}`))
    .trim();

const amexGroups = (digits: string): number[] =>
  digits.length === 15 ? [4, 6, 5] : digits.length === 14 ? [4, 6, 4] : [4];

/** How the digits of a card are written. */
const CARD_FORMS: readonly ((digits: string) => string)[] = [
  (digits) => digits,
  (digits) => inGroups(digits, ...amexGroups(digits)).join(' '),
  (digits) => inGroups(digits, ...amexGroups(digits)).join('-'),
  (digits) => inGroups(digits, 4).join(', '),
  (digits) => inGroups(digits, 4).join('. '),
  (digits) => inGroups(digits, 2).join(' '),
  (digits) => [...digits].join(' '),
  (digits) => [...digits].join(', '),
  (digits) => [...digits].join('-'),
  (digits) => said(digits),
  (digits) => capital(said(digits)),
  (digits) => said(digits).replaceAll('zero', 'oh'),
  (digits) =>
    inGroups(digits, 4)
      .map((group) => said(group))
      .join(', '),
  (digits) =>
    inGroups(digits, 4)
      .map((group) => capital(said(group)))
      .join('. '),
  (digits) =>
    inGroups(digits, 4)
      .map((group) => said(group))
      .join(' uh '),
  (digits) =>
    inGroups(digits, 4)
      .map((group) => said(group))
      .join(', um, '),
  (digits) => inPairs(digits),
  (digits) => withDoubles(digits),
  (digits) =>
    inGroups(digits, 8)
      .map((half, index) => (index === 0 ? half : said(half)))
      .join(' '),
  (digits) => said(digits, GERMAN),
  (digits) => said(digits, FRENCH),
  (digits) => said(digits, SPANISH),
];

const CARD_FRAMES = [
  ['My card number is ', '.'],
  ['', ' is the number.'],
  ['Sure, it’s ', ', expiring next year.'],
  ['The visa ends, well the whole number is ', ''],
  ['okay so ', ' and the name on it is Jane Miller'],
  ['Can you charge ', ' please?'],
  ['You said you wanted to pay for three shirts. Yes. ', '. Thank you.'],
  ['It starts now: ', ' and that is all.'],
] as const;

const NAMES = ['john', 'mary', 'peter', 'nadia', 'liam', 'zoe', 'ahmed', 'ingrid', 'carlos', 'mei'];
const SURNAMES = ['miller', 'okafor', 'schmidt', 'garcia', 'rossi', 'tanaka', 'novak', 'dubois', 'jensen', 'khan'];
const HOSTS = ['gmail', 'outlook', 'example', 'acme', 'proton', 'yahoo', 'mailbox', 'northwind'];
const LAST = ['com', 'org', 'net', 'io', 'co.uk', 'de', 'fr'];

interface Address {
  name: string;
  surname: string;
  host: string;
  last: string;
  number: string;
}

const spokenLast = (last: string): string => last.replace('.', ' dot ');

const EMAIL_FORMS: readonly ((address: Address) => string)[] = [
  ({ name, surname, host, last }) => `${name}.${surname}@${host}.${last}`,
  ({ name, host, last }) => `${name}@${host}.${last}`,
  ({ name, surname, host, last, number }) => `${name}_${surname}${number}@${host}.${last}`,
  ({ name, host, last }) => capital(`${name}@${host}.${last}`),
  ({ name, surname, host, last }) => `${name}+${surname}@mail.${host}.${last}`,
  ({ name, host, last }) => `${name} at ${host} dot ${spokenLast(last)}`,
  ({ name, surname, host, last }) => `${name} dot ${surname} at ${host} dot ${spokenLast(last)}`,
  ({ name, surname, host, last }) =>
    `${capital(name)} dot ${capital(surname)} at ${capital(host)} dot ${spokenLast(last)}`,
  ({ name, surname, host, last }) => `${name} underscore ${surname} at ${host} dot ${spokenLast(last)}`,
  ({ name, surname, host, last }) => `${name} dash ${surname} at ${host} dot ${spokenLast(last)}`,
  ({ name, host }) => `${name} at ${host}.com`,
  ({ name, surname, host }) => `${name}.${surname} at ${host}.org`,
  ({ surname, name, host, last }) => `${name[0]} ${surname} at ${host} dot ${spokenLast(last)}`,
  ({ name, host, last, number }) => `${name} ${number} at ${host} dot ${spokenLast(last)}`,
  ({ name, host, last, number }) => `${name} ${said(number)} at ${host} dot ${spokenLast(last)}`,
  ({ name, host, last }) => `${[...name].join(' ')} at ${host} dot ${spokenLast(last)}`,
  ({ name, host, last }) => `${name} at ${host} hyphen mail dot ${spokenLast(last)}`,
  ({ name, surname, last }) => `${name} at ${surname} consulting dot ${spokenLast(last)}`,
  ({ name, host }) => `${name} at ${host} dot c o dot u k`,
];

const EMAIL_FRAMES = [
  ['My email is ', '.'],
  ['you can write to ', ' any time'],
  ['It’s ', ', thanks.'],
  ['The address, please note it, is ', ' okay?'],
  ['Send the invoice to ', ' and to nobody else.'],
] as const;

const IBANS = [
  'DE89370400440532013000',
  'GB82WEST12345698765432',
  'FR1420041010050500013M02606',
  'NL91ABNA0417164300',
  'ES9121000418450200051332',
  'CH9300762011623852957',
  'AT611904300234573201',
  'BE68539007547034',
];
const IBAN_FORMS: readonly ((iban: string) => string)[] = [
  (iban) => iban,
  (iban) => inGroups(iban, 4).join(' '),
  (iban) => iban.toLowerCase(),
  (iban) =>
    [...iban].map((character) => (/\d/.test(character) ? SAID[Number(character)] : character.toLowerCase())).join(' '),
  (iban) => inGroups(iban, 4).join('-'),
];
const IBAN_FRAMES = [
  ['The IBAN is ', '.'],
  ['Please transfer it to ', ' by Friday.'],
  ['', ' is my account.'],
] as const;

const PHONE_FORMS: readonly ((draw: Draw) => string)[] = [
  (draw) =>
    `(${northAmerican(draw)
      .join(') ')
      .replace(/ (\d{3}) /, ' $1-')
      .replace(/\) (\d{3})\) /, ') $1-')}`,
  (draw) => northAmerican(draw).join('-'),
  (draw) => northAmerican(draw).join('.'),
  (draw) => northAmerican(draw).join(' '),
  (draw) => `+1 ${northAmerican(draw).join(' ')}`,
  (draw) => `+44 20 ${7000 + draw(999)} ${1000 + draw(8999)}`,
  (draw) => `+49 171 ${1000000 + draw(8999999)}`,
  (draw) => said(northAmerican(draw).join('')),
  (draw) =>
    northAmerican(draw)
      .map((group) => said(group))
      .join(', '),
  (draw) => `020 7${digitsOf(draw, 3)} ${digitsOf(draw, 4)}`,
  (draw) => `06 ${inGroups(digitsOf(draw, 8), 2).join(' ')}`,
];
const northAmerican = (draw: Draw): string[] => [
  `${2 + draw(8)}${digitsOf(draw, 2)}`,
  `${2 + draw(8)}${digitsOf(draw, 2)}`,
  digitsOf(draw, 4),
];
const PHONE_FRAMES = [
  ['My phone number is ', '.'],
  ['call me at ', ' tomorrow'],
  ['The best number to reach me is ', ', okay?'],
] as const;

const ID_FORMS: readonly ((draw: Draw) => readonly [string, string, string])[] = [
  (draw) => ['My social is ', ssn(draw).join('-'), '.'],
  (draw) => ['It is ', ssn(draw).join('-'), ' on the form.'],
  (draw) => ['my social security number is ', said(ssn(draw).join('')), ' okay'],
  (draw) => ['The SSN: ', ssn(draw).join(' '), '.'],
  (draw) => ['National insurance number ', `AB ${inGroups(digitsOf(draw, 6), 2).join(' ')} C`, '.'],
  (draw) => ['it is ', `JK${digitsOf(draw, 6)}A`, ' I think'],
  () => ['Mi DNI es ', '12345678Z', '.'],
  () => ['Il codice è ', 'RSSMRA85T10A562S', '.'],
];
const ssn = (draw: Draw): string[] => [`${100 + draw(500)}`, `${10 + draw(89)}`, `${1000 + draw(8999)}`];

const BIRTH_FORMS = [
  ['I was born on ', 'March 4th, 1985', '.'],
  ['My date of birth is ', '04/12/1985', '.'],
  ['DOB ', '1985-12-04', ' and that is it'],
  ['she was born on ', 'the fourth of march nineteen eighty-five', ' in Leeds'],
  ['date of birth: ', 'July 9 1972', '.'],
  ['my birthday is ', 'october twenty-first nineteen ninety', ''],
  ['Ich bin geboren am ', '4. März 1985', '.'],
  ['birth date, um, ', '12 4 85', ' I think'],
] as const;

/** A text of three parts, of which the middle one is to be redacted. */
const sample = (about: RedactionClass, [before, middle, after]: readonly [string, string, string]): Sample => ({
  text: before + middle + after,
  spans: [{ class: about, from: before.length, to: before.length + middle.length }],
  about,
});

function cardSample(draw: Draw, index: number): Sample {
  const { prefix, length } = CARDS[index % CARDS.length] as (typeof CARDS)[number];
  const digits = withCheckDigit(prefix + digitsOf(draw, length - prefix.length - 1));
  const [before, after] = pick(draw, CARD_FRAMES);
  return sample('card', [before, (CARD_FORMS[index % CARD_FORMS.length] as (digits: string) => string)(digits), after]);
}

function emailSample(draw: Draw, index: number): Sample {
  const address = {
    ...{ name: pick(draw, NAMES), surname: pick(draw, SURNAMES), host: pick(draw, HOSTS), last: pick(draw, LAST) },
    number: String(10 + draw(89)),
  };
  const [before, after] = pick(draw, EMAIL_FRAMES);
  return sample('email', [
    before,
    (EMAIL_FORMS[index % EMAIL_FORMS.length] as (of: Address) => string)(address),
    after,
  ]);
}

function ibanSample(draw: Draw, index: number): Sample {
  const [before, after] = pick(draw, IBAN_FRAMES);
  const form = IBAN_FORMS[index % IBAN_FORMS.length] as (iban: string) => string;
  return sample('iban', [before, form(IBANS[index % IBANS.length] as string), after]);
}

function phoneSample(draw: Draw, index: number): Sample {
  const [before, after] = pick(draw, PHONE_FRAMES);
  return sample('phone', [before, (PHONE_FORMS[index % PHONE_FORMS.length] as (draw: Draw) => string)(draw), after]);
}

/** One that is marked. */
function marked(text: string): Sample {
  const spans: Sample['spans'] = [];
  let plain = '';
  for (const part of text.split(/(‹[a-z_]+:[^›]*›)/)) {
    const [, kind, inner] = /^‹([a-z_]+):([^›]*)›$/.exec(part) ?? [];
    const from = plain.length;
    plain += inner ?? part;
    if (kind !== undefined) spans.push({ class: kind as RedactionClass, from, to: plain.length });
  }
  return { text: plain, spans, about: spans[0]?.class };
}

/** The corpus. */
export function corpus(): Sample[] {
  const draw = numbersFrom(20_240_607);
  const of = (count: number, make: (index: number) => Sample): Sample[] =>
    Array.from({ length: count }, (_, index) => make(index));
  const samples = [
    ...HAND_WRITTEN.map(marked),
    ...of(132, (index) => cardSample(draw, index)),
    ...of(114, (index) => emailSample(draw, index)),
    ...of(30, (index) => ibanSample(draw, index)),
    ...of(44, (index) => phoneSample(draw, index)),
    ...of(24, (index) => sample('national_id', (ID_FORMS[index % ID_FORMS.length] as (typeof ID_FORMS)[number])(draw))),
    ...of(16, (index) =>
      sample('date_of_birth', BIRTH_FORMS[index % BIRTH_FORMS.length] as (typeof BIRTH_FORMS)[number]),
    ),
  ];
  const near = of(CORPUS_SIZE - samples.length, (index) => ({
    text: (NEAR_MISSES[index % NEAR_MISSES.length] as (draw: Draw) => string)(draw),
    spans: [],
    about: undefined,
  }));
  return [...samples, ...near];
}

export const CLASSES: ReadonlySet<RedactionClass> = new Set(REDACTION_CLASSES.filter((kind) => !isServiceClass(kind)));
