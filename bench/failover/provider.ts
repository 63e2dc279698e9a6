// A simulated provider in a process of its own, for the bench of failovers: tells when its sockets were cut, and when each
// connection gave it the first audio.

import type { ProviderSimulator, SimulatedUpgrade } from '../../src/vendors/kit/simulation.ts';
import { numberedEar } from '../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../src/vendors/simulation/server.ts';
import { simulators } from '../../src/vendors/simulators.ts';
import { nowMs } from './figures.ts';

/** `cut`: every socket is destroyed and the port closed. */
export type ProviderOrder = 'cut' | 'tell';

/** Times on the machine's monotonic clock. */
export type ProviderReport = { url: string } | { cutAtMs: number } | { firstAudioAtMs: number[] };

const firstAudioAtMs: number[] = [];

/** The same simulator; the first audio of each connection is noted. */
function noting(simulator: ProviderSimulator): ProviderSimulator {
  return { ...simulator, upgrade: (request, tools) => notingUpgrade(simulator.upgrade(request, tools)) };
}

function notingUpgrade(upgrade: SimulatedUpgrade): SimulatedUpgrade {
  if ('refuse' in upgrade) return upgrade;
  return {
    ...upgrade,
    connect: (peer) => {
      const connection = upgrade.connect(peer);
      let heard = false;
      return {
        text: (text) => connection.text(text),
        bytes: (bytes) => {
          if (!heard) firstAudioAtMs.push(nowMs());
          heard = true;
          connection.bytes(bytes);
        },
        gone: () => connection.gone(),
      };
    },
  };
}

const simulator = simulators.find(({ provider }) => provider === process.argv[2]) as ProviderSimulator;
const server = await SimulatorServer.start({ simulator: noting(simulator), ear: numberedEar() });
const tell = (report: ProviderReport): void => void process.send?.(report);

process.on('message', async (order: ProviderOrder) => {
  if (order === 'cut') {
    const cutAtMs = nowMs();
    await server.close();
    tell({ cutAtMs });
  } else tell({ firstAudioAtMs });
});
process.on('disconnect', () => process.exit());
tell({ url: server.url });
