// The version of this release, as package.json has it, and the build.
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
