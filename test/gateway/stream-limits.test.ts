// Sessions at a provider whose account may have few streams at a time, as clients and the metrics meet them.
import { beforeAll, expect, it } from 'vitest';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway({ VOXGATE_LOOPBACK_STREAMS_MAX: '2' });
});

const connect = (query: Record<string, string> = {}) => live.connect({ model: 'loopback/numbered', ...query });

it('a session beyond the limit begins at its fallback, or asks the provider where it has none', async () => {
  const first = [connect(), connect()];
  for (const client of first) await client.event('session_started');
  const next = connect({ fallbacks: 'local/commands-en' });
  expect(await next.event('failover')).toMatchObject({
    ...{ from: 'loopback/numbered', to: 'local/commands-en', reason: 'streams_full', replayed_seconds: 0 },
  });
  const alone = connect();
  expect(await alone.event('session_started')).toMatchObject({ model: 'loopback/numbered' });
  const metrics = await (await live.request('/metrics', { headers: {} })).text();
  expect(metrics).toMatch(/^voxgate_streams_full_total\{provider="loopback"[^}]*\} 2$/m);
});
