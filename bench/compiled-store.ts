// The store as it is shipped: its thread runs the compiled files.
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../bin/build.js';

export async function compiledStore(): Promise<typeof import('../src/node/store/sqlite-store.ts')> {
  await ensureBuilt(fileURLToPath(new URL('../', import.meta.url)));
  return import('../src/node/store/sqlite-store.ts');
}
