// The binary of uWebSockets.js for this machine.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { UwsLibrary } from './library.ts';
import { lacksNewerNames, loadForOlderLibc } from './older-libc.ts';

export interface UwsBuild {
  /** Package and version, for logs. */
  readonly name: string;
  readonly library: UwsLibrary;
}

/** The package is CommonJS, and must not be loaded before its setting is in the environment. */
const require = createRequire(import.meta.url);

/**
 * The library keeps this much of a request head that arrives in pieces, and reads the figure when it is loaded. It is twice
 * the product's limit, so that the door itself says when a head is too large.
 */
const HEAD_BYTES_KEPT = 16 * 1024;
/** Undocumented: keeps the library's name out of every reply. */
const HIDE_NAME = '999999990007';

let loaded: UwsBuild | undefined;

/** Loads the library, once. Throws one sentence where it has no binary that loads on this machine. */
export function loadUws(): UwsBuild {
  loaded ??= load();
  return loaded;
}

/** The package has no binary for this system and version of Node, or is not installed: the other server adapter is the one to use. */
export class NoUwsBinary extends Error {}

type System = Pick<NodeJS.Process, 'arch' | 'platform' | 'version' | 'versions'>;

const binaryOf = (folder: string, { platform, arch, versions }: System) =>
  join(folder, `uws_${platform}_${arch}_${versions.modules}.node`);

/** @param folder of the package; undefined where it is not installed */
export function missingBinary(folder: string | undefined, system: System): NoUwsBinary | undefined {
  if (folder === undefined) return new NoUwsBinary('uWebSockets.js is not installed.');
  if (existsSync(binaryOf(folder, system))) return undefined;
  const { version, platform, arch } = system;
  return new NoUwsBinary(`uWebSockets.js has no binary for Node ${version.slice(1)} on ${platform}-${arch}.`);
}

function packageFolder(): string | undefined {
  try {
    return dirname(require.resolve('uWebSockets.js'));
  } catch {
    return undefined;
  }
}

function load(): UwsBuild {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(HEAD_BYTES_KEPT);
  const folder = packageFolder();
  const missing = missingBinary(folder, process);
  if (missing !== undefined || folder === undefined) throw missing;
  try {
    const library = loadFrom(folder) as UwsLibrary;
    library._cfg?.(HIDE_NAME);
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as UwsManifest;
    return { name: `${name}@${version}`, library };
  } catch (error) {
    const lines = (error as Error).message.split('\n');
    const reason = (lines.find((line) => line.startsWith('Error: ')) ?? lines[0] ?? '').replace(/^Error: |\.$/g, '');
    throw new Error(`uWebSockets.js has no binary that loads on this machine (${reason}).`);
  }
}

interface UwsManifest {
  name: string;
  version: string;
}

function loadFrom(folder: string): unknown {
  try {
    return require('uWebSockets.js');
  } catch (error) {
    if (!lacksNewerNames((error as Error).message)) throw error;
    return loadForOlderLibc(binaryOf(folder, process));
  }
}
