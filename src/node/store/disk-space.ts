// Whether the disk has room for a copy of the database.
import { statfs } from 'node:fs/promises';
import { StoreError } from '../../store/store-error.ts';

/** @throws StoreError when the disk of that directory has fewer bytes for this user */
export async function requireSpace(directory: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new StoreError(
    'failed',
    `The disk of ${directory} has ${mebibytes(free)} MiB of free space, and a copy of the database of the accounts needs ${mebibytes(bytes)}.`,
  );
}

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
