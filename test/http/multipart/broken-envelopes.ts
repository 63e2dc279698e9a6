// Bodies whose envelope is broken: content types, boundaries, delimiters and ends, in the shapes that parsers of forms have
// been stopped, slowed or fooled with. Against the limits of broken-forms.ts.
import {
  AUDIO,
  BOUNDARY,
  type BrokenForm,
  CLOSING,
  CONTENT_TYPE,
  field,
  file,
  form,
  GOOD,
  MODEL,
} from './broken-forms.ts';

const text = GOOD.toString('latin1');
const latin1 = (body: string): Buffer => Buffer.from(body, 'latin1');
const DELIMITER = `--${BOUNDARY}`;

const badType = (what: string, contentType: string): BrokenForm => [
  `a content type ${what}`,
  GOOD,
  'invalid_request',
  undefined,
  contentType,
];
const otherType = (contentType: string): BrokenForm => [
  `a content type of ${contentType === '' ? 'nothing' : contentType}`,
  GOOD,
  'unsupported_media_type',
  undefined,
  contentType,
];
/** The good form, changed. */
const changed = (what: string, change: (whole: string) => string): BrokenForm => [
  what,
  latin1(change(text)),
  'invalid_request',
];
const body = (what: string, bytes: string): BrokenForm => [what, latin1(bytes), 'invalid_request'];

const replaced = (from: string, to: string) => (whole: string) => whole.replaceAll(from, to);
const first = (from: string, to: string) => (whole: string) => whole.replace(from, to);
const last = (from: string, to: string) => (whole: string) => {
  const at = whole.lastIndexOf(from);
  return whole.slice(0, at) + to + whole.slice(at + from.length);
};

/** What other parsers were brought down with, or made to take one body for another. */
export const BROKEN_ENVELOPES: readonly BrokenForm[] = [
  ...[
    '',
    'text/plain',
    'application/json',
    'application/x-www-form-urlencoded',
    'application/octet-stream; boundary=x',
    `multipart/mixed; boundary=${BOUNDARY}`,
    `multipart/related; boundary=${BOUNDARY}`,
    `multipart/form-data2; boundary=${BOUNDARY}`,
    `xmultipart/form-data; boundary=${BOUNDARY}`,
    `multipart/form-data, text/plain; boundary=${BOUNDARY}`,
    `multipart/form-data, boundary=${BOUNDARY}`,
    'multipart',
    'multipart/',
    '/form-data',
    '*/*',
    `boundary=${BOUNDARY}`,
    `; boundary=${BOUNDARY}`,
    `"multipart/form-data"; boundary=${BOUNDARY}`,
  ].map(otherType),

  badType('with a lone semicolon', 'multipart/form-data;'),
  badType('with many semicolons', `multipart/form-data${';'.repeat(1000)}`),
  badType('with a boundary without a value', 'multipart/form-data; boundary'),
  badType('with a boundary of a semicolon', 'multipart/form-data; boundary=;'),
  badType('with a space in front of the boundary', `multipart/form-data; boundary= ${BOUNDARY}`),
  badType('with a space behind the name of the boundary', `multipart/form-data; boundary =${BOUNDARY}`),
  badType('with a boundary of two words', 'multipart/form-data; boundary=two words'),
  badType('with a boundary in single quotes', `multipart/form-data; boundary='${BOUNDARY}'`),
  badType('with a boundary in a half quote', `multipart/form-data; boundary=${BOUNDARY}"`),
  badType('with a boundary in two quotes', `multipart/form-data; boundary=""${BOUNDARY}""`),
  badType('with something behind the quote', `multipart/form-data; boundary="${BOUNDARY}"x`),
  badType('with an escape at the end of the quote', `multipart/form-data; boundary="${BOUNDARY}\\"`),
  badType('with a boundary in another alphabet', 'multipart/form-data; boundary=\xe4\xf6\xfc'),
  badType('with an extended boundary', `multipart/form-data; boundary*=utf-8''${BOUNDARY}`),
  badType('with a boundary in pieces', 'multipart/form-data; boundary*0=b0und; boundary*1=ary.~'),
  badType('with two boundaries in different letters', `multipart/form-data; boundary=${BOUNDARY}; BOUNDARY=x`),
  badType('with the same boundary twice', `${CONTENT_TYPE}; boundary=${BOUNDARY}`),
  badType('twice, as one header', `${CONTENT_TYPE}, ${CONTENT_TYPE}`),
  badType('with a parameter that is none in front', `multipart/form-data; charset boundary=${BOUNDARY}`),
  badType('with a missing semicolon in between', `multipart/form-data; charset=utf-8 boundary=${BOUNDARY}`),
  badType('with quotes that never end', `multipart/form-data; a="${'x;'.repeat(2000)}`),
  badType('with a thousand escapes', `multipart/form-data; boundary="${'\\"'.repeat(1000)}"`),
  badType('with a thousand parameters', `multipart/form-data${'; a=b'.repeat(1000)}`),
  badType('with the boundary of another form', 'multipart/form-data; boundary=other'),
  badType('with the beginning of the boundary', `multipart/form-data; boundary=${BOUNDARY}x`),
  badType('with the end of the boundary', `multipart/form-data; boundary=${BOUNDARY.slice(1)}`),
  badType('with a space at the end of the boundary', `multipart/form-data; boundary="${BOUNDARY} "`),
  badType('with the boundary in capitals', `multipart/form-data; boundary=${BOUNDARY.toUpperCase()}`),
  badType('with dashes in the boundary', `multipart/form-data; boundary=--${BOUNDARY}`),

  changed('delimiters without dashes', replaced(DELIMITER, BOUNDARY)),
  changed('delimiters with one dash', replaced(DELIMITER, `-${BOUNDARY}`)),
  changed('delimiters with three dashes', replaced(DELIMITER, `-${DELIMITER}`)),
  changed('delimiters that are indented', replaced(DELIMITER, ` ${DELIMITER}`)),
  changed('delimiters with spaces inside', replaced(DELIMITER, `-- ${BOUNDARY}`)),
  changed('delimiters followed by a letter', replaced(`${DELIMITER}\r\n`, `${DELIMITER}x\r\n`)),
  changed('delimiters followed by a space', replaced(`${DELIMITER}\r\n`, `${DELIMITER} \r\n`)),
  changed('delimiters followed by a lone line feed', replaced(`${DELIMITER}\r\n`, `${DELIMITER}\n`)),
  changed('delimiters followed by a lone carriage return', replaced(`${DELIMITER}\r\n`, `${DELIMITER}\r`)),
  changed('delimiters followed by NUL', replaced(`${DELIMITER}\r\n`, `${DELIMITER}\0\r\n`)),
  changed('delimiters with one dash behind', replaced(`${DELIMITER}\r\n`, `${DELIMITER}-\r\n`)),
  changed('lines that end in carriage returns', replaced('\r\n', '\r')),
  changed('lines that end in two carriage returns', replaced('\r\n', '\r\r\n')),
  changed('lines that end the wrong way round', replaced('\r\n', '\n\r')),
  changed('headers that end in one line end', replaced('\r\n\r\n', '\r\n')),
  changed('headers that end in line feeds', replaced('\r\n\r\n', '\n\n')),
  changed('headers that end half in line feeds', replaced('\r\n\r\n', '\r\n\n')),
  changed('a closing delimiter with one dash', last(`${DELIMITER}--`, `${DELIMITER}-`)),
  changed('a closing delimiter with a space between its dashes', last(`${DELIMITER}--`, `${DELIMITER}- -`)),
  changed('a closing delimiter on the line of the data', last(`\r\n${DELIMITER}--`, `${DELIMITER}--`)),
  changed('a closing delimiter behind a line feed', last(`\r\n${DELIMITER}--`, `\n${DELIMITER}--`)),
  changed('a closing delimiter behind a carriage return', last(`\r\n${DELIMITER}--`, `\r${DELIMITER}--`)),
  changed('a closing delimiter of another form', last(`${DELIMITER}--`, '--other--')),
  changed('an opening delimiter in place of the closing one', last(`${DELIMITER}--`, DELIMITER)),
  changed('an opening delimiter twice', first(`${DELIMITER}\r\n`, `${DELIMITER}\r\n${DELIMITER}\r\n`)),
  changed('an opening delimiter ten thousand times', first(DELIMITER, `${DELIMITER}\r\n`.repeat(10_000) + DELIMITER)),
  changed('16-bit letters', (whole) => Buffer.from(whole, 'utf16le').toString('latin1')),
  changed('letters of base64', (whole) => latin1(whole).toString('base64')),
  changed('percent signs', encodeURIComponent),
  changed('every byte twice', (whole) => whole.replace(/./gs, '$&$&')),
  changed('its end in front', (whole) => [...whole].reverse().join('')),
  changed('a closing delimiter in front', (whole) => `${DELIMITER}--`.slice(0, -1) + whole.slice(DELIMITER.length)),
  ['NUL between all parts', latin1(replaced(`\r\n${DELIMITER}`, `\0${DELIMITER}`)(text)), 'invalid_request', 'model'],
  ['a closing delimiter in front of everything', Buffer.concat([CLOSING, GOOD]), 'missing_file', 'file'],
  ['a closing delimiter in front of the file', latin1(form(MODEL) + text), 'missing_file', 'file'],
  ['only a closing delimiter without dashes in front', latin1(`${BOUNDARY}--`), 'invalid_request'],
  body('one byte', '-'),
  body('one NUL', '\0'),
  body('one line end', '\r\n'),
  body('two dashes', '--'),
  body('the boundary and nothing else', BOUNDARY),
  body('a delimiter without a line end', DELIMITER),
  body('a delimiter and a header without an end', `${DELIMITER}\r\nContent-Disposition: form-data; name="file"`),
  body('a delimiter and an empty header', `${DELIMITER}\r\n\r\n`),
  body('a delimiter, an empty header and the end', `${DELIMITER}\r\n\r\n\r\n${DELIMITER}--\r\n`),
  body('a URL-encoded form', 'model=a%2Fb&file=audio'),
  body('an HTTP request', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'),
  body('a chunk of HTTP', `5\r\n--b0u\r\n0\r\n\r\n`),
  body('a megabyte of line ends', '\r\n'.repeat(500_000)),
  body('a megabyte of carriage returns', '\r'.repeat(1_000_000)),
  body('a megabyte of beginnings of a delimiter', '\r\n--'.repeat(250_000)),
  body('a megabyte of delimiters but for their last letter', `\r\n${DELIMITER.slice(0, -1)}`.repeat(75_000)),
  body('a megabyte of delimiters but for their first letter', `\r\n--${BOUNDARY.slice(1)}`.repeat(75_000)),
  body('a megabyte of NUL', '\0'.repeat(1_000_000)),
  body('a megabyte in front of a form that ends early', `${'p'.repeat(1_000_000)}\r\n${text.slice(0, -12)}`),
  ['a form inside a file', form(MODEL, file(GOOD)), 'invalid_request'],
  ['a form inside a field', form(field('prompt', text), AUDIO), 'invalid_request'],
];
