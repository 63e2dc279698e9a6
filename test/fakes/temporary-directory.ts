// Temporary directories that are gone when the tests of the file are done.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];
// What still writes there (a gateway that ends with the process) may put a file back while it goes.
// Registered on import, so that a directory may also be asked for inside a test.
afterAll(() => {
  for (const directory of made.splice(0))
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
});

/** A new empty directory, removed after the tests of the file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'voxgate-test-'));
  made.push(directory);
  return directory;
}
