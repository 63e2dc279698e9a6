// The newest version of OpenAI's client library; it wants Node 22, and is left out with a word on an older one.
import { describe, it } from 'vitest';
import { openaiSuite } from './openai.suite.ts';
import type { Sdk } from './rig.ts';

const NODE_MAJOR_MIN = 22;
const major = Number(process.versions.node.split('.')[0]);

if (major < NODE_MAJOR_MIN) {
  console.info(`openai 7 is not tried: it wants Node ${NODE_MAJOR_MIN}, and this is Node ${process.versions.node}.`);
  describe('openai 7', () => {
    // The oldest Node that this project promises cannot load it.
    it.skip(`wants Node ${NODE_MAJOR_MIN}`, () => {});
  });
} else {
  // Another declaration of the same classes.
  openaiSuite('openai 7', (await import('openai-newest')) as unknown as Sdk);
}
