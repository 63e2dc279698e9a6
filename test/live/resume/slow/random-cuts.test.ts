// A thousand random cuts of clients' sockets, on one node and across two: every sample in one final, every event once, the bill exact;
// and the death of the node.
import { beforeAll, describe, expect, it } from 'vitest';
import { Cluster, MICRO_USD_PER_MS, MODEL, NODE_START_MS } from '../../../cluster/rig/cluster.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../../fakes/audio/numbered-finals.ts';
import { natsServerIsHere } from '../../../fakes/network/nats-server.ts';
import { LiveClient } from '../../../fakes/processes/live-gateway.ts';
import { voxgate } from '../../../fakes/processes/voxgate.ts';
import { type Random, seeded } from '../../../fakes/random.ts';
import { ResumingClient } from '../resuming-client.ts';

const RATE = 16_000;
const SESSIONS = 20;
const CUTS = 50;
const SECONDS = 20;

const ROLES = 'edge,upstream';

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('a thousand random cuts', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    const nodes = { one: { roles: `${ROLES},accounts` }, two: { roles: ROLES } };
    cluster = await Cluster.start(nodes, { VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '1000000' });
  }, 3 * NODE_START_MS);

  const connectTo = (name: string) => (query: Record<string, string>) => {
    const url = `${cluster.node(name).url.replace('http', 'ws')}/v1/listen?${new URLSearchParams(query)}`;
    return new LiveClient(url, [], { headers: { Authorization: `Bearer ${cluster.key}` } });
  };

  async function session(nodes: readonly string[], random: Random): Promise<ResumingClient> {
    const client = new ResumingClient(numberedAudio(0, SECONDS * RATE), {
      model: MODEL,
      provider_params: '{"turn_seconds":0.5}',
    });
    for (let cut = 0; cut < CUTS; cut++) {
      const at = { chunks: random.integer(0, 12), turns: random.integer(0, 20) };
      await client.socket(connectTo(random.pick(nodes)), random.integer(1, 2_001), at);
    }
    expect(await client.socket(connectTo(random.pick(nodes)), 32_000)).toBe(1000);
    return client;
  }

  it.each([
    ['on one node', ['one']],
    ['across two nodes', ['one', 'two']],
  ])('%s lose and repeat nothing, and cost nothing', async (_, nodes) => {
    const clients = await Promise.all(
      Array.from({ length: SESSIONS }, (__, index) => session(nodes, seeded(index + 1))),
    );
    for (const client of clients) {
      expectWhole(client.finals, SECONDS * RATE);
      expect(client.ended).toMatchObject({ reason: 'client_closed', audio_seconds: SECONDS });
      expect(Number(client.ended?.cost_usd) * 1e6).toBe(SECONDS * 1000 * MICRO_USD_PER_MS);
    }
    const { code, output } = await voxgate(['ledger', 'audit'], {
      VOXGATE_DATA_DIRECTORY: cluster.node('one').directory,
    });
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/agree/) });
  });

  it('opens a new session where the last final ended when a node is dead', async () => {
    const query = { model: MODEL, provider_params: '{"turn_seconds":0.5}' };
    const client = connectTo('two')({ ...query, resume: 'on' });
    const begun = await client.event('session_started');
    client.send(numberedAudio(0, 0.7 * RATE));
    const { end } = await client.event('transcript', ({ is_final: isFinal }) => isFinal);
    await cluster.node('two').end('SIGKILL');
    const again = { resume: String(begun.resume_token), last_seq: '2', heard_seconds: String(end) };
    const next = connectTo('one')({ ...query, ...again });
    const { continues } = await next.event('session_started');
    expect(continues).toEqual({ session_id: begun.session_id, from_bytes: end * RATE * 2, from_seconds: end });
    next.socket.close(1000);
    await next.close();
  });
});
