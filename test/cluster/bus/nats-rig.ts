// Buses on one NATS server for the tests beside it, closed when the test is done.
import { afterEach } from 'vitest';
import type { Bus } from '../../../src/cluster/bus/bus.ts';
import { type NatsBus, type NatsBusOptions, openNatsBus } from '../../../src/cluster/bus/nats/bus.ts';
import { type NatsServer, type NatsServerOptions, startNatsServer } from '../../fakes/network/nats-server.ts';
import { SECRETS } from '../../fakes/secrets.ts';

const open: NatsBus[] = [];
const servers: NatsServer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((bus) => bus.close()));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** A server that ends with the test. */
export async function serverOfTest(options?: NatsServerOptions): Promise<NatsServer> {
  const server = await startNatsServer(options);
  servers.push(server);
  return server;
}

/** A bus that ends with the test. */
export async function busOfTest({ url }: { url: string }, options: Partial<NatsBusOptions> = {}): Promise<NatsBus> {
  const bus = await openNatsBus({ secrets: SECRETS, servers: [url], prefix: 'test', startMs: 5_000, ...options });
  open.push(bus);
  return bus;
}

/** Resolves when the bus is connected, or away; at once where it is so already. */
export function whenConnected(bus: Bus, isConnected: boolean): Promise<void> {
  if (bus.isConnected === isConnected) return Promise.resolve();
  return new Promise((resolve) => {
    const detach = bus.onConnection((now) => {
      if (now !== isConnected) return;
      detach();
      resolve();
    });
  });
}
