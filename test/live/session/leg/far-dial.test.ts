// Where a leg is opened, and what a session does while it cannot be: it waits for the bus, asks for a node, goes where there is
// room, and leaves a node that is going away.
import { describe, expect, it, vi } from 'vitest';
import type { Heard, OpenLeg } from '../../../../machines/events.ts';
import { type BusBody, BusError } from '../../../../src/cluster/bus/bus.ts';
import { legActor, OPEN_LEG } from '../../../../src/cluster/bus/subjects.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../../fakes/audio/numbered-finals.ts';
import { FarRig, type FarRigOptions, NOTHING_FAR_LEFT } from '../../../fakes/far-rig.ts';
import { settle } from '../../../fakes/session-rig.ts';
import { Puppet, puppetProvider } from '../puppet.ts';
import { expectInOrder, hum, RATE, untilEnded } from '../support.ts';

const numbered = { model: 'loopback/numbered', providerParams: { turn_seconds: 0.7 } };
const puppetWorld = (options: FarRigOptions = {}) => {
  const puppet = new Puppet();
  return { puppet, world: new FarRig({ providers: [puppetProvider({})], engines: () => ({ puppet }), ...options }) };
};
const final = (text: string, start: number, end: number): Heard => ({
  type: 'turn.ended',
  turnId: text,
  formattedFollows: false,
  utterance: { text, start, end },
});

describe('a dial while the bus is away', () => {
  it('keeps a session waiting for five minutes, without dials, and delivers every sample afterwards', async () => {
    const world = new FarRig({ settings: { idleMs: 600_000 } });
    const { rig, edge } = world;
    const client = await rig.open(numbered);
    const bytes = numberedAudio(0, 320 * RATE);
    const request = vi.spyOn(edge, 'request');
    for (let second = 0; second < 320; second++) {
      if (second === 10) edge.cut();
      if (second === 310) edge.mend();
      client.session.audio(bytes.subarray(second * RATE * 2, (second + 1) * RATE * 2));
      await rig.advance(1_000, 250);
    }
    client.session.control({ type: 'close' });
    await untilEnded(rig, client, 120);
    // One that found out, one that was told where to go.
    expect(request).toHaveBeenCalledTimes(2);
    expect([client.closeCode, client.of('error'), client.of('discontinuity')]).toEqual([1000, [], []]);
    // Told once, in all that time, and then what came of it.
    expect(client.of('warning').map(({ code }) => code)).toEqual(['upstream_waiting', 'upstream_reconnected']);
    expectWhole(client.finals, 320 * RATE);
  });

  it('twenty times in one session, it is never said that the provider is exhausted', async () => {
    const world = new FarRig({ settings: { upstreamRetries: 0 } });
    const { rig, edge } = world;
    // No final comes in all that time: it is one incident.
    const client = await rig.open({ model: 'loopback/numbered', providerParams: { turn_seconds: 60 } });
    for (let cut = 0; cut < 20; cut++) {
      edge.cut();
      client.session.audio(numberedAudio(cut * RATE, (cut + 1) * RATE));
      await rig.advance(500);
      edge.mend();
      await rig.advance(500);
    }
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect([client.closeCode, client.of('error'), rig.breakers.size]).toEqual([1000, [], 0]);
    expectWhole(client.finals, 20 * RATE);
    expectInOrder(client);
  });

  it('warns the client once, however many requests go unanswered', async () => {
    const world = new FarRig({ settings: { upstreamRetries: 10 } });
    const { rig, network } = world;
    network.freeze();
    const client = await rig.open(numbered);
    client.session.audio(numberedAudio(0, RATE));
    await rig.advance(1_900);
    expect(client.of('warning')).toEqual([]);
    await rig.advance(6_000);
    expect(client.of('warning')).toMatchObject([{ code: 'upstream_waiting' }]);
    network.thaw(false);
    await rig.advance(3_000);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect(client.of('warning').map(({ code }) => code)).toEqual(['upstream_waiting', 'upstream_reconnected']);
    expectWhole(client.finals, RATE);
    expect(world.leftBehind()).toEqual(NOTHING_FAR_LEFT);
  });

  it('lets a session end, and leaves nothing that waits', async () => {
    const world = new FarRig();
    const { rig, edge } = world;
    edge.cut();
    const client = await rig.open(numbered);
    await rig.advance(20_000, 1_000);
    client.session.abort('internal_error', 'Over.');
    await settle();
    edge.mend();
    await rig.advance(1_000);
    expect(world.leftBehind()).toEqual(NOTHING_FAR_LEFT);
  });
});

describe('a dial while no node answers', () => {
  it('retries with growing pauses until there is a node, then opens the leg', async () => {
    const world = new FarRig({ nodes: 0 });
    const { rig } = world;
    const request = vi.spyOn(world.edge, 'request');
    const client = await rig.open(numbered);
    client.session.audio(numberedAudio(0, RATE));
    await rig.advance(14_000);
    expect(request.mock.calls.length).toBeGreaterThan(14);
    expect(request.mock.calls.length).toBeLessThan(20);
    world.add();
    await rig.advance(1_500);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect([client.of('error'), rig.faults]).toEqual([[], []]);
    expectWhole(client.finals, RATE);
  });

  it('fails after 15 s with the reason', async () => {
    const world = new FarRig({ nodes: 0, settings: { upstreamRetries: 0 } });
    const client = await world.rig.open(numbered);
    await world.rig.advance(14_500);
    expect(client.closeCode).toBeUndefined();
    await world.rig.advance(2_000);
    expect(client.of('error')).toMatchObject([{ error: { code: 'upstream_failed' } }]);
    expect(world.rig.faults).toMatchObject([{ name: 'openLeg', error: expect.any(BusError) }]);
  });

  it('closes a leg whose answer came too late', async () => {
    const { world, puppet } = puppetWorld();
    world.network.freeze();
    const client = await world.rig.open({ model: 'puppet/a' });
    await world.rig.advance(5_000);
    world.network.thaw();
    await world.rig.advance(2_000);
    expect(puppet.connections.filter(({ over }) => !over)).toHaveLength(1);
    expect([world.legs, client.of('error')]).toEqual([1, []]);
  });
});

describe('the place of a leg', () => {
  it('prefers this node for its own sessions, even when others are less loaded', async () => {
    const world = new FarRig({ nodes: 2 });
    const [one, two] = [world.node(0), world.node(1)];
    one.shortOf = 'legs';
    const request: OpenLeg = {
      ...{ type: 'leg.open', session: one.bus.address('ses_1'), sessionId: 'ses_1', generation: 1 },
      ...{ slug: 'loopback/script', sampleRate: RATE, language: null, interimResults: true, diarization: false },
      ...{ params: {}, credentialId: 'service', organisationId: 'org_1' },
    };
    one.bus.attach('ses_1', () => {});
    await one.bus.request(OPEN_LEG, one.bus.address('ses_1'), request, 1_000);
    expect([one.upstream.size, two.upstream.size, one.legs.farLegs]).toEqual([1, 0, 0]);
  });

  it('stays unique: a second leg of the same generation is closed', async () => {
    const { world, puppet } = puppetWorld({ nodes: 2 });
    const client = await world.rig.open({ model: 'puppet/a' });
    const used = world.nodes.findIndex(({ upstream }) => upstream.size === 1);
    const { sessionId } = client.session.opening;
    const request = vi.spyOn(world.edge, 'request');
    // As when the request was delivered twice.
    const again = openOf(world, sessionId);
    await world.edge.requestOf(world.node(1 - used).bus.node, OPEN_LEG, world.edge.address(sessionId), again, 1_000);
    await settle();
    expect(puppet.connections.map(({ over }) => over)).toEqual([false, true]);
    expect([request.mock.calls.length, world.legs, world.rig.drops.late_report]).toEqual([0, 1, 1]);
  });
});

const openOf = (world: FarRig, sessionId: string): OpenLeg => ({
  ...{ type: 'leg.open', session: world.edge.address(sessionId), sessionId, generation: 1, slug: 'puppet/a' },
  ...{ sampleRate: RATE, language: null, interimResults: true, diarization: false, params: {} },
  ...{ credentialId: 'service', organisationId: 'org_1' },
});

describe('a node that is going away', () => {
  it('hands its legs to another node at turn ends, and finishes when none is left', async () => {
    const { world, puppet } = puppetWorld();
    const { rig } = world;
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(hum(2));
    await settle();
    await puppet.last.say({ type: 'partial', turnId: '1', utterance: { text: 'a', start: 0, end: 0.1 } });
    const next = world.add();
    let isDrained = false;
    void world.drain(0).then(() => {
      isDrained = true;
    });
    await rig.advance(5_000);
    expect([isDrained, puppet.connections.length]).toEqual([false, 1]);
    await puppet.last.say(final('a', 0, 1));
    await settle();
    expect([isDrained, next.upstream.size, world.node(0).upstream.size]).toEqual([true, 1, 0]);
    expect(puppet.connections.map(({ over }) => over)).toEqual([true, false]);
    expect([client.finals.length, client.of('error'), client.of('failover')]).toEqual([1, [], []]);
  });

  it('moves a leg that is not ready yet as soon as it is', async () => {
    const { world, puppet } = puppetWorld();
    puppet.ready = false;
    await world.rig.open({ model: 'puppet/a' });
    const next = world.add();
    const drained = world.drain(0);
    puppet.ready = true;
    await puppet.last.say({ type: 'ready' });
    await drained;
    expect([world.node(0).upstream.size, next.upstream.size]).toEqual([0, 1]);
  });

  it('opens no more, and is done at once without legs', async () => {
    const world = new FarRig({ nodes: 2 });
    await world.drain(0);
    for (let session = 0; session < 4; session++) await world.rig.open(numbered);
    expect(world.nodes.map(({ upstream }) => upstream.size)).toEqual([0, 4]);
  });
});

describe('invalid messages from the bus', () => {
  const HOSTILE: unknown[] = [
    { type: 'leg.heard', generation: 1, sequence: 2, heard: null },
    { type: 'leg.heard', generation: 1, sequence: 2, heard: { type: 'partial', turnId: 7 } },
    { type: 'leg.failed', generation: 1, sequence: 2, failure: { kind: 'all' } },
    { type: 'leg.pulse', generation: 1, sequence: 1, audioBytes: '0' },
    { type: 'leg.ready', generation: 'x', sequence: 2 },
    { type: '__proto__' },
    { type: 'leg.audio', number: Number.NaN, sequence: 1 },
    { type: 'leg.finish', number: 'two' },
  ];

  it('count as dropped for a session, and are ignored by a leg', async () => {
    const { world, puppet } = puppetWorld();
    const client = await world.rig.open({ model: 'puppet/a' });
    const { sessionId } = client.session.opening;
    const [session, leg] = [world.edge.address(sessionId), world.node(0).bus.address(legActor(sessionId, 1))];
    for (const body of HOSTILE) {
      world.node(0).bus.send(session, leg, body as BusBody);
      world.edge.send(leg, session, body as BusBody);
    }
    // And somebody else has nothing to tell a leg.
    world.edge.send(leg, world.edge.address('stranger'), { type: 'leg.close' });
    await world.rig.advance(3_000);
    client.session.audio(hum(1));
    await settle();
    expect([puppet.connections.length, puppet.last.samples, puppet.last.over]).toEqual([1, RATE, false]);
    expect([world.rig.drops, world.rig.faults]).toEqual([{ bad_report: HOSTILE.length }, []]);
  });

  it('cause no failure where a newer node sends more: unknown reports are skipped', async () => {
    const { world, puppet } = puppetWorld();
    const client = await world.rig.open({ model: 'puppet/a' });
    client.session.audio(hum(1));
    await settle();
    await puppet.last.say({ type: 'mood', cheerful: true } as unknown as Heard, final('a', 0, 1));
    expect([puppet.connections.length, client.finals.length, world.rig.drops]).toEqual([1, 1, {}]);
  });

  it.each([{}, { session: 'nowhere' }, { slug: 7 }, { sampleRate: -1 }, { params: 'all' }, { generation: null }])(
    'opens no leg: %j',
    async (more) => {
      const { world } = puppetWorld();
      const body = { ...(Object.keys(more).length === 0 ? { type: 'x' } : openOf(world, 'ses_1')), ...more } as BusBody;
      const asked = world.edge.request(OPEN_LEG, world.edge.address('ses_1'), body, 1_000);
      await expect(asked).rejects.toMatchObject({ reason: 'handler_failed' });
      expect([world.legs, world.leftBehind()]).toEqual([0, NOTHING_FAR_LEFT]);
    },
  );
});
