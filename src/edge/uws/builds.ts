// Which build of uWebSockets.js serves. No binary of it runs everywhere, so there are two packages: the newest build, and an older
// one for systems that the newest is too new for.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { UwsLibrary } from './library.ts';

export interface UwsBuild {
  /** Package and version, for logs. */
  readonly name: string;
  readonly library: UwsLibrary;
}

interface Source {
  load(): unknown;
  /** Its package.json. */
  about(): string;
}

/** The packages are CommonJS, and must not be loaded before their setting is in the environment. */
const require = createRequire(import.meta.url);

/** In the order in which they are tried. */
export const UWS_SOURCES: Readonly<Record<'newest' | 'older', Source>> = {
  newest: {
    load: () => require('uWebSockets.js'),
    about: () => join(dirname(require.resolve('uWebSockets.js')), 'package.json'),
  },
  older: {
    // The binary itself: where it does not load, the package would put a server of its own in its place.
    load: () => {
      const { platform, arch, versions } = process;
      return require(`@trufflesuite/uws-js-unofficial/binaries/uws_${platform}_${arch}_${versions.modules}.node`);
    },
    about: () => require.resolve('@trufflesuite/uws-js-unofficial/package.json'),
  },
};

/**
 * The library keeps this much of a request head that arrives in pieces, and reads the figure when it is loaded. It is twice
 * the product's limit, so that the door itself says when a head is too large. The older build keeps 4 KiB, whatever it is told.
 */
const HEAD_BYTES_KEPT = 16 * 1024;
/** Undocumented: keeps the library's name out of every reply. */
const HIDE_NAME = '999999990007';

/** Loads the first build that this machine can. Throws one sentence when there is none. */
export function loadUws(): UwsBuild {
  const reasons: string[] = [];
  for (const source of Object.values(UWS_SOURCES)) {
    const build = loadBuild(source);
    if (!('reason' in build)) return build;
    reasons.push(build.reason);
  }
  throw new Error(`uWebSockets.js has no binary that loads on this machine (${reasons.join('; ')}).`);
}

/** Loads one build, or says why not. */
export function loadBuild({ load, about }: Source): UwsBuild | { reason: string } {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(HEAD_BYTES_KEPT);
  try {
    const library = load() as UwsLibrary;
    library._cfg?.(HIDE_NAME);
    const { name, version } = JSON.parse(readFileSync(about(), 'utf8')) as { name: string; version: string };
    return { name: `${name}@${version}`, library };
  } catch (error) {
    const lines = (error as Error).message.split('\n');
    return {
      reason: (lines.find((line) => line.startsWith('Error: ')) ?? lines[0] ?? '').replace(/^Error: |\.$/g, ''),
    };
  }
}
