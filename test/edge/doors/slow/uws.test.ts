// The suite of the door contract, on uWebSockets.js where it has a binary for this machine.
import { describe, expect, test } from 'vitest';
import { loadUws, openUwsDoor } from '../../../../src/edge/uws/door.ts';
import { splitRequestFault } from '../../../../src/edge/uws/split-request-check.ts';
import { type DoorUnderTest, http, start } from '../../../suites/door/fixture.ts';
import { doorSuite } from '../../../suites/door.suite.ts';

const reason = whyNot();
if (reason !== undefined) console.warn(`uWebSockets.js is not tested: ${reason}`);
const isOldBuild = reason === undefined && (await splitRequestFault(openUwsDoor)) !== undefined;

// Not every machine has a binary: musl, or Node 22 and newer with a glibc before 2.38.
describe.skipIf(reason !== undefined)('uWebSockets.js', () => {
  const under: DoorUnderTest = {
    open: openUwsDoor,
    gaps: {
      pipelining: true,
      framesLetPass: ['a frame without a mask'],
      readsOn: true,
      fewHeaders: true,
      http10: true,
      splitRequestLine: isOldBuild,
      patientWithBrokenHeads: isOldBuild,
    },
  };
  doorSuite(under);

  // Elsewhere the option exists and gives all connections to one of them.
  test.skipIf(process.platform !== 'linux')('a port that doors share gives connections to all of them', async () => {
    const bodies = (body: string) => ({ request: async () => ({ status: 200, body }) });
    const { port, door } = await start(under, bodies('first'), { shared: true });
    await start(under, bodies('second'), { port, shared: true });
    const heard = new Set<string>();
    for (let request = 0; request < 200 && heard.size < 2; request++) heard.add((await http(port, '/')).body);
    expect([...heard].sort()).toEqual(['first', 'second']);
    await door.close();
    expect((await http(port, '/')).body).toBe('second');
    await expect(start(under, {}, { port })).rejects.toThrow('another program has that port;');
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
