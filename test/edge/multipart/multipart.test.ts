// The form reader: what it makes of good forms in any pieces, that it refuses every broken one with a code, and that no
// form leaves a file, an open stream or an unhandled error behind.
import { once } from 'node:events';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/api/errors.ts';
import { BodyTooLarge } from '../../../src/edge/door.ts';
import { type Form, type FormLimits, readForm } from '../../../src/edge/multipart/form.ts';
import { FieldsFollow } from '../../../src/edge/multipart/large-file.ts';
import { refuseContentEncoding } from '../../../src/edge/multipart/parts.ts';
import { SpoolBudget } from '../../../src/edge/multipart/spool-file.ts';
import { turns } from '../../fakes/raw-socket.ts';
import { BOUNDARY, BROKEN_FORMS, CONTENT_TYPE, field, file, form } from './broken-forms.ts';
import { contentOf, wholeOf } from './form-rig.ts';

let limits: FormLimits;
const openForms: Form[] = [];

beforeAll(async () => {
  const spoolDir = await mkdtemp(join(tmpdir(), 'form-'));
  const spoolBudget = new SpoolBudget(20_000);
  const sizes = { fileBytesMax: 5000, fieldBytesMax: 100, fieldsBytesMax: 400, fieldsMax: 4, memoryBytesMax: 1000 };
  limits = { ...sizes, spoolDir, spoolBudget };
});
afterAll(() => rm(limits.spoolDir, { recursive: true }));
afterEach(async () => {
  for (const opened of openForms.splice(0)) opened.dispose();
  await expectNothingLeft();
});

/** A body that arrives in pieces of this size. */
function bodyOf(bytes: Buffer, pieceBytes = 64): Readable {
  const pieces = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(bytes.subarray(at, at + pieceBytes));
  return Readable.from(pieces, { objectMode: false });
}

async function read(body: Readable, changed: Partial<FormLimits> = {}): Promise<Form> {
  const read = await readForm(body, CONTENT_TYPE, { ...limits, ...changed });
  openForms.push(read);
  return read;
}

/** Everything of a form, or the refusal that it ended in. */
async function outcomeOf(bytes: Buffer, pieceBytes: number, contentType = CONTENT_TYPE) {
  try {
    const read = await readForm(bodyOf(bytes, pieceBytes), contentType, limits);
    try {
      return await wholeOf(read);
    } finally {
      read.dispose();
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error;
  }
}

/** No file of the spool, neither with a name nor merely open. */
async function expectNothingLeft(): Promise<void> {
  expect(await readdir(limits.spoolDir)).toEqual([]);
  if (process.platform !== 'linux') return;
  const isOpen = async () => {
    const targets = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    return targets.some((target) => target.includes(limits.spoolDir) && target.includes('.upload'));
  };
  // Closing a file is asynchronous; it is under way, or it never happens.
  for (let turn = 0; turn < 200 && (await isOpen()); turn++) await turns(1);
  expect(await isOpen()).toBe(false);
}

describe('a form', () => {
  const small = form(field('model', 'a/b'), file(Buffer.from('audio')), field('language', 'en'));

  test.each([1, 2, 3, 7, 64, 4096])('in pieces of %i bytes is read whole', async (pieceBytes) => {
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

  test('has empty fields, UTF-8 and line breaks as they were sent', async () => {
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
  ])('is recognised by a content type %s', async (_what, contentType) => {
    expect(await outcomeOf(small, 64, contentType)).toMatchObject({ content: Buffer.from('audio') });
  });

  test.each([
    ['a path', '../../etc/passwd', '.._.._etc_passwd'],
    ['a Windows path', 'C:\\a\\b.wav', 'C__a_b.wav'],
    ['control characters and other scripts', 'a\tb\u202e音.wav', 'a_b__.wav'],
    ['300 characters', `${'n'.repeat(300)}.mp3`, `${'n'.repeat(124)}.mp3`],
    ['nothing', '', 'audio'],
  ])('with a file name of %s gets a harmless one', async (_what, filename, expected) => {
    expect((await read(bodyOf(form(file(Buffer.from('x'), { filename }))))).file.filename).toBe(expected);
  });

  test('whose file has no file name is a form all the same', async () => {
    const bytes = form('Content-Disposition: form-data; name="file"\r\n\r\nraw');
    expect((await read(bodyOf(bytes))).file).toMatchObject({ filename: 'audio', contentType: undefined, size: 3 });
  });
});

describe('a file larger than memory allows', () => {
  const content = Buffer.alloc(4000, 'large');

  const early = form(field('model', 'a/b'), file(content));
  const late = form(field('model', 'a/b'), file(content), field('language', 'en'));

  /** A form of which the first 2,500 bytes have come. */
  async function arriving(bytes: Buffer, changed: Partial<FormLimits> = {}) {
    const body = new Readable({ read() {} });
    const reading = read(body, changed);
    body.push(bytes.subarray(0, 2500));
    const end = () => {
      body.push(bytes.subarray(2500));
      body.push(null);
    };
    return { body, form: await reading, end };
  }

  test('is handed on while it arrives, when the model is known', async () => {
    const { form: got, end } = await arriving(early);
    expect([got.fields, got.file.size, limits.spoolBudget.bytes > 0]).toEqual([[['model', 'a/b']], undefined, true]);
    end();
    expect((await contentOf(got.file.read())).equals(content)).toBe(true);
    expect(await got.whole).toBe(got);
    expect(limits.spoolBudget.bytes).toBe(0);
  });

  test('is handed on without its end, and begins anew, when a field comes behind it', async () => {
    const { form: got, end } = await arriving(late);
    const reading = contentOf(got.file.read());
    reading.catch(() => {});
    end();
    await expect(reading).rejects.toBeInstanceOf(FieldsFollow);
    const { fields, file: again, whole } = await got.whole;
    expect([fields, again.size, await whole]).toMatchObject([
      [
        ['model', 'a/b'],
        ['language', 'en'],
      ],
      4000,
      { file: again },
    ]);
    expect((await contentOf(again.read())).equals(content)).toBe(true);
  });

  test.each([
    ['another file fills', { spoolBudget: new SpoolBudget(500) }],
    ['nobody can write', { spoolDir: join(tmpdir(), 'there', 'is', 'none') }],
  ])(
    'is handed on without a copy on a disk that %s; a field behind it is refused, to come again',
    async (_, changed) => {
      const whole = await arriving(early, changed);
      whole.end();
      expect((await contentOf(whole.form.file.read())).equals(content)).toBe(true);
      const cut = await arriving(late, changed);
      const reading = contentOf(cut.form.file.read());
      reading.catch(() => {});
      cut.end();
      await expect(cut.form.whole).rejects.toMatchObject({ code: 'overloaded', extras: { retryAfterSeconds: 30 } });
      await expect(reading).rejects.toMatchObject({ code: 'overloaded' });
    },
  );

  test('is taken no faster than it is read', async () => {
    let taken = 0;
    async function* endless() {
      yield form(field('model', 'a/b'), file(Buffer.from('start'))).subarray(0, -(BOUNDARY.length + 8));
      for (; taken < 40_000_000; taken += 65_536) yield Buffer.alloc(65_536);
    }
    const body = Readable.from(endless(), { objectMode: false });
    const { file: got } = await read(body, { fileBytesMax: 50_000_000 });
    await once(got.read(), 'readable');
    await turns(100);
    expect(taken).toBeLessThan(2_000_000);
  });

  test('is spooled until the form has ended, when the model comes behind it', async () => {
    const { fields, file: got } = await read(bodyOf(form(file(content), field('model', 'a/b'))));
    expect([fields, got.size]).toEqual([[['model', 'a/b']], 4000]);
    expect(await readdir(limits.spoolDir)).toEqual([]);
    expect((await contentOf(got.read())).equals(content)).toBe(true);
  });

  test('is kept when that is asked for, and read any number of times, also at once', async () => {
    const asked: unknown[] = [];
    const mustKeep: FormLimits['mustKeep'] = (known, type) => asked.push(structuredClone([known, type])) > 0;
    const bytes = form(field('model', 'a/b'), file(content), field('language', 'en'));
    const { fields, file: got } = await read(bodyOf(bytes), { mustKeep });
    expect([fields.length, got.size, asked]).toEqual([2, 4000, [[[['model', 'a/b']], 'audio/wav']]]);
    const contents = await Promise.all([1, 2, 3].map(() => contentOf(got.read())));
    contents.push(await contentOf(got.read()));
    expect(contents.every((each) => each.equals(content))).toBe(true);
  });

  test('is refused where the uploads of the node fill their part of the disk, which is free again afterwards', async () => {
    const whole = form(file(content), field('model', 'a/b'));
    const spoolBudget = new SpoolBudget(6_000);
    const first = await read(bodyOf(whole), { spoolBudget });
    await expect(read(bodyOf(whole), { spoolBudget })).rejects.toMatchObject({ code: 'overloaded' });
    expect(spoolBudget.bytes).toBe(4_000);
    first.dispose();
    await read(bodyOf(whole), { spoolBudget });
  });

  test.each([
    ['read to its end', async ({ file: got }: Form) => void (await contentOf(got.read()))],
    ['destroyed', async ({ file: got }: Form) => void got.read().destroy()],
    ['read in part', async ({ file: got }: Form) => void (await once(got.read(), 'readable'))],
    ['not read', async () => {}],
  ])('leaves nothing behind when it is disposed of, %s', async (_how, use) => {
    for (const parts of [
      [file(content), field('model', 'a/b')],
      [field('model', 'a/b'), file(content)],
    ]) {
      const opened = await read(bodyOf(form(...parts)));
      await use(opened);
      opened.dispose();
      opened.dispose();
      await expectNothingLeft();
      expect(limits.spoolBudget.bytes).toBe(0);
    }
  });

  test('that is disposed of while it arrives stops the body and rejects what is to come', async () => {
    const { body, form: got } = await arriving(early);
    got.dispose();
    await expect(got.whole).rejects.toThrow('given up');
    expect([body.destroyed, got.file.read().destroyed]).toEqual([true, true]);
  });

  test.each([
    ['too large', form(field('model', 'a/b'), file(Buffer.alloc(6000))), 'file_too_large'],
    ['cut off', form(field('model', 'a/b'), file(content)).subarray(0, 3000), 'invalid_request'],
    [
      'followed by a second one',
      form(field('model', 'a/b'), file(content), file(Buffer.from('x'))),
      'duplicate_parameter',
    ],
    [
      'followed by a field that is too long',
      form(field('model', 'a/b'), file(content), field('prompt', 'p'.repeat(101))),
      'invalid_request',
    ],
  ])('and turns out to be %s is told to whoever reads it', async (_what, bytes, code) => {
    const { form: got, end } = await arriving(bytes);
    end();
    const streamed = contentOf(got.file.read()).catch((error) => error);
    await expect(got.whole).rejects.toMatchObject({ code });
    expect(await streamed).toMatchObject({ code });
  });

  test('is refused where the spool cannot be written', async () => {
    const body = bodyOf(form(file(content), field('model', 'a/b')));
    await expect(
      readForm(body, CONTENT_TYPE, { ...limits, spoolDir: join(limits.spoolDir, 'none') }),
    ).rejects.toMatchObject({ code: 'overloaded' });
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

  test.each([10, 100, 500, 2000, 3900])('after %i bytes rejects with its own error and leaves nothing', async (at) => {
    const gone = new DOMException('gone', 'AbortError');
    await expect(read(broken(gone, whole.subarray(0, at)))).rejects.toBe(gone);
    await expectNothingLeft();
  });

  test('because it is too large is a file that is too large', async () => {
    await expect(read(broken(new BodyTooLarge('x'), whole.subarray(0, 500)))).rejects.toMatchObject({
      code: 'file_too_large',
    });
  });

  test('behind the end of the form changes nothing', async () => {
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
    'is refused: %s',
    async (_what, [bytes, code, param, contentType = CONTENT_TYPE]) => {
      for (const pieceBytes of [1_000_000, 61, 1].filter((size) => bytes.length / size < 20_000)) {
        const outcome = await outcomeOf(bytes, pieceBytes, contentType);
        expect(outcome).toBeInstanceOf(Refusal);
        const { code: got, extras, message } = outcome as Refusal;
        expect([got, extras.param]).toEqual([code, param]);
        expect(message).toMatch(/^[\x20-\x7e]+\.$/);
      }
      await expectNothingLeft();
    },
  );

  test.each([undefined, '', 'application/json', 'multipart/mixed; boundary=x', 'text/plain; x=multipart/form-data'])(
    'is refused with 415 when the content type is %s',
    async (contentType) => {
      const body = bodyOf(form(file(Buffer.from('x'))));
      await expect(readForm(body, contentType, limits)).rejects.toMatchObject({ code: 'unsupported_media_type' });
      expect(body.destroyed).toBe(true);
    },
  );

  test.each(['gzip', 'deflate, gzip', 'br', 'x'])('is refused with 415 when the body is encoded as %s', (encoding) => {
    expect(() => refuseContentEncoding(new Map([['content-encoding', encoding]]))).toThrow(
      expect.objectContaining({ code: 'unsupported_media_type' }),
    );
  });

  test('is not what a body without encoding is', () => {
    refuseContentEncoding(new Map());
    refuseContentEncoding(new Map([['content-encoding', ' Identity']]));
  });
});

describe('whatever is sent', () => {
  const name = fc.stringMatching(/^[a-z_]{1,8}$/).filter((text) => text !== 'file');
  const fields = fc.uniqueArray(fc.tuple(name, fc.string({ maxLength: 20, unit: 'grapheme' })), {
    selector: ([key]) => key,
    maxLength: 4,
  });
  const content = fc.uint8Array({ minLength: 1, maxLength: 3000 }).map((bytes) => Buffer.from(bytes));

  test('a well-formed form is read as it was meant, in any pieces and with the file anywhere', async () => {
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
      { numRuns: 300 },
    );
  });

  test('a damaged form is read or refused, and leaves nothing', async () => {
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
      { numRuns: 1000 },
    );
  });
});
