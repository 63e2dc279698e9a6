// The newest version of OpenAI's client library: it wants Node 22, so that scripts/node-matrix.sh installs it where that runs.
import { describe, it } from 'vitest';
import type { Sdk } from '../rig.ts';
import { openaiSuite } from './openai.suite.ts';

/** Not a dependency: TypeScript need not find it. */
const NAME: string = 'openai-newest';

const sdk = await import(NAME).catch((error: Error) => error);
if (sdk instanceof Error) {
  console.info(
    `openai 7 is not tried: \`npm run matrix\` installs it, on Node 22 and newer; this is ${process.version}.`,
  );
  describe('openai 7', () => {
    // It is not a dependency.
    it.skip('runs where the matrix installs it', () => {});
  });
} else {
  // Another declaration of the same classes.
  openaiSuite('openai 7', sdk as Sdk);
}
