// Forms that are broken, each with the refusal that it must end in; and the pieces to build them, and good ones, from.
// The limits they run against: file 5000 bytes, field 100, four fields, 1000 in memory.
import type { ErrorCode } from '../../../src/api/errors.ts';

export const BOUNDARY = 'b0undary.~';
export const CONTENT_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** A whole form of these parts, each with its header. */
export function form(...parts: (string | Buffer)[]): Buffer {
  return Buffer.concat([
    ...parts.flatMap((part) => [Buffer.from(`--${BOUNDARY}\r\n`), Buffer.from(part as string), CRLF]),
    CLOSING,
  ]);
}

export function field(name: string, value: string): Buffer {
  return part(`form-data; name="${name}"`, Buffer.from(value));
}

export function file(content: Buffer, { filename = 'a.wav' } = {}): Buffer {
  return part(`form-data; name="file"; filename="${filename}"`, content, ['Content-Type: audio/wav']);
}

export function part(disposition: string, content: Buffer, headers: readonly string[] = []): Buffer {
  return Buffer.concat([
    Buffer.from([`Content-Disposition: ${disposition}`, ...headers, '\r\n'].join('\r\n')),
    content,
  ]);
}

const CRLF = Buffer.from('\r\n');
export const CLOSING = Buffer.from(`--${BOUNDARY}--\r\n`);
export const MODEL = field('model', 'a/b');
export const AUDIO = file(Buffer.from('audio'));
const X = Buffer.from('x');
export const GOOD = form(MODEL, AUDIO);

export type BrokenForm = readonly [
  what: string,
  bytes: Buffer,
  code: ErrorCode,
  param?: string | undefined,
  contentType?: string,
];

const cutOff = (what: string, at: number): BrokenForm => [`it ends ${what}`, GOOD.subarray(0, at), 'invalid_request'];
const badDisposition = (disposition: string): BrokenForm => [
  `a disposition of ${disposition === '' ? 'nothing' : disposition}`,
  form(part(disposition, X), AUDIO),
  'invalid_request',
];
const badHeaders = (what: string, ...headers: string[]): BrokenForm => [
  `a part with ${what}`,
  form(MODEL, part('form-data; name="file"; filename="a"', X, headers)),
  'invalid_request',
];
const badType = (what: string, contentType: string): BrokenForm => [
  `a boundary that ${what}`,
  GOOD,
  'invalid_request',
  undefined,
  contentType,
];

export const BROKEN_FORMS: readonly BrokenForm[] = [
  // The envelope.
  ['nothing at all', Buffer.alloc(0), 'invalid_request'],
  ['text that is not a form', Buffer.from('{"model":"a/b"}'), 'invalid_request'],
  [
    'a form with another boundary',
    Buffer.from(GOOD.toString('latin1').replaceAll(BOUNDARY, 'other')),
    'invalid_request',
  ],
  ['only the closing boundary', CLOSING, 'missing_file', 'file'],
  ['only an opening boundary', Buffer.from(`--${BOUNDARY}\r\n`), 'invalid_request'],
  ['no closing boundary', GOOD.subarray(0, GOOD.length - CLOSING.length), 'invalid_request'],
  cutOff('inside its closing boundary', GOOD.length - 4),
  cutOff('inside a boundary', 8),
  cutOff('inside the header of a field', 30),
  cutOff('behind the header of a field', GOOD.indexOf('\r\n\r\n') + 4),
  cutOff('inside a field', GOOD.indexOf('a/b') + 2),
  cutOff('inside the header of the file', GOOD.indexOf('audio/wav')),
  cutOff('inside the file', GOOD.lastIndexOf('audio') + 2),
  [
    'line ends without carriage returns',
    Buffer.from(GOOD.toString('latin1').replaceAll('\r\n', '\n')),
    'invalid_request',
  ],
  ['a gzip stream', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]), 'invalid_request'],
  ['a megabyte of dashes', Buffer.alloc(1_000_000, '-'), 'invalid_request'],
  ['thousands of half boundaries', Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}`.repeat(5000)), 'invalid_request'],

  // The boundary.
  badType('is missing', 'multipart/form-data'),
  badType('is empty', 'multipart/form-data; boundary='),
  badType('is an empty quote', 'multipart/form-data; boundary=""'),
  badType('is given twice', `multipart/form-data; boundary=${BOUNDARY}; boundary=x`),
  badType('is longer than 70 characters', `multipart/form-data; boundary=${'b'.repeat(71)}`),
  badType('is longer than the parser takes', `multipart/form-data; boundary=${'b'.repeat(4000)}`),
  badType('is not closed', `multipart/form-data; boundary="${BOUNDARY}`),
  badType('has control characters', `multipart/form-data; boundary="a\x01b"`),
  badType('stands without a semicolon', `multipart/form-data boundary=${BOUNDARY}`),

  // The header of a part.
  badDisposition(''),
  badDisposition('form-data'),
  badDisposition('form-data; name'),
  badDisposition('form-data; name='),
  badDisposition('form-data; name=""'),
  badDisposition('form-data; name="model'),
  badDisposition('form-data; name="a"b"'),
  badDisposition('form-data; name="a" name="b"'),
  badDisposition('form-data; name="a"; name="b"'),
  badDisposition('form-data; filename="a.wav"'),
  badDisposition('form-data name="model"'),
  badDisposition('attachment; name="model"'),
  badDisposition('file; name="file"'),
  badDisposition('form-data; =x; name="model"'),
  [
    'an unescaped quote in the file name',
    form(part('form-data; name="file"; filename="a"b.wav"', X)),
    'invalid_request',
  ],
  ['a part without a header', form('\r\nvalue', AUDIO), 'invalid_request'],
  ['a part with nothing at all', form('', AUDIO), 'invalid_request'],
  ['a part whose header never ends', form('Content-Disposition: form-data; name="model"', AUDIO), 'invalid_request'],
  [
    'a last part whose header never ends',
    form(AUDIO, 'Content-Disposition: form-data; name="model"'),
    'invalid_request',
  ],
  [
    'a line that is not a header',
    form('garbage\r\nContent-Disposition: form-data; name="model"\r\n\r\nx', AUDIO),
    'invalid_request',
  ],
  badHeaders('two dispositions', 'Content-Disposition: form-data; name="model"'),
  badHeaders('two content types', 'Content-Type: a/b', 'Content-Type: c/d'),
  badHeaders('a transfer encoding of base64', 'Content-Transfer-Encoding: base64'),
  badHeaders('a transfer encoding of quoted-printable', 'Content-Transfer-Encoding: Quoted-Printable'),
  badHeaders('a form inside', 'Content-Type: multipart/mixed; boundary=inner'),
  badHeaders('a header line of 10 KB', `X-Long: ${'x'.repeat(10_000)}`),
  badHeaders('a header line of 1 MB', `X-Long: ${'x'.repeat(1_000_000)}`),
  badHeaders('a hundred header lines', ...Array.from({ length: 100 }, (_, index) => `X-${index}: x`)),
  [
    'a header of 1 MB in front of the disposition',
    form(`X-Long: ${'x'.repeat(1_000_000)}\r\nContent-Disposition: form-data; name="file"\r\n\r\nx`),
    'invalid_request',
  ],
  ['a header of 1 MB without an end', form('x'.repeat(1_000_000)), 'invalid_request'],

  // Fields and files.
  ['no file', form(MODEL), 'missing_file', 'file'],
  ['an empty file', form(MODEL, file(Buffer.alloc(0))), 'missing_file', 'file'],
  ['an empty file in front of the model', form(file(Buffer.alloc(0)), MODEL), 'missing_file', 'file'],
  ['two files', form(MODEL, AUDIO, AUDIO), 'duplicate_parameter', 'file'],
  ['a file as `file` and as a field', form(MODEL, AUDIO, field('file', 'x')), 'duplicate_parameter', 'file'],
  [
    'a file by another name',
    form(MODEL, part('form-data; name="audio"; filename="a.wav"', X)),
    'invalid_request',
    'audio',
  ],
  [
    'a file in place of a field',
    form(part('form-data; name="model"; filename="m"', X), AUDIO),
    'invalid_request',
    'model',
  ],
  ['a field given twice', form(MODEL, MODEL, AUDIO), 'duplicate_parameter', 'model'],
  ['a field given twice, once after the file', form(MODEL, AUDIO, MODEL), 'duplicate_parameter', 'model'],
  [
    'a field by the name of __proto__, twice',
    form(field('__proto__', 'x'), field('__proto__', 'y'), AUDIO),
    'duplicate_parameter',
    '__proto__',
  ],
  ['a field that is too long', form(MODEL, field('prompt', 'p'.repeat(101)), AUDIO), 'invalid_request', 'prompt'],
  ['a field of 1 MB', form(field('prompt', 'p'.repeat(1_000_000)), AUDIO), 'invalid_request', 'prompt'],
  [
    'a field that is not UTF-8',
    form(part('form-data; name="prompt"', Buffer.from([0xff, 0xfe])), AUDIO),
    'invalid_request',
    'prompt',
  ],
  ['too many fields', form(...['a', 'b', 'c', 'd', 'e'].map((name) => field(name, 'x')), AUDIO), 'invalid_request'],
  [
    '10,000 fields',
    form(...Array.from({ length: 10_000 }, (_, index) => field(`f${index}`, 'x')), AUDIO),
    'invalid_request',
  ],
  [
    '10,000 values of one list',
    form(...Array.from({ length: 10_000 }, () => field('t[]', 'x')), AUDIO),
    'invalid_request',
  ],
  ['a file that is too large, in front of the model', form(file(Buffer.alloc(5001)), MODEL), 'file_too_large', 'file'],
  ['a file that is too large, behind the model', form(MODEL, file(Buffer.alloc(5001))), 'file_too_large', 'file'],
  [
    'a spooled file and no closing boundary',
    form(file(Buffer.alloc(4000)), MODEL).subarray(0, -CLOSING.length),
    'invalid_request',
  ],
  ['a spooled file cut off', form(file(Buffer.alloc(4000))).subarray(0, 3000), 'invalid_request'],
  ['a spooled file and another', form(file(Buffer.alloc(4000)), file(X)), 'duplicate_parameter', 'file'],
];
