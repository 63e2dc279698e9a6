// The list of generators. A new one is a file beside this one and a line here.

import { pythonTypes } from './clients/python-types.ts';
import { clientTypes } from './clients/typescript-types.ts';
import { diagrams } from './diagrams.ts';
import type { Generator } from './generator.ts';
import { reference } from './reference/reference.ts';

export const generators: readonly Generator[] = [reference, diagrams, clientTypes, pythonTypes];
