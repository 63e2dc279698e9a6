// Audio in the operator's buckets: read with the operator's credentials, and nothing else of them.
import { describe, expect, test } from 'vitest';
import { AudioBuckets } from '../../../src/files/remote/audio-buckets.ts';
import { ACCESS_KEY, BUCKET, REGION, startS3Server } from '../../fakes/network/s3-server.ts';
import { fetched, WAV } from './remote-server.ts';

const bucketsAt = (endpoint: string, folders: string) =>
  new AudioBuckets({ endpoint, region: REGION, ...ACCESS_KEY }, folders);

describe('an object in a bucket', () => {
  test.each(['a.wav', 'calls/2026/a.wav', 'a b (1)!+&=~.wav', 'März/ü?x#y%20.wav', "it's*.wav"])(
    '%s is fetched',
    async (key) => {
      const server = await startS3Server();
      server.objects.set(key, WAV);
      const found = await fetched(`s3://${BUCKET}/${key}`, {
        networks: undefined,
        buckets: bucketsAt(server.url, BUCKET),
      });
      expect([found.bytes.equals(WAV), found.filename]).toEqual([true, key.split('/').at(-1)]);
    },
  );

  test('is fetched from a folder that is listed, of the own organisation only where that is named', async () => {
    const server = await startS3Server();
    for (const key of ['shared/a.wav', 'by/org_1/a.wav', 'by/org_2/a.wav', 'other/a.wav', 'sharedish/a.wav'])
      server.objects.set(key, WAV);
    const buckets = bucketsAt(server.url, `${BUCKET}/shared/, ${BUCKET}/by/{organisation}`);
    const codeOf = (key: string) =>
      fetched(`s3://${BUCKET}/${key}`, { buckets }).then(
        () => 'fetched',
        (error) => error.code,
      );
    expect(await Promise.all(['shared/a.wav', 'by/org_1/a.wav'].map(codeOf))).toEqual(['fetched', 'fetched']);
    const calls = server.calls.length;
    for (const key of [
      ...['by/org_2/a.wav', 'other/a.wav', 'sharedish/a.wav', 'by/a.wav', 'shared', ''],
      ...[
        'shared/../other/a.wav',
        'shared/./a.wav',
        '../other/a.wav',
        'shared/\u0000',
        'shared/\ud800',
        `shared/${'x'.repeat(1_024)}`,
      ],
    ])
      expect([key, await codeOf(key)]).toEqual([key, 'audio_url_not_allowed']);
    expect(server.calls).toHaveLength(calls);
  });

  test('of another bucket is not fetched, nor any where none is listed', async () => {
    const server = await startS3Server();
    const buckets = bucketsAt(server.url, BUCKET);
    for (const [url, options] of [
      ['s3://others/a.wav', { buckets }],
      [`s3://user@${BUCKET}/a.wav`, { buckets }],
      [`s3:${BUCKET}/a.wav`, { buckets }],
      [`s3://${BUCKET}/a.wav`, {}],
    ] as const)
      await expect(fetched(url, options)).rejects.toMatchObject({ code: 'audio_url_not_allowed' });
    expect(server.calls).toEqual([]);
  });

  test.each([
    ['is not there', {}, /status 404/],
    ['is in another region', { region: 'us-east-1' }, /status 301/],
    ['may not be read', { secretAccessKey: 'wrong' }, /status 403/],
  ])('that %s fails with the status of the service', async (_, access, words) => {
    const server = await startS3Server();
    const buckets = new AudioBuckets({ endpoint: server.url, region: REGION, ...ACCESS_KEY, ...access }, BUCKET);
    await expect(fetched(`s3://${BUCKET}/none.wav`, { buckets })).rejects.toMatchObject({
      code: 'audio_url_failed',
      message: expect.stringMatching(words),
    });
  });

  test('that redirects is not followed with its signature', async () => {
    const server = await startS3Server();
    server.fault = () => ({ status: 307, headers: { Location: 'http://127.0.0.2/' } });
    await expect(fetched(`s3://${BUCKET}/a.wav`, { buckets: bucketsAt(server.url, BUCKET) })).rejects.toThrow(
      'status 307',
    );
    expect(server.calls).toHaveLength(1);
  });
});
