// Forms whose parts are well-formed one by one and wrong together: too many, too large, twice, in another coding, files for
// fields. Against the limits of broken-forms.ts.
import { AUDIO, type BrokenForm, CLOSING, field, file, form, MODEL, part } from './broken-forms.ts';

const X = Buffer.from('x');
const repeated = (count: number, make: (index: number) => Buffer): Buffer[] =>
  Array.from({ length: count }, (_, at) => make(at));
const fileAs = (name: string, filename = 'a.wav'): Buffer =>
  part(`form-data; name="${name}"; filename="${filename}"`, X);
const bytesAs = (name: string, bytes: readonly number[]): Buffer =>
  part(`form-data; name="${name}"`, Buffer.from(bytes));

const twice = (name: string, ...more: Buffer[]): BrokenForm => [
  `the field ${name} twice${more.length === 0 ? '' : ', around the file'}`,
  form(field(name, 'x'), ...more, field(name, 'y'), ...(more.length === 0 ? [AUDIO] : [])),
  'duplicate_parameter',
  name,
];
const asFile = (name: string): BrokenForm => [
  `a file by the name of ${name}`,
  form(MODEL, AUDIO, fileAs(name)),
  'invalid_request',
  name,
];
const notText = (what: string, bytes: readonly number[]): BrokenForm => [
  `a field of ${what}`,
  form(MODEL, bytesAs('prompt', bytes), AUDIO),
  'invalid_request',
  'prompt',
];

export const BROKEN_PARTS: readonly BrokenForm[] = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'model', 'x'].map((name) => twice(name)),
  ...['__proto__', 'model', 'length'].map((name) => twice(name, AUDIO)),
  ...['files', 'File', 'file[]', 'file[0]', 'model', '__proto__', 'constructor', 'audio'].map(asFile),
  ['a file with an empty name in place of a field', form(fileAs('model', ''), AUDIO), 'invalid_request', 'model'],
  ['a file in place of a field, in front of the file', form(fileAs('prompt'), AUDIO), 'invalid_request', 'prompt'],
  [
    'an extended file name in place of a field',
    form(part('form-data; name="prompt"; filename*=utf-8\'\'a.wav', X), AUDIO),
    'invalid_request',
    'prompt',
  ],
  ['three files', form(AUDIO, AUDIO, AUDIO), 'duplicate_parameter', 'file'],
  ['a hundred files', form(...repeated(100, () => AUDIO)), 'duplicate_parameter', 'file'],
  ['a file without a name, twice', form(field('file', 'x'), field('file', 'y')), 'duplicate_parameter', 'file'],
  ['an empty file and a full one', form(file(Buffer.alloc(0)), AUDIO), 'duplicate_parameter', 'file'],
  ['a full file and an empty one', form(AUDIO, file(Buffer.alloc(0))), 'duplicate_parameter', 'file'],
  ['a file without a file name that is empty', form(MODEL, field('file', '')), 'missing_file', 'file'],
  ['fields and no file', form(MODEL, field('language', 'en'), field('prompt', 'x')), 'missing_file', 'file'],
  [
    'a field by the name of the file, in capitals, and no file',
    form(MODEL, field('FILE', 'x')),
    'missing_file',
    'file',
  ],

  notText('one byte above ASCII', [0xe4]),
  notText('half a letter', [0xc3]),
  notText('an overlong slash', [0xc0, 0xaf]),
  notText('an overlong NUL', [0xe0, 0x80, 0x80]),
  notText('half a surrogate pair', [0xed, 0xa0, 0x80]),
  notText('a letter beyond the last', [0xf4, 0x90, 0x80, 0x80]),
  notText('five bytes a letter', [0xf8, 0x88, 0x80, 0x80, 0x80]),
  notText('16-bit text with a mark', [0xff, 0xfe, 0x61, 0x00]),
  notText('Latin-1', [0x63, 0x61, 0x66, 0xe9]),
  notText('Shift-JIS', [0x93, 0xfa, 0x96, 0x7b]),
  ['a model that is not text', form(bytesAs('model', [0xff]), AUDIO), 'invalid_request', 'model'],
  ['a field after the file that is not text', form(AUDIO, bytesAs('prompt', [0xff])), 'invalid_request', 'prompt'],

  ['a field one byte too long', form(field('prompt', 'p'.repeat(101)), AUDIO), 'invalid_request', 'prompt'],
  [
    'a field of letters too long by their bytes',
    form(field('prompt', 'ü'.repeat(51)), AUDIO),
    'invalid_request',
    'prompt',
  ],
  ['a field of 10 MB', form(MODEL, field('prompt', 'p'.repeat(10_000_000)), AUDIO), 'invalid_request', 'prompt'],
  [
    'a field of 10 MB behind the file',
    form(MODEL, AUDIO, field('prompt', 'p'.repeat(10_000_000))),
    'invalid_request',
    'prompt',
  ],
  [
    'a field of 10 MB that never ends',
    form(field('prompt', 'p'.repeat(10_000_000))).subarray(0, -CLOSING.length),
    'invalid_request',
    'prompt',
  ],
  ['one field too many', form(...repeated(5, (at) => field(`f${at}`, 'x')), AUDIO), 'invalid_request'],
  ['one field too many behind the file', form(AUDIO, ...repeated(5, (at) => field(`f${at}`, 'x'))), 'invalid_request'],
  ['one value too many of a list', form(...repeated(5, () => field('t[]', 'x')), AUDIO), 'invalid_request'],
  ['10,000 empty fields', form(...repeated(10_000, (at) => field(`f${at}`, '')), AUDIO), 'invalid_request'],
  ['10,000 files by other names', form(...repeated(10_000, (at) => fileAs(`f${at}`)), AUDIO), 'invalid_request', 'f0'],
  ['10,000 parts without a header', form(...repeated(10_000, () => Buffer.from('\r\nx')), AUDIO), 'invalid_request'],
  ['10,000 parts without a name', form(...repeated(10_000, () => part('form-data', X)), AUDIO), 'invalid_request'],
  ['a file one byte too large', form(MODEL, file(Buffer.alloc(5001))), 'file_too_large', 'file'],
  ['a file of 10 MB', form(MODEL, file(Buffer.alloc(10_000_000))), 'file_too_large', 'file'],
  ['a file of 10 MB and no model', form(file(Buffer.alloc(10_000_000))), 'file_too_large', 'file'],
  [
    'a file of 10 MB that never ends',
    form(MODEL, file(Buffer.alloc(10_000_000))).subarray(0, -CLOSING.length),
    'file_too_large',
    'file',
  ],
];
