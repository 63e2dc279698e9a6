// The promise that a session to which no audio comes keeps no connection to a provider, and loses and doubles nothing by that.
import { describe, expect, it } from 'vitest';
import type { Heard } from '../../../machines/events.ts';
import type { DataResidencyRule } from '../../../src/api/residency-rule.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { FarRig, NOTHING_FAR_LEFT } from '../../fakes/far-rig.ts';
import { type RigClient, type RigOptions, SessionRig } from '../../fakes/session-rig.ts';
import { MemoryLedger } from '../../fakes/store/memory-ledger.ts';
import { failure, Puppet, puppetProvider, puppetRig } from './puppet.ts';
import { expectInOrder, expectNothingLeft, RATE, speech, untilEnded } from './support.ts';

const SETTINGS = { settings: { suspendMs: 20_000, idleMs: 600_000 } };
const ended = (turnId: string, start: number, end: number): Heard => ({
  type: 'turn.ended',
  turnId,
  formattedFollows: false,
  utterance: { text: 'a', start, end },
});

const quietRig = (options: RigOptions = {}) =>
  puppetRig({ timing: { stallMs: Number.POSITIVE_INFINITY }, rig: { ...SETTINGS, ...options } });

/** A session that has said one second, and whose connection has been told to finish. */
async function leavingSession(options: RigOptions = {}, request: Parameters<SessionRig['open']>[0] = {}) {
  const { rig, puppet } = quietRig(options);
  const client = await rig.open({ model: 'puppet/a', ...request });
  client.session.audio(speech(1));
  await rig.advance(21_000, 1_000);
  return { rig, puppet, client };
}

/** The same, where what was said has its final before that. */
async function answeredSession() {
  const { rig, puppet } = quietRig();
  const client = await rig.open({ model: 'puppet/a' });
  client.session.audio(speech(1));
  await rig.advance(500);
  await puppet.last.say(ended('1', 0, 1));
  await rig.advance(21_000, 1_000);
  return { rig, puppet, client };
}

/** A session that has said one second and rests without a connection. */
async function restingSession(...made: Parameters<typeof leavingSession>) {
  const { rig, puppet, client } = await leavingSession(...made);
  await puppet.last.say(ended('1', 0, 1), { type: 'finished' });
  expect([rig.upstream.size, client.finals.length]).toEqual([0, 1]);
  return { rig, puppet, client };
}

describe('the rule about places became stricter while it rested', () => {
  it.each<[string, DataResidencyRule, number]>([
    ['and the provider keeps to it', { regions: ['self', 'eu'], retention: 'none' }, 2],
    ['and it does not', { regions: ['eu'], retention: null }, 1],
  ])('%s', async (_, rule, connections) => {
    const { rig, puppet, client } = await restingSession({ ruleNow: async () => rule });
    client.session.audio(speech(1));
    await rig.advance(2_000);
    expect(puppet.connections.length).toBe(connections);
    if (connections === 1) expect(JSON.stringify(client.of('error'))).toContain('does not allow');
    client.session.control({ type: 'close' });
    await rig.advance(200_000, 1_000);
  });
});

const codesOf = (client: RigClient) => client.of('warning').map(({ code }) => code);

describe('a session without audio', () => {
  it('releases its connection, and opens no other, while it only sends keepalives', async () => {
    const { rig, puppet } = quietRig();
    const client = await rig.open({ model: 'puppet/a' });
    for (let seconds = 0; seconds < 300; seconds++) {
      client.session.control({ type: 'keepalive' });
      if (puppet.last.controls.includes('finish') && !puppet.last.over) await puppet.last.say({ type: 'finished' });
      await rig.advance(1_000, 1_000);
    }
    expect(puppet.connections.map(({ over }) => over)).toEqual([true]);
    expect([client.closeCode, rig.upstream.size]).toEqual([undefined, 0]);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect([client.closeCode, puppet.connections.length]).toEqual([1000, 1]);
    expect(client.of('warning')).toEqual([]);
    await expectNothingLeft(rig);
  });

  it('gets its last final, and continues with the next turn on another connection', async () => {
    const { rig, puppet } = quietRig();
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(speech(3));
    await rig.advance(21_000, 1_000);
    expect(puppet.last.controls).toEqual(['finish']);
    await puppet.last.say(ended('1', 0, 2), { type: 'finished' });
    expect(rig.upstream.size).toBe(0);
    client.session.audio(speech(2));
    await rig.advance(100, 100);
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, 2 * RATE]);
    client.session.control({ type: 'close' });
    await rig.advance(100, 100);
    await puppet.last.say(ended('1', 0, 2), { type: 'finished' });
    await untilEnded(rig, client);
    expect(client.finals).toMatchObject([
      { turn: 0, start: 0, end: 2 },
      { turn: 1, start: 3, end: 5 },
    ]);
    expect(client.of('session_ended')).toMatchObject([{ audio_seconds: 5, usage: [{ seconds: 5 }] }]);
    expect([client.of('warning'), client.of('discontinuity'), client.of('failover')]).toEqual([[], [], []]);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it('sends a once-per-session warning once across connections', async () => {
    const once: Heard = { type: 'warned', code: 'once', message: 'Once.', once: true };
    const each: Heard = { type: 'warned', code: 'each', message: 'Each.' };
    const { rig, puppet, client } = await restingSession();
    client.session.audio(speech(1));
    await rig.advance(100, 100);
    await puppet.last.say(once, each, once, each);
    await rig.advance(21_000, 1_000);
    await puppet.last.say(ended('1', 0, 1), { type: 'finished' });
    client.session.audio(speech(1));
    await rig.advance(100, 100);
    await puppet.last.say(once, each);
    expect([puppet.connections.length, codesOf(client)]).toEqual([3, ['once', 'each', 'each', 'each']]);
  });

  it('opens another connection at once for audio that arrives while the old one closes', async () => {
    const { rig, puppet, client } = await leavingSession();
    client.session.audio(speech(1));
    expect(puppet.last.samples).toBe(RATE);
    await puppet.last.say(ended('1', 0, 1), { type: 'finished' });
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, RATE]);
    client.session.control({ type: 'close' });
    await puppet.last.say(ended('1', 0, 1), { type: 'finished' });
    await untilEnded(rig, client);
    expect(client.finals.map(({ turn, end }) => [turn, end])).toEqual([
      [0, 1],
      [1, 2],
    ]);
    await expectNothingLeft(rig);
  });

  it('replays its audio when its connection fails instead of finishing, and rests after that', async () => {
    const { rig, puppet, client } = await leavingSession();
    await puppet.last.say({ type: 'failed', failure: failure('retry') });
    await rig.advance(1_000, 100);
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, RATE]);
    await rig.advance(21_000, 1_000);
    await puppet.last.say(ended('1', 0, 1), { type: 'finished' });
    expect([rig.upstream.size, client.finals.length]).toEqual([0, 1]);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect(client.of('session_ended')).toMatchObject([{ reason: 'client_closed', usage: [{ seconds: 1 }] }]);
    await expectNothingLeft(rig);
  });

  it.each([1, 2, 3, 4])(
    'transcribes every sample once across repeated rests (%d s of audio each time)',
    async (seconds) => {
      const rig = new SessionRig(SETTINGS);
      const client = await rig.open({ model: 'loopback/numbered', providerParams: { turn_seconds: 0.7 } });
      for (let round = 0; round < 5; round++) {
        client.session.audio(numberedAudio(round * seconds * RATE, (round + 1) * seconds * RATE));
        await rig.advance(60_000, 1_000);
        expect(rig.upstream.size).toBe(0);
      }
      client.session.control({ type: 'close' });
      await untilEnded(rig, client);
      const heard = client.finals.map(({ text }) => text.split('-').map(Number));
      expect(heard[0]![0]).toBe(0);
      for (const [index, [from]] of heard.slice(1).entries()) expect(from! % 65_536).toBe(heard[index]![1]! % 65_536);
      expect(client.finals.at(-1)?.end).toBe(5 * seconds);
      expect(client.of('session_ended')).toMatchObject([
        { audio_seconds: 5 * seconds, usage: [{ seconds: 5 * seconds }] },
      ]);
      expectInOrder(client);
      await expectNothingLeft(rig);
    },
  );
});

describe('a session that rests', () => {
  it('does so after the time that its request names, and says so when it starts', async () => {
    const { rig, puppet } = quietRig();
    const client = await rig.open({ model: 'puppet/a', suspendSeconds: 3 });
    expect(client.of('session_started')[0]?.limits.suspend_seconds).toBe(3);
    client.session.audio(speech(1));
    await rig.advance(2_900);
    expect(puppet.last.controls).toEqual([]);
    await rig.advance(200);
    expect(puppet.last.controls).toEqual(['finish']);
    rig.sessions.close();
    await expectNothingLeft(rig);
  });

  it('sends the first audio of its next turn as soon as a connection is there', async () => {
    const { rig, puppet, client } = await restingSession();
    puppet.ready = false;
    client.session.audio(speech(1));
    await rig.advance(10, 10);
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, 0]);
    await puppet.last.say({ type: 'ready' });
    expect(puppet.last.samples).toBe(RATE);
    expect(codesOf(client)).toEqual([]);
    rig.sessions.close();
    await expectNothingLeft(rig);
  });

  it('ignores a finalize while it rests, and leaves the next turn open', async () => {
    const { rig, puppet, client } = await restingSession();
    client.session.control({ type: 'finalize' });
    await rig.advance(1_000);
    expect(puppet.connections).toHaveLength(1);
    client.session.audio(speech(1));
    await rig.advance(1_000);
    expect([puppet.connections.length, puppet.last.controls]).toEqual([2, []]);
    client.session.control({ type: 'finalize' });
    await rig.advance(100);
    expect([puppet.last.controls, puppet.last.controlsAt]).toEqual([['finalize'], [RATE]]);
    rig.sessions.close();
    await expectNothingLeft(rig);
  });

  it('drains at once, without a connection', async () => {
    const { rig, puppet, client } = await restingSession();
    const drained = rig.sessions.drain();
    await untilEnded(rig, client);
    await drained;
    expect([client.closeCode, puppet.connections.length]).toEqual([4200, 1]);
    await expectNothingLeft(rig);
  });

  it('drains while its connection says goodbye, with every final', async () => {
    const { rig, puppet, client } = await leavingSession();
    client.session.drain();
    await puppet.last.say(ended('1', 0, 1), { type: 'finished' });
    await untilEnded(rig, client);
    expect([client.closeCode, client.finals.length, puppet.connections.length]).toEqual([4200, 1, 1]);
    await expectNothingLeft(rig);
  });

  it('continues with its fallback where its model is blocked or unreachable by then', async () => {
    const fallbacks = [{ model: 'puppet/b' }];
    const { rig, puppet, client } = await restingSession({ breakers: { failuresMax: 1 } }, { fallbacks });
    const broken = await rig.open({ model: 'puppet/a' });
    await puppet.last.say({ type: 'failed', failure: failure('next') });
    client.session.audio(speech(1));
    await rig.advance(1_000, 100);
    expect(client.of('failover')).toMatchObject([{ from: 'puppet/a', to: 'puppet/b', reason: 'circuit_open' }]);
    expect([puppet.dialled.at(-1), puppet.last.samples]).toEqual(['b', RATE]);
    for (const session of [broken, client]) session.session.abort('internal_error', 'Over.');
    await expectNothingLeft(rig);
  });

  it('begins with all its attempts when it connects again: what went wrong before it rested is over', async () => {
    const { rig, puppet } = quietRig();
    const client = await rig.open({ model: 'puppet/a', suspendSeconds: 1 });
    for (let round = 0; round < 4; round++) {
      client.session.audio(speech(1));
      await rig.advance(100);
      await puppet.last.hangUp(1011);
      await rig.advance(500, 100);
      await rig.advance(1_500, 100);
      await puppet.last.say(ended('1', 0, 1), { type: 'finished' });
    }
    expect([client.finals.length, puppet.connections.length, client.closeCode]).toEqual([4, 8, undefined]);
    rig.sessions.close();
    await expectNothingLeft(rig);
  });

  it('keeps its hold in the ledger, and is charged nothing meanwhile', async () => {
    const ledger = new MemoryLedger(10_000_000n);
    const { rig, puppet, client } = await restingSession({
      ledger,
      prices: { 'puppet/a': { live: { unit: 'minute', amount: '0.6' } } },
    });
    const [held] = [...ledger.held.values()];
    await rig.advance(500_000, 1_000);
    expect([[...ledger.held.values()][0], held! > 0n]).toEqual([held, true]);
    client.session.audio(speech(1));
    await rig.advance(100, 100);
    client.session.control({ type: 'close' });
    await rig.advance(10, 10);
    await puppet.last.say(ended('1', 0, 1), { type: 'finished' });
    await untilEnded(rig, client);
    expect(client.of('session_ended')).toMatchObject([{ cost_usd: '0.02', usage: [{ seconds: 2 }] }]);
    await expectNothingLeft(rig);
  });

  it('ends by its limits as any other: idle, revoked, too long', async () => {
    for (const [code, end] of [
      [4008, (rig: SessionRig) => rig.advance(601_000, 1_000)],
      [4001, async (rig: SessionRig) => rig.sessions.revoke('key_1')],
    ] as const) {
      const { rig, puppet, client } = await restingSession();
      await end(rig);
      await untilEnded(rig, client);
      expect([client.closeCode, puppet.connections.length]).toEqual([code, 1]);
      await expectNothingLeft(rig);
    }
  });

  it('opens another connection on the same node, and leaves nothing behind', async () => {
    const puppet = new Puppet();
    const provider = puppetProvider({ timing: { stallMs: Number.POSITIVE_INFINITY } });
    const world = new FarRig({ ...SETTINGS, nodes: 2, providers: [provider], engines: () => ({ puppet }) });
    const { rig } = world;
    const client = await rig.open({ model: 'puppet/a' });
    for (let round = 1; round <= 3; round++) {
      client.session.audio(speech(1));
      await rig.advance(21_000, 500);
      await puppet.last.say(ended('1', 0, 1), { type: 'finished' });
      await rig.advance(60_000, 500);
      expect([puppet.connections.length, world.legs, client.finals.length]).toEqual([round, 0, round]);
    }
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect([client.closeCode, codesOf(client), client.finals.at(-1)?.end]).toEqual([1000, [], 3]);
    expect(world.leftBehind()).toEqual(NOTHING_FAR_LEFT);
  });
});

describe('audio that comes while the connection says goodbye', () => {
  it('does not wait for that where all before it has its final', async () => {
    const { rig, puppet, client } = await answeredSession();
    const [leaving] = puppet.connections;
    client.session.audio(speech(1));
    await rig.advance(10, 10);
    expect([leaving?.over, puppet.connections.length, puppet.last.samples]).toEqual([true, 2, RATE]);
    await puppet.last.say(ended('1', 0, 1));
    client.session.control({ type: 'close' });
    await rig.advance(10, 10);
    await puppet.last.say({ type: 'finished' });
    await untilEnded(rig, client);
    expect(client.finals.map(({ turn, end }) => [turn, end])).toEqual([
      [0, 1],
      [1, 2],
    ]);
    expect([codesOf(client), client.of('discontinuity')]).toEqual([[], []]);
    expect(client.of('session_ended')).toMatchObject([{ usage: [{ seconds: 2 }] }]);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it('opens no other connection at a `close` either', async () => {
    const { rig, puppet, client } = await answeredSession();
    client.session.control({ type: 'close' });
    await rig.advance(10, 10);
    expect([client.closeCode, puppet.connections.length]).toEqual([1000, 1]);
    await expectNothingLeft(rig);
  });
});
