// Grammars that must be refused, and what the refusal must say. For tests of the compiler and of the pool.

const grammar = (rules: string): string => `#JSGF V1.0;\ngrammar g;\n${rules}`;
const one = (expansion: string): string => grammar(`public <a> = ${expansion};`);
/** `aa`, `ab`, …: short words, all different. */
const letters = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => String.fromCharCode(97 + Math.floor(at / 26), 97 + (at % 26)));

/** Name, text and what the message says. */
export const REFUSED: readonly [name: string, text: string, message: RegExp][] = [
  ['empty', '', /does not begin with `#JSGF V1.0;`/],
  ['of blanks', ' \n\t ', /does not begin with/],
  ['another language', '<grammar version="1.0"/>', /Line 1: "<grammar ver" cannot be read/],
  ['cut off in the header', '#JSGF V1.0', /`;` is missing/],
  ['without a name', '#JSGF V1.0;\npublic <a> = yes;', /Line 2: `grammar <name>;` must follow/],
  ['without a rule', grammar(''), /no public rule/],
  ['without a public rule', grammar('<a> = yes;'), /no public rule/],
  ['with a rule of no words', one(''), /Line 3: a word, a rule or a group was expected, not ";"/],
  ['with an empty alternative', one('yes | | no'), /was expected, not "\|"/],
  ['with an empty group', one('yes ()'), /was expected, not "\)"/],
  ['with an open group', one('(yes'), /`\)` was expected, not ";"/],
  ['with a group too many', one('yes)'), /`;` was expected, not "\)"/],
  ['with a rule that is not ended', grammar('public <a> = yes'), /`;` was expected, not "the end"/],
  ['with words outside a rule', grammar('yes no;'), /Line 3: a rule `<name> = …;` was expected, not "yes"/],
  ['with a rule twice', grammar('public <a> = yes;\n<a> = no;'), /Line 4: <a> is defined twice/],
  ['with an unknown rule', one('<b>'), /<b> is used but not defined/],
  [
    'with an import',
    '#JSGF V1.0;\ngrammar g;\nimport <com.example.*>;\npublic <a> = yes;',
    /Line 3: `import` is not accepted/,
  ],
  ['that refers to itself', one('yes <a>'), /<a> refers to itself/],
  ['that refers to itself in a circle', grammar('public <a> = <b>; <b> = <c>; <c> = [<a>] yes;'), /refers to itself/],
  ['with weights', one('/10/ yes | /1/ no'), /weights, as in `\/0.5\/`, are not accepted/],
  ['with quotes', one('"good morning"'), /cannot be read as JSGF/],
  ['with a tag that is not ended', one('yes {tag'), /"\{tag;" cannot be read/],
  ['with a NUL', one('yes\0no'), /dictionary: "yes\\u0000no"/],
  ['of 16 KiB and one character', one('yes '.repeat(4_200)), /characters; at most 16384/],
  [
    'of 257 rules',
    grammar(
      letters(257)
        .map((name) => `public <${name}> = yes;`)
        .join(''),
    ),
    /more than 256 rules/,
  ],
  ['of a thousand nested groups', one(`${'('.repeat(1_000)}yes${')'.repeat(1_000)}`), /nested deeper than 16/],
  [
    'nested deep through its rules',
    grammar(
      `public <r0> = [<r1>];${Array.from({ length: 50 }, (_, at) => `<r${at + 1}> = [<r${at + 2}>];`).join('')}<r51> = yes;`,
    ),
    /nested deeper than 40/,
  ],
  [
    'that doubles with every rule',
    grammar(
      `public <r0> = <r1> <r1>;${letters(30)
        .map((_, at) => `<r${at + 1}> = <r${at + 2}> <r${at + 2}>;`)
        .join('')}<r31> = yes;`,
    ),
    /grows to more than 2000 words/,
  ],
  [
    'whose automaton doubles with every word',
    one(`(yes | no)* yes ${'(yes | no) '.repeat(16)}`),
    /too many different turns/,
  ],
  [
    'of 300 optional words',
    one(
      letters(300)
        .map((word) => `[${word}]`)
        .join(' '),
    ),
    /too many different turns/,
  ],
  ['of 501 words at one point', one(letters(501).join(' | ')), /More than 500 words may follow/],
  [
    'with words outside the dictionary',
    one('yes | flurbish | xqzzt'),
    /not in the English dictionary: "flurbish", "xqzzt"\. Write/,
  ],
  [
    'with many words outside the dictionary',
    one(Array.from({ length: 12 }, (_, at) => `zzq${at}`).join(' ')),
    /"zzq9" and 2 more\. Write numbers/,
  ],
  ['with digits', one('call 911'), /dictionary: "911"\. Write numbers and abbreviations as words/],
  ['with the decoder’s own words', one('[NOISE] | word(2)'), /dictionary: "noise"|dictionary: "2"/],
];

/** Texts that cannot be aligned. */
export const UNALIGNABLE: readonly [name: string, text: string, message: RegExp][] = [
  ['of punctuation', '… — !', /has no words/],
  ['of 8,193 characters', 'a'.repeat(8_193), /8193 characters; at most 8192/],
  ['of 501 words', 'yes '.repeat(501), /501 words; at most 500/],
  ['with words outside the dictionary', 'yes flurbish', /not in the English dictionary: "flurbish"/],
];
