// Forms that look unusual and are read: as clients of every kind write them, and as the rules allow. Each with its fields, and
// with its file where that is not `audio`. Against the limits of broken-forms.ts.
import { AUDIO, BOUNDARY, CLOSING, CONTENT_TYPE, field, file, form, MODEL, part } from './broken-forms.ts';

export type OddForm = readonly [
  what: string,
  bytes: Buffer,
  expected: { fields: readonly (readonly [string, string])[]; content?: Buffer; filename?: string },
  contentType?: string,
];

const latin1 = (body: string): Buffer => Buffer.from(body, 'latin1');
const FIELDS = [['model', 'a/b']] as const;
const GOOD = form(MODEL, AUDIO);
const text = GOOD.toString('latin1');
const DELIMITER = `--${BOUNDARY}`;

const typed = (what: string, contentType: string, bytes = GOOD): OddForm => [
  `a content type ${what}`,
  bytes,
  { fields: FIELDS },
  contentType,
];
const withBoundary = (boundary: string, type = `multipart/form-data; boundary=${boundary}`): OddForm => [
  `the boundary ${boundary}`,
  latin1(text.replaceAll(BOUNDARY, boundary)),
  { fields: FIELDS },
  type,
];
const changed = (what: string, change: (whole: string) => string): OddForm => [
  what,
  latin1(change(text)),
  { fields: FIELDS },
];
const valued = (what: string, value: string): OddForm => [
  `a field of ${what}`,
  form(MODEL, field('prompt', value), AUDIO),
  { fields: [...FIELDS, ['prompt', value]] },
];
const named = (what: string, name: string): OddForm => [
  `a field whose name is ${what}`,
  form(field(name, 'x'), AUDIO),
  { fields: [[name, 'x']] },
];
const filed = (what: string, content: Buffer): OddForm => [
  `a file of ${what}`,
  form(MODEL, file(content)),
  { fields: FIELDS, content },
];
const disposed = (what: string, disposition: string, filename: string, headers: readonly string[] = []): OddForm => [
  `a file with ${what}`,
  form(MODEL, part(disposition, Buffer.from('audio'), headers)),
  { fields: FIELDS, filename },
];

/** As a client of that name and version writes a field and a file. */
function client(what: string, boundary: string, fieldHead: string, fileHead: string, end = '\r\n'): OddForm {
  const parts = [`--${boundary}\r\n${fieldHead}\r\n\r\na/b\r\n`, `--${boundary}\r\n${fileHead}\r\n\r\naudio\r\n`];
  const bytes = Buffer.from(`${parts.join('')}--${boundary}--${end}`);
  return [`the form of ${what}`, bytes, { fields: FIELDS }, `multipart/form-data; boundary=${boundary}`];
}

const NAME = 'Content-Disposition: form-data; name="model"';
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.wav"';
const OCTETS = 'Content-Type: application/octet-stream';

export const ODD_FORMS: readonly OddForm[] = [
  client('curl', '------------------------d74496d66958873e', NAME, `${FILE}\r\n${OCTETS}`),
  client('undici', 'formdata-undici-096713488519', NAME, `${FILE}\r\n${OCTETS}`, '\r\n'),
  client('undici, which once ended without a line', 'formdata-undici-0.3', NAME, `${FILE}\r\n${OCTETS}`, ''),
  client('Chrome', '----WebKitFormBoundary7MA4YWxkTrZu0gW', NAME, `${FILE}\r\nContent-Type: audio/wav`),
  client(
    'Firefox',
    '---------------------------9051914041544843365972754266',
    NAME,
    `${FILE}\r\nContent-Type: audio/x-wav`,
  ),
  client('Safari', '----WebKitFormBoundaryZtO0gGzK1zE0bJ1X', NAME, `${FILE}\r\nContent-Type: audio/vnd.wave`),
  client('requests', 'c0c46a5929c2ce4c935c9cff85bf11d4', NAME, FILE),
  client('httpx', '0123456789abcdef0123456789abcdef', NAME, `${FILE}\r\nContent-Type: audio/x-wav`),
  client('aiohttp', 'f3a2b1', `Content-Type: text/plain; charset=utf-8\r\n${NAME}`, `${OCTETS}\r\n${FILE}`),
  client('Go', '8d4f1e2a9b', NAME, `${FILE}\r\n${OCTETS}`),
  client(
    '.NET',
    '3e1f8a7c-7d0b-4bd6-9b0c-0c9f5e0a5a11',
    'Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=model',
    "Content-Disposition: form-data; name=file; filename=a.wav; filename*=utf-8''a.wav",
  ),
  client(
    'okhttp',
    '3a6f9f1c-3a55-4f2f-8f6e-b1a9e3a4a6a1',
    `${NAME}\r\nContent-Length: 3`,
    `${FILE}\r\nContent-Type: audio/wav\r\nContent-Length: 5`,
  ),
  client(
    'Apache HttpClient',
    'Ab3dEf-gHiJkLmNoPqRsTuVwXyZ_012',
    `${NAME}\r\nContent-Type: text/plain; charset=ISO-8859-1\r\nContent-Transfer-Encoding: 8bit`,
    `${FILE}\r\n${OCTETS}\r\nContent-Transfer-Encoding: binary`,
  ),
  client('JavaMail', '----=_Part_0_1234567.1699999999999', NAME, `${FILE}\r\nContent-Transfer-Encoding: 7bit`),
  client(
    'Dart',
    'dart-http-boundary-x.Y_z(1)',
    'content-disposition: form-data; name="model"',
    `content-type: audio/wav\r\n${FILE}`,
  ),
  client(
    'Ruby',
    '-----------RubyMultipartPost-f1',
    NAME,
    `${FILE}\r\nContent-Length: 5\r\nContent-Type: audio/wav\r\nContent-Transfer-Encoding: binary`,
  ),
  client('reqwest', 'f8c1a9c9e7d2a3b4-1234567890abcdef', NAME, `${FILE}\r\nContent-Type: audio/wav`),
  client(
    'URLSession by hand',
    'Boundary-6F9619FF-8B86-D011-B42D-00C04FC964FF',
    NAME,
    `${FILE}\r\nContent-Type: audio/m4a`,
  ),

  typed('in quotes', `multipart/form-data; boundary="${BOUNDARY}"`),
  typed('in capitals', `MULTIPART/FORM-DATA; BOUNDARY=${BOUNDARY}`),
  typed('with blanks around', `  multipart/form-data  ;  boundary=${BOUNDARY}  `),
  typed('without a blank', `multipart/form-data;boundary=${BOUNDARY}`),
  typed('with a character set behind', `${CONTENT_TYPE}; charset=utf-8`),
  typed('with a character set in front', `multipart/form-data; charset=UTF-8; boundary=${BOUNDARY}`),
  typed('with parameters nobody knows', `multipart/form-data; a=b; c="d;e=f"; boundary=${BOUNDARY}; g="\\""`),
  withBoundary('x'),
  withBoundary('-'),
  withBoundary('--'),
  withBoundary('x'.repeat(70)),
  withBoundary("0'()+_,-./:=?"),
  withBoundary('a b', 'multipart/form-data; boundary="a b"'),
  withBoundary('a;b=c', 'multipart/form-data; boundary="a;b=c"'),

  changed('text in front', (whole) => `This is a form.\r\n${whole}`),
  changed('a line end in front', (whole) => `\r\n${whole}`),
  changed('ten line ends in front', (whole) => '\r\n'.repeat(10) + whole),
  changed('a hundred kilobytes in front', (whole) => `${'p'.repeat(100_000)}\r\n${whole}`),
  changed('delimiters of another form in front', (whole) => `--other\r\n\r\n--other--\r\n${whole}`),
  changed('no line end at the end', (whole) => whole.slice(0, -2)),
  changed('a line feed at the end', (whole) => `${whole.slice(0, -2)}\n`),
  changed('blanks behind the closing delimiter', (whole) => `${whole.slice(0, -2)}   \r\n`),
  changed('text behind the closing delimiter', (whole) => `${whole}This was a form.`),
  changed('the closing delimiter twice', (whole) => whole + CLOSING),
  changed('a second form behind', (whole) => whole + whole),
  changed('NUL behind the closing delimiter', (whole) => `${whole}\0\0\0\0`),
  changed('10 MB behind the closing delimiter', (whole) => whole + 'e'.repeat(10_000_000)),
  changed('10 MB of delimiters behind', (whole) => whole + `\r\n${DELIMITER}`.repeat(700_000)),
  changed('header names in capitals', (whole) => whole.replaceAll('Content-Disposition', 'CONTENT-DISPOSITION')),
  changed('header names in small letters', (whole) => whole.replaceAll('Content-Disposition', 'content-disposition')),
  changed('no blank behind the colon', (whole) => whole.replaceAll(': ', ':')),
  changed('a tab behind the colon', (whole) => whole.replaceAll(': ', ':\t')),
  changed('the disposition in capitals', (whole) => whole.replaceAll('form-data; name', 'FORM-DATA; NAME')),
  changed('no blank behind the semicolon', (whole) => whole.replaceAll('; ', ';')),
  changed('blanks behind the disposition', (whole) => whole.replaceAll('"\r\n', '"  \r\n')),
  changed('names without quotes', (whole) => whole.replaceAll('"', '')),
  changed('a folded disposition', (whole) => whole.replaceAll('form-data; ', 'form-data;\r\n ')),
  changed('a line nobody knows in each header', (whole) => whole.replaceAll('Content-Disp', 'X-A: b\r\nContent-Disp')),
  // More than the rules allow: the parser sees no difference, and nothing comes of it.
  changed('a delimiter with the header on its line', (whole) => whole.replaceAll(`${DELIMITER}\r\n`, DELIMITER)),

  valued('nothing', ''),
  valued('a line feed', '\n'),
  valued('line ends of every kind', 'a\r\nb\nc\rd\r\n\r\n'),
  valued('two dashes', '--'),
  valued('a line end and two dashes', '\r\n--'),
  valued('a delimiter but for its first letter', `\r\n--${BOUNDARY.slice(1)}`),
  valued('a delimiter but for its last letter', `\r\n${DELIMITER.slice(0, -1)}`),
  valued('a delimiter without a line end in front', `x${DELIMITER}--`),
  valued('a header', 'Content-Disposition: form-data; name="x"'),
  valued('NUL', '\0'),
  valued('letters of four bytes', '🎙️👩‍💻'),
  valued('a byte order mark', '\ufeffx'),
  valued('right to left', '\u202eabc\u202c'),
  valued('quotes and backslashes', '"\\\'\\"'),
  valued('JSON', '{"a":["b",null]}'),
  valued('as many bytes as may be', 'p'.repeat(100)),
  named('UTF-8', 'größe'),
  named('a list', 'timestamp_granularities[]'),
  named('the prototype of all objects', '__proto__'),
  named('a method of all objects', 'hasOwnProperty'),
  named('as browsers escape quotes', 'a%22b'),
  ['a field whose name has an escaped quote', form(field('a\\"b', 'x'), AUDIO), { fields: [['a"b', 'x']] }],
  [
    'a list of four',
    form(...['a', 'b', 'a', 'c'].map((value) => field('t[]', value)), AUDIO),
    {
      fields: ['a', 'b', 'a', 'c'].map((value) => ['t[]', value] as const),
    },
  ],
  [
    'fields around the file',
    form(field('a', '1'), AUDIO, field('b', '2')),
    {
      fields: [
        ['a', '1'],
        ['b', '2'],
      ],
    },
  ],
  ['the file alone', form(AUDIO), { fields: [] }],

  filed('one byte', Buffer.from([0])),
  filed('a line end', Buffer.from('\r\n')),
  filed('all bytes', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))),
  filed('beginnings of delimiters', latin1(`\r\n--\r\n-\r\n\r\n${DELIMITER.slice(0, -1)}\r\n--b\r\r\n\n--`)),
  filed('delimiters but for their last letter', latin1(`\r\n${DELIMITER.slice(0, -1)}`.repeat(300))),
  filed('as many bytes as may be', Buffer.alloc(5000, 'f')),
  disposed('no file name', 'form-data; name="file"', 'audio'),
  disposed('an empty file name', 'form-data; name="file"; filename=""', 'audio'),
  disposed('its name behind its file name', 'form-data; filename="a.wav"; name="file"', 'a.wav'),
  disposed('a file name without quotes', 'form-data; name=file; filename=a.wav', 'a.wav'),
  disposed('an escaped quote in its file name', 'form-data; name="file"; filename="a\\"b.wav"', 'a"b.wav'),
  disposed('a semicolon in its file name', 'form-data; name="file"; filename="a;b=c.wav"', 'a;b=c.wav'),
  disposed(
    'two file names, one of them extended',
    'form-data; name="file"; filename="a.wav"; filename*=utf-8\'\'b.wav',
    'a.wav',
  ),
  disposed('only an extended file name', 'form-data; name="file"; filename*=utf-8\'\'b.wav', "utf-8''b.wav"),
  disposed('a long file name', `form-data; name="file"; filename="${'n'.repeat(4000)}.wav"`, `${'n'.repeat(124)}.wav`),
  disposed('a transfer encoding of binary', 'form-data; name="file"; filename="a.wav"', 'a.wav', [
    'Content-Transfer-Encoding: BINARY',
  ]),
  disposed('a length that is wrong', 'form-data; name="file"; filename="a.wav"', 'a.wav', ['Content-Length: 999']),
  disposed('a content type that is wrong', 'form-data; name="file"; filename="a.wav"', 'a.wav', [
    'Content-Type: text/html',
  ]),
  disposed('a content type that is none', 'form-data; name="file"; filename="a.wav"', 'a.wav', [
    'Content-Type: \xff;;',
  ]),
];
