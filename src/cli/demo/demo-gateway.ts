// What `voxgate demo` plays on: a gateway of its own and two simulated providers behind it, on free ports of this machine, with
// real recognition. Everything is gone afterwards, however the play ended.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../node/gateway.ts';
import { createLogger } from '../../runtime/telemetry/log.ts';
import { SimulatorServer } from '../../vendors/simulation/server.ts';
import type { ProviderSimulator } from '../../vendors/simulation.ts';
import { tell } from '../shared/output.ts';
import { loadSettings } from '../shared/settings.ts';
import { openLocalRecogniser } from '../speech/local-recogniser.ts';

/** Who plays. The two are simulators of different providers: one of them may die. */
export interface DemoProviders {
  first: ProviderSimulator;
  fallback: ProviderSimulator;
  /** Of the first, as `--fault` takes them. */
  faults: readonly string[];
}

export interface DemoGateway {
  gateway: { url: string; key: string };
  /** The first provider dies: its connections are cut and its port is closed. Resolves when nothing is left of it. */
  killFirst(): Promise<void>;
}

/** Opens the stage, plays, and takes all of it down again; resolves with what the play gave. */
export async function withDemoGateway<Result>(
  { first, fallback, faults }: DemoProviders,
  play: (stage: DemoGateway) => Promise<Result>,
) {
  const closers: (() => unknown)[] = [];
  try {
    const directory = mkdtempSync(join(tmpdir(), 'voxgate-'));
    closers.push(() => rmSync(directory, { recursive: true, force: true }));
    const ears = openLocalRecogniser({});
    closers.push(() => ears.close());
    await ears.warmUp();

    const { ear } = ears;
    const dying = await SimulatorServer.start({ simulator: first, ear, faults, onFault: tellFault });
    closers.push(() => dying.close());
    const living = await SimulatorServer.start({ simulator: fallback, ear, onFault: tellFault });
    closers.push(() => living.close());

    const config = loadSettings({
      VOXGATE_PORT: '0',
      VOXGATE_DATA_DIRECTORY: directory,
      VOXGATE_LOG_LEVEL: 'silent',
      ...pointedAt(first, dying),
      ...pointedAt(fallback, living),
    });
    const gateway = await startGateway({ config, logger: createLogger('silent') });
    closers.push(() => {
      gateway.stop();
      return gateway.ended;
    });
    const key = gateway.firstKey?.secret as string;
    return await play({ gateway: { url: gateway.url, key }, killFirst: () => dying.close() });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** The settings that send a provider's sessions to its simulator. */
function pointedAt({ provider }: ProviderSimulator, { url }: SimulatorServer): Record<string, string> {
  const name = provider.toUpperCase();
  return { [`VOXGATE_${name}_URL`]: url, [`${name}_API_KEY`]: 'simulated' };
}

function tellFault(error: unknown): void {
  tell(`voxgate: ${error instanceof Error ? error.message : String(error)}`);
}
