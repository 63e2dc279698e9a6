// Runs after `npm ci`. uWebSockets.js brings a binary for every system and version of Node: keeps this one's, of 7 MB instead of 115.
import { existsSync, readdirSync, rmSync } from 'node:fs';

const folder = new URL('../../node_modules/uWebSockets.js/', import.meta.url);
const own = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

for (const file of existsSync(folder) ? readdirSync(folder) : []) {
  if (/^uws_.*\.node$/.test(file) && file !== own) rmSync(new URL(file, folder));
}
