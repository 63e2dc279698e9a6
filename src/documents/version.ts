// The version of this release, as package.json has it.
import { readFileSync } from 'node:fs';

/** `unknown` where the package cannot be found. */
export function releaseVersion(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      const manifest: { name: string; version: string } = JSON.parse(
        readFileSync(new URL(path, import.meta.url), 'utf8'),
      );
      if (manifest.name === 'voxgate') return manifest.version;
    } catch {
      // Compiled files lie one folder deeper than the source.
    }
  }
  return 'unknown';
}
