// A node that holds connections to providers and is told to end: its own sessions have their legs there to the last, and
// sessions of other nodes as long as nobody else is there for them.
import { describe, expect, it } from 'vitest';
import type { Heard } from '../../../../machines/events.ts';
import { LegService } from '../../../../src/live/upstream/service/leg-service.ts';
import { UpstreamHost } from '../../../../src/live/upstream/upstream-host.ts';
import { FarRig, type FarRigOptions } from '../../../fakes/far-rig.ts';
import { settle } from '../../../fakes/session-rig.ts';
import { failure, Puppet, puppetProvider } from '../puppet.ts';
import { hum } from '../support.ts';

const partial: Heard = { type: 'partial', turnId: '1', utterance: { text: 'a', start: 0, end: 0.1 } };
const final: Heard = {
  type: 'turn.ended',
  turnId: '1',
  formattedFollows: false,
  utterance: { text: 'a', start: 0, end: 1 },
};

function puppetWorld(options: FarRigOptions = {}) {
  const puppet = new Puppet();
  return { puppet, world: new FarRig({ providers: [puppetProvider({})], engines: () => ({ puppet }), ...options }) };
}

/** A session that speaks, in the middle of a turn. */
async function speaking({ world, puppet }: ReturnType<typeof puppetWorld>) {
  const client = await world.rig.open({ model: 'puppet/a' });
  client.session.audio(hum(2));
  await settle();
  await puppet.last.say(partial);
  return client;
}

describe('an upstream node that is shutting down', () => {
  it('serves its own sessions until it closes, and no others', async () => {
    const stage = puppetWorld({ nodes: 0 });
    const { world, puppet } = stage;
    const other = world.network.open('other1');
    const upstream = new UpstreamHost(world.rig.upstreamDependencies);
    const placement = { hasOther: () => true, others: () => [], onNodes: () => () => {} };
    const legs = new LegService(world.edge, upstream, { placement });
    const client = await speaking(stage);
    await legs.drain();
    const far = other.request('upstream.open', other.address('ses_x'), { type: 'leg.open' }, 1_000);
    await expect(far).rejects.toMatchObject({ reason: 'unknown_actor' });
    await puppet.last.say({ type: 'failed', failure: failure('retry') });
    await world.rig.advance(1_000);
    expect([puppet.connections.map(({ over }) => over), upstream.size]).toEqual([[true, false], 1]);
    await puppet.last.say(final);
    expect([client.finals.length, client.of('error')]).toEqual([1, []]);
    legs.close();
    await puppet.last.say({ type: 'failed', failure: failure('retry') });
    await world.rig.advance(1_000);
    expect([puppet.connections.length, upstream.size]).toEqual([2, 0]);
  });

  it('keeps the legs of others while it is alone, also for the leg that has to follow one', async () => {
    const stage = puppetWorld();
    const { world, puppet } = stage;
    const client = await speaking(stage);
    let isDrained = false;
    const drained = world.drain(0).then(() => {
      isDrained = true;
    });
    await puppet.last.say(final);
    await world.rig.advance(15_000, 1_000);
    expect([puppet.connections.length, client.of('warning')]).toEqual([1, []]);
    await puppet.last.say({ type: 'failed', failure: failure('retry') });
    await world.rig.advance(1_000);
    expect([puppet.connections.map(({ over }) => over), isDrained]).toEqual([[true, false], false]);
    client.session.control({ type: 'close' });
    await world.rig.advance(1_000);
    expect([puppet.last.controls, world.legs]).toEqual([['finish'], 1]);
    await puppet.last.say({ type: 'finished' });
    await world.rig.advance(2_900);
    // A session that has lost its leg would be back by now.
    expect(isDrained).toBe(false);
    await world.rig.advance(200);
    await drained;
    expect([client.closeCode, client.of('error'), world.legs]).toEqual([1000, [], 0]);
  });

  it('together with the node that has the session, ends it at the end of its turn with 4200', async () => {
    const stage = puppetWorld();
    const { world, puppet } = stage;
    const client = await speaking(stage);
    const drained = Promise.all([world.drain(0), world.rig.sessions.drain()]);
    await world.rig.advance(1_000);
    await puppet.last.say(final);
    await puppet.last.say({ type: 'finished' });
    await world.rig.advance(4_000);
    await drained;
    expect([client.closeCode, client.finals.length, puppet.connections.length]).toEqual([4200, 1, 1]);
    expect(world.legs).toBe(0);
  });

  it('hands its legs over as soon as another one comes', async () => {
    const stage = puppetWorld();
    const { world, puppet } = stage;
    const client = await speaking(stage);
    const drained = world.drain(0);
    await puppet.last.say(final);
    expect(puppet.connections).toHaveLength(1);
    const next = world.add();
    await settle();
    await drained;
    expect([world.node(0).upstream.size, next.upstream.size]).toEqual([0, 1]);
    expect(client.of('warning').map(({ code }) => code)).toEqual(['upstream_replaced']);
  });

  it('takes over the legs meant for others when all shut down at once', async () => {
    const stage = puppetWorld({ nodes: 2 });
    const { world, puppet } = stage;
    const client = await speaking(stage);
    const used = world.nodes.findIndex(({ upstream }) => upstream.size === 1);
    // The first does not know of the second yet, and has asked its session to leave.
    void world.drain(used);
    void world.drain(1 - used);
    await settle();
    await puppet.last.say(final);
    await world.rig.advance(2_000);
    expect([puppet.connections.map(({ over }) => over), world.node(used).upstream.size]).toEqual([[true, false], 1]);
    expect([client.of('error'), client.of('failover')]).toEqual([[], []]);
  });
});
