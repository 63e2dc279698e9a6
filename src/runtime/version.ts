// The version of this release, as package.json has it, and the build; and which versions of others are old.
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

/** The version with the id of the build, `0.1.0+1a2b3c4d`; without one where the source itself runs. */
export function buildVersion(): string {
  try {
    const id = readFileSync(new URL('../../build-id', import.meta.url), 'utf8');
    return `${releaseVersion()}+${id}`;
  } catch {
    return releaseVersion();
  }
}

/** Whether a version such as `3.51.2` is older than the least that is accepted. */
export function isOlderVersion(version: string, least: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  for (const [index, wanted] of least.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part < wanted;
  }
  return false;
}
