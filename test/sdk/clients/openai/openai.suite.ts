// OpenAI's own client library, unmodified, against a whole gateway: one suite for every version of it.
import { describe } from 'vitest';
import { type Sdk, startRig } from '../rig.ts';
import { answersSuite } from './answers.suite.ts';
import { connectionsSuite } from './connections.suite.ts';
import { errorsSuite } from './errors.suite.ts';
import { fieldsSuite } from './fields.suite.ts';
import { modelsSuite } from './models.suite.ts';
import { streamsSuite } from './streams.suite.ts';

export function openaiSuite(name: string, sdk: Sdk): void {
  describe(name, () => {
    const rig = startRig(sdk);
    answersSuite(rig);
    streamsSuite(rig);
    fieldsSuite(rig);
    modelsSuite(rig);
    errorsSuite(rig);
    connectionsSuite(rig);
  });
}
