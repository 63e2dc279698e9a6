// Every official JavaScript client with every live protocol of the registry: what docs/reference/clients.md says. Files and speech are
// matrix-files.test.ts, which runs at the same time.

import { startDialectRig } from '../../vendors/compat/rig.ts';
import { drivers } from '../drivers/index.ts';
import { samplesSuite } from './matrix.suite.ts';

samplesSuite({ which: 'client', drivers, rig: startDialectRig() }, ['live']);
