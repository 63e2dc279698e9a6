// A session that has failed over returns to its primary at the end of a turn, where that is requested: no word is lost or transcribed
// twice, and what fails on the way is not noticed.
import { describe, expect, it } from 'vitest';
import type { ListenRequest } from '../../../../src/api/listen.ts';
import type { ServerSocket } from '../../../../src/http/server.ts';
import { resolveChain } from '../../../../src/live/failover/chain.ts';
import { ResumableLine } from '../../../../src/live/resume/resumable-line.ts';
import { pricedMembers } from '../../../../src/money/ledger/meter-contract.ts';
import { FarRig, NOTHING_FAR_LEFT } from '../../../fakes/far-rig.ts';
import { type RigClient, SessionRig, settle } from '../../../fakes/session-rig.ts';
import { failure, Puppet, type PuppetConnection, puppetProvider, puppetRig } from '../puppet.ts';
import { expectInOrder, expectNothingLeft, RATE, silence, speech, storyOf, untilEnded } from '../support.ts';

const REQUEST: Partial<ListenRequest> = {
  model: 'puppet/a',
  fallbacks: [{ model: 'puppet/b' }],
  returnToPrimary: true,
};
const RIG = { settings: { idleMs: 36_000_000 } };
const TIMING = { stallMs: Number.POSITIVE_INFINITY };

interface World {
  rig: SessionRig;
  puppet: Puppet;
  client: RigClient;
  /** Seconds of audio so far. */
  seconds: number;
}

async function opened(request: Partial<ListenRequest> = REQUEST, options: Parameters<typeof puppetRig>[0] = {}) {
  const { rig, puppet } = puppetRig({ timing: TIMING, ...options, rig: { ...RIG, ...options.rig } });
  return { rig, puppet, client: await rig.open(request), seconds: 0 };
}

/** The connection that was sent audio last. */
const serving = ({ puppet }: World): PuppetConnection =>
  puppet.connections.findLast(({ samples, over }) => samples > 0 && !over) ?? puppet.last;

/** A second is spoken, and has its final from the leg that serves. */
async function turn(world: World, text: string): Promise<void> {
  world.client.session.audio(speech(0.8));
  world.client.session.audio(silence(0.2));
  await world.rig.advance(1_000);
  world.seconds++;
  const leg = serving(world);
  const end = leg.samples / RATE;
  await leg.say({
    type: 'turn.ended',
    turnId: `${world.seconds}`,
    formattedFollows: false,
    utterance: { text, start: end - 1, end },
  });
}

/** The primary has lost its connection, and cannot be reached at the first attempt. */
async function failedOver(world: World): Promise<void> {
  await turn(world, 'a');
  await serving(world).say({ type: 'failed', failure: failure('next') });
  await world.rig.advance(200);
  await turn(world, 'b');
}

const failovers = ({ client }: World) =>
  client.of('failover').map(({ from, to, reason }) => `${from.slice(-1)} to ${to.slice(-1)}: ${reason}`);
const AWAY = 'a to b: upstream_error';
const BACK = 'b to a: returned';

async function closed({ rig, client }: World): Promise<void> {
  client.session.control({ type: 'close' });
  await untilEnded(rig, client);
  expectInOrder(client);
  await expectNothingLeft(rig);
}

describe('a return to the primary', () => {
  it('comes at the end of a turn, once a leg at the primary is ready while the fallback serves', async () => {
    const world = await opened();
    const { rig, puppet, client } = world;
    await failedOver(world);
    puppet.ready = false;
    await rig.advance(10_000);
    await turn(world, 'c');
    await settle();
    // The primary is dialled; the fallback still has the audio, also of the next turn.
    expect([puppet.dialled, failovers(world)]).toEqual([['a', 'b', 'a'], [AWAY]]);
    client.session.audio(speech(0.5));
    await rig.advance(500);
    const ofTurn = { turnId: 'd', utterance: { text: 'd', start: 2, end: 2.5 } };
    await puppet.connections[1]?.say({ type: 'partial', ...ofTurn });
    await puppet.last.say({ type: 'ready' });
    expect(failovers(world)).toEqual([AWAY]);
    client.session.audio(speech(0.5));
    await rig.advance(500);
    const [, fallback, primary] = puppet.connections as [PuppetConnection, PuppetConnection, PuppetConnection];
    const end = fallback.samples / RATE;
    const utterance = { text: 'd', start: end - 1, end };
    await fallback.say({ type: 'turn.ended', turnId: 'd', formattedFollows: false, utterance });
    expect([failovers(world), fallback.over, primary.over]).toEqual([[AWAY, BACK], true, false]);
    await turn(world, 'e');
    expect(primary.samples).toBe(RATE);
    expect(client.finals.map(({ text, model }) => `${text} by ${model}`)).toEqual([
      ...['a by puppet/a', 'b by puppet/b', 'c by puppet/b', 'd by puppet/b', 'e by puppet/a'],
    ]);
    expect([rig.primaryReturns, client.of('warning')]).toEqual([['returned'], []]);
    await closed(world);
    expect(client.of('session_ended')[0]?.usage).toMatchObject([
      { model: 'puppet/a', seconds: 2 },
      { model: 'puppet/b', seconds: 3 },
    ]);
    expect(client.summary?.failovers).toBe(1);
    const probe = { model: 'puppet/a', own: false, reason: 'probe', legs: 1, audioMs: 0, connectionMs: 500 };
    expect([...rig.ledger.settled.values()][0]?.end.sentAgain).toContainEqual(probe);
  });

  it('comes at once if the leg is ready in the pause after the turn', async () => {
    const world = await opened();
    await failedOver(world);
    await world.rig.advance(10_000);
    await turn(world, 'c');
    await settle();
    expect([failovers(world), world.puppet.dialled]).toEqual([
      [AWAY, BACK],
      ['a', 'b', 'a'],
    ]);
    await closed(world);
  });

  it.each<[string, Partial<ListenRequest>, 'on' | 'off', boolean]>([
    ['not without a request', { returnToPrimary: undefined }, 'off', false],
    ['with the setting of the gateway', { returnToPrimary: undefined }, 'on', true],
    ['not if the request declines it', { returnToPrimary: false }, 'on', false],
  ])('happens %s', async (_, request, returnToPrimary, isExpected) => {
    const world = await opened({ ...REQUEST, ...request }, { rig: { settings: { ...RIG.settings, returnToPrimary } } });
    await failedOver(world);
    await world.rig.advance(10_000);
    await turn(world, 'c');
    await settle();
    expect(failovers(world)).toEqual(isExpected ? [AWAY, BACK] : [AWAY]);
    await closed(world);
  });

  it('does not happen in a session that its primary serves, which dials once', async () => {
    const world = await opened();
    for (let count = 0; count < 3; count++) {
      await turn(world, 'a');
      await world.rig.advance(60_000, 1_000);
    }
    expect([world.puppet.dialled, world.rig.bus.actors]).toEqual([['a'], 2]);
    await closed(world);
  });

  it('stays with the fallback if the primary cannot be reached, and the client notices nothing', async () => {
    const world = await opened();
    const { rig, puppet, client } = world;
    await failedOver(world);
    const before = storyOf(client);
    for (let count = 0; count < 20; count++) {
      puppet.open = false;
      await rig.advance(10_000, 1_000);
      await turn(world, 'c');
      const probe = puppet.last;
      if (probe.samples === 0 && !probe.over) {
        probe.over = true;
        probe.listener.closed(1011, '');
        await settle();
      }
    }
    expect(storyOf(client)).toEqual(before);
    // After 10, 20, 40 and 80 s, counted in turns.
    expect(rig.primaryReturns).toEqual(['failed', 'failed', 'failed', 'failed']);
    expect(client.finals).toHaveLength(22);
    await closed(world);
  });

  it('does not bounce with a primary that flaps', async () => {
    const world = await opened();
    const { rig, client } = world;
    await failedOver(world);
    for (let count = 0; count < 240; count++) {
      await turn(world, 'x');
      await rig.advance(14_000, 1_000);
      // The primary takes the audio, and loses the connection each time.
      if (failovers(world).at(-1) === BACK) await serving(world).say({ type: 'failed', failure: failure('next') });
      await rig.advance(300);
    }
    const returns = rig.primaryReturns.filter((outcome) => outcome === 'returned').length;
    expect(returns).toBeGreaterThan(3);
    expect(returns).toBeLessThanOrEqual(8);
    expect(client.finals).toHaveLength(242);
    await closed(world);
  });

  it('waits until the circuit breaker of the primary lets an attempt through, and reports the outcome to it', async () => {
    const world = await opened(REQUEST, { rig: { breakers: { failuresMax: 1, openMs: 60_000 } } });
    const { rig, puppet } = world;
    await failedOver(world);
    await rig.advance(30_000, 1_000);
    await turn(world, 'c');
    await settle();
    expect([puppet.dialled, rig.breakers.openCount]).toEqual([['a', 'b'], 1]);
    await rig.advance(31_000, 1_000);
    await turn(world, 'd');
    await settle();
    expect(failovers(world)).toEqual([AWAY, BACK]);
    await turn(world, 'e');
    expect(rig.breakers.openCount).toBe(0);
    await closed(world);
  });

  it('takes one of the streams that the account may have, and none while all are in use', async () => {
    let taken = 0;
    let isFull = false;
    const slots = {
      take: async () => {
        if (isFull) return 'full' as const;
        taken++;
        return { leave: () => void taken-- };
      },
    };
    const world = await opened(REQUEST, { rig: { slots } });
    const { rig, puppet } = world;
    await failedOver(world);
    expect(taken).toBe(1);
    isFull = true;
    await rig.advance(10_000);
    await turn(world, 'c');
    await settle();
    expect([puppet.dialled.length, rig.primaryReturns, taken]).toEqual([2, ['failed'], 1]);
    isFull = false;
    // The pause is no longer for that.
    await rig.advance(10_000);
    puppet.ready = false;
    await turn(world, 'd');
    await settle();
    expect(taken).toBe(2);
    await puppet.last.say({ type: 'ready' });
    expect([failovers(world), taken]).toEqual([[AWAY, BACK], 1]);
    await closed(world);
    expect(taken).toBe(0);
  });

  it('gives the attempt back to the breaker when the session ends while its leg waits', async () => {
    const world = await opened(REQUEST, { rig: { breakers: { failuresMax: 1, openMs: 5_000 } } });
    const { rig, puppet, client } = world;
    await failedOver(world);
    puppet.ready = false;
    await rig.advance(10_000);
    await turn(world, 'c');
    await settle();
    const member = client.session.opening.chain[0] as never;
    expect([puppet.dialled.length, rig.breakers.isOpen(member)]).toEqual([3, true]);
    client.session.control({ type: 'close' });
    await settle();
    expect(rig.breakers.isOpen(member)).toBe(false);
    await untilEnded(rig, client);
    await expectNothingLeft(rig);
  });

  it('is not attempted again once the primary has refused the credential', async () => {
    const world = await opened();
    const { rig, puppet } = world;
    await failedOver(world);
    puppet.ready = false;
    await rig.advance(10_000);
    await turn(world, 'c');
    await puppet.last.say({ type: 'failed', failure: failure('account') });
    for (let count = 0; count < 10; count++) {
      await rig.advance(60_000, 1_000);
      await turn(world, 'c');
    }
    expect([puppet.dialled, rig.primaryReturns]).toEqual([['a', 'b', 'a'], ['failed']]);
    await closed(world);
  });

  it('releases a leg for which no turn ended in 8 s, and does not hold that against the primary', async () => {
    const world = await opened();
    const { rig, puppet, client } = world;
    await failedOver(world);
    puppet.ready = false;
    await rig.advance(10_000);
    await turn(world, 'c');
    client.session.audio(speech(40));
    await settle();
    await puppet.last.say({ type: 'ready' });
    const [, fallback, primary] = puppet.connections as [PuppetConnection, PuppetConnection, PuppetConnection];
    await rig.advance(7_000, 1_000);
    expect(primary.over).toBe(false);
    await rig.advance(2_000, 1_000);
    expect([primary.over, fallback.over, rig.primaryReturns]).toEqual([true, false, ['unused']]);
    expect(rig.breakers.openCount).toBe(0);
    await closed(world);
  });

  it('takes the ready leg when the fallback fails before the turn has ended', async () => {
    const world = await opened({ ...REQUEST, fallbacks: [{ model: 'puppet/b' }] });
    const { rig, puppet, client } = world;
    await failedOver(world);
    puppet.ready = false;
    await rig.advance(10_000);
    await turn(world, 'c');
    client.session.audio(speech(1));
    await rig.advance(1_000);
    await puppet.connections[1]?.say({ type: 'partial', turnId: 'd', utterance: { text: 'd', start: 2, end: 3 } });
    await puppet.last.say({ type: 'ready' });
    puppet.ready = true;
    const [, fallback, primary] = puppet.connections as [PuppetConnection, PuppetConnection, PuppetConnection];
    await fallback.say({ type: 'failed', failure: failure('next') });
    await rig.advance(500);
    expect([puppet.dialled.length, primary.over]).toEqual([3, false]);
    expect(primary.samples).toBe(RATE);
    expect(failovers(world)).toEqual([AWAY, 'b to a: upstream_error']);
    expect(client.finals).toHaveLength(3);
    await closed(world);
  });

  it('fails over again, with every word, when the primary is lost as it takes over', async () => {
    const world = await opened();
    const { rig, puppet, client } = world;
    await failedOver(world);
    await rig.advance(10_000);
    await turn(world, 'c');
    await settle();
    expect(failovers(world)).toEqual([AWAY, BACK]);
    client.session.audio(speech(1));
    await rig.advance(1_000);
    await puppet.last.hangUp(1011);
    await rig.advance(1_000);
    expect(failovers(world)).toEqual([AWAY, BACK, 'a to b: upstream_closed']);
    expect(serving(world).samples).toBe(RATE);
    await turn(world, 'd');
    expect(client.finals).toHaveLength(4);
    await closed(world);
  });
});

describe('a return with the own provider keys of an organisation', () => {
  /** Both providers are the puppet's, with a key of the organisation each. */
  async function openedOwn() {
    const dialled: string[] = [];
    const puppet = new Puppet();
    const rig = new SessionRig({
      ...RIG,
      providers: [{ ...puppetProvider({ timing: TIMING }), credential: 'required' }],
      engines: () => ({ puppet }),
      access: () => ({ baseUrl: undefined, credential: 'service-key' }),
      ownKeyOf: async () => ({ id: 'pk_1', barred: false }),
      dialAccess: async (_, credentialId) => {
        dialled.push(credentialId);
        return { baseUrl: undefined, credential: 'own-key' };
      },
    });
    return { world: { rig, puppet, client: await rig.open(REQUEST), seconds: 0 }, dialled };
  }

  it('dials with the own key again, and charges nothing', async () => {
    const { world, dialled } = await openedOwn();
    await failedOver(world);
    await world.rig.advance(10_000);
    await turn(world, 'c');
    await settle();
    await turn(world, 'd');
    expect(failovers(world)).toEqual([AWAY, BACK]);
    expect([world.puppet.dialled, dialled]).toEqual([
      ['a', 'b', 'a'],
      ['pk_1', 'pk_1', 'pk_1'],
    ]);
    await closed(world);
    const [ended] = world.client.of('session_ended');
    expect(ended?.usage).toMatchObject([
      { model: 'puppet/a', seconds: 2, byok: true, cost_usd: '0.00' },
      { model: 'puppet/b', seconds: 2, byok: true, cost_usd: '0.00' },
    ]);
    expect(ended?.cost_usd).toBe('0.00');
  });

  it('makes no other attempt once the provider has refused the key, and the fallback continues', async () => {
    const { world } = await openedOwn();
    await failedOver(world);
    world.puppet.ready = false;
    await world.rig.advance(10_000);
    await turn(world, 'c');
    await world.puppet.last.say({ type: 'failed', failure: failure('account') });
    for (let count = 0; count < 20; count++) {
      await world.rig.advance(60_000, 1_000);
      await turn(world, 'd');
    }
    expect([world.puppet.dialled, failovers(world)]).toEqual([['a', 'b', 'a'], [AWAY]]);
    expect(world.client.finals).toHaveLength(23);
    await closed(world);
  });
});

describe('a return while the client has lost its socket', () => {
  it.each(['before its leg is ready', 'before a turn has ended', 'after it'] as const)(
    'loses, repeats and bills nothing where the client comes back %s',
    async (when) => {
      const { rig, puppet } = puppetRig({ timing: TIMING, rig: RIG });
      let line: ResumableLine | undefined;
      const client = await rig.open(REQUEST, 'org_1', {}, (to) => {
        line = new ResumableLine(socketTo(to), {
          sessionId: '',
          token: '',
          wallNow: () => new Date(0),
          ended: () => {},
        });
        return line;
      });
      const world = { rig, puppet, client, seconds: 0 };
      const back = () => {
        line?.attach(socketTo(client), client.events.at(-1)?.seq ?? 0, 0, 1);
        client.session.drained();
      };
      await failedOver(world);
      puppet.ready = false;
      await rig.advance(10_000);
      await turn(world, 'c');
      await settle();
      line?.detach();
      const probe = puppet.last;
      // Whoever hears the audio while the socket is gone: it was sent before, or on another socket.
      if (when === 'before its leg is ready') back();
      client.session.audio(speech(0.5));
      await rig.advance(500);
      await puppet.connections[1]?.say({ type: 'partial', turnId: '4', utterance: { text: 'd', start: 2, end: 2.5 } });
      await probe.say({ type: 'ready' });
      if (when === 'before a turn has ended') back();
      client.session.audio(speech(0.5));
      await rig.advance(500);
      const end = (puppet.connections[1]?.samples ?? 0) / RATE;
      const utterance = { text: 'd', start: end - 1, end };
      await puppet.connections[1]?.say({ type: 'turn.ended', turnId: '4', formattedFollows: false, utterance });
      await settle();
      if (when === 'after it') back();
      world.seconds = 4;
      await turn(world, 'e');
      expect(failovers(world)).toEqual([AWAY, BACK]);
      expect(client.finals.map(({ text, model }) => `${text} by ${model.slice(-1)}`)).toEqual([
        ...['a by a', 'b by b', 'c by b', 'd by b', 'e by a'],
      ]);
      await closed(world);
      expect(client.of('session_ended')[0]?.usage).toMatchObject([
        { model: 'puppet/a', seconds: 2 },
        { model: 'puppet/b', seconds: 3 },
      ]);
    },
  );

  /** Without what only says that the session continues. */
  const socketTo = (client: RigClient): ServerSocket =>
    ({
      bufferedBytes: 0,
      closed: false,
      send: (text: string) => (text.includes('"session_resumed"') ? 'sent' : client.send(text)),
      close: (code: number) => client.close(code),
    }) as unknown as ServerSocket;
});

describe('a leg that waits for the return', () => {
  async function waiting() {
    const world = await opened();
    await failedOver(world);
    world.puppet.ready = false;
    await world.rig.advance(10_000);
    await turn(world, 'c');
    await settle();
    const probe = world.puppet.last;
    return { ...world, probe };
  }

  it('is released when no audio comes and the connection is suspended', async () => {
    const { rig, puppet } = puppetRig({ timing: TIMING, rig: { settings: { ...RIG.settings, suspendMs: 15_000 } } });
    const world = { rig, puppet, client: await rig.open(REQUEST), seconds: 0 };
    await failedOver(world);
    puppet.ready = false;
    await rig.advance(10_000);
    await turn(world, 'c');
    const [, fallback, probe] = puppet.connections as [PuppetConnection, PuppetConnection, PuppetConnection];
    await rig.advance(16_000, 1_000);
    await fallback.say({ type: 'finished' });
    expect([fallback.over, probe.over]).toEqual([true, true]);
    await closed(world);
  });

  it('is released when the client changes the model', async () => {
    const { rig, client, puppet, probe } = await waiting();
    const { opening } = client.session;
    opening.configure = async ({ model = '' }) => {
      const request = { ...opening.request, model, fallbacks: [] };
      const { members } = await resolveChain({ ...request, mode: 'live', organisationId: 'org_1' }, rig.chain);
      return { request, chain: members, members: pricedMembers(members) };
    };
    puppet.ready = true;
    client.session.control({ type: 'configure', model: 'puppet/c' });
    await rig.advance(500);
    expect([probe.over, puppet.dialled.at(-1)]).toEqual([true, 'c']);
    await rig.advance(120_000, 1_000);
    expect(client.of('configured')).toMatchObject([{ model: 'puppet/c' }]);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect(puppet.dialled.slice(3)).toEqual(['c']);
    await expectNothingLeft(rig);
  });

  it('begins and ends with what the client configures, while the fallback continues', async () => {
    const world = await opened({ ...REQUEST, returnToPrimary: false });
    const { rig, client, puppet } = world;
    const { opening } = client.session;
    opening.configure = async ({ return_to_primary: returnToPrimary }) => {
      const request = { ...opening.request, returnToPrimary };
      return { request, chain: opening.chain, members: pricedMembers(opening.chain) };
    };
    await failedOver(world);
    await rig.advance(10_000);
    await turn(world, 'c');
    expect(puppet.dialled).toEqual(['a', 'b']);
    client.session.control({ type: 'configure', return_to_primary: true });
    await rig.advance(1_000);
    expect([puppet.dialled, client.of('configured')]).toMatchObject([['a', 'b'], [{ model: 'puppet/b' }]]);
    await turn(world, 'd');
    await settle();
    expect(failovers(world)).toEqual([AWAY, BACK]);
    await closed(world);
  });

  it.each(['close', 'gone', 'drain', 'cutOff'] as const)('leaves nothing after a %s', async (how) => {
    const { rig, client, probe } = await waiting();
    if (how === 'close') client.session.control({ type: 'close' });
    else client.session[how]();
    await untilEnded(rig, client);
    expect(probe.over).toBe(true);
    await expectNothingLeft(rig);
  });

  it('is not shown among the legs of the session', async () => {
    const { rig, client } = await waiting();
    expect(client.session.log.legs.all.map(({ model }) => model)).toEqual(['puppet/a', 'puppet/b']);
    await closed({ rig, client, puppet: new Puppet(), seconds: 0 });
  });
});

describe('a return over the bus', () => {
  it('has its legs on other nodes, and leaves nothing there', async () => {
    const puppet = new Puppet();
    const far = new FarRig({
      providers: [puppetProvider({ timing: TIMING })],
      engines: () => ({ puppet }),
      ...RIG,
      nodes: 2,
    });
    const world = { rig: far.rig, puppet, client: await far.rig.open(REQUEST), seconds: 0 };
    await far.rig.advance(500);
    await failedOver(world);
    await far.rig.advance(10_000);
    await turn(world, 'c');
    await far.rig.advance(1_000);
    expect(failovers(world)).toEqual([AWAY, BACK]);
    await turn(world, 'd');
    expect([far.legs, world.client.finals.map(({ model }) => model)]).toEqual([
      1,
      ['puppet/a', 'puppet/b', 'puppet/b', 'puppet/a'],
    ]);
    world.client.session.control({ type: 'close' });
    await untilEnded(far.rig, world.client);
    expectInOrder(world.client);
    expect([far.leftBehind(), far.rig.faults]).toEqual([NOTHING_FAR_LEFT, []]);
  });

  it('survives the loss of the node that has the waiting leg', async () => {
    const puppet = new Puppet();
    const far = new FarRig({ providers: [puppetProvider({ timing: TIMING })], engines: () => ({ puppet }), ...RIG });
    const world = { rig: far.rig, puppet, client: await far.rig.open(REQUEST), seconds: 0 };
    await far.rig.advance(500);
    await failedOver(world);
    puppet.ready = false;
    await far.rig.advance(10_000);
    await turn(world, 'c');
    await far.rig.advance(500);
    far.rig.sessions.nodeGone(far.node(0).bus.node);
    puppet.ready = true;
    await far.rig.advance(2_000);
    await turn(world, 'd');
    expect(failovers(world)).toEqual([AWAY]);
    expect(world.client.finals).toHaveLength(4);
    world.client.session.control({ type: 'close' });
    await untilEnded(far.rig, world.client);
    expect(far.rig.primaryReturns).toEqual(['failed']);
  });
});

describe('a return of several channels', () => {
  it('is each channel’s own', async () => {
    const { rig, puppet } = puppetRig({ timing: TIMING, rig: RIG });
    const client = await rig.open({ ...REQUEST, channels: 2 });
    const both = (seconds: number) => {
      const one = speech(seconds);
      const bytes = new Uint8Array(one.byteLength * 2);
      for (let at = 0; at < one.byteLength; at += 2) {
        bytes.set(one.subarray(at, at + 2), at * 2);
        bytes.set(one.subarray(at, at + 2), at * 2 + 2);
      }
      return bytes;
    };
    client.session.audio(both(1));
    await rig.advance(1_000);
    const [left] = puppet.connections as [PuppetConnection];
    await left.say({ type: 'failed', failure: failure('next') });
    await rig.advance(10_500);
    const fallback = puppet.last;
    const utterance = { text: 'b', start: 0, end: 1 };
    await fallback.say({ type: 'turn.ended', turnId: '1', formattedFollows: false, utterance });
    await settle();
    expect(client.of('failover').map(({ channel, to, reason }) => [channel, to, reason])).toEqual([
      [0, 'puppet/b', 'upstream_error'],
      [0, 'puppet/a', 'returned'],
    ]);
    client.session.control({ type: 'close' });
    for (const leg of puppet.connections)
      if (!leg.over) await leg.say({ type: 'turn.ended', turnId: '2', formattedFollows: false }, { type: 'finished' });
    await untilEnded(rig, client);
    await expectNothingLeft(rig);
  });
});
