// Every official Python client: the SDKs with every live protocol of the registry and a model for files of every provider, the plugins
// of agent frameworks with one model for each kind of turn signal. What docs/reference/clients.md says.
import { afterAll, describe } from 'vitest';
import { startDialectRig } from '../../vendors/compat/rig.ts';
import { pythonDrivers, usePython } from '../drivers/python/index.ts';
import { installPackages } from '../drivers/python/packages.ts';
import { PythonProcess } from '../drivers/python/process.ts';
import { samplesSuite, wordsSuite } from './matrix.suite.ts';

const TOGETHER = 40;
const packages = await installPackages();
const missing = 'python' in packages ? undefined : packages.missing;
if (missing !== undefined) console.warn(`Official Python clients are not tested: ${missing}.`);

// Without their packages nothing of it can be run.
describe.skipIf(missing !== undefined)(`official Python clients${missing === undefined ? '' : `: ${missing}`}`, () => {
  // LiveKit's plugin for Gladia asks for the region eu-west.
  const rig = startDialectRig({}, {}, 'eu');
  if ('python' in packages) {
    const python = new PythonProcess(packages.python);
    usePython(python);
    afterAll(() => python.close());
  }
  const matrix = { which: 'Python client', drivers: pythonDrivers, rig, together: TOGETHER };
  samplesSuite(matrix);
  wordsSuite(matrix);
});
