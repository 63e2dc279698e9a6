// Breakers that never open by themselves, for tests of other things.
import type { Clock } from '../../machines/clock.ts';
import { Breakers } from '../../src/live/failover/breakers/breakers.ts';

export const patientBreakers = (clock: Clock): Breakers =>
  new Breakers({
    clock,
    failuresMax: 1_000_000,
    openMs: 1,
    openMsMax: 1,
    onFault: (error) => {
      throw error;
    },
  });
