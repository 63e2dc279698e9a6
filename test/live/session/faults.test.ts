// Faults of our own: whatever throws costs one session, or one leg, never its neighbours; it is told once, and nothing stays.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AudioPipeline } from '../../../src/audio/pipeline.ts';
import { CurrentLeg } from '../../../src/live/session/leg/current-leg.ts';
import { LegPump } from '../../../src/live/session/leg/leg-pump.ts';
import { Outbox } from '../../../src/live/session/outbox.ts';
import { Recovery } from '../../../src/live/session/recovery.ts';
import { LiveSession } from '../../../src/live/session/session.ts';
import { SessionEnding } from '../../../src/live/session/session-ending.ts';
import { Turns } from '../../../src/live/session/turns/turns.ts';
import { Leg } from '../../../src/live/upstream/leg.ts';
import { StreamConnection } from '../../../src/live/upstream/stream-connection.ts';
import type { LiveCodec } from '../../../src/vendors/kit/provider.ts';
import { type RigClient, SessionRig, settle } from '../../fakes/session-rig.ts';
import { puppetRig } from './puppet.ts';
import { expectInOrder, expectNothingLeft, hum, leftBehind, RATE, untilEnded } from './support.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const fault = new Error('a fault of our own');
const throwing = (): never => {
  throw fault;
};

/** One session's whole life: turns, a leg that fails, a drain, and the end. */
async function live(rig: SessionRig): Promise<RigClient> {
  const turns = [{ text: 'one', seconds: 0.5 }];
  const client = await rig.open({
    providerParams: { turns, fail: { how: 'close', at_seconds: 1.2 } },
    fallbacks: [{ model: 'loopback/script', provider_params: { turns } }],
  });
  for (let half = 0; half < 4; half++) {
    client.session.audio(hum(0.45));
    await rig.advance(300);
  }
  client.session.drain();
  await rig.advance(300);
  client.session.control({ type: 'close' });
  await untilEnded(rig, client);
  return client;
}

async function neighbour(rig: SessionRig): Promise<RigClient> {
  const client = await rig.open({ providerParams: { turns: [{ text: 'two', seconds: 1 }] } });
  client.session.audio(hum(0.5));
  await rig.advance(100);
  return client;
}

async function expectUnharmed(rig: SessionRig, client: RigClient): Promise<void> {
  await settle();
  expect(leftBehind(rig)).toMatchObject({ sessions: 1, phases: 1, legs: 1, connections: 1, actors: 2 });
  client.session.audio(hum(0.5));
  client.session.control({ type: 'close' });
  await rig.advance(500);
  expect([client.finals.map(({ text }) => text), client.closeCode]).toEqual([['two'], 1000]);
  await expectNothingLeft(rig);
}

describe('a session', () => {
  it.each<[action: string, owner: { prototype: object }, method: string]>([
    ['openLeg', Recovery, 'openLeg'],
    ['decide', Recovery, 'decide'],
    ['tellSettled', Recovery, 'held'],
    ['closeLeg', LiveSession, 'closeLeg'],
    ['openGate', LiveSession, 'openGate'],
    ['closeGate', LegPump, 'hold'],
    ['finishLeg', CurrentLeg, 'finish'],
    ['endAudio', LiveSession, 'endAudio'],
    ['announceDrain', LiveSession, 'announceDrain'],
    ['announceEnd', SessionEnding, 'announce'],
    ['deliverFinal', Turns, 'deliver'],
    ['tellSettled', LiveSession, 'turnSettled'],
  ])('ends with internal_error and 1011 when %s throws, and leaves nothing', async (name, owner, method) => {
    const rig = new SessionRig();
    const other = await neighbour(rig);
    vi.spyOn(owner.prototype as Record<string, () => void>, method).mockImplementationOnce(throwing);
    const client = await live(rig);
    expect(client.closeCode).toBe(1011);
    expect(client.of('error')).toMatchObject([{ error: { code: 'internal_error', request_id: 'req_2' } }]);
    expect(client.events.at(-1)?.type).toBe('session_ended');
    expect(client.summary).toMatchObject({ reason: 'error', code: 'internal_error' });
    expect(rig.faults).toEqual([{ sessionId: client.session.opening.sessionId, name, error: fault }]);
    expectInOrder(client);
    await expectUnharmed(rig, other);
  });

  it('ends the same way when its audio cannot be read back', async () => {
    const rig = new SessionRig();
    const other = await neighbour(rig);
    vi.spyOn(AudioPipeline.prototype, 'next').mockImplementationOnce(throwing);
    const client = await live(rig);
    expect([client.closeCode, rig.faults.map(({ name }) => name)]).toEqual([1011, ['audio']]);
    await expectUnharmed(rig, other);
  });

  it('ends the same way when it cannot even start', async () => {
    const rig = new SessionRig();
    const other = await neighbour(rig);
    vi.spyOn(LiveSession.prototype, 'start').mockImplementationOnce(throwing);
    const client = await rig.open();
    expect([client.closeCode, rig.faults.map(({ name }) => name)]).toEqual([1011, ['start']]);
    await expectUnharmed(rig, other);
  });

  it('closes although its last event cannot be sent', async () => {
    const rig = new SessionRig();
    const other = await neighbour(rig);
    const client = await rig.open();
    vi.spyOn(client, 'send').mockImplementation(throwing);
    client.session.fault('sample', fault);
    expect([client.closeCode, rig.faults.map(({ name }) => name)]).toEqual([1011, ['sample', 'fault']]);
    await expectUnharmed(rig, other);
  });

  it('closes in order although its settlement fails', async () => {
    const rig = new SessionRig();
    vi.spyOn(Outbox.prototype, 'flushed').mockImplementationOnce(throwing);
    const client = await live(rig);
    expect([client.closeCode, client.events.at(-1)?.type]).toEqual([1000, 'session_ended']);
    await expectNothingLeft(rig);
  });

  it('leaves nothing although disposing of everything it holds fails', async () => {
    const rig = new SessionRig();
    vi.spyOn(AudioPipeline.prototype, 'dispose').mockImplementationOnce(throwing);
    const client = await live(rig);
    expect([client.closeCode, rig.faults.map(({ name }) => name)]).toEqual([1000, ['dispose']]);
    await expectNothingLeft(rig);
  });
});

describe('a leg', () => {
  it.each<[move: string, owner: { prototype: object }]>([
    ['dial', Leg],
    ['sendHello', StreamConnection],
    ['sendFinish', StreamConnection],
  ])('fails when %s throws, and the next one takes over', async (move, owner) => {
    const rig = new SessionRig();
    const other = await neighbour(rig);
    vi.spyOn(owner.prototype as Record<string, () => void>, move).mockImplementationOnce(throwing);
    const client = await live(rig);
    expect([client.closeCode, client.finals.length]).toEqual([1000, 4]);
    expect(rig.faults).toEqual([{ sessionId: '', name: move, error: fault }]);
    expectInOrder(client);
    await expectUnharmed(rig, other);
  });

  it.each([
    ['leg.ready', 'tellReady'],
    ['leg.finished', 'tellFinished'],
    ['leg.failed', 'tellFailed'],
  ])('fails when it cannot report %s, and the next one takes over', async (type, name) => {
    const rig = new SessionRig();
    const other = await neighbour(rig);
    const { report } = Leg.prototype;
    let thrown = false;
    vi.spyOn(Leg.prototype, 'report').mockImplementation(function (this: Leg, said) {
      if (said.type === type && !thrown) {
        thrown = true;
        throwing();
      }
      report.call(this, said);
    });
    const client = await live(rig);
    expect([thrown, client.closeCode, client.finals.length]).toEqual([true, 1000, 4]);
    expect(rig.faults).toEqual([{ sessionId: '', name, error: fault }]);
    await expectUnharmed(rig, other);
  });
});

describe('a codec', () => {
  it.each<[keyof LiveCodec, string]>([
    ['open', 'dial'],
    ['audio', 'leg.audio'],
    ['read', 'codec.read'],
    ['finalize', 'leg.finalize'],
    ['finish', 'sendFinish'],
    ['keepAlive', 'codec.keepAlive'],
    ['closed', 'codec.closed'],
  ])('loses its leg when it throws in `%s`, and the next leg gets all the audio', async (method, name) => {
    let armed = false;
    const throwOnce = (working: (...args: never[]) => unknown) =>
      function (this: unknown, ...args: never[]) {
        if (armed) {
          armed = false;
          throwing();
        }
        return working.apply(this, args);
      };
    const working = {
      open: () => ({ state: {}, endpoint: { kind: 'embedded', engine: 'puppet', query: {} }, hello: [] }),
    };
    const plain: Partial<Record<keyof LiveCodec, (...args: never[]) => unknown>> = {
      ...working,
      audio: (_: unknown, frame: Uint8Array) => frame,
      read: (_: unknown, message: { json: unknown }) => message.json,
      finalize: () => [{ type: 'finalize' }],
      finish: () => [{ type: 'finish' }],
      keepAlive: () => [{ type: 'keepalive' }],
      closed: () => ({ type: 'finished' }),
    };
    const { rig, puppet } = puppetRig({
      timing: { keepAliveMs: 5_000 },
      codec: { [method]: throwOnce(plain[method] as never) } as Partial<LiveCodec>,
    });
    if (method === 'open')
      vi.spyOn(rig.bus, 'request').mockImplementationOnce((...args) => {
        armed = true;
        return rig.bus.request(...args);
      });
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    armed = method !== 'open';
    client.session.audio(hum(1));
    await rig.advance(6_000, 500);
    if (method === 'finalize') client.session.control({ type: 'finalize' });
    if (method === 'read') await puppet.last.say({ type: 'warned', code: 'x', message: 'X.' });
    if (method === 'closed') await puppet.last.hangUp(1000);
    await rig.advance(500);
    client.session.control({ type: 'close' });
    await rig.advance(500);
    expect(client.of('failover')).toMatchObject([{ from: 'puppet/a', to: 'puppet/b', reason: 'upstream_error' }]);
    expect(puppet.last.samples).toBe(RATE);
    await puppet.last.say({ type: 'finished' });
    expect([client.closeCode, rig.faults]).toEqual([1000, [{ sessionId: '', name, error: fault }]]);
    expect(puppet.connections.filter(({ over }) => !over)).toEqual([]);
    await expectNothingLeft(rig);
  });
});
