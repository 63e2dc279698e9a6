// OpenAI's own client library, unmodified, against a whole gateway: one suite for every version of it, through both doors.
import { describe } from 'vitest';
import { answersSuite } from './answers.suite.ts';
import { connectionsSuite } from './connections.suite.ts';
import { errorsSuite } from './errors.suite.ts';
import { fieldsSuite } from './fields.suite.ts';
import { modelsSuite } from './models.suite.ts';
import { type Sdk, startRig } from './rig.ts';
import { streamsSuite } from './streams.suite.ts';

/** @param doors through which of the gateway's doors: all promises hold for each */
export function openaiSuite(name: string, sdk: Sdk, doors: readonly ('auto' | 'node')[] = ['auto', 'node']): void {
  describe.each(doors)(`${name} through the door "%s"`, (door) => {
    const rig = startRig(sdk, door);
    answersSuite(rig);
    streamsSuite(rig);
    fieldsSuite(rig);
    modelsSuite(rig);
    errorsSuite(rig);
    connectionsSuite(rig);
  });
}
