// Backups in the bucket of a real S3-compatible server: a gateway makes one when it stops, its data directory is lost, and everything is
// back.
import { createHash, randomBytes } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchCopy, type Keys, listCopies, removeOutdated, storeCopy } from '../../../src/backup/copies.ts';
import { S3Place, type S3PlaceOptions } from '../../../src/backup/places/s3.ts';
import { sealingKeyOf } from '../../../src/backup/sealed-copy.ts';
import { startVersityGateway, type VersityGateway, versityGatewayIsHere } from '../../fakes/network/versity-gateway.ts';
import { sampleAudio, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const LEDGER = 'led_0123456789abcdef01234567';
const MADE_MS = Date.UTC(2026, 11, 31, 18);
const KEYS: Keys = { current: sealingKeyOf(randomBytes(32).toString('base64')), previous: undefined };
const MIB = 2 ** 20;

// Go builds it (CONTRIBUTING.md); under CI it is there.
describe.skipIf(!versityGatewayIsHere)('on a real S3-compatible server', () => {
  let server: VersityGateway;
  beforeAll(async () => {
    server = await startVersityGateway();
  });
  afterAll(() => server.stop());

  const placeAt = (prefix: string, more: Partial<S3PlaceOptions> = {}) => {
    const { url, region, bucket, accessKeyId, secretAccessKey } = server;
    return new S3Place({ endpoint: url, region, bucket, accessKeyId, secretAccessKey, prefix, ...more });
  };
  const store = (place: S3Place, bytes: number, madeAtMs = MADE_MS) => {
    const file = join(temporaryDirectory(), 'content');
    writeFileSync(file, randomBytes(bytes));
    return storeCopy(place, { file, ledger: LEDGER, madeAtMs, keys: KEYS }).then((copy) => ({ copy, file }));
  };

  test.each([
    ['small', 1000, ''],
    ['large', 20 * MIB, 'some/prefix/'],
  ])('a %s backup is stored, listed and fetched as it was', async (_, bytes, prefix) => {
    const place = placeAt(prefix);
    const { copy, file } = await store(place, bytes);
    expect(await listCopies(place, LEDGER)).toEqual([copy]);
    const fetched = join(temporaryDirectory(), 'fetched');
    await fetchCopy(place, copy, KEYS, fetched);
    const [wanted, found] = [file, fetched].map((path) =>
      createHash('sha256').update(readFileSync(path)).digest('hex'),
    );
    expect(found).toBe(wanted);
    await place.remove(copy.name);
    expect(await listCopies(place)).toEqual([]);
  });

  test('outdated backups are removed, and other files stay', async () => {
    const place = placeAt('kept/');
    for (const minutes of [0, 1, 2]) await store(place, 10, MADE_MS + minutes * 60_000);
    const directory = join(server.directory, 'kept');
    writeFileSync(join(directory, 'notes.txt'), 'of another program');
    const { copy } = await store(place, 10, MADE_MS + 180_000);
    expect(await removeOutdated(place, copy, { copies: 2, days: 0 })).toBe(2);
    expect(readdirSync(directory)).toHaveLength(3);
  });

  test.each<[string, Partial<S3PlaceOptions>, RegExp]>([
    ['a missing bucket', { bucket: 'nothing' }, /404 NoSuchBucket\): create the bucket nothing/],
    ['a wrong secret', { secretAccessKey: 'wrong' }, /set VOXGATE_BACKUP_S3_ACCESS_KEY_ID/],
    ['another region', { region: 'us-east-1' }, /set VOXGATE_BACKUP_S3_REGION/],
  ])('%s is refused with what to do', async (_, more, words) => {
    await expect(store(placeAt('', more), 10)).rejects.toThrow(words);
  });

  test('a gateway that lost its data directory is restored from the backup of its stop', async () => {
    const directory = temporaryDirectory();
    const env = {
      VOXGATE_DATA_DIRECTORY: directory,
      VOXGATE_VAULT_KEY: randomBytes(32).toString('base64'),
      VOXGATE_BACKUP: `s3://${server.bucket}/gateway`,
      VOXGATE_BACKUP_KEY: randomBytes(32).toString('base64'),
      VOXGATE_BACKUP_S3_ENDPOINT: server.url,
      VOXGATE_BACKUP_S3_REGION: server.region,
      VOXGATE_BACKUP_S3_ACCESS_KEY_ID: server.accessKeyId,
      VOXGATE_BACKUP_S3_SECRET_ACCESS_KEY: server.secretAccessKey,
    };
    const first = await startLiveGateway(env);
    const { pcm, sampleRate } = sampleAudio('reading.wav');
    const query = { model: 'loopback/script', encoding: 'linear16', sample_rate: String(sampleRate) };
    const client = first.connect(query);
    await client.opened();
    client.send(pcm.subarray(0, sampleRate));
    client.send({ type: 'close' });
    await client.close();
    first.gateway.drain();
    await first.gateway.ended;
    const made = first.log.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'backup made');
    expect(made).toMatchObject({ sessions: 1, removed: 0 });
    for (const secret of [server.secretAccessKey, env.VOXGATE_BACKUP_KEY])
      expect(first.log.join('')).not.toContain(secret);

    for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
    const object = join(server.directory, 'gateway', made.backup);
    copyFileSync(object, `${object}.kept`);
    truncateSync(object, 5000);
    expect(await voxgate(['backup', 'restore'], env)).toMatchObject({ code: 1, errors: expect.stringMatching(/cut/) });
    copyFileSync(`${object}.kept`, object);
    expect(await voxgate(['backup', 'restore'], env)).toMatchObject({ code: 0 });
    expect((await voxgate(['ledger', 'audit'], env)).output).toContain('The ledger agrees.');

    const second = await startLiveGateway(env);
    expect(second.gateway.firstKey).toBeUndefined();
    const answer = await fetch(`${second.url}/v1/models`, { headers: { Authorization: `Bearer ${first.key}` } });
    expect(answer.status).toBe(200);
    const age = /^voxgate_backup_age_seconds\S* (\S+)$/m;
    await expect
      .poll(async () => Number(age.exec(await (await second.request('/metrics')).text())?.[1]))
      .toBeGreaterThan(0);
  });
});
