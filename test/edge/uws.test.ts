// The suite of the door contract, on uWebSockets.js where it has a binary for this machine.
import { describe } from 'vitest';
import { splitRequestFault } from '../../src/edge/split-request-check.ts';
import { loadUws, openUwsDoor } from '../../src/edge/uws.ts';
import { doorSuite } from '../suites/door.suite.ts';

const reason = whyNot();
if (reason !== undefined) console.warn(`uWebSockets.js is not tested: ${reason}`);
const isOldBuild = reason === undefined && (await splitRequestFault(openUwsDoor)) !== undefined;

// Not every machine has a binary: musl, or Node 22 and newer with a glibc before 2.38.
describe.skipIf(reason !== undefined)('uWebSockets.js', () => {
  doorSuite({
    open: openUwsDoor,
    gaps: {
      pipelining: true,
      framesLetPass: ['a frame without a mask'],
      http10: true,
      splitRequestLine: isOldBuild,
      patientWithBrokenHeads: isOldBuild,
    },
  });
});

function whyNot(): string | undefined {
  try {
    loadUws();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
