// An edge node is killed with files under way and never comes back: the accounts node closes the files, and they cost nothing.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wavOf } from '../../fakes/audio/audio-files.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { Cluster, MODEL, NODE_START_MS } from '../rig/cluster.ts';
import { expectAgreement, FULL } from '../rig/crowd.ts';

const FILES = 6;
/** The lease of a hold, five minutes without it, and the minute between two looks. */
const CLOSED_MS_MAX = 480_000;

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('files on an edge node that is killed', () => {
  // Takes seven minutes.
  it.runIf(FULL)(
    'close without charge when the node never returns',
    async () => {
      const prices = join(temporaryDirectory(), 'prices.json');
      writeFileSync(prices, JSON.stringify({ [MODEL]: { batch: { unit: 'minute', amount: '0.6' } } }));
      const edge = { roles: 'edge,upstream' };
      const cluster = await Cluster.start(
        { accounts: { roles: 'accounts' }, one: edge, two: edge },
        { VOXGATE_PRICES_FILE: prices, VOXGATE_LEDGER_GRACE_MS: '0' },
      );
      const headers = { Authorization: `Bearer ${cluster.key}` };
      const send = (id: string, params: object) => {
        const form = new FormData();
        form.append('model', MODEL);
        form.append('provider_params', JSON.stringify(params));
        form.append('file', new Blob([wavOf(64_000)]), 'a.wav');
        const { url } = cluster.node(id);
        return fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form });
      };
      const sessions = async (state: string) => {
        const answer = await fetch(`${cluster.node('two').url}/v1/sessions?limit=50`, { headers });
        const { data } = (await answer.json()) as { data: Record<'id' | 'state' | 'reason' | 'cost_usd', string>[] };
        return data.filter((each) => each.state === state);
      };
      const stalled = { fail: { how: 'stall', at_seconds: 0 } };
      const lost = Array.from({ length: FILES }, () => send('one', stalled).catch(() => undefined));
      while ((await sessions('live')).length < FILES);
      await cluster.node('one').end('SIGKILL');
      await Promise.all(lost);
      const killedAtMs = performance.now();
      const { files } = await cluster.node('accounts').logged('closed files of a process that was killed');
      console.info(`${files} files closed ${Math.round((performance.now() - killedAtMs) / 1000)} s after the kill`);
      const ended = await sessions('ended');
      expect(ended.map(({ reason, cost_usd }) => [reason, cost_usd])).toEqual(Array(FILES).fill(['node_lost', '0.00']));
      expect((await send('two', { turn_seconds: 600 })).status).toBe(200);
      await expectAgreement(cluster.node('accounts'));
    },
    CLOSED_MS_MAX + 3 * NODE_START_MS,
  );
});
