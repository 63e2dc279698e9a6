// Every official JavaScript client with every live protocol of the registry, and with a model for files of every provider: what
// docs/reference/clients.md says.

import { startDialectRig } from '../../vendors/compat/rig.ts';
import { drivers } from '../drivers/index.ts';
import { matrixSuite } from './matrix.suite.ts';

matrixSuite('client', drivers, startDialectRig());
