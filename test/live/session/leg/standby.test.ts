// A session keeps its first fallback connected, where that is requested and free: a failover then needs no dial.
import { describe, expect, it } from 'vitest';
import type { ListenRequest } from '../../../../src/api/listen.ts';
import { FarRig, NOTHING_FAR_LEFT } from '../../../fakes/far-rig.ts';
import { settle } from '../../../fakes/session-rig.ts';
import { failure, Puppet, puppetProvider, puppetRig } from '../puppet.ts';
import { expectInOrder, expectNothingLeft, RATE, speech, untilEnded } from '../support.ts';

const REQUEST: Partial<ListenRequest> = { model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }], standby: true };
const TIMING = { stallMs: Number.POSITIVE_INFINITY, isIdleFree: true } as const;
const RIG = { settings: { idleMs: 36_000_000 } };

async function opened(options: Parameters<typeof puppetRig>[0] = {}, request: Partial<ListenRequest> = {}) {
  const { rig, puppet } = puppetRig({ timing: TIMING, ...options, rig: { ...RIG, ...options.rig } });
  const client = await rig.open({ ...REQUEST, ...request });
  await rig.advance(100);
  return { rig, puppet, client };
}

type World = Awaited<ReturnType<typeof opened>>;

async function closed({ rig, client, puppet }: World): Promise<void> {
  client.session.control({ type: 'close' });
  await settle();
  for (const leg of puppet.connections)
    if (!leg.over) await leg.say({ type: 'turn.ended', turnId: '9', formattedFollows: false }, { type: 'finished' });
  await untilEnded(rig, client);
  expectInOrder(client);
  await expectNothingLeft(rig);
}

describe('a fallback on standby', () => {
  it.each(['next', 'retry'] as const)('takes over without a dial after a failure with %s', async (kind) => {
    const world = await opened();
    const { rig, puppet, client } = world;
    const [first, second] = puppet.connections;
    expect(puppet.dialled).toEqual(['a', 'b']);
    client.session.audio(speech(1));
    await rig.advance(1_000);
    expect([first?.samples, second?.samples]).toEqual([RATE, 0]);
    await first?.say({ type: 'failed', failure: failure(kind) });
    // No time has passed.
    expect([puppet.dialled, second?.samples]).toEqual([['a', 'b'], RATE]);
    expect(client.of('failover')).toMatchObject([{ to: 'puppet/b', reason: 'upstream_error', replayed_seconds: 1 }]);
    expect([client.of('warning'), rig.standbys]).toEqual([[], ['opened', 'used']]);
    await closed(world);
    // What a provider may bill that bills open connections.
    const ahead = { model: 'puppet/b', own: false, reason: 'standby', legs: 1, audioMs: 0, connectionMs: 1_100 };
    expect([...rig.ledger.settled.values()][0]?.end.sentAgain).toContainEqual(ahead);
  });

  it('is connected and released in mid-session, where the client configures it, and nothing else changes', async () => {
    const world = await opened({}, { standby: false });
    const { rig, puppet, client } = world;
    const { opening } = client.session;
    opening.configure = async ({ standby }) => ({
      ...{ request: { ...opening.request, standby }, chain: [], members: [] },
      warnings: [{ code: 'parameter_ignored', message: 'A warning about something else.', param: 'prompt' }],
    });
    client.session.audio(speech(1));
    await rig.advance(1_000);
    for (const [standby, dialled, over] of [
      [true, ['a', 'b'], false],
      [false, ['a', 'b'], true],
      [true, ['a', 'b', 'b'], false],
    ] as const) {
      client.session.control({ type: 'configure', standby });
      await rig.advance(1_000);
      expect([puppet.dialled, puppet.last.over]).toEqual([dialled, over]);
    }
    expect(client.of('configured').map(({ model, fallbacks }) => [model, fallbacks])).toEqual(
      Array(3).fill(['puppet/a', ['puppet/b']]),
    );
    await puppet.connections[0]?.say({ type: 'failed', failure: failure('next') });
    expect([puppet.dialled, rig.standbys]).toEqual([
      ['a', 'b', 'b'],
      ['opened', 'opened', 'used'],
    ]);
    expect(client.of('warning')).toEqual([]);
    await closed(world);
  });

  it('is dialled after a return to the first model if it was configured while the fallback served', async () => {
    const world = await opened({}, { standby: false, returnToPrimary: true });
    const { rig, puppet, client } = world;
    const { opening } = client.session;
    opening.configure = async ({ standby }) => ({ request: { ...opening.request, standby }, chain: [], members: [] });
    client.session.audio(speech(1));
    await rig.advance(1_000);
    await puppet.connections[0]?.say({ type: 'failed', failure: failure('next') });
    client.session.control({ type: 'configure', standby: true });
    await rig.advance(11_000, 1_000);
    expect(puppet.dialled).toEqual(['a', 'b']);
    const utterance = { text: 'b', start: 0, end: 1 };
    await puppet.connections[1]?.say({ type: 'turn.ended', turnId: '1', formattedFollows: false, utterance });
    await rig.advance(200);
    expect(puppet.dialled).toEqual(['a', 'b', 'a', 'b']);
    await closed(world);
  });

  it('reports why it is ignored where the client configures one that cannot stay connected', async () => {
    const world = await opened({ timing: { stallMs: 1_000_000 } }, { standby: false });
    const { rig, puppet, client } = world;
    const { opening } = client.session;
    const warning = { code: 'parameter_ignored', message: '`standby` is ignored.', param: 'standby' };
    opening.configure = async () => ({
      ...{ request: { ...opening.request, standby: true }, chain: [], members: [], warnings: [warning] },
    });
    client.session.control({ type: 'configure', standby: true });
    await rig.advance(1_000);
    expect([puppet.dialled, client.of('warning')]).toMatchObject([['a'], [warning]]);
    await closed(world);
  });

  it('costs nothing until it takes over: no audio, and no line on the bill', async () => {
    const world = await opened();
    await world.rig.advance(600_000, 10_000);
    world.client.session.audio(speech(1));
    await world.rig.advance(1_000);
    await closed(world);
    expect(world.client.of('session_ended')[0]?.usage).toMatchObject([{ model: 'puppet/a', seconds: 1 }]);
    expect(world.client.session.log.legs.all.map(({ model }) => model)).toEqual(['puppet/a']);
  });

  it.each<[string, Parameters<typeof puppetRig>[0], Partial<ListenRequest>]>([
    ['its provider bills a connection without audio', { timing: { stallMs: 1_000_000 } }, {}],
    ['there is no fallback', {}, { fallbacks: [] }],
  ])('is not connected if %s, and a warning says so', async (_, options, request) => {
    const world = await opened(options, request);
    expect(world.puppet.dialled).toEqual(['a']);
    expect(world.client.of('warning')).toMatchObject([{ code: 'parameter_ignored', param: 'standby' }]);
    await closed(world);
    await expect(world.rig.open({ ...REQUEST, ...request, strict: true })).rejects.toMatchObject({
      code: 'unsupported_parameter',
    });
  });

  it('is not connected without a request', async () => {
    const world = await opened({}, { standby: false });
    expect([world.puppet.dialled, world.rig.bus.actors]).toEqual([['a'], 2]);
    await closed(world);
  });

  it('is dialled again when it is lost, less and less often, and the client notices nothing', async () => {
    const world = await opened({ rig: { breakers: { failuresMax: 1_000 } } });
    const { rig, puppet, client } = world;
    const dials: number[] = [];
    const begunMs = rig.clock.now();
    puppet.ready = false;
    for (let count = 0; count < 600; count++) {
      const { last } = puppet;
      if (!last.over && puppet.connections.length > dials.length + 1) {
        dials.push(Math.round((rig.clock.now() - begunMs) / 1_000));
        await last.hangUp(1011);
      }
      await rig.advance(500);
    }
    const pauses = dials.map((at, index) => at - (dials[index - 1] ?? 0));
    expect(pauses[0]).toBe(0);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(62);
    expect(dials.length).toBeLessThanOrEqual(12);
    expect([client.events.length, new Set(rig.standbys)]).toEqual([1, new Set(['opened', 'dropped', 'failed'])]);
    await closed(world);
  });

  it('is not dialled while its circuit breaker is open', async () => {
    const world = await opened({ rig: { breakers: { failuresMax: 1, openMs: 30_000 } } });
    const { rig, puppet } = world;
    await puppet.last.hangUp(1011);
    await rig.advance(20_000, 1_000);
    expect(puppet.dialled).toEqual(['a', 'b']);
    await rig.advance(40_000, 1_000);
    expect(puppet.dialled).toEqual(['a', 'b', 'b']);
    await closed(world);
  });

  it('stays connected when the first model is only connected again', async () => {
    const world = await opened({}, { fallbacks: [{ model: 'puppet/b' }] });
    const { rig, puppet, client } = world;
    client.session.audio(speech(1));
    await rig.advance(1_000);
    client.session.leg.fail({ ...failure('retry'), own: true });
    await rig.advance(1_000);
    const standby = puppet.connections[1];
    expect([puppet.dialled, standby?.over]).toEqual([['a', 'b', 'a'], false]);
    await closed(world);
  });

  it('is connected again after a return to the first model', async () => {
    const world = await opened({}, { returnToPrimary: true });
    const { rig, puppet, client } = world;
    client.session.audio(speech(1));
    await rig.advance(1_000);
    await puppet.connections[0]?.say({ type: 'failed', failure: failure('next') });
    await rig.advance(11_000, 1_000);
    const utterance = { text: 'b', start: 0, end: 1 };
    await puppet.connections[1]?.say({ type: 'turn.ended', turnId: '1', formattedFollows: false, utterance });
    await rig.advance(200);
    expect(client.of('failover').map(({ reason }) => reason)).toEqual(['upstream_error', 'returned']);
    expect(puppet.dialled).toEqual(['a', 'b', 'a', 'b']);
    expect(puppet.connections.map(({ over }) => over)).toEqual([true, true, false, false]);
    await closed(world);
  });

  it('is released with the connection of a session that is suspended, and comes back with its audio', async () => {
    const world = await opened({ rig: { settings: { ...RIG.settings, suspendMs: 5_000 } } });
    const { rig, puppet, client } = world;
    client.session.audio(speech(0.5));
    await rig.advance(6_000, 1_000);
    const utterance = { text: 'a', start: 0, end: 0.5 };
    await puppet.connections[0]?.say(
      { type: 'turn.ended', turnId: '1', formattedFollows: false, utterance },
      { type: 'finished' },
    );
    expect(puppet.connections.map(({ over }) => over)).toEqual([true, true]);
    await rig.advance(120_000, 1_000);
    expect(puppet.dialled).toEqual(['a', 'b']);
    client.session.audio(speech(0.5));
    await rig.advance(500);
    expect(puppet.dialled).toEqual(['a', 'b', 'a', 'b']);
    await closed(world);
  });

  it('is counted among the connections opened ahead where another chain takes its place', async () => {
    const world = await opened();
    const { rig, client } = world;
    const { opening } = client.session;
    await rig.advance(1_000);
    const { request } = opening;
    const chain = opening.chain.map((member) => ({ ...member }));
    const members = [...opening.meter.members];
    opening.configure = async () => ({ request: { ...request, standby: false }, chain, members });
    client.session.control({ type: 'configure', language: 'de' });
    await rig.advance(1_000);
    expect(client.of('configured')).toHaveLength(1);
    await closed(world);
    const [ended] = [...rig.ledger.settled.values()];
    expect(ended?.end.sentAgain).toMatchObject([{ model: 'puppet/b', reason: 'standby', connectionMs: 1_200 }]);
  });

  it.each(['gone', 'drain', 'cutOff'] as const)('is released after a %s', async (how) => {
    const { rig, puppet, client } = await opened();
    client.session[how]();
    await settle();
    for (const leg of puppet.connections) if (!leg.over) await leg.say({ type: 'finished' });
    await untilEnded(rig, client);
    expect(puppet.connections.every(({ over }) => over)).toBe(true);
    await expectNothingLeft(rig);
  });

  it('is on another node where legs are, and is lost with it', async () => {
    const puppet = new Puppet();
    const far = new FarRig({ providers: [puppetProvider({ timing: TIMING })], engines: () => ({ puppet }), ...RIG });
    const { rig } = far;
    const client = await rig.open(REQUEST);
    await rig.advance(1_000);
    expect([puppet.dialled, far.legs]).toEqual([['a', 'b'], 2]);
    client.session.audio(speech(1));
    await rig.advance(1_000);
    await puppet.connections[0]?.say({ type: 'failed', failure: failure('next') });
    await rig.advance(500);
    expect([puppet.dialled, puppet.connections[1]?.samples]).toEqual([['a', 'b'], RATE]);
    client.session.control({ type: 'close' });
    await rig.advance(500);
    const utterance = { text: 'b', start: 0, end: 1 };
    await puppet.connections[1]?.say(
      { type: 'turn.ended', turnId: '1', formattedFollows: false, utterance },
      { type: 'finished' },
    );
    await untilEnded(rig, client);
    expect([far.leftBehind(), rig.faults]).toEqual([NOTHING_FAR_LEFT, []]);
  });
});
