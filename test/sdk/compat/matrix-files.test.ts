// Every official JavaScript client with a model for files of every provider, and with the models that are in the gateway.

import { startDialectRig } from '../../vendors/compat/rig.ts';
import { drivers } from '../drivers/index.ts';
import { samplesSuite, wordsSuite } from './matrix.suite.ts';

const matrix = { which: 'client', drivers, rig: startDialectRig() };
samplesSuite(matrix, ['files']);
wordsSuite(matrix);
