// Waits until everything that was sent over NATS has arrived, and what was sent in answer to it.
import type { NatsBus } from '../../../src/cluster/bus/nats/bus.ts';

/** A letter, the news that it found nobody, and what is said to that; and signs of life, where nodes hear of each other first. */
const ROUNDS = 7;

export async function settleAll(buses: readonly NatsBus[]): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    // The first round trip takes everything to the server, the second everything from it.
    for (let trip = 0; trip < 2; trip++) {
      await Promise.all(buses.filter((bus) => bus.isConnected).map((bus) => bus.flush()));
    }
  }
}
