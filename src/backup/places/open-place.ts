// The place that the settings name.
import { type BackupSettings, backupLocationOf } from '../../config/schema-backup.ts';
import { BackupError } from '../backup-error.ts';
import { DirectoryPlace } from './directory.ts';
import type { BackupPlace } from './place.ts';
import { S3Place } from './s3.ts';

/** @throws BackupError when the settings name none */
export function openPlace({ location: url, ...settings }: BackupSettings): BackupPlace {
  const location = url === undefined ? undefined : backupLocationOf(url);
  if (location === undefined) {
    throw new BackupError(
      'VOXGATE_BACKUP names no place for backups: set it to a URL such as file:///var/backups/voxgate or s3://bucket/prefix.',
    );
  }
  if (location.kind === 'directory') return new DirectoryPlace(location.path);
  const { endpoint, region, accessKeyId = '', secretAccessKey = '' } = settings;
  const { bucket, prefix } = location;
  return new S3Place({ endpoint, region, bucket, prefix, accessKeyId, secretAccessKey });
}
