// Backups in a directory and in a bucket: stored only if they can be read back, found again, and removed when they are outdated; other files
// stay.
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { fetchCopy, type Keys, listCopies, removeOutdated, storeCopy } from '../../src/backup/copies.ts';
import { copyNameOf } from '../../src/backup/copy-name.ts';
import { DirectoryPlace } from '../../src/backup/places/directory.ts';
import type { BackupPlace } from '../../src/backup/places/place.ts';
import { S3Place, type S3PlaceOptions } from '../../src/backup/places/s3.ts';
import { sealingKeyOf } from '../../src/backup/sealed-copy.ts';
import { ACCESS_KEY, BUCKET, errorXml, REGION, type S3Server, startS3Server } from '../fakes/network/s3-server.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const LEDGER = 'led_0123456789abcdef01234567';
const OTHER = 'led_fedcba9876543210fedcba98';
const MADE_MS = Date.UTC(2026, 11, 31, 18);
const PLAIN: Keys = { current: undefined, previous: undefined };
const SEALED: Keys = { current: sealingKeyOf(randomBytes(32).toString('base64')), previous: undefined };
const PART_BYTES = 100_000;

function fileOf(bytes: number): string {
  const file = join(temporaryDirectory(), 'content');
  writeFileSync(file, randomBytes(bytes));
  return file;
}

const digest = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

const s3 = (server: S3Server, more: Partial<S3PlaceOptions> = {}) =>
  new S3Place({
    ...{ endpoint: server.url, region: REGION, bucket: BUCKET, prefix: 'voxgate/a/', ...ACCESS_KEY },
    ...{ partBytes: PART_BYTES, pause: async () => {}, ...more },
  });

let server: S3Server;
let directory: string;
beforeEach(async () => {
  server = await startS3Server();
  directory = temporaryDirectory();
});

const PLACES: readonly [string, () => { place: BackupPlace; names(): string[]; add(name: string): void }][] = [
  [
    'a directory',
    () => ({
      place: new DirectoryPlace(directory),
      names: () => readdirSync(directory),
      add: (name) => writeFileSync(join(directory, name), 'of another program'),
    }),
  ],
  [
    'a bucket',
    () => ({
      place: s3(server),
      names: () => [...server.objects.keys()].map((key) => key.replace('voxgate/a/', '')),
      add: (name) => server.objects.set(`voxgate/a/${name}`, Buffer.from('of another program')),
    }),
  ],
];

describe.each(PLACES)('in %s', (_, open) => {
  test.each([
    ['small', 500, PLAIN],
    ['large', 3 * PART_BYTES, PLAIN],
    ['small encrypted', 500, SEALED],
    ['large encrypted', 3 * PART_BYTES, SEALED],
  ])('a %s copy is stored, listed and fetched as it was', async (_size, bytes, keys) => {
    const { place } = open();
    const file = fileOf(bytes);
    const copy = await storeCopy(place, { file, ledger: LEDGER, madeAtMs: MADE_MS, keys });
    expect(await listCopies(place)).toEqual([copy]);
    expect(copy).toMatchObject({ ledger: LEDGER, madeAtMs: MADE_MS, isSealed: keys === SEALED });
    const fetched = join(temporaryDirectory(), 'fetched');
    await fetchCopy(place, copy, keys, fetched);
    expect(digest(fetched)).toBe(digest(file));
    expect(statSync(fetched).mode & 0o777).toBe(0o600);
  });

  test('only outdated copies of the same ledger are removed, and no other file', async () => {
    const { place, names, add } = open();
    const store = (ledger: string, madeAtMs: number) =>
      storeCopy(place, { file: fileOf(100), ledger, madeAtMs, keys: PLAIN });
    for (const hours of [0, 1, 2, 3]) await store(LEDGER, MADE_MS + hours * 60_000);
    const other = await store(OTHER, MADE_MS);
    const foreign = ['notes.txt', `voxgate-${LEDGER}-yesterday.db.gz`, `voxgate-${LEDGER}-20261231T175900000Z.db`];
    for (const name of foreign) add(name);
    const newest = copyNameOf(LEDGER, MADE_MS + 180_000, false);
    expect(await removeOutdated(place, newest, { copies: 2, days: 0 })).toBe(2);
    const kept = [copyNameOf(LEDGER, MADE_MS + 120_000, false).name, newest.name, other.name];
    expect(names().sort()).toEqual([...foreign, ...kept].sort());
  });

  test('a copy that was just made is kept, even if a wrong clock gave others a later time', async () => {
    const { place } = open();
    const store = (madeAtMs: number) => storeCopy(place, { file: fileOf(100), ledger: LEDGER, madeAtMs, keys: PLAIN });
    const future = await store(MADE_MS + 1e10);
    const now = await store(MADE_MS);
    await removeOutdated(place, now, { copies: 1, days: 0 });
    expect((await listCopies(place)).map(({ name }) => name)).toEqual([future.name, now.name]);
  });

  test('a copy that is missing is a sentence', async () => {
    const { place } = open();
    const missing = { ...copyNameOf(LEDGER, MADE_MS, false) };
    const file = join(temporaryDirectory(), 'fetched');
    await expect(fetchCopy(place, missing, PLAIN, file)).rejects.toThrow(/\.$/);
    await expect(place.remove(missing.name)).resolves.toBeUndefined();
  });
});

describe('a directory', () => {
  const store = (path: string) =>
    storeCopy(new DirectoryPlace(path), { file: fileOf(1000), ledger: LEDGER, madeAtMs: MADE_MS, keys: PLAIN });

  test('is made for this user alone, but not the one above it', async () => {
    await store(join(directory, 'new'));
    expect(statSync(join(directory, 'new')).mode & 0o777).toBe(0o700);
    await expect(store(join(directory, 'none', 'new'))).rejects.toThrow(
      /it is missing \(ENOENT\); name in VOXGATE_BACKUP/,
    );
  });

  test('that is a file is refused', async () => {
    writeFileSync(join(directory, 'file'), '');
    await expect(store(join(directory, 'file'))).rejects.toThrow('ENOTDIR');
  });

  // Root may write everywhere.
  test.skipIf(process.getuid?.() === 0)('that may not be written is refused', async () => {
    mkdirSync(join(directory, 'closed'));
    chmodSync(join(directory, 'closed'), 0o500);
    await expect(store(join(directory, 'closed'))).rejects.toThrow('this user may not use it');
  });

  test('loses what a killed process left unfinished, a day later', async () => {
    const unfinished = `.${copyNameOf(LEDGER, MADE_MS, false).name}.partial`;
    const [old, fresh] = [unfinished, unfinished.replace('18', '19')];
    const foreign = '.something.partial';
    for (const name of [old, fresh, foreign]) writeFileSync(join(directory, name), '');
    const longAgo = new Date(Date.now() - 2 * 24 * 3_600_000);
    for (const name of [old, foreign]) utimesSync(join(directory, name), longAgo, longAgo);
    const { name } = await store(directory);
    expect(readdirSync(directory).sort()).toEqual([foreign, fresh, name].sort());
  });

  test('on a full disk is refused with what to do', async () => {
    const place = new DirectoryPlace(directory);
    async function* full() {
      yield Buffer.alloc(10);
      throw Object.assign(new Error('write'), { code: 'ENOSPC', syscall: 'write' });
    }
    await expect(place.write(copyNameOf(LEDGER, MADE_MS, false).name, full())).rejects.toThrow(
      /the disk is full \(ENOSPC\); free some space\.$/,
    );
    expect(readdirSync(directory)).toEqual([]);
  });

  test.each<[string, Keys, (bytes: Buffer) => Buffer, RegExp]>([
    ['cut', PLAIN, (bytes) => bytes.subarray(0, -5), /is cut/],
    ['empty', PLAIN, (bytes) => bytes.subarray(0, 0), /is cut/],
    ['edited', PLAIN, (bytes) => flipped(bytes), /is damaged/],
    ['cut and encrypted', SEALED, (bytes) => bytes.subarray(0, -5), /cut/],
    ['edited and encrypted', SEALED, (bytes) => flipped(bytes), /changed/],
    ['replaced by an unencrypted one', SEALED, () => readFileSync(fileOf(1000)), /does not begin/],
  ])('with a copy that is %s does not restore it', async (_, keys, spoil, words) => {
    const place = new DirectoryPlace(directory);
    const copy = await storeCopy(place, { file: fileOf(1000), ledger: LEDGER, madeAtMs: MADE_MS, keys });
    const path = join(directory, copy.name);
    writeFileSync(path, spoil(readFileSync(path)));
    const target = join(temporaryDirectory(), 'fetched');
    await expect(fetchCopy(place, copy, keys, target)).rejects.toThrow(words);
    expect(() => statSync(target)).toThrow('ENOENT');
  });
});

const flipped = (bytes: Buffer): Buffer => {
  const edited = Buffer.from(bytes);
  edited[500] = (edited[500] as number) ^ 1;
  return edited;
};

describe('a bucket', () => {
  const store = (options: Partial<S3PlaceOptions> = {}, bytes = 3 * PART_BYTES) =>
    storeCopy(s3(server, options), { file: fileOf(bytes), ledger: LEDGER, madeAtMs: MADE_MS, keys: SEALED });

  test('lists more than one page', async () => {
    server.pageSize = 2;
    const place = s3(server);
    const times = [0, 1, 2, 3, 4].map((minutes) => MADE_MS + minutes * 60_000);
    for (const madeAtMs of times) await storeCopy(place, { file: fileOf(10), ledger: LEDGER, madeAtMs, keys: PLAIN });
    expect((await listCopies(place, LEDGER)).map(({ madeAtMs }) => madeAtMs)).toEqual(times.reverse());
  });

  test('does not list what is below a folder of the prefix', async () => {
    server.objects.set(`voxgate/a/voxgate-${LEDGER}-x/${copyNameOf(LEDGER, MADE_MS, false).name}`, Buffer.alloc(1));
    expect(await listCopies(s3(server))).toEqual([]);
  });

  test('gets a large copy in parts, and holds one of them at a time', async () => {
    await store();
    const parts = server.calls.filter(({ query }) => query.has('partNumber'));
    expect(parts.length).toBe(4);
    expect(server.uploads.size).toBe(0);
  });

  test.each<[string, Partial<S3PlaceOptions>, RegExp]>([
    ['of another name', { bucket: 'nothing' }, /404 NoSuchBucket\): create the bucket nothing/],
    [
      'with a wrong secret',
      { secretAccessKey: 'wrong' },
      /403 SignatureDoesNotMatch\): set VOXGATE_BACKUP_S3_ACCESS_KEY_ID/,
    ],
    ['with an unknown key', { accessKeyId: 'AKIAWRONG' }, /403 InvalidAccessKeyId/],
    ['in another region', { region: 'us-east-1' }, /set VOXGATE_BACKUP_S3_REGION to eu-central-1/],
    ['at an address where nothing listens', { endpoint: 'http://127.0.0.1:1' }, /the connection failed \(\w+\)/],
  ])('%s is refused with what to do', async (_, options, words) => {
    const failure = await store(options).catch((error: Error) => error);
    expect(failure).toMatchObject({ name: 'BackupError', message: expect.stringMatching(words) });
    for (const secret of Object.values(ACCESS_KEY)) expect((failure as Error).message).not.toContain(secret);
  });

  test('refused for the rights of the key is not asked again', async () => {
    server.fault = () => ({ status: 403, body: errorXml('AccessDenied') });
    await expect(store()).rejects.toThrow(/403 AccessDenied\): give the access key the rights/);
    expect(server.calls.length).toBe(1);
  });

  test('does not follow a redirect', async () => {
    const other = await startS3Server();
    server.fault = () => ({ status: 307, headers: { Location: `${other.url}/${BUCKET}/x` } });
    await expect(store()).rejects.toThrow(/redirects to another address; set VOXGATE_BACKUP_S3_ENDPOINT/);
    expect(other.calls).toEqual([]);
  });

  test('that is busy for a moment is asked again', async () => {
    const seen = new Map<string, number>();
    server.fault = ({ method, key, query }) => {
      const call = `${method} ${key} ${query}`;
      seen.set(call, (seen.get(call) ?? 0) + 1);
      return (seen.get(call) as number) <= 2 ? { status: 503, body: errorXml('SlowDown') } : undefined;
    };
    await store();
    expect(server.objects.size).toBe(1);
  });

  test('that stays busy is given up after four attempts, and keeps no parts', async () => {
    server.fault = ({ query }) =>
      query.get('partNumber') === '2' ? { status: 503, body: errorXml('SlowDown') } : undefined;
    await expect(store()).rejects.toThrow('(503 SlowDown), and did so 4 times.');
    expect(server.calls.filter(({ query }) => query.get('partNumber') === '2').length).toBe(4);
    expect([server.uploads.size, server.objects.size]).toEqual([0, 0]);
  });

  test('that fails to join the parts has failed, although it answers 200', async () => {
    server.fault = ({ method, query }) =>
      method === 'POST' && query.has('uploadId') ? { status: 200, body: errorXml('InternalError') } : undefined;
    await expect(store()).rejects.toThrow('could not join the parts (InternalError)');
    expect(server.uploads.size).toBe(0);
  });

  test('that stores half of a copy does not keep it', async () => {
    server.keep = (bytes) => bytes.subarray(0, bytes.length / 2);
    for (const bytes of [1000, 3 * PART_BYTES]) await expect(store({}, bytes)).rejects.toThrow(/changed|cut/);
    expect(server.objects.size).toBe(0);
  });

  test('that returns half of a copy and closes has failed', async () => {
    const { name } = await store({}, 1000);
    const object = server.objects.get(`voxgate/a/${name}`) as Buffer;
    server.fault = ({ method, key }) =>
      method === 'GET' && key !== ''
        ? {
            status: 200,
            headers: { 'Content-Length': String(object.length) },
            body: object.subarray(0, 500),
            isCut: true,
          }
        : undefined;
    const [copy] = await listCopies(s3(server));
    const target = join(temporaryDirectory(), 'fetched');
    await expect(fetchCopy(s3(server), copy!, SEALED, target)).rejects.toThrow(/the connection failed/);
    expect(() => statSync(target)).toThrow('ENOENT');
  });

  test('that is another kind of server is recognised', async () => {
    server.fault = () => ({ status: 200, body: '<html>Welcome</html>' });
    await expect(listCopies(s3(server))).rejects.toThrow('does not answer as an S3-compatible service');
  });

  test('with an endless answer is given up', async () => {
    server.fault = () => ({ status: 200, body: 'x'.repeat(5 * 2 ** 20) });
    await expect(listCopies(s3(server))).rejects.toThrow('too long');
  });
});
