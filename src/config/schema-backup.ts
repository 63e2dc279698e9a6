// The part of the declaration that says where backups of the accounts are kept, how many of them, and what seals them.
import { normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FormatRegistry, type Static, Type } from '@sinclair/typebox';
import { integer, optionalText } from './schema-types.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Where backups are kept. */
export type BackupLocation =
  | { kind: 'directory'; path: string }
  /** `prefix` is empty, or ends with a slash. */
  | { kind: 's3'; bucket: string; prefix: string };

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Characters that mean the same in a path, in a signature and on every server. */
const PREFIX = /^(?:[\w.-]+\/)*$/;
const ENDPOINT = /^https?:\/\/[^\s/?#@]+\/?$/;
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

FormatRegistry.Set('backup-url', (text) => backupLocationOf(text) !== undefined);
FormatRegistry.Set('s3-endpoint', (text) => ENDPOINT.test(text) && URL.canParse(text));

/** What a URL such as `file:///var/backups/voxgate` or `s3://bucket/prefix` names; undefined for any other text. */
export function backupLocationOf(text: string): BackupLocation | undefined {
  const [, scheme, rest = ''] = /^(file|s3):\/\/([^\s?#@]*)$/.exec(text) ?? [];
  if (scheme === 'file') {
    const path = rest.startsWith('/') ? pathOf(text) : undefined;
    return path === undefined ? undefined : { kind: 'directory', path };
  }
  if (scheme !== 's3') return undefined;
  const [bucket = '', ...folders] = rest.replace(/\/$/, '').split('/');
  const prefix = folders.map((folder) => `${folder}/`).join('');
  const isRelative = folders.some((folder) => folder === '.' || folder === '..');
  return BUCKET.test(bucket) && PREFIX.test(prefix) && !isRelative ? { kind: 's3', bucket, prefix } : undefined;
}

function pathOf(url: string): string | undefined {
  try {
    const path = normalize(fileURLToPath(url));
    return path.includes('\0') ? undefined : path;
  } catch {
    return undefined;
  }
}

/** Whether requests to that address stay on this machine. */
export const isOnThisMachine = (url: string): boolean => LOOPBACK.has(new URL(url).hostname);

/** 32 bytes in base64, or in its form for URLs. */
const KEY = '^[A-Za-z0-9+/_-]{43}=?$';

const secretText = (env: string, description: string) =>
  optionalText(Type.String({ minLength: 1, maxLength: 1024, pattern: '^[!-~]+$' }), {
    env,
    accepts: 'a text of 1 to 1024 printable ASCII characters without spaces',
    description,
    secret: true,
  });

export const Backup = Type.Object({
  location: optionalText(Type.String({ format: 'backup-url', maxLength: 2048 }), {
    env: 'VOXGATE_BACKUP',
    accepts: 'a URL such as `file:///var/backups/voxgate` or `s3://bucket/prefix`, without credentials',
    description:
      'Where the accounts node keeps backups of the database: a directory, or a bucket of an S3-compatible service. See [Backup](../operations/backup.md). No backups when absent.',
    quotable: false,
  }),
  intervalMs: integer(
    'VOXGATE_BACKUP_INTERVAL_MS',
    MINUTE,
    24 * HOUR,
    HOUR,
    'Time between backups. There is also one when the node stops.',
  ),
  copies: integer('VOXGATE_BACKUP_COPIES', 1, 10_000, 48, 'The newest backups that are kept.'),
  days: integer(
    'VOXGATE_BACKUP_DAYS',
    0,
    3_660,
    30,
    'Number of days whose last backup is also kept; days without backups do not count.',
  ),
  stopMs: integer(
    'VOXGATE_BACKUP_STOP_MS',
    0,
    10 * MINUTE,
    15 * SECOND,
    'How long a stopping node waits for its last backup. 0: it makes none.',
  ),
  sealingKey: optionalText(Type.String({ pattern: KEY }), {
    env: 'VOXGATE_BACKUP_KEY',
    accepts: '32 bytes in base64',
    description:
      'Encrypts backups (`openssl rand -base64 32`). Keep it apart from them: without it, they cannot be restored.',
    secret: true,
  }),
  sealingKeyPrevious: optionalText(Type.String({ pattern: KEY }), {
    env: 'VOXGATE_BACKUP_KEY_PREVIOUS',
    accepts: '32 bytes in base64',
    description: 'The previous backup key, to restore older backups.',
    secret: true,
  }),
  endpoint: optionalText(Type.String({ format: 's3-endpoint', maxLength: 2048 }), {
    env: 'VOXGATE_BACKUP_S3_ENDPOINT',
    accepts: 'an http or https URL without a path, such as `https://s3.example.com`',
    description: 'Address of the S3-compatible service. Amazon S3 when absent.',
    quotable: false,
  }),
  region: Type.String({
    pattern: '^[a-z0-9-]{1,40}$',
    default: 'us-east-1',
    env: 'VOXGATE_BACKUP_S3_REGION',
    accepts: 'a region such as `eu-central-1`',
    description: 'Region of the bucket.',
  }),
  accessKeyId: secretText('VOXGATE_BACKUP_S3_ACCESS_KEY_ID', 'Access key for the bucket; goes with its secret.'),
  secretAccessKey: secretText('VOXGATE_BACKUP_S3_SECRET_ACCESS_KEY', 'Secret of that access key.'),
});

export type BackupSettings = Static<typeof Backup>;
