// The part of the declaration that says where audio may be fetched from that clients name by its address.
import { FormatRegistry, Type } from '@sinclair/typebox';
import { choice, optionalText } from './schema-types.ts';

const FOLDER = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/(?:[\w.-]+|\{organisation\}))*\/?$/;

FormatRegistry.Set('audio-buckets', (text) => text.split(',').every((each) => FOLDER.test(each.trim())));

const secretText = (env: string, description: string) =>
  optionalText(Type.String({ minLength: 1, maxLength: 1024, pattern: '^[!-~]+$' }), {
    env,
    accepts: 'a text of 1 to 1024 printable ASCII characters without spaces',
    description,
    secret: true,
  });

export const Sources = Type.Object({
  urls: choice(
    'VOXGATE_AUDIO_URLS',
    ['on', 'off'],
    'on',
    'Whether clients may send the address of a file instead of the file. The gateway fetches it. See [Audio by URL](../guides/audio-by-url.md).',
  ),
  buckets: optionalText(Type.String({ format: 'audio-buckets', maxLength: 4096 }), {
    env: 'VOXGATE_AUDIO_BUCKETS',
    accepts: 'buckets and folders such as `recordings, archive/calls/{organisation}`, separated by commas',
    description:
      'Buckets of an S3-compatible service that customers may read with the keys below, as `s3://bucket/key`. `{organisation}` stands for the id of the organisation. Every customer may read every other folder.',
  }),
  endpoint: optionalText(Type.String({ format: 's3-endpoint', maxLength: 2048 }), {
    env: 'VOXGATE_AUDIO_S3_ENDPOINT',
    accepts: 'an http or https URL without a path, such as `https://s3.example.com`',
    description: 'Address of the service with these buckets. Amazon S3 when absent.',
    quotable: false,
  }),
  region: Type.String({
    pattern: '^[a-z0-9-]{1,40}$',
    default: 'us-east-1',
    env: 'VOXGATE_AUDIO_S3_REGION',
    accepts: 'a region such as `eu-central-1`',
    description: 'Region of these buckets.',
  }),
  accessKeyId: secretText('VOXGATE_AUDIO_S3_ACCESS_KEY_ID', 'Access key for these buckets; goes with its secret.'),
  secretAccessKey: secretText('VOXGATE_AUDIO_S3_SECRET_ACCESS_KEY', 'Secret of that access key.'),
});
