// How much the fields of one form may hold: many short ones, a few long ones, and no more than that together.
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/api/errors.ts';
import { type FormLimits, readForm } from '../../../src/http/multipart/form.ts';
import { SpoolBudget } from '../../../src/http/multipart/spool-file.ts';
import { Quota } from '../../../src/runtime/limits/quota.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { CONTENT_TYPE, field, file, form } from './broken-forms.ts';

const LIMITS: FormLimits = {
  fileBytesMax: 5_000,
  fieldBytesMax: 100,
  fieldsBytesMax: 1_000,
  fieldsMax: 200,
  memoryBytesMax: 1_000,
  spoolDir: temporaryDirectory(),
  spoolBudget: new SpoolBudget(new Quota(20_000, 1), 'org'),
  memoryQuota: new Quota(100_000, 1),
  organisationId: 'org',
};

const AUDIO = Buffer.from('audio');

/** The fields' bytes, or what the form was refused for. */
async function read(count: number, bytes: number, isBehind = false): Promise<number | ApiError> {
  const fields = Array.from({ length: count }, () => field('keywords[]', 'x'.repeat(bytes)));
  const body = form(...(isBehind ? [file(AUDIO), ...fields] : [...fields, file(AUDIO)]));
  try {
    const read = await readForm(Readable.from([body], { objectMode: false }), CONTENT_TYPE, LIMITS);
    read.dispose();
    return read.fields.reduce((sum, [, value]) => sum + value.length, 0);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

describe.each([
  ['in front of the file', false],
  ['behind the file', true],
])('fields %s', (_, isBehind) => {
  it.each([
    [10, 100],
    [200, 5],
    [200, 0],
    [1, 0],
  ])('may be %i of %i bytes', async (count, bytes) => {
    expect(await read(count, bytes, isBehind)).toBe(count * bytes);
  });

  it.each([
    [11, 100, 'more than 1000 bytes in them'],
    [200, 6, 'more than 1000 bytes in them'],
    [201, 0, 'more than 200 fields'],
    [1, 101, 'longer than 100 bytes'],
  ])('may not be %i of %i bytes', async (count, bytes, words) => {
    const refused = await read(count, bytes, isBehind);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(words) });
  });
});

describe('the memory that forms of an organisation hold', () => {
  const open = (memoryQuota: Quota, organisationId: string, ...parts: Buffer[]) =>
    readForm(Readable.from([form(...parts)], { objectMode: false }), CONTENT_TYPE, {
      ...{ ...LIMITS, memoryQuota, organisationId },
    });
  const keyword = field('keywords[]', 'x'.repeat(100));

  it('leaves room for other organisations, and becomes free with its forms', async () => {
    const quota = new Quota(400);
    const held = [await open(quota, 'greedy', keyword, file(AUDIO))];
    await expect(open(quota, 'greedy', keyword, keyword, file(AUDIO))).rejects.toMatchObject({
      code: 'too_many_sessions',
    });
    held.push(await open(quota, 'honest', keyword, file(AUDIO)));
    for (const each of held) each.dispose();
    expect(quota.used).toBe(0);
    (await open(quota, 'greedy', keyword, file(AUDIO))).dispose();
  });

  it('sends a file to the disk that it has no room for', async () => {
    const quota = new Quota(150);
    const read = await open(quota, 'org', field('language', 'en'), file(Buffer.alloc(900, 7)));
    const bytes = Buffer.concat(await read.file.read().toArray());
    expect([read.file.size, bytes.equals(Buffer.alloc(900, 7)), quota.used]).toEqual([900, true, 2]);
    read.dispose();
    expect(quota.used).toBe(0);
  });
});
