// Files that are kept for their keys: for how long, how many, and that nothing of them is left behind.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { readForm } from '../../src/http/multipart/form.ts';
import { holderOf } from '../../src/jobs/file-ids.ts';
import {
  FILE_KEPT_MS,
  KEPT_FILES_MAX,
  KEPT_SHARE,
  KeptFiles,
  ORGANISATION_FILES_MAX,
} from '../../src/jobs/kept-files.ts';
import { Quota } from '../../src/runtime/limits/quota.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const OWNER = { organisationId: 'org_1', keyId: 'key_1', dialect: 'soniox' };
const OTHER = { ...OWNER, keyId: 'key_2' };
const SPOOL_BYTES_MAX = 400_000;
const SHARE_BYTES = (SPOOL_BYTES_MAX * KEPT_SHARE) / 2;
const spoolDir = temporaryDirectory();

let clock: SimulatedClock;
let spoolQuota: Quota;
let files: KeptFiles;

beforeEach(() => {
  clock = new SimulatedClock();
  spoolQuota = new Quota(SPOOL_BYTES_MAX);
  files = new KeptFiles({ node: 'abc123', clock, wallNow: () => new Date(clock.now()), spoolQuota });
});

afterEach(() => files.close());

const formOf = (bytes: number) =>
  `--b\r\nContent-Disposition: form-data; name="label"\r\n\r\nvox\r\n--b\r\nContent-Disposition: form-data; name="audio"; filename="a.wav"\r\n\r\n${'x'.repeat(bytes)}\r\n--b--\r\n`;

async function keep(bytes: number, owner = OWNER) {
  const kept = await files.keep(owner, (budget) =>
    readForm(Readable.from([Buffer.from(formOf(bytes))]), 'multipart/form-data; boundary=b', {
      ...{ fileBytesMax: 1e9, memoryBytesMax: 0, fieldBytesMax: 99, fieldsBytesMax: 99, fieldsMax: 9 },
      ...{ memoryQuota: new Quota(1e9), organisationId: owner.organisationId },
      ...{ spoolDir, spoolBudget: budget, fileField: 'audio', mustKeep: () => true },
    }),
  );
  return kept;
}

const kept = async (bytes: number, owner = OWNER) => {
  const { file, leave } = await keep(bytes, owner);
  leave();
  return file;
};

const codeOf = (failed: Promise<unknown>) =>
  failed.then(
    () => 'none',
    ({ code }) => code as string,
  );
const missing = expect.objectContaining({ code: 'not_found' });

describe('a file', () => {
  it('lies on disk, with its form fields', async () => {
    const { id, filename, bytes, fields, form } = await kept(1_000);
    expect({ filename, bytes, fields: [...fields] }).toEqual({
      filename: 'a.wav',
      bytes: 1_000,
      fields: [['label', 'vox']],
    });
    expect(spoolQuota.used).toBe(1_000);
    for (const time of ['first', 'second']) {
      const read = await buffer(files.find(OWNER, id).form.file.read());
      expect([time, read.length, form.file.pieces]).toEqual([time, 1_000, undefined]);
    }
  });

  it('has an id that names its node, in the form of a UUID', async () => {
    const { id } = await kept(1);
    expect(id).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect([holderOf(id), holderOf(randomUUID().replace(/.{12}$/, '0'.repeat(12))), holderOf('abc123')]).toEqual([
      'abc123',
      undefined,
      undefined,
    ]);
  });

  it('belongs to its key and one dialect', async () => {
    const { id } = await kept(1);
    for (const other of [OTHER, { ...OWNER, dialect: 'gladia' }]) {
      expect(() => files.find(other, id)).toThrow(missing);
      expect(() => files.hold(other, id)).toThrow(missing);
      expect(() => files.remove(other, id)).toThrow(missing);
      expect(files.of(other)).toEqual([]);
    }
    expect(files.of(OWNER).map((each) => each.id)).toEqual([id]);
  });

  it('goes when its time is over', async () => {
    const { id } = await kept(1_000);
    clock.increment(FILE_KEPT_MS - 1);
    expect(files.find(OWNER, id).id).toBe(id);
    clock.increment(1);
    expect(() => files.find(OWNER, id)).toThrow(missing);
    expect([files.size, spoolQuota.used]).toEqual([0, 0]);
  });

  it.each([
    ['its time is over', () => clock.increment(FILE_KEPT_MS)],
    ['it is removed', (id: string) => files.remove(OWNER, id)],
    ['the node ends', () => files.close()],
  ])('stays until its work is finished, although %s', async (_, end) => {
    const { file, leave } = await keep(1_000);
    const again = files.hold(OWNER, file.id);
    end(file.id);
    expect(() => files.find(OWNER, file.id)).toThrow(missing);
    leave();
    leave();
    expect(spoolQuota.used).toBe(1_000);
    again.leave();
    expect(spoolQuota.used).toBe(0);
  });

  it('disappears when it arrives while the node ends', async () => {
    const arriving = keep(1_000);
    files.close();
    const { file, leave } = await arriving;
    expect(() => files.find(OWNER, file.id)).toThrow(missing);
    leave();
    expect(spoolQuota.used).toBe(0);
  });
});

describe('the files that a key keeps', () => {
  it(`stay within ${KEPT_FILES_MAX}, with room for more once some are gone`, async () => {
    const [first] = await Promise.all(Array.from({ length: KEPT_FILES_MAX }, () => kept(1)));
    expect(await codeOf(kept(1))).toBe('too_many_sessions');
    expect(await codeOf(kept(1, OTHER))).toBe('none');
    files.remove(OWNER, (first as { id: string }).id);
    expect(await codeOf(kept(1))).toBe('none');
  });

  it(`allow no more than its organisation’s rest of ${ORGANISATION_FILES_MAX} files`, async () => {
    const arriving = () => new Promise<never>(() => {});
    for (let count = 0; count < ORGANISATION_FILES_MAX; count++)
      void files.keep({ ...OWNER, keyId: `key_${Math.floor(count / KEPT_FILES_MAX)}` }, arriving);
    expect(await codeOf(kept(1, { ...OWNER, keyId: 'key_new' }))).toBe('too_many_sessions');
    expect(await codeOf(kept(1, { ...OTHER, organisationId: 'org_2', keyId: 'key_of_org_2' }))).toBe('none');
  });

  it('share a part of the disk with all other keys of its organisation', async () => {
    expect(await codeOf(kept(SHARE_BYTES + 1))).toBe('too_many_sessions');
    expect(spoolQuota.used).toBe(0);
    const { id } = await kept(SHARE_BYTES);
    expect(await codeOf(kept(1))).toBe('too_many_sessions');
    expect(await codeOf(kept(1, OTHER))).toBe('too_many_sessions');
    files.remove(OWNER, id);
    expect(await codeOf(kept(SHARE_BYTES, OTHER))).toBe('none');
  });

  it('leave room for newcomers of other organisations', async () => {
    const ofOrganisation = (at: number) => ({ ...OWNER, organisationId: `org_${at}`, keyId: `key_of_${at}` });
    let left = SPOOL_BYTES_MAX * KEPT_SHARE;
    for (let at = 0; at < 8; at++) {
      const room = Math.floor((left + 1) / 2);
      expect(await codeOf(kept(room + 1, ofOrganisation(at)))).not.toBe('none');
      expect(await codeOf(kept(room, ofOrganisation(at)))).toBe('none');
      left -= room;
    }
    expect(await codeOf(kept(1, ofOrganisation(7)))).toBe('too_many_sessions');
    expect(spoolQuota.used).toBe(SPOOL_BYTES_MAX * KEPT_SHARE - left);
    expect(await codeOf(kept(Math.floor(left / 2), ofOrganisation(8)))).toBe('none');
  });

  it('keep nothing of a broken form', async () => {
    const broken = files.keep(OWNER, () => Promise.reject(new Error('The client went away.')));
    await expect(broken).rejects.toThrow('went away');
    expect(await codeOf(kept(SHARE_BYTES))).toBe('none');
  });
});

describe('a file that a job was made of', () => {
  const used = async (bytes: number) => {
    const file = await kept(bytes);
    files.hold(OWNER, file.id).leave();
    return file;
  };

  it('gives way to another where the key may keep no more, the oldest first', async () => {
    const [first, second] = [await used(1), await used(1)];
    for (let count = 2; count < KEPT_FILES_MAX; count++) await kept(1);
    await kept(1);
    expect(() => files.find(OWNER, first.id)).toThrow(missing);
    expect(files.find(OWNER, second.id)).toBe(second);
    await kept(1);
    expect(await codeOf(kept(1))).toBe('too_many_sessions');
  });

  it('gives way where the disk has no room, but not while a job works on it', async () => {
    const file = await used(SHARE_BYTES - 10_000);
    const { leave } = files.hold(OWNER, file.id);
    expect(await codeOf(kept(20_000))).toBe('too_many_sessions');
    leave();
    await kept(20_000);
    expect(() => files.find(OWNER, file.id)).toThrow(missing);
    expect(spoolQuota.used).toBe(20_000);
  });
});
