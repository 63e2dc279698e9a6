// The bus on a real NATS server, held to the bus's promises.
import { afterAll, beforeAll, describe } from 'vitest';
import { type NatsBus, openNatsBus } from '../../../src/cluster/bus/nats/bus.ts';
import { type NatsServer, natsServerIsHere, startNatsServer } from '../../fakes/network/nats-server.ts';
import { settleAll } from '../../fakes/network/settle-nats.ts';
import { SECRETS } from '../../fakes/secrets.ts';
import { type BusUnderTest, busSuite } from '../../suites/bus.suite.ts';
import { busNodesSuite } from '../../suites/bus-nodes.suite.ts';

// It says why it is skipped where it is imported.
describe.skipIf(!natsServerIsHere)('the bus on nats-server', () => {
  let server: NatsServer;
  let tests = 0;
  beforeAll(async () => {
    server = await startNatsServer();
  });
  afterAll(() => server.stop());

  async function start(): Promise<BusUnderTest> {
    const buses: NatsBus[] = [];
    // One server, a network of its own for each test.
    const prefix = `test-${tests++}`;
    return {
      async open() {
        const bus = await openNatsBus({ secrets: SECRETS, servers: [server.url], prefix, startMs: 5_000 });
        buses.push(bus);
        return bus;
      },
      settle: () => settleAll(buses),
      close: async () => {},
    };
  }
  busSuite('the bus on NATS', start);
  busNodesSuite('NATS', start);
});
