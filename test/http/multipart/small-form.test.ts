// A small form that is read from one buffer is the form that its stream would be, and is refused as that would be.
import type { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/errors.ts';
import { RequestBody } from '../../../src/http/request-body.ts';
import { drawn } from '../../fakes/drawn.ts';
import { BOUNDARY, BROKEN_FORMS, CONTENT_TYPE, field, file, form } from './broken-forms.ts';
import { bodyOf, contentOf, FormRig, piecesOf } from './form-rig.ts';
import { ODD_FORMS } from './odd-forms.ts';

const rig = new FormRig();
afterEach(async () => {
  rig.closeAll();
  await rig.expectNothingLeft();
});

/** A body as a server hands it over: some of it before it is claimed, the rest after. */
function requestBody(bytes: Buffer, cut: number | readonly number[], before = 1): RequestBody {
  const body = new RequestBody({ pause: () => {}, resume: () => {} }, bytes.length);
  const pieces = piecesOf(bytes, cut);
  for (const piece of pieces.slice(0, before)) body.arrived(piece);
  const rest = () => {
    for (const piece of pieces.slice(before)) body.arrived(piece);
    body.finished();
  };
  if (before >= pieces.length) rest();
  else setImmediate(rest);
  return body.claim(20_000_000);
}

async function outcomeOf(body: Readable, contentType: string | undefined) {
  try {
    const whole = await (await rig.open(body, {}, contentType)).whole;
    const { filename, contentType: type, size, head } = whole.file;
    const content = await contentOf(whole.file.read());
    // Of a file that was handed on, it is as much as had come.
    const known = size === undefined ? content.subarray(0, head.length).equals(head) : Buffer.from(head);
    return { fields: [...whole.fields], filename, type, size, head: known, content };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { code: error.code, message: error.message, param: error.extras.param };
  }
}

async function expectSame(bytes: Buffer, cut: number, before: number, contentType: string | undefined = CONTENT_TYPE) {
  const streamed = await outcomeOf(bodyOf(bytes, 4096), contentType);
  rig.closeAll();
  expect(await outcomeOf(requestBody(bytes, cut, before), contentType)).toEqual(streamed);
  rig.closeAll();
}

describe('a form in one buffer', () => {
  test.each(BROKEN_FORMS.map(([what, ...rest]) => [what, rest] as const))(
    'is refused like its stream: %s',
    (_, [bytes, , , type]) => expectSame(bytes, 100_000, 1, type),
  );

  test.each(ODD_FORMS.map(([what, ...rest]) => [what, rest] as const))(
    'is read like its stream: %s',
    (_, [bytes, , type]) => expectSame(bytes, 100_000, 1, type),
  );

  test('is the same in any pieces and with any damage', async () => {
    const name = fc.constantFrom('model', 'a', 'b[]', 'file', 'tags[]', '__proto__');
    const fields = fc.array(fc.tuple(name, fc.string({ maxLength: 110, unit: 'binary' })), { maxLength: 5 });
    const content = fc.uint8Array({ maxLength: 1_100 }).map((bytes) => Buffer.from(bytes));
    const extra = fc.constantFrom(
      '',
      '\r\n',
      '--',
      `\r\n--${BOUNDARY}`,
      `--${BOUNDARY}`,
      `\r\n--${BOUNDARY}--`,
      '"',
      ';',
      ':',
      '\0',
      '\n',
      ' ',
      '\t',
      '\r\n\r\n',
    );
    const damage = fc.tuple(fc.nat(), fc.nat(2), extra);
    await fc.assert(
      fc.asyncProperty(
        fields,
        content,
        fc.array(damage, { maxLength: 2 }),
        fc.integer({ min: 1, max: 4000 }),
        fc.nat(3),
        async (given, audio, damages, cut, before) => {
          let bytes: Buffer = form(...given.map(([key, value]) => field(key, value)), file(audio));
          for (const [at, dropped, text] of damages) {
            const place = at % (bytes.length + 1);
            bytes = Buffer.concat([bytes.subarray(0, place), Buffer.from(text), bytes.subarray(place + dropped)]);
          }
          await expectSame(bytes, cut, before);
        },
      ),
      { numRuns: drawn(1_000) },
    );
  });

  test('fails like its stream when the client goes away', async () => {
    const body = new RequestBody({ pause: () => {}, resume: () => {} }, 1_000);
    body.arrived(Buffer.from(`--${BOUNDARY}`));
    const reading = rig.open(body.claim(2_000));
    body.aborted();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('goes to the disk when memory has no room for it', async () => {
    const bytes = form(field('model', 'a/b'), file(Buffer.alloc(900, 'a')));
    rig.memoryQuota.count('org', 9_500);
    const { file: read } = await rig.open(requestBody(bytes, 100_000));
    expect(rig.spoolQuota.used).toBe(900);
    expect((await contentOf(read.read())).length).toBe(900);
    rig.memoryQuota.giveBack('org', 9_500);
  });

  test('is in the memory of its organisation from its first byte, and no longer once its client is gone', async () => {
    const bytes = form(field('model', 'a/b'), file(Buffer.alloc(300)));
    const body = new RequestBody({ pause: () => {}, resume: () => {} }, bytes.length);
    body.arrived(bytes.subarray(0, 10));
    const opened = rig.open(body.claim(20_000_000));
    expect(rig.memoryQuota.used).toBe(bytes.length);
    body.aborted();
    await expect(opened).rejects.toThrow();
    expect(rig.memoryQuota.used).toBe(0);
  });

  test('is read as a stream where its organisation has no memory left', async () => {
    const bytes = form(field('model', 'a/b'), file(Buffer.alloc(300)));
    rig.memoryQuota.take('org', 10_000 - bytes.length + 1);
    await expectSame(bytes, 50, 1);
    rig.memoryQuota.giveBack('org', 10_000 - bytes.length + 1);
  });
});
