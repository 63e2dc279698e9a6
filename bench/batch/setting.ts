// The gateway of the batch bench with what stands around it: a provider, a simulated one for large files, a hop that only passes
// bytes on, and another gateway.
import type { ChildProcess } from 'node:child_process';
import { dirname } from 'node:path';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { startPeer } from './peer.ts';
import { message, pin, start, startSimulator } from './processes.ts';

const OPERATOR = { type: 'operator', id: 'bench' } as const;
const MODEL = 'gpt-4o-transcribe';

export interface Setting {
  gateway: ChildProcess & { url: string; key: string; door: string; prepaidKey: string };
  provider: ChildProcess & { url: string };
  simulator: { url: string };
  /** In front of the provider, and of the simulated one. */
  relay: ChildProcess & { url: string };
  uploadRelay: { url: string };
  peer: ChildProcess & { url: string };
  load: ChildProcess;
  model: string;
  /** Whether what is measured has a core for itself. */
  isPinned: boolean;
  close(): void;
}

export async function startSetting(root: string): Promise<Setting> {
  const provider = await started<{ url: string }>(start(new URL('./provider.ts', import.meta.url)));
  const load = await started(start(new URL('./load.ts', import.meta.url)));
  const simulator = await startSimulator(root);
  const relayTo = (url: string) => started<{ url: string }>(start(new URL('./relay.ts', import.meta.url), {}, [url]));
  const [relay, uploadRelay] = [await relayTo(provider.url), await relayTo(simulator.url)];
  const gateway = await startGateway(provider.url, simulator.url);
  const { url, process: other } = await startPeer(root);
  const peer = Object.assign(other, { url });
  const pinned = [
    ...[gateway, peer, relay, uploadRelay].map((child) => pin(child, 'measured')),
    ...[provider, load, simulator.process].map((child) => pin(child, 'others')),
  ];
  return {
    ...{ gateway, provider, simulator, relay, uploadRelay, peer, load, model: MODEL },
    isPinned: pinned.every(Boolean),
    close() {
      gateway.send({ ask: 'stop' });
      for (const child of [peer, simulator.process]) child.kill();
      for (const child of [provider, load, relay, uploadRelay]) child.disconnect();
    },
  };
}

/** With the providers, and a key whose organisation pays in advance beside the first one, whose credit has no end. */
async function startGateway(providerUrl: string, simulatorUrl: string): Promise<Setting['gateway']> {
  const gateway = await started<{ url: string; key: string; door: string; database: string }>(
    start(new URL('../process-under-load.ts', import.meta.url), {
      BENCH_PROVIDERS: 'openai,deepgram',
      BENCH_SETTINGS: JSON.stringify({
        OPENAI_API_KEY: 'bench',
        VOXGATE_OPENAI_URL: providerUrl,
        DEEPGRAM_API_KEY: 'bench',
        VOXGATE_DEEPGRAM_URL: simulatorUrl,
      }),
    }),
  );
  const store = await openSqliteStore({ directory: dirname(gateway.database) });
  const { id: organisationId } = await store.createOrganisation('Prepaid', 0n, OPERATOR);
  const credit = { organisationId, kind: 'top_up', microUsd: 10n ** 12n, uniqueKey: 'bench', note: '' } as const;
  await store.addCredit(credit, OPERATOR);
  const { secret: prepaidKey } = await store.createKey(organisationId, {}, OPERATOR);
  await store.close();
  return Object.assign(gateway, { prepaidKey });
}

/** A process with what it told of itself when it was ready. */
const started = async <Told extends object>(child: ChildProcess): Promise<ChildProcess & Told> =>
  Object.assign(child, await message<Told>(child));
