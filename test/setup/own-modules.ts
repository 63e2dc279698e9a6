// Runs before the tests of every file. Most files share a process and the product's modules in it; those of test/ each
// file has of its own, since a hook of a module belongs to the file that loads it, and so do the counters and lists beside it.
import { join, sep } from 'node:path';

interface EvaluatedModules<Module> {
  idToModuleMap: ReadonlyMap<string, Module>;
  invalidateModule(module: Module): void;
}

const { evaluatedModules } = (
  globalThis as unknown as { __vitest_worker__: { evaluatedModules: EvaluatedModules<{ file: string }> } }
).__vitest_worker__;

/** Once in a process: what is here stands in the place of `fetch`. */
const SETUP = import.meta.dirname + sep;
const TESTS = join(SETUP, '..') + sep;

for (const module of evaluatedModules.idToModuleMap.values()) {
  if (module.file.startsWith(TESTS) && !module.file.startsWith(SETUP)) evaluatedModules.invalidateModule(module);
}
