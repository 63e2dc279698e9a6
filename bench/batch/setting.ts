// The gateway of the batch bench and everything around it: a provider, a simulated one for large files, a hop that only forwards
// bytes, and other gateways.
import type { ChildProcess } from 'node:child_process';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { type GatewayProgram, startGatewayProgram } from '../gateway-program.ts';
import { PEERS, type Peer, type PeerName } from './peers.ts';
import { message, pin, start, startSimulator } from './processes.ts';

const OPERATOR = { type: 'operator', id: 'bench' } as const;
const MODEL = 'gpt-4o-transcribe';
const ADAPTER = 'auto';

type Started<Told = unknown> = ChildProcess & Told & { pid: number };

export interface Setting {
  gateway: GatewayProgram & { prepaidKey: string };
  provider: Started<{ url: string }>;
  simulator: { url: string };
  /** To the provider, and to the simulated one. */
  relay: Started<{ url: string }>;
  uploadRelay: { url: string };
  peers: Readonly<Record<string, Peer>>;
  load: Started;
  model: string;
  /** The server adapter of the gateway. */
  adapter: string;
  /** Whether what is measured has a core for itself. */
  isPinned: boolean;
  close(): Promise<void>;
}

export async function startSetting(root: string, peerNames: readonly PeerName[]): Promise<Setting> {
  const provider = await started<{ url: string }>(start(new URL('./provider.ts', import.meta.url)));
  const load = await started(start(new URL('./load.ts', import.meta.url)));
  const simulator = await startSimulator(root);
  const relayTo = (url: string) => started<{ url: string }>(start(new URL('./relay.ts', import.meta.url), {}, [url]));
  const [relay, uploadRelay] = [await relayTo(provider.url), await relayTo(simulator.url)];
  const gateway = await startGateway(provider.url, simulator.url);
  const peers: Record<string, Peer> = {};
  for (const name of peerNames) peers[name] = await PEERS[name].start(root, provider.url, MODEL);
  const pinned = [
    ...[gateway, relay, uploadRelay, ...Object.values(peers)].map((child) => pin(child, 'measured')),
    ...[provider, load, simulator.process].map((child) => pin(child, 'others')),
  ];
  return {
    ...{ gateway, provider, simulator, relay, uploadRelay, peers, load, model: MODEL, adapter: ADAPTER },
    isPinned: pinned.every(Boolean),
    async close() {
      for (const peer of Object.values(peers)) peer.stop();
      simulator.process.kill();
      for (const child of [provider, load, relay, uploadRelay]) child.disconnect();
      await gateway.stop();
    },
  };
}

/** With the providers, and a key of an organisation that pays in advance; the credit of the first key is not limited. */
async function startGateway(providerUrl: string, simulatorUrl: string): Promise<Setting['gateway']> {
  const gateway = await startGatewayProgram({
    OPENAI_API_KEY: 'bench',
    VOXGATE_OPENAI_URL: providerUrl,
    DEEPGRAM_API_KEY: 'bench',
    VOXGATE_DEEPGRAM_URL: simulatorUrl,
    VOXGATE_DOOR: ADAPTER,
  });
  const store = await openSqliteStore({ directory: gateway.directory });
  const { id: organisationId } = await store.createOrganisation('Prepaid', 0n, OPERATOR);
  const credit = { organisationId, kind: 'top_up', microUsd: 10n ** 12n, uniqueKey: 'bench', note: '' } as const;
  await store.addCredit(credit, OPERATOR);
  const { secret: prepaidKey } = await store.createKey(organisationId, {}, OPERATOR);
  await store.close();
  return Object.assign(gateway, { prepaidKey });
}

/** A process with what it reported when it was ready. */
const started = async <Told extends object>(child: ChildProcess): Promise<Started<Told>> =>
  Object.assign(child, await message<Told>(child)) as Started<Told>;
