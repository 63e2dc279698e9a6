// A file among the members of a JSON object is found wherever it is, decoded however it comes, and never held as a whole.
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { JsonFileReader } from '../../src/compat/as-form.ts';

const FILE = Buffer.from(Array.from({ length: 100 }, (_, at) => (at * 37) % 256));
const BASE64 = FILE.toString('base64');

/** @param size of the pieces in which it comes */
function read(body: string, size: number): { file: Buffer; others: unknown } {
  const reader = new JsonFileReader('audio');
  const bytes = Buffer.from(body);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(...reader.take(bytes.subarray(at, at + size)));
  const others = reader.end();
  return { file: Buffer.concat(parts), others: JSON.parse(others) };
}

describe.each([1, 2, 3, 7, 64, 10_000])('a JSON body in pieces of %i bytes', (size) => {
  it.each<[string, string, object]>([
    ['in front', `{"audio":"${BASE64}","mediaType":"audio/wav"}`, { mediaType: 'audio/wav' }],
    ['behind', `{"mediaType":"audio/wav","audio":"${BASE64}"}`, { mediaType: 'audio/wav' }],
    ['with white space', `\n{ "a" : [1, {"b": 2}] ,\t"audio" : "${BASE64}" }\r\n`, { a: [1, { b: 2 }] }],
    ['with slashes that are escaped', `{"audio":"${BASE64.replaceAll('/', '\\/')}"}`, {}],
    ['without padding', `{"audio":"${BASE64.replaceAll('=', '')}"}`, {}],
    ['once', `{"audio":"${BASE64}","audio":"AAAA"}`, { audio: 'AAAA' }],
    [
      'and not where a text only says so',
      `{"x":{"audio":"no"},"y":["audio"],"z":"\\"audio\\":\\"","audio":"${BASE64}","é":"ü"}`,
      { x: { audio: 'no' }, y: ['audio'], z: '"audio":"', é: 'ü' },
    ],
  ])('finds the file %s', (_, body, others) => {
    const told = read(body, size);
    expect(told.file.equals(FILE)).toBe(true);
    expect(told.others).toEqual({ audio: '', ...others });
  });

  it.each([
    ['{"mediaType":"audio/wav"}', 'missing_file'],
    ['{"audio":17}', 'missing_file'],
    ['["audio","AAAA"]', 'missing_file'],
    ['{"audio":"AAAA', 'missing_file'],
    ['', 'missing_file'],
    ['{"audio":"?"}', 'invalid_request'],
    [`{"x":"${'a'.repeat(70_000)}","audio":"AAAA"}`, 'invalid_request'],
  ])('%.40s is refused', (body, code) => {
    expect(() => read(body, size)).toThrow(ApiError);
    expect(() => read(body, size)).toThrow(expect.objectContaining({ code }));
  });
});

it('holds no more of the file than a part of it', () => {
  const reader = new JsonFileReader('audio');
  const piece = Buffer.from('A'.repeat(4_000));
  for (const _ of reader.take(Buffer.from('{"audio":"'))) throw new Error('There is no file yet.');
  for (let count = 0; count < 100; count++) {
    const given = [...reader.take(piece)].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(given).toBe(3_000);
  }
});
