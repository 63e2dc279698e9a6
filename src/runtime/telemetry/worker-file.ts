// Finds the compiled file of what is not imported: what a worker thread is started from, or a browser is given. What it does is its
// own business.
import { existsSync } from 'node:fs';

const root = new URL('../../../', import.meta.url);

/**
 * The file to give to `new Worker`, beside the module that asks. A thread cannot be started from TypeScript, so a module run
 * from its source gets the bundle under `dist/` (which `npm run build` makes).
 *
 * @param importMetaUrl `import.meta.url` of the module that starts the thread
 * @param name the thread's file without its ending
 * @throws Error naming the command when there is no compiled file
 * @example new Worker(workerFile(import.meta.url, 'worker'))
 */
export function workerFile(importMetaUrl: string, name: string): URL {
  const caller = new URL(importMetaUrl);
  if (!caller.pathname.endsWith('.ts')) return new URL(`./${name}.js`, caller);
  const sourcePath = caller.pathname.slice(root.pathname.length);
  const compiled = new URL(`./${name}.js`, new URL(`dist/${sourcePath}`, root));
  if (existsSync(compiled)) return compiled;
  throw new Error(`The compiled file ${compiled.pathname} is not there: run \`npm run build\`.`);
}

/** What the build made for browsers, whether this module runs from its source or is built. */
export const consoleFolder = (): URL => builtFolder('console');

/** The speech models that come with the package. */
export const speechModelsFolder = (): URL => builtFolder('models');

const builtFolder = (name: string): URL => new URL(`${import.meta.url.endsWith('.ts') ? 'dist/' : ''}${name}/`, root);
