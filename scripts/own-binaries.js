// Runs after `npm ci`. uWebSockets.js brings a binary for every system and version of Node: keeps this one's, of 15 MB instead of 230.
import { existsSync, readdirSync, rmSync } from 'node:fs';

const packages = new URL('../node_modules/', import.meta.url);
const older = '@trufflesuite/uws-js-unofficial';
const own = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

// What is in `dist` belongs to a server that the older package would put in its place.
for (const folder of ['uWebSockets.js/', `${older}/binaries/`, `${older}/dist/`]) {
  const path = new URL(folder, packages);
  if (!existsSync(path)) continue;
  for (const file of readdirSync(path)) {
    const isOwn = file === own && !folder.endsWith('dist/');
    if (/^uws_.*\.node$/.test(file) && !isOwn) rmSync(new URL(file, path));
  }
}
