// Objects of a real S3-compatible server, under keys that servers and signatures write in different ways.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AudioBuckets } from '../../../../src/files/remote/audio-buckets.ts';
import {
  startVersityGateway,
  type VersityGateway,
  versityGatewayIsHere,
} from '../../../fakes/network/versity-gateway.ts';
import { fetched, WAV } from '../remote-server.ts';

// Go builds it (CONTRIBUTING.md); under CI it is there.
describe.skipIf(!versityGatewayIsHere)('on a real S3-compatible server', () => {
  let server: VersityGateway;
  beforeAll(async () => {
    server = await startVersityGateway();
  });
  afterAll(() => server.stop());

  const bucketsWith = (changes: object = {}) => {
    const { url: endpoint, region, accessKeyId, secretAccessKey, bucket } = server;
    return new AudioBuckets({ endpoint, region, accessKeyId, secretAccessKey, ...changes }, bucket);
  };

  test.each(['a.wav', 'calls/2026/a.wav', 'a b (1)!+&=~@,;.wav', 'März/ü?x#y%20.wav', "it's*.wav"])(
    'an object at %s is fetched',
    async (key) => {
      const file = join(server.directory, key);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, WAV);
      const found = await fetched(`s3://${server.bucket}/${key}`, { networks: undefined, buckets: bucketsWith() });
      expect(found.bytes.equals(WAV)).toBe(true);
    },
  );

  test.each([
    ['without the object', {}, /status 404/],
    ['with a wrong secret', { secretAccessKey: 'wrong' }, /status 403/],
  ])('a fetch %s fails', async (_, changes, words) => {
    const found = fetched(`s3://${server.bucket}/none.wav`, { buckets: bucketsWith(changes) });
    await expect(found).rejects.toThrow(words);
  });
});
