// Which places for backups can be named, and which URLs are refused.
import { expect, test } from 'vitest';
import { backupLocationOf } from '../../src/config/schema-backup.ts';

test.each([
  ['file:///var/backups/voxgate', { kind: 'directory', path: '/var/backups/voxgate' }],
  ['file:///with%20space/', { kind: 'directory', path: '/with space/' }],
  ['s3://bucket', { kind: 's3', bucket: 'bucket', prefix: '' }],
  ['s3://bucket/', { kind: 's3', bucket: 'bucket', prefix: '' }],
  ['s3://my.bucket/some/pre_fix', { kind: 's3', bucket: 'my.bucket', prefix: 'some/pre_fix/' }],
])('%s is a place', (text, place) => {
  expect(backupLocationOf(text)).toEqual(place);
});

test.each([
  ...[
    '',
    '/var/backups',
    'file://host',
    'file://var/backups',
    'file:///%E0%A4%A',
    'https://bucket.example.com',
    's3://',
  ],
  ...['s3://B', 's3://Bucket', 's3://key:secret@bucket', 's3://bucket/a/../b', 's3://bucket//a', 's3://bucket/a b'],
  ...['s3://bucket/a?region=eu', 's3://bucket/a#b', 'file:///a?b', 'file:///a%00b'],
])('"%s" is refused', (text) => {
  expect(backupLocationOf(text)).toBeUndefined();
});
