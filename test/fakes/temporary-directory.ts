// Temporary directories that are gone when the tests of the file are done.
import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A directory in memory, as Linux has it. */
const MEMORY = '/dev/shm';
/** Large uploads, recordings and databases of all tests that run at a time. */
const ROOM_BYTES_MIN = 4 * 2 ** 30;

/** A database waits for the disk at each commit, and so for whatever else the machine writes. Memory is as good for what is thrown away. */
function place(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    accessSync(MEMORY, constants.W_OK | constants.X_OK);
    if (bavail * bsize >= ROOM_BYTES_MIN) return MEMORY;
  } catch {}
  return tmpdir();
}

const PLACE = place();
const made: string[] = [];
// What still writes there (a gateway that ends with the process) may put a file back while it goes.
// Registered on import, so that a directory may also be asked for inside a test.
afterAll(() => {
  for (const directory of made.splice(0))
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
});

/** A new empty directory, removed after the tests of the file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(PLACE, 'voxgate-test-'));
  made.push(directory);
  return directory;
}
