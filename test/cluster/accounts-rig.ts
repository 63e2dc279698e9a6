// Two nodes: one that keeps the accounts in a database in memory, and one that asks it over a bus that keeps what it carries.

import type { Clock } from '../../machines/clock.ts';
import { type AccountsClientOptions, createAccountsClient } from '../../src/cluster/accounts/client.ts';
import { type AccountsServiceOptions, serveAccounts } from '../../src/cluster/accounts/service.ts';
import type { Bus, BusBody } from '../../src/cluster/bus/bus.ts';
import { answerStoreCalls, createRemoteStore, STORE_GROUP } from '../../src/node/store/remote-store.ts';
import { systemClock } from '../../src/runtime/telemetry/clock.ts';
import { BusNetwork, type NetworkBus } from '../fakes/network/bus-network.ts';
import type { Random } from '../fakes/random.ts';
import { directStore } from '../fakes/store/direct-store.ts';

export const SECRET = Buffer.from('a secret of at least thirty-two characters');

export interface Carried {
  service: string;
  body: BusBody;
  answer: BusBody | undefined;
}

/** The same bus, with all that is asked over it written down. */
function listening(bus: Bus, carried: Carried[]): Bus {
  return new Proxy(bus, {
    get(target, name) {
      const note = async (service: string, body: BusBody, answer: () => Promise<BusBody>) => {
        const entry: Carried = { service, body: structuredClone(body), answer: undefined };
        carried.push(entry);
        entry.answer = await answer();
        return entry.answer;
      };
      if (name === 'request') {
        return (...args: Parameters<Bus['request']>) => note(args[0], args[2], () => target.request(...args));
      }
      if (name === 'requestOf') {
        return (...args: Parameters<Bus['requestOf']>) => note(args[1], args[3], () => target.requestOf(...args));
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export function accountsRig(
  options: {
    service?: Partial<AccountsServiceOptions>;
    client?: Partial<AccountsClientOptions>;
    random?: Random;
    clock?: Clock;
  } = {},
) {
  const { clock = systemClock } = options;
  const network = new BusNetwork(clock, options.random);
  const [owner, edge] = [network.open('owner1'), network.open('edge01')] as [NetworkBus, NetworkBus];
  const direct = directStore();
  const carried: Carried[] = [];
  const faults: string[] = [];
  const refused: string[] = [];
  const groups = new Map([[STORE_GROUP, answerStoreCalls(direct.store)]]);
  const serve = (more: Partial<AccountsServiceOptions> = {}) =>
    serveAccounts({
      bus: owner,
      secret: SECRET,
      revision: 7,
      clock,
      groups,
      onFault: (call, error) => faults.push(`${call}: ${(error as Error).message}`),
      onRefused: (reason) => refused.push(reason),
      ...options.service,
      ...more,
    });
  const service = serve();
  const bus = listening(edge, carried);
  const client = createAccountsClient({ bus, secret: SECRET, clock, ...options.client });
  return {
    network,
    owner,
    edge,
    bus,
    direct,
    carried,
    faults,
    refused,
    groups,
    serve,
    service,
    client,
    store: createRemoteStore(client.ask),
  };
}

export async function reasonOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: { reason?: unknown; code?: unknown }) => error.reason ?? error.code ?? error,
  );
}
