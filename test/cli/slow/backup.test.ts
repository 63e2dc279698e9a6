// `voxgate backup` as an operator meets it: a list, a backup, the restore of one, and what is refused.
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { copyNameOf } from '../../../src/backup/copy-name.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { ACCESS_KEY, BUCKET, REGION, startS3Server } from '../../fakes/network/s3-server.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const BY = { type: 'operator', id: 'test' } as const;
const newKey = () => randomBytes(32).toString('base64');

interface Rig {
  directory: string;
  backups: string;
  env: Record<string, string>;
}

/** A data directory with that organisation, and a place for its backups. */
async function rig(name = 'Acme', backups = temporaryDirectory()): Promise<Rig> {
  const directory = join(temporaryDirectory(), 'data');
  await addOrganisation(directory, name);
  return {
    directory,
    backups,
    env: { VOXGATE_DATA_DIRECTORY: directory, VOXGATE_BACKUP: pathToFileURL(backups).href },
  };
}

async function addOrganisation(directory: string, name: string): Promise<void> {
  const store = await openSqliteStore({ directory });
  await store.createOrganisation(name, 0n, BY);
  await store.close();
}

async function organisationsIn(directory: string): Promise<string[]> {
  const store = await openSqliteStore({ directory });
  const names = (await store.listOrganisations()).map(({ name }) => name);
  await store.close();
  return names;
}

const run = ({ env }: Rig, ...args: string[]) => voxgate(['backup', ...args], env);

/** Gives a backup another time, as if it had been made then. */
function dated({ backups }: Rig, madeAt: string): void {
  const [name = ''] = readdirSync(backups).sort().slice(-1);
  const ledger = /led_[0-9a-f]{24}/.exec(name)?.[0] as string;
  copyFileSync(join(backups, name), join(backups, copyNameOf(ledger, Date.parse(madeAt), false).name));
  rmSync(join(backups, name));
}

describe('voxgate backup now and list', () => {
  it('makes a backup and lists it, for people and as JSON', async () => {
    const all = await rig();
    expect(await run(all, 'list')).toMatchObject({ code: 0, errors: `There are no backups in ${all.backups}.\n` });
    const made = await run(all, 'now');
    expect(made).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^voxgate-led_\S+\.db\.gz in .* its ledger agrees\.\n$/),
    });
    const [name] = readdirSync(all.backups);
    expect((await run(all, 'list')).output).toMatch(new RegExp(`^TIME .*\n20\\S+ +led_\\S+ +\\d+ +no +${name}\n$`));
    expect(JSON.parse((await run(all, 'list', '--json')).output)).toMatchObject([{ encrypted: false, name }]);
  });

  it('refuses a replica of the accounts that no node keeps current, and takes one that is in use', async () => {
    const replica = await rig();
    const database = new Database(join(replica.directory, 'voxgate.db'));
    database.exec(
      "INSERT INTO replica_position (number, epoch, entry, hash, sequence, outcome) VALUES (1, 1, 7, 'h', 7, '')",
    );
    database.close();
    const refused = await run(replica, 'now');
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('no node keeps it current') });
    expect(readdirSync(replica.backups)).toEqual([]);
    const store = await openSqliteStore({ directory: replica.directory });
    expect(await run(replica, 'now')).toMatchObject({ code: 0 });
    await store.close();
  });

  it.each([
    ['without a place', { VOXGATE_BACKUP: '' }, 1, 'VOXGATE_BACKUP names no place for backups'],
    ['with a path', { VOXGATE_BACKUP: '/var/backups' }, 78, 'it is a URL such as'],
    ['with a password in the URL', { VOXGATE_BACKUP: 's3://key:hush@bucket' }, 78, 'without credentials'],
    ['with a bucket and no key', { VOXGATE_BACKUP: 's3://bucket' }, 78, 'a bucket needs both'],
    [
      'with half of a key',
      { VOXGATE_BACKUP: 's3://bucket', VOXGATE_BACKUP_S3_ACCESS_KEY_ID: 'AKIA' },
      78,
      'both are given or neither is',
    ],
    [
      'without TLS to another machine',
      {
        ...{ VOXGATE_BACKUP: 's3://bucket', VOXGATE_BACKUP_S3_ENDPOINT: 'http://minio:9000' },
        ...{ VOXGATE_BACKUP_S3_ACCESS_KEY_ID: 'AKIA', VOXGATE_BACKUP_S3_SECRET_ACCESS_KEY: 'hush' },
      },
      78,
      'without TLS on another machine',
    ],
    ['with a short key', { VOXGATE_BACKUP_KEY: 'hush' }, 78, '32 bytes in base64'],
  ])('is refused %s', async (_, env, code, words) => {
    const all = await rig();
    const refused = await voxgate(['backup', 'list'], { ...all.env, ...env });
    expect([refused.code, refused.output]).toEqual([code, '']);
    expect(refused.errors).toContain(words);
    expect(refused.errors).not.toContain('hush');
  });

  it('does not show secrets in the printed configuration', async () => {
    const secrets = { key: newKey(), previous: newKey(), id: 'AKIASECRET', secret: 'hush-hush' };
    const { output } = await voxgate(['config', 'print'], {
      VOXGATE_BACKUP: 's3://bucket/prefix',
      VOXGATE_BACKUP_KEY: secrets.key,
      VOXGATE_BACKUP_KEY_PREVIOUS: secrets.previous,
      VOXGATE_BACKUP_S3_ACCESS_KEY_ID: secrets.id,
      VOXGATE_BACKUP_S3_SECRET_ACCESS_KEY: secrets.secret,
    });
    expect(output).toContain('s3://bucket/prefix');
    for (const secret of Object.values(secrets)) expect(output).not.toContain(secret);
  });
});

describe('voxgate backup restore', () => {
  it('brings a lost data directory back, also from an encrypted backup', async () => {
    const all = await rig();
    all.env.VOXGATE_BACKUP_KEY = newKey();
    await run(all, 'now');
    rmSync(all.directory, { recursive: true });
    const { code, output } = await run(all, 'restore');
    expect([code, output]).toEqual([0, expect.stringContaining('has the ledger of voxgate-led_')]);
    expect(await organisationsIn(all.directory)).toEqual(['Acme']);
    expect((await voxgate(['ledger', 'audit'], all.env)).output).toContain('The ledger agrees.');
    expect(readdirSync(all.directory)).toEqual(['voxgate.db']);
  });

  it('takes the newest backup from before a time', async () => {
    const all = await rig('first');
    await run(all, 'now');
    dated(all, '2026-01-01T12:00:00Z');
    await addOrganisation(all.directory, 'second');
    await run(all, 'now');
    const early = await run(all, 'restore', '--at', '2026-01-01', '--force');
    expect(early).toMatchObject({
      code: 1,
      errors: expect.stringContaining('the oldest one was made at 2026-01-01T12:00:00.000Z'),
    });
    expect((await run(all, 'restore', '--at', '2026-01-02', '--force')).code).toBe(0);
    expect(await organisationsIn(all.directory)).toEqual(['first']);
    expect((await run(all, 'restore', '--force')).code).toBe(0);
    expect(await organisationsIn(all.directory)).toEqual(['first', 'second']);
    expect(await run(all, 'restore', '--at', 'yesterday')).toMatchObject({
      code: 64,
      errors: expect.stringContaining('--at is "yesterday"'),
    });
  });

  it('says which node starts first where several nodes keep the accounts', async () => {
    const all = await rig();
    await run(all, 'now');
    all.env.VOXGATE_ACCOUNTS_REPLICAS = '3';
    expect((await run(all, 'restore', '--force')).errors).toContain('Start this node before the other accounts nodes');
  });

  it('replaces a database only with --force, and fetches nothing without', async () => {
    const all = await rig();
    await run(all, 'now');
    expect(await run(all, 'restore')).toMatchObject({ code: 1, errors: expect.stringContaining('with --force') });
    const store = await openSqliteStore({ directory: all.directory });
    const refused = await run(all, 'restore', '--force');
    await store.close();
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('stop the gateway') });
    expect((await run(all, 'restore', '--force')).errors).toContain('is kept as');
  });

  it('asks which ledger is meant where there are several, and keeps to its own otherwise', async () => {
    const one = await rig('one');
    const two = await rig('two', one.backups);
    for (const each of [one, two]) await run(each, 'now');
    const nowhere = { ...one, env: { ...one.env, VOXGATE_DATA_DIRECTORY: join(temporaryDirectory(), 'new') } };
    const refused = await run(nowhere, 'restore');
    expect(refused).toMatchObject({
      code: 1,
      errors: expect.stringContaining('backups of 2 ledgers: choose one with --ledger'),
    });
    expect((await run(one, 'restore', '--force')).code).toBe(0);
    expect(await organisationsIn(one.directory)).toEqual(['one']);
    const ledger = /led_[0-9a-f]{24}/.exec((await run(two, 'now')).output)?.[0] as string;
    expect((await run(nowhere, 'restore', '--ledger', ledger)).code).toBe(0);
    expect(await organisationsIn(nowhere.env.VOXGATE_DATA_DIRECTORY as string)).toEqual(['two']);
    expect((await run(one, 'restore', '--ledger', 'two')).code).toBe(64);
  });

  it('refuses a backup that is not encrypted where a key is set, unless it is meant', async () => {
    const all = await rig();
    await run(all, 'now');
    rmSync(all.directory, { recursive: true });
    all.env.VOXGATE_BACKUP_KEY = newKey();
    expect(await run(all, 'restore')).toMatchObject({ code: 1, errors: expect.stringContaining('--unencrypted') });
    expect((await run(all, 'restore', '--unencrypted')).code).toBe(0);
  });

  it.each<[string, boolean, (path: string) => void, RegExp]>([
    ['was cut', false, (path) => truncateSync(path, 2000), /is cut/],
    ['was cut, and is encrypted', true, (path) => truncateSync(path, 2000), /cut/],
    ['was edited', true, edit, /changed/],
    ['is of another program', false, (path) => writeFileSync(path, 'hello'), /is damaged/],
  ])('changes nothing when the backup %s', async (_, isEncrypted, spoil, words) => {
    const all = await rig();
    if (isEncrypted) all.env.VOXGATE_BACKUP_KEY = newKey();
    await run(all, 'now');
    spoil(join(all.backups, readdirSync(all.backups)[0] as string));
    const refused = await run(all, 'restore', '--force');
    expect([refused.code, refused.output]).toEqual([1, '']);
    expect(refused.errors).toMatch(words);
    expect(readdirSync(all.directory)).toEqual(['voxgate.db']);
    expect(await organisationsIn(all.directory)).toEqual(['Acme']);
  });

  it('works with a bucket, and opens a backup with the previous key', async () => {
    const server = await startS3Server();
    const all = await rig();
    const key = newKey();
    Object.assign(all.env, {
      VOXGATE_BACKUP: `s3://${BUCKET}/gateways/one`,
      VOXGATE_BACKUP_S3_ENDPOINT: server.url,
      VOXGATE_BACKUP_S3_REGION: REGION,
      VOXGATE_BACKUP_S3_ACCESS_KEY_ID: ACCESS_KEY.accessKeyId,
      VOXGATE_BACKUP_S3_SECRET_ACCESS_KEY: ACCESS_KEY.secretAccessKey,
      VOXGATE_BACKUP_KEY: key,
    });
    expect(await run(all, 'now')).toMatchObject({ code: 0, errors: '' });
    expect([...server.objects.keys()]).toEqual([expect.stringMatching(/^gateways\/one\/voxgate-led_\S+\.sealed$/)]);
    rmSync(all.directory, { recursive: true });
    Object.assign(all.env, { VOXGATE_BACKUP_KEY: newKey(), VOXGATE_BACKUP_KEY_PREVIOUS: key });
    expect((await run(all, 'restore')).code).toBe(0);
    expect(await organisationsIn(all.directory)).toEqual(['Acme']);
    expect(existsSync(all.directory)).toBe(true);
  });
});

function edit(path: string): void {
  const bytes = readFileSync(path);
  bytes[1000] = (bytes[1000] as number) ^ 1;
  writeFileSync(path, bytes);
}
