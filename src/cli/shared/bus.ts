// The bus of the gateway that this machine's settings name, for a command that asks the other nodes.
import { loadSecrets } from '../../accounts/auth/secret.ts';
import { BusError } from '../../cluster/bus/bus.ts';
import { type NatsBus, natsOptionsOf, openNatsBus } from '../../cluster/bus/nats/bus.ts';
import type { SigningSecrets } from '../../cluster/bus/signed.ts';
import type { Config } from '../../config/schema.ts';
import { CommandError, EXIT } from './output.ts';
import { loadSettings } from './settings.ts';

const START_MS_MAX = 5000;

/** @throws CommandError when there is no NATS in the settings, or none answers */
export async function withBus<Result>(
  work: (bus: NatsBus, secrets: SigningSecrets) => Promise<Result>,
): Promise<Result> {
  const { bus, secrets } = await openBus(loadSettings());
  try {
    return await work(bus, secrets);
  } catch (error) {
    throw error instanceof BusError ? new CommandError(error.message) : error;
  } finally {
    await bus.close();
  }
}

/** For the caller to close. Throws as `withBus` does. */
export async function openBus({ cluster, data }: Config): Promise<{ bus: NatsBus; secrets: SigningSecrets }> {
  const options = natsOptionsOf(cluster);
  if (options === undefined) {
    throw new CommandError(
      'VOXGATE_NATS names no NATS server: a gateway without one is a single node. Set it as the nodes have it.',
      EXIT.config,
    );
  }
  try {
    const secrets = loadSecrets(data);
    const startMs = Math.min(options.startMs, START_MS_MAX);
    return { bus: await openNatsBus({ ...options, secrets, startMs, missing: 'stop' }), secrets };
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}
