// A session and its leg on another node: what goes is numbered and acknowledged, what is under way is bounded, and each side
// notices when the other is not there. What a lossy bus does to whole sessions is in far-legs-lossy.test.ts.
import { describe, expect, it, vi } from 'vitest';
import type { Heard } from '../../../../machines/events.ts';
import type { Address, BusBody } from '../../../../src/cluster/bus/bus.ts';
import { legActor } from '../../../../src/cluster/bus/subjects.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../../fakes/audio/numbered-finals.ts';
import { FarRig, type FarRigOptions, NOTHING_FAR_LEFT } from '../../../fakes/far-rig.ts';
import { type RigClient, settle } from '../../../fakes/session-rig.ts';
import { Puppet, puppetProvider, puppetRig } from '../puppet.ts';
import { expectInOrder, hum, RATE, untilEnded } from '../support.ts';

const UNDER_WAY_MAX = 262_144;

/** A session whose leg is a puppet on another node. */
async function farPuppet(options: FarRigOptions = {}) {
  const puppet = new Puppet();
  const world = new FarRig({ providers: [puppetProvider({})], engines: () => ({ puppet }), ...options });
  const client = await world.rig.open({ model: 'puppet/a' });
  const { sessionId } = client.session.opening;
  const session = world.edge.address(sessionId);
  const leg = (generation = 1): Address => world.node(0).bus.address(legActor(sessionId, generation));
  return { world, rig: world.rig, puppet, client, session, leg };
}

const warnings = (client: RigClient) => client.of('warning').map(({ code }) => code);
const final = (text: string, start: number, end: number): Heard => ({
  type: 'turn.ended',
  turnId: text,
  formattedFollows: false,
  utterance: { text, start, end },
});

describe('a far leg', () => {
  it('transcribes its session’s audio, and both ends leave nothing', async () => {
    const world = new FarRig();
    const { rig } = world;
    const client = await rig.open({ model: 'loopback/numbered', providerParams: { turn_seconds: 0.9 } });
    client.session.audio(numberedAudio(0, 10 * RATE));
    client.session.control({ type: 'finalize' });
    await rig.advance(2_000);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expectWhole(client.finals, 10 * RATE);
    expectInOrder(client);
    expect([warnings(client), rig.faults, client.closeCode]).toEqual([[], [], 1000]);
    expect(world.leftBehind()).toEqual(NOTHING_FAR_LEFT);
  });

  it('lives as long as its session, though nothing is said for an hour', async () => {
    const { rig, client, puppet, world } = await farPuppet({ settings: { idleMs: 7_200_000 } });
    await rig.advance(3_600_000, 500);
    expect([puppet.connections.length, warnings(client), world.legs]).toEqual([1, [], 1]);
    rig.sessions.close();
    await settle();
    expect([puppet.last.over, world.leftBehind()]).toEqual([true, NOTHING_FAR_LEFT]);
  });

  it('costs a near leg nothing: its commands have no number, and it has no pulse', async () => {
    const { rig } = puppetRig();
    const send = vi.spyOn(rig.bus, 'send');
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(hum(1));
    await rig.advance(5_000);
    const bodies = send.mock.calls.map(([, , body]) => body);
    expect(new Set(bodies.map(({ type }) => type))).toEqual(new Set(['leg.ready', 'leg.audio']));
    expect(bodies.filter((body) => 'number' in body)).toEqual([]);
  });
});

describe('the order of what is said', () => {
  it.each([
    ['a command is missing', 3],
    ['a command comes again', 1],
  ])('fails the leg on its own side when %s', async (_, number) => {
    const { world, rig, client, puppet, session, leg } = await farPuppet();
    client.session.audio(hum(0.1));
    await settle();
    world.edge.send(leg(), session, { type: 'leg.finalize', number } as BusBody);
    await settle();
    expect([puppet.connections[0]?.over, puppet.connections[0]?.controls]).toEqual([true, []]);
    await rig.advance(200);
    expect([puppet.connections.length, warnings(client), client.of('error')]).toEqual([
      2,
      ['upstream_reconnected'],
      [],
    ]);
  });

  it.each([
    ['a report is missing', { type: 'leg.heard', sequence: 3, heard: final('a', 0, 0.05) }],
    ['a report comes again', { type: 'leg.ready', sequence: 1 }],
    ['the pulse counts a report that never came', { type: 'leg.pulse', sequence: 2, audioBytes: 0 }],
    ['the pulse acknowledges what was not sent', { type: 'leg.pulse', sequence: 1, audioBytes: 99_999_999 }],
  ])('fails the leg on the side of its session when %s', async (_, report) => {
    const { world, rig, client, puppet, session, leg } = await farPuppet();
    client.session.audio(hum(0.1));
    await settle();
    world.node(0).bus.send(session, leg(), { ...report, generation: 1 } as unknown as BusBody);
    await settle();
    await rig.advance(200);
    expect([puppet.connections.map(({ over }) => over), client.finals]).toEqual([[true, false], []]);
    expect(warnings(client)).toEqual(['upstream_reconnected']);
  });

  it('finds out by the pulse that the last report was lost, though no other follows', async () => {
    const { world, rig, client, puppet } = await farPuppet();
    client.session.audio(hum(1));
    await settle();
    const carry = vi.spyOn(world.network, 'carry').mockImplementationOnce(() => {});
    await puppet.last.say(final('a', 0, 0.5));
    expect(carry).toHaveBeenCalledTimes(1);
    expect(puppet.connections).toHaveLength(1);
    await rig.advance(700, 50);
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, RATE]);
    expect(client.finals).toEqual([]);
  });

  it('finds out by the sign of life that the last audio was lost, though no other follows', async () => {
    const { world, rig, client, puppet } = await farPuppet();
    vi.spyOn(world.network, 'carry').mockImplementationOnce(() => {});
    client.session.audio(hum(0.1));
    await settle();
    expect(puppet.last.samples).toBe(0);
    await rig.advance(2_200, 100);
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, RATE / 10]);
    expect(warnings(client)).toEqual(['upstream_reconnected']);
  });
});

describe('audio in flight to a far leg', () => {
  it('stays below 256 KiB unacknowledged, and all of it arrives with the leg', async () => {
    const { world, rig, client, puppet } = await farPuppet();
    const send = vi.spyOn(world.edge, 'send');
    const sent = () => send.mock.calls.reduce((sum, [, , , bytes]) => sum + (bytes?.byteLength ?? 0), 0);
    world.network.freeze();
    client.session.audio(hum(30));
    await rig.advance(1_000);
    expect(sent()).toBeLessThanOrEqual(UNDER_WAY_MAX);
    expect(sent()).toBeGreaterThan(UNDER_WAY_MAX / 2);
    world.network.thaw();
    await rig.advance(1_000);
    expect([puppet.last.samples, puppet.connections.length]).toEqual([30 * RATE, 1]);
  });

  it('gets acknowledged every 64 KiB, without waiting for the next pulse', async () => {
    const { client, puppet } = await farPuppet();
    client.session.audio(hum(30));
    // No time goes by.
    await settle();
    expect(puppet.last.samples).toBe(30 * RATE);
  });

  it('waits for a slow provider: the leg holds no more than the audio in flight', async () => {
    const { rig, client, puppet } = await farPuppet();
    puppet.last.bufferedBytes = 300_000;
    client.session.audio(hum(0.1));
    await settle();
    client.session.audio(hum(60));
    await rig.advance(2_000);
    expect(puppet.last.samples * 2).toBeLessThanOrEqual(UNDER_WAY_MAX);
    puppet.last.bufferedBytes = 0;
    puppet.last.listener.drained();
    await rig.advance(500);
    expect(puppet.last.samples).toBe(60.1 * RATE);
  });
});

describe('a side that is not there', () => {
  it('counts as lost for the session after 3 s without a pulse, and not before', async () => {
    const { world, rig, client, puppet } = await farPuppet();
    await rig.advance(1_000);
    world.network.faults = { drop: 1, duplicate: 0, swap: 0 };
    await rig.advance(2_400);
    expect(rig.sessions.describe(client.session.opening.sessionId)?.state).toBe('streaming');
    await rig.advance(700);
    expect(rig.sessions.describe(client.session.opening.sessionId)?.state).toBe('connecting');
    world.network.heal();
    await rig.advance(4_000);
    expect([puppet.connections.length, warnings(client)]).toEqual([2, ['upstream_reconnected']]);
  });

  it('survives when the session’s own process was the one that stood still', async () => {
    const { rig, client, puppet } = await farPuppet();
    await rig.advance(1_000);
    // One step: the timers of both sides are all due at once, as after a loop that was blocked.
    await rig.advance(2_900, 2_900);
    await rig.advance(1_000);
    expect([puppet.connections.length, warnings(client)]).toEqual([1, []]);
  });

  it('makes the leg close its connection after 10 s, without a report', async () => {
    const { world, rig, puppet } = await farPuppet();
    // The session is gone with its node, and nobody says so.
    vi.spyOn(world.edge, 'take').mockReturnValue(undefined);
    vi.spyOn(world.edge, 'send').mockReturnValue('accepted');
    await rig.advance(9_000);
    expect(puppet.connections[0]?.over).toBe(false);
    await rig.advance(3_000);
    expect(puppet.connections[0]?.over).toBe(true);
  });

  it('moves the leg at once when a letter reaches no node', async () => {
    const { world, rig, client, puppet } = await farPuppet({ nodes: 2 });
    const [first] = world.nodes.filter(({ upstream }) => upstream.size === 1);
    world.kill(world.nodes.indexOf(first as never));
    client.session.audio(hum(0.1));
    await settle();
    await rig.advance(100);
    expect([world.legs, warnings(client), puppet.last.samples]).toEqual([1, ['upstream_reconnected'], RATE / 10]);
  });

  it.each(['session', 'leg'] as const)('ends the %s at once when its node is reported gone', async (side) => {
    const { world, rig, puppet } = await farPuppet({ nodes: 2 });
    const used = world.nodes.find(({ upstream }) => upstream.size === 1);
    if (side === 'session') rig.sessions.nodeGone('nobody');
    else used?.legs.nodeGone('nobody');
    await settle();
    expect(puppet.connections).toHaveLength(1);
    if (side === 'session') rig.sessions.nodeGone(used?.bus.node ?? '');
    else used?.legs.nodeGone(world.edge.node);
    await settle();
    expect(puppet.connections[0]?.over).toBe(true);
    await rig.advance(side === 'session' ? 100 : 4_000);
    expect([puppet.connections.length, world.legs]).toEqual([2, 1]);
  });

  it('ends a leg whose session was closed, and one that was opened after it', async () => {
    const { world, rig, puppet } = await farPuppet();
    rig.sessions.close();
    await settle();
    expect([puppet.last.over, world.leftBehind()]).toEqual([true, NOTHING_FAR_LEFT]);
    world.network.freeze();
    await rig.open({ model: 'puppet/a' });
    rig.sessions.close();
    world.network.thaw();
    await settle();
    await rig.advance(1_000);
    expect([puppet.connections.filter(({ over }) => !over), world.leftBehind()]).toEqual([[], NOTHING_FAR_LEFT]);
  });
});
