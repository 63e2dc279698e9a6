#!/usr/bin/env node
// The command `voxgate`: in a checkout it first brings dist/ up to date with the source, then it hands over to the bundled
// program. What the commands do, and with which code they exit, is decided there.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requireFittingNode } from './preflight.js';

requireFittingNode();
const { BuildFailed, ensureBuilt } = await import('./build.js');
/** A start that takes longer than the last one is explained to a person; a program that reads the output has no use for it. */
const tellPerson = () => process.stderr.isTTY && console.error('The source is new or has changed: building it first …');
const root = dirname(dirname(fileURLToPath(import.meta.url)));
try {
  await ensureBuilt(root, { onCompile: tellPerson });
} catch (error) {
  if (!(error instanceof BuildFailed)) throw error;
  console.error(error.message);
  process.exit(1);
}
await import(new URL('../dist/src/main.js', import.meta.url).href);
