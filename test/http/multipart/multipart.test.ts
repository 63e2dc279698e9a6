// The form reader: what it makes of good forms in any pieces, that it refuses every broken one with a code, and that no
// form leaves a file, an open stream or an unhandled error behind.
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/errors.ts';
import { readForm } from '../../../src/http/multipart/form.ts';
import { refuseContentEncoding } from '../../../src/http/multipart/parts.ts';
import { BodyTooLarge } from '../../../src/http/server.ts';
import { drawn } from '../../fakes/drawn.ts';
import { turns } from '../../fakes/raw-socket.ts';
import { BOUNDARY, BROKEN_FORMS, CONTENT_TYPE, field, file, form } from './broken-forms.ts';
import { bodyOf, contentOf, FormRig } from './form-rig.ts';

const rig = new FormRig();
const read: FormRig['open'] = (body, changed) => rig.open(body, changed);
afterEach(async () => {
  rig.closeAll();
  await rig.expectNothingLeft();
});

/** Everything of a form, or the refusal that it ended in. */
async function outcomeOf(bytes: Buffer, pieceBytes: number, contentType = CONTENT_TYPE) {
  const outcome = await rig.read(bytes, pieceBytes, contentType);
  if (outcome instanceof ApiError) return outcome;
  const { fields, content } = outcome;
  return { fields, content };
}

describe('a form', () => {
  const small = form(field('model', 'a/b'), file(Buffer.from('audio')), field('language', 'en'));

  test.each([1, 2, 3, 7, 64, 4096])('parses in pieces of %i bytes', async (pieceBytes) => {
    const { fields, file } = await read(bodyOf(small, pieceBytes));
    expect(fields).toEqual([
      ['model', 'a/b'],
      ['language', 'en'],
    ]);
    expect(file).toMatchObject({ filename: 'a.wav', contentType: 'audio/wav', size: 5 });
    expect((await contentOf(file.read())).toString()).toBe('audio');
  });

  test('may hold anything in its file, also what looks like its boundary', async () => {
    const content = Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}\r\n\r\n--\r\n-- ${BOUNDARY}\r\n\n\r\r--`);
    expect(await outcomeOf(form(field('model', 'a/b'), file(content)), 5)).toMatchObject({ content });
  });

  test('may have text in front of it and behind it', async () => {
    const bytes = Buffer.concat([
      Buffer.from('preamble\r\n'),
      small,
      Buffer.from('\r\nepilogue'),
      Buffer.alloc(100_000, 'e'),
    ]);
    expect(await outcomeOf(bytes, 50)).toMatchObject({ content: Buffer.from('audio') });
  });

  test('may repeat a field whose name ends in []', async () => {
    const bytes = form(field('t[]', 'word'), field('t[]', 'segment'), file(Buffer.from('x')));
    expect(await outcomeOf(bytes, 64)).toMatchObject({
      fields: [
        ['t[]', 'word'],
        ['t[]', 'segment'],
      ],
    });
  });

  test('keeps empty fields, UTF-8 and line breaks as sent', async () => {
    const bytes = form(field('prompt', ''), field('prömpt', 'ä\r\n\r\nö'), file(Buffer.from('x')));
    expect(await outcomeOf(bytes, 9)).toMatchObject({
      fields: [
        ['prompt', ''],
        ['prömpt', 'ä\r\n\r\nö'],
      ],
    });
  });

  test.each([
    ['quoted', `multipart/form-data; boundary="${BOUNDARY}"`],
    ['in other letters', `Multipart/Form-Data ; charset=utf-8; Boundary=${BOUNDARY}`],
  ])('works with a content type %s', async (_what, contentType) => {
    expect(await outcomeOf(small, 64, contentType)).toMatchObject({ content: Buffer.from('audio') });
  });

  test.each([
    ['a path', '../../etc/passwd', '.._.._etc_passwd'],
    ['a Windows path', 'C:\\a\\b.wav', 'C:_a_b.wav'],
    ['other scripts and quotes', 'Müller café 音 „x“ 🎙.wav', 'Müller café 音 „x“ 🎙.wav'],
    ['control characters and turned text', 'a\tb\u0085\u202ec.wav', 'a_b__c.wav'],
    ['300 characters beyond 16 bits', `${'🎙'.repeat(300)}.mp3`, `${'🎙'.repeat(124)}.mp3`],
    ['300 characters', `${'n'.repeat(300)}.mp3`, `${'n'.repeat(124)}.mp3`],
    ['nothing', '', 'audio'],
  ])('keeps a file name of %s for display, made harmless', async (_what, filename, expected) => {
    expect((await read(bodyOf(form(file(Buffer.from('x'), { filename }))))).file.filename).toBe(expected);
  });

  test('works without a file name', async () => {
    const bytes = form('Content-Disposition: form-data; name="file"\r\n\r\nraw');
    expect((await read(bodyOf(bytes))).file).toMatchObject({ filename: 'audio', contentType: undefined, size: 3 });
  });
});

describe('a body that fails', () => {
  const broken = (error: Error, bytes: Buffer) =>
    Readable.from(
      (async function* () {
        yield bytes;
        throw error;
      })(),
      { objectMode: false },
    );
  const whole = form(file(Buffer.alloc(4000)), field('model', 'a/b'));

  test.each([10, 100, 500, 2000, 3900])('rejects after %i bytes with its own error and leaves nothing', async (at) => {
    const gone = new DOMException('gone', 'AbortError');
    await expect(read(broken(gone, whole.subarray(0, at)))).rejects.toBe(gone);
    await rig.expectNothingLeft();
  });

  test('because it is too large is a file that is too large', async () => {
    await expect(read(broken(new BodyTooLarge('x'), whole.subarray(0, 500)))).rejects.toMatchObject({
      code: 'file_too_large',
    });
  });

  test('changes nothing after the end of the form', async () => {
    const small = form(field('model', 'a/b'), file(Buffer.from('audio')));
    const late = async function* () {
      yield small;
      await turns(50);
      throw new Error('late');
    };
    const { file: got } = await read(Readable.from(late(), { objectMode: false }));
    expect((await contentOf(got.read())).toString()).toBe('audio');
  });
});

describe('a broken form', () => {
  test.each(BROKEN_FORMS.map(([what, ...rest]) => [what, rest] as const))(
    'fails: %s',
    async (_what, [bytes, code, param, contentType = CONTENT_TYPE]) => {
      for (const pieceBytes of [1_000_000, 61, 1].filter((size) => bytes.length / size < 20_000)) {
        const outcome = await outcomeOf(bytes, pieceBytes, contentType);
        expect(outcome).toBeInstanceOf(ApiError);
        const { code: got, extras, message } = outcome as ApiError;
        expect([got, extras.param]).toEqual([code, param]);
        expect(message).toMatch(/^[\x20-\x7e]+\.$/);
      }
      await rig.expectNothingLeft();
    },
  );

  test.each([undefined, '', 'application/json', 'multipart/mixed; boundary=x', 'text/plain; x=multipart/form-data'])(
    'fails with 415 when the content type is %s',
    async (contentType) => {
      const body = bodyOf(form(file(Buffer.from('x'))));
      await expect(readForm(body, contentType, rig.limits)).rejects.toMatchObject({ code: 'unsupported_media_type' });
      expect(body.destroyed).toBe(true);
    },
  );

  test.each(['gzip', 'deflate, gzip', 'br', 'x'])('fails with 415 when the body is encoded as %s', (encoding) => {
    expect(() => refuseContentEncoding(new Map([['content-encoding', encoding]]))).toThrow(
      expect.objectContaining({ code: 'unsupported_media_type' }),
    );
  });

  test('passes without an encoding, or with `identity`', () => {
    refuseContentEncoding(new Map());
    refuseContentEncoding(new Map([['content-encoding', ' Identity']]));
  });
});

describe('any form', () => {
  const name = fc.stringMatching(/^[a-z_]{1,8}$/).filter((text) => text !== 'file');
  const fields = fc.uniqueArray(fc.tuple(name, fc.string({ maxLength: 20, unit: 'grapheme' })), {
    selector: ([key]) => key,
    maxLength: 4,
  });
  const content = fc.uint8Array({ minLength: 1, maxLength: 3000 }).map((bytes) => Buffer.from(bytes));

  test('parses every well-formed form, in any pieces and with the file anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        fields,
        content,
        fc.nat(4),
        fc.integer({ min: 1, max: 5000 }),
        async (given, audio, place, pieceBytes) => {
          const parts = given.map(([key, value]) => field(key, value));
          parts.splice(place, 0, file(audio));
          expect(await outcomeOf(form(...parts), pieceBytes)).toEqual({ fields: given, content: audio });
        },
      ),
      { numRuns: drawn(300) },
    );
  });

  test('parses or refuses a damaged form, and leaves nothing', async () => {
    const damage = fc.oneof(
      fc.record({ kind: fc.constant('cut' as const), at: fc.nat(), bytes: fc.constant(Buffer.alloc(0)) }),
      fc.record({ kind: fc.constant('drop' as const), at: fc.nat(), bytes: fc.constant(Buffer.alloc(0)) }),
      fc.record({
        kind: fc.constant('insert' as const),
        at: fc.nat(),
        bytes: fc
          .constantFrom('\r\n', '--', `\r\n--${BOUNDARY}`, `\r\n--${BOUNDARY}--`, '"', ';', ':', '\0', '\n', ' ')
          .map((text) => Buffer.from(text)),
      }),
    );
    await fc.assert(
      fc.asyncProperty(
        fields,
        content,
        fc.array(damage, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 4000 }),
        async (given, audio, damages, pieceBytes) => {
          let bytes: Buffer = form(...given.map(([key, value]) => field(key, value)), file(audio));
          for (const { kind, at, bytes: extra } of damages) {
            const place = at % (bytes.length + 1);
            const rest = kind === 'cut' ? Buffer.alloc(0) : bytes.subarray(kind === 'drop' ? place + 1 : place);
            bytes = Buffer.concat([bytes.subarray(0, place), extra, rest]);
          }
          await outcomeOf(bytes, pieceBytes);
        },
      ),
      { numRuns: drawn(1_000) },
    );
  });
});
