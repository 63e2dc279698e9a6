// A call of one node, heard through the other: found by its id at the carrier, and by its session.
import { beforeAll, describe, expect, it } from 'vitest';
import { Cluster, NODE_START_MS } from '../../../cluster/rig/cluster.ts';
import { natsServerIsHere } from '../../../fakes/network/nats-server.ts';
import { LiveClient } from '../../../fakes/processes/live-gateway.ts';
import { CALL, callBy, spoken, twilioCall } from '../phone.ts';
import { startReceiver } from '../receiver.ts';

const ROLES = 'edge,upstream';

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('a call of another node', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    const nodes = { one: { roles: `${ROLES},accounts` }, two: { roles: ROLES } };
    cluster = await Cluster.start(nodes, { VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8' });
  }, 3 * NODE_START_MS);

  const watch = (name: string, query = '') =>
    new LiveClient(`${cluster.node('two').url.replace('http', 'ws')}/v1/sessions/${name}/events${query}`, [], {
      headers: { Authorization: `Bearer ${cluster.key}` },
    });

  it('streams from its first event to its end, resumes at a position, for its owner only', async () => {
    const receiver = await startReceiver();
    const parameters = { api_key: cluster.key, model: 'local/commands-en', events_url: receiver.url };
    const messages = [...twilioCall({ inbound: spoken('lines/telephone.wav') }, parameters)].slice(0, -1);
    const { socket } = await callBy(`${cluster.node('one').url.replace('http', 'ws')}/compat/twilio/media`, messages);
    await receiver.when(() => receiver.events.length > 0);
    const { session_id } = receiver.events[0] as { session_id: string };

    const [byCarrier, bySession] = [watch(CALL), watch(session_id, '?last_seq=1')];
    await Promise.all([byCarrier.opened(), bySession.opened()]);
    socket.close();
    expect(await byCarrier.close()).toEqual({ code: 1000, reason: '' });
    expect(await bySession.close()).toEqual({ code: 1000, reason: '' });
    expect(byCarrier.events.map(({ seq }) => seq)).toEqual(byCarrier.events.map((_, at) => at + 1));
    expect(byCarrier.finals.map(({ text }) => text).filter(Boolean)).toEqual(['take me home']);
    expect(bySession.events).toEqual(byCarrier.events.slice(1));

    const late = watch(CALL);
    await late.close();
    expect(late.events).toEqual(byCarrier.events);
    const refused = await watch('nobody').refused();
    expect(JSON.parse(refused.body).error.code).toBe('not_found');
  });
});
