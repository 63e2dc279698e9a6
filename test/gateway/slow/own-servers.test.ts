// Every shape of an operator's own server, live, through a whole gateway: every sample is heard once, whichever of server and cloud is
// lost in the middle.
import { beforeAll, expect, it } from 'vitest';
import type { LiveGateway } from '../../fakes/processes/live-gateway.ts';
import { CLOUD, listen, MODELS, startWithOwnServers } from '../own-servers/own-servers-rig.ts';

let live: LiveGateway;
beforeAll(async () => {
  live = await startWithOwnServers();
});

it.each(MODELS)('transcribes every sample once with %s', async (model) => {
  const { code, gaps, usage } = await listen(live, [model]);
  expect([code, gaps]).toEqual([1000, []]);
  expect(usage).toMatchObject([{ model, byok: false }]);
});

it.each(MODELS)('continues a session in the cloud when the server of %s is gone', async (own) => {
  const { code, failovers, gaps } = await listen(live, [own, CLOUD], own);
  expect([code, failovers, gaps]).toEqual([1000, [[own, CLOUD]], []]);
});

it.each(MODELS)('continues a session with %s when the cloud is gone', async (own) => {
  const { code, failovers, gaps } = await listen(live, [CLOUD, own], CLOUD);
  expect([code, failovers, gaps]).toEqual([1000, [[CLOUD, own]], []]);
});
