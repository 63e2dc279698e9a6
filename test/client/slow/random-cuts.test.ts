// A thousand random cuts of the client library's own connections, each to one of two nodes: every sample in one final, one session
// each, the bill exact.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type SessionEvent, Voxgate } from '../../../clients/typescript/src/index.ts';
import { Cluster, MICRO_USD_PER_MS, MODEL, NODE_START_MS } from '../../cluster/rig/cluster.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../fakes/audio/numbered-finals.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { seeded } from '../../fakes/random.ts';
import { type CuttingProxy, startCuttingProxy } from '../rig/cutting-proxy.ts';

const RATE = 16_000;
const SESSIONS = 20;
const CUTS = 1_000;
const SECONDS = 70;
const PIECE = 1_601;

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('a thousand random cuts of the client', () => {
  let cluster: Cluster;
  let proxy: CuttingProxy;
  const random = seeded(3);

  beforeAll(async () => {
    const nodes = { one: { roles: 'edge,upstream,accounts' }, two: { roles: 'edge,upstream' } };
    cluster = await Cluster.start(nodes, { VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '1000000' });
    proxy = await startCuttingProxy('');
    proxy.target = () => cluster.node(random.pick(['one', 'two'])).url;
    proxy.cuts = Array.from({ length: CUTS + 5 * SESSIONS }, () => ({
      audioBytes: random.integer(1, 12_000),
      events: random.integer(1, 20),
      code: random.pick([1006, 1012]),
    }));
    vi.spyOn(Math, 'random').mockReturnValue(0);
  }, 3 * NODE_START_MS);
  afterAll(() => {
    vi.restoreAllMocks();
  });

  async function session() {
    const client = new Voxgate({ apiKey: cluster.key, baseUrl: proxy.url });
    const session = client.listen({ model: MODEL as 'loopback/numbered', providerParams: { turn_seconds: 0.5 } });
    const events: SessionEvent[] = [];
    const reading = (async () => {
      for await (const event of session) events.push(event);
    })();
    const audio = numberedAudio(0, SECONDS * RATE);
    for (let at = 0; at < audio.length; at += PIECE) await session.send(audio.subarray(at, at + PIECE));
    const summary = await session.close();
    await reading;
    return { summary, finals: events.flatMap((event) => (event.type === 'transcript' && event.is_final ? event : [])) };
  }

  it('loses and repeats nothing, and costs nothing', { timeout: 180_000 }, async () => {
    const sessions = await Promise.all(Array.from({ length: SESSIONS }, session));
    expect(proxy.made).toBeGreaterThanOrEqual(CUTS);
    for (const { summary, finals } of sessions) {
      expectWhole(finals, SECONDS * RATE);
      expect(summary).toMatchObject({ reason: 'client_closed', audioSeconds: SECONDS, isUsageComplete: true });
      expect(summary.sessionIds).toHaveLength(1);
      expect(Number(summary.costUsd) * 1e6).toBe(SECONDS * 1000 * MICRO_USD_PER_MS);
    }
    const directory = cluster.node('one').directory;
    const { code, output } = await voxgate(['ledger', 'audit'], { VOXGATE_DATA_DIRECTORY: directory });
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/agree/) });
  });
});
