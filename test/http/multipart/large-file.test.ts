// Files of forms that memory has no room for: handed on while they arrive, or kept on disk, and begun anew where fields come behind.
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { type Form, type FormLimits, readForm } from '../../../src/http/multipart/form.ts';
import { FieldsFollow, SpoolBudget } from '../../../src/http/multipart/spool-file.ts';
import { Quota } from '../../../src/runtime/limits/quota.ts';
import { turns } from '../../fakes/raw-socket.ts';
import { BOUNDARY, CONTENT_TYPE, field, file, form } from './broken-forms.ts';
import { bodyOf, contentOf, FormRig } from './form-rig.ts';

const rig = new FormRig();
afterEach(async () => {
  rig.closeAll();
  await rig.expectNothingLeft();
});

describe('a file larger than memory allows', () => {
  const content = Buffer.alloc(4000, 'large');

  const early = form(field('model', 'a/b'), file(content));
  const late = form(field('model', 'a/b'), file(content), field('language', 'en'));

  /** A form of which the first 2,500 bytes have come. */
  async function arriving(bytes: Buffer, changed: Partial<FormLimits> = {}) {
    const body = new Readable({ read() {} });
    const reading = rig.open(body, changed);
    body.push(bytes.subarray(0, 2500));
    const end = () => {
      body.push(bytes.subarray(2500));
      body.push(null);
    };
    return { body, form: await reading, end };
  }

  test('streams on while it arrives, when the model is known', async () => {
    const { form: got, end } = await arriving(early);
    expect([got.fields, got.file.size, rig.spoolQuota.used > 0]).toEqual([[['model', 'a/b']], undefined, true]);
    expect(got.file.arrived?.()).toBeUndefined();
    end();
    expect((await contentOf(got.file.read())).equals(content)).toBe(true);
    expect(await got.whole).toBe(got);
    const copy = got.file.arrived?.();
    expect([copy?.size, Buffer.from((await copy?.readAt(0, content.length)) ?? [])]).toEqual([content.length, content]);
    got.dispose();
    expect(got.file.arrived?.()).toBeUndefined();
    expect(rig.spoolQuota.used).toBe(0);
  });

  test('streams on without its end, and starts again, when a field follows it', async () => {
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
    ['another file fills', { spoolBudget: new SpoolBudget(new Quota(500, 1), 'org') }],
    ['nothing can be written to', { spoolDir: join(tmpdir(), 'there', 'is', 'none') }],
  ])('streams on without a copy where %s the disk; a later field fails with a retry', async (_, changed) => {
    const whole = await arriving(early, changed);
    whole.end();
    expect((await contentOf(whole.form.file.read())).equals(content)).toBe(true);
    const cut = await arriving(late, changed);
    const reading = contentOf(cut.form.file.read());
    reading.catch(() => {});
    cut.end();
    await expect(cut.form.whole).rejects.toMatchObject({ code: 'overloaded', extras: { retryAfterSeconds: 30 } });
    await expect(reading).rejects.toMatchObject({ code: 'overloaded' });
  });

  test('arrives no faster than it is read', async () => {
    let taken = 0;
    async function* endless() {
      yield form(field('model', 'a/b'), file(Buffer.from('start'))).subarray(0, -(BOUNDARY.length + 8));
      for (; taken < 40_000_000; taken += 65_536) yield Buffer.alloc(65_536);
    }
    const body = Readable.from(endless(), { objectMode: false });
    const { file: got } = await rig.open(body, { fileBytesMax: 50_000_000 });
    await once(got.read(), 'readable');
    await turns(100);
    expect(taken).toBeLessThan(2_000_000);
  });

  test('spools until the form has ended, when the model follows it', async () => {
    const { fields, file: got } = await rig.open(bodyOf(form(file(content), field('model', 'a/b'))));
    expect([fields, got.size]).toEqual([[['model', 'a/b']], 4000]);
    expect(await readdir(rig.limits.spoolDir)).toEqual([]);
    expect((await contentOf(got.read())).equals(content)).toBe(true);
  });

  test('stays on request, and can be read many times, also at once', async () => {
    const asked: unknown[] = [];
    const mustKeep: FormLimits['mustKeep'] = (known, type) => asked.push(structuredClone([known, type])) > 0;
    const bytes = form(field('model', 'a/b'), file(content), field('language', 'en'));
    const { fields, file: got } = await rig.open(bodyOf(bytes), { mustKeep });
    expect([fields.length, got.size, asked]).toEqual([2, 4000, [[[['model', 'a/b']], 'audio/wav']]]);
    const contents = await Promise.all([1, 2, 3].map(() => contentOf(got.read())));
    contents.push(await contentOf(got.read()));
    expect(contents.every((each) => each.equals(content))).toBe(true);
  });

  test('fails where uploads fill the node’s part of the disk, which becomes free afterwards', async () => {
    const whole = form(file(content), field('model', 'a/b'));
    const quota = new Quota(6_000, 1);
    const spoolBudget = new SpoolBudget(quota, 'org');
    const first = await rig.open(bodyOf(whole), { spoolBudget });
    await expect(rig.open(bodyOf(whole), { spoolBudget })).rejects.toMatchObject({ code: 'overloaded' });
    expect(quota.used).toBe(4_000);
    first.dispose();
    await rig.open(bodyOf(whole), { spoolBudget });
  });

  test('fails beyond its organisation’s share, while another has its own', async () => {
    const whole = form(file(content), field('model', 'a/b'));
    const quota = new Quota(20_000);
    const sent = (organisation: string) =>
      rig.open(bodyOf(whole), { spoolBudget: new SpoolBudget(quota, organisation) });
    await sent('slow');
    await sent('slow');
    await expect(sent('slow')).rejects.toMatchObject({
      code: 'too_many_sessions',
      message: expect.stringContaining('as one organisation may use'),
    });
    await sent('paying');
    const early = await arriving(late, { spoolBudget: new SpoolBudget(quota, 'slow') });
    contentOf(early.form.file.read()).catch(() => {});
    early.end();
    await expect(early.form.whole).rejects.toMatchObject({ code: 'too_many_sessions' });
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
      const opened = await rig.open(bodyOf(form(...parts)));
      await use(opened);
      opened.dispose();
      opened.dispose();
      await rig.expectNothingLeft();
      expect(rig.spoolQuota.used).toBe(0);
    }
  });

  test('stops the body and rejects later reads when it is disposed of early', async () => {
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
  ])('reports to its reader that it turned out to be %s', async (_what, bytes, code) => {
    const { form: got, end } = await arriving(bytes);
    end();
    const streamed = contentOf(got.file.read()).catch((error) => error);
    await expect(got.whole).rejects.toMatchObject({ code });
    expect(await streamed).toMatchObject({ code });
  });

  test('fails where the spool cannot be written', async () => {
    const body = bodyOf(form(file(content), field('model', 'a/b')));
    await expect(
      readForm(body, CONTENT_TYPE, { ...rig.limits, spoolDir: join(rig.limits.spoolDir, 'none') }),
    ).rejects.toMatchObject({ code: 'overloaded' });
  });
});
