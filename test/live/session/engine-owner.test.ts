// An engine of this process is told for which organisation it works, so that it can share itself out.
import { expect, it } from 'vitest';
import type { Engine } from '../../../src/vendors/kit/provider.ts';
import { LoopbackEngine } from '../../../src/vendors/loopback/simulator.ts';
import { SessionRig } from '../../fakes/session-rig.ts';

it('passes the organisation to the engine with a check and a leg', async () => {
  const owners: string[] = [];
  const rig = new SessionRig({
    engines: (clock) => {
      const engine = new LoopbackEngine(clock);
      const loopback: Engine = {
        connect: (query, listener, owner) => {
          owners.push(`connect ${owner}`);
          return engine.connect(query, listener);
        },
        check: async (_, owner) => {
          owners.push(`check ${owner}`);
          return undefined;
        },
      };
      return { loopback };
    },
  });
  await rig.open();
  expect(owners).toEqual(['check org_1', 'connect org_1']);
});
