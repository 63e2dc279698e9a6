// What the thread of a backup is started with, and what it answers.
import type { BackupSettings } from '../../config/schema-backup.ts';
import type { MadeBackup } from './make-backup.ts';

export type BackupTask =
  | { kind: 'make'; directory: string; settings: BackupSettings }
  | { kind: 'newest'; ledger: string; settings: BackupSettings };

export type BackupOutcome = { made: MadeBackup } | { newestMs: number | undefined } | { failure: string };
