// A session that is watched: its steps in order and never what it holds, nothing attached before or after, and bounds on all of it.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { LegFailure } from '../../../../machines/events.ts';
import type { WatchedFrame } from '../../../../src/api/console/watching.ts';
import type { BusBody } from '../../../../src/cluster/bus/bus.ts';
import { MemoryBus } from '../../../../src/cluster/bus/memory.ts';
import { sessionFrames, WATCH_SESSION } from '../../../../src/cluster/bus/subjects.ts';
import type { ChartWatcher } from '../../../../src/live/session/charts.ts';
import { SessionLog } from '../../../../src/live/session/watch/session-log.ts';
import { WATCH_LEASE_MS } from '../../../../src/live/session/watch/watch.ts';
import { FRAMES_PER_TICK_MAX, TICK_MS, WatchedSession } from '../../../../src/live/session/watch/watched-session.ts';
import { type RigClient, settle } from '../../../fakes/session-rig.ts';
import { MemoryLedger } from '../../../fakes/store/memory-ledger.ts';
import { speech, timersOf } from '../support.ts';
import { marksIn, stepsIn, watchable } from './watchable.ts';

const isNumbered = (frames: readonly WatchedFrame[]) =>
  frames.every(({ sequence }, index) => index === 0 || sequence === frames[index - 1]!.sequence + 1);

const NO_FIGURES = {
  received_seconds: 0,
  sent_seconds: 0,
  settled_seconds: 0,
  held_usd: '0',
  cost_usd: '0',
} as const;

const lost: LegFailure = { kind: 'next', reason: 'upstream_closed', code: 'closed', message: 'It is gone.' };

describe('a watched session', () => {
  it('shows where its charts are, each step that changes a state in order, and its end', async () => {
    const { rig, service, watch } = watchable();
    const client = await rig.open();
    await rig.advance(200);
    const watched = watch(client);
    await settle();
    const active = { node: rig.bus.node, status: 'active' };
    expect(watched.actors).toEqual([
      expect.objectContaining({
        kind: 'actors',
        actors: [
          {
            ...active,
            id: 'session',
            machine: 'session',
            about: 'loopback/script',
            value: { live: expect.anything() },
          },
          expect.objectContaining({ ...active, id: 'turn', machine: 'turn', value: 'idle' }),
          expect.objectContaining({ ...active, id: 'failover', machine: 'failover', value: 'trying' }),
          expect.objectContaining({ ...active, id: 'placing', value: 'placed' }),
          expect.objectContaining({ ...active, id: 'money', machine: 'money', value: 'free' }),
          expect.objectContaining({ ...active, id: 'breaker:1', about: 'loopback/script', value: 'closed' }),
        ],
      }),
    ]);
    client.session.audio(speech(2));
    await rig.advance(3_000);
    client.session.control({ type: 'close' });
    await rig.advance(10_000);
    await client.ended();
    expect(isNumbered(watched.frames)).toBe(true);
    expect(stepsIn(watched.frames)).toContainEqual(
      expect.objectContaining({
        actor: 'session',
        event: 'client.close',
        edges: ['session.live.client.open:client.close:0'],
        at: '1970-01-01T00:00:00.000Z',
      }),
    );
    expect(watched.frames.slice(-3)).toMatchObject([
      { kind: 'step', actor: 'session', value: 'closed', status: 'done' },
      { kind: 'gone', actor: 'money' },
      { kind: 'ended', reason: 'client_closed' },
    ]);
    expect([watched.ended, service.size, timersOf(rig.clock)]).toEqual([['ended'], 0, 0]);
  });

  it('is left alone where what it shows cannot be written', async () => {
    const { rig, service, elsewhere } = watchable();
    const client = await rig.open();
    await rig.advance(200);
    const ended: string[] = [];
    const frame = () => {
      throw new Error('It could not be written.');
    };
    elsewhere.watch(client.session.opening.sessionId, 'org_1', { frame, ended: (why) => ended.push(why) });
    await settle();
    expect(ended).toEqual(['lost']);
    await rig.advance(WATCH_LEASE_MS, 1_000);
    expect([service.size, client.closeCode]).toEqual([0, undefined]);
  });

  it('shows states that are left at once, and each step behind the one that caused it', async () => {
    const { rig, watch } = watchable();
    const client = await rig.open();
    await rig.advance(200);
    const watched = watch(client);
    await settle();
    client.session.audio(speech(3));
    await rig.advance(3_000);
    client.session.leg.fail(lost);
    await rig.advance(3_000);
    const steps = stepsIn(watched.frames);
    const isOf = (actor: string, event: string) => steps.find((step) => step.actor === actor && step.event === event);
    expect(isOf('turn', 'turn.ended') ?? isOf('turn', 'turn.flush')).toMatchObject({ value: 'idle' });
    const [cause, effect] = [isOf('session', 'upstream.failed'), isOf('failover', 'attempt.failed')];
    expect(cause!.value).toMatchObject({ live: { link: 'deciding' } });
    expect(effect!.through).toEqual(['deciding']);
    expect(effect!.edges).toHaveLength(2);
    expect(cause!.sequence).toBeLessThan(effect!.sequence);
    expect(marksIn(watched.frames)).toEqual(expect.arrayContaining(['turn_final', 'leg_lost', 'leg_opened']));
  });

  it('makes no frame of an event that leads nowhere, however many there are', async () => {
    const { rig, watch } = watchable();
    const client = await rig.open();
    await rig.advance(200);
    const watched = watch(client);
    await settle();
    for (let count = 0; count < 100; count++) client.session.charts.turn.tell({ type: 'turn.heard' });
    await rig.advance(200);
    expect(stepsIn(watched.frames).map(({ event, value }) => [event, value])).toEqual([['turn.heard', 'speaking']]);
  });

  it('shows audio and money as they go, once a second at most, and when money runs out', async () => {
    const ledger = new MemoryLedger(1_000_000n);
    const { rig, watch } = watchable({
      ledger,
      prices: { 'loopback/script': { live: { unit: 'minute', amount: '0.6' } } },
    });
    const client = await rig.open();
    const watched = watch(client);
    await settle();
    for (let second = 0; second < 5; second++) {
      client.session.audio(speech(1));
      await rig.advance(1_000);
    }
    const audio = watched.frames.filter((frame) => frame.kind === 'audio');
    expect(audio.length).toBeGreaterThan(3);
    expect(audio.length).toBeLessThan(8);
    expect(audio.at(-1)).toMatchObject({ received_seconds: 4, held_usd: expect.stringMatching(/^0\.\d+$/) });
    expect(Number(audio.at(-1)!.cost_usd)).toBeGreaterThan(0);
    const quiet = watched.frames.length;
    await rig.advance(3_000);
    expect(watched.frames.slice(quiet).filter(({ kind }) => kind === 'audio').length).toBeLessThan(2);
    for (let second = 0; second < 110; second++) {
      client.session.audio(speech(1));
      await rig.advance(1_000);
    }
    const money = stepsIn(watched.frames).filter(({ actor }) => actor === 'money');
    expect(money.map(({ value }) => value)).toContain('short');
  });

  it('resumes where the watcher left: kept frames first, then the current state', async () => {
    const { rig, watch } = watchable();
    const client = await rig.open();
    await rig.advance(200);
    const first = watch(client);
    await settle();
    client.session.audio(speech(3));
    await rig.advance(2_000);
    first.detach();
    client.session.audio(speech(3));
    await rig.advance(3_000);
    const second = watch(client, 'org_1', first.frames.at(-1)!.sequence);
    await settle();
    expect(isNumbered([...first.frames, ...second.frames])).toBe(true);
    expect(marksIn(second.frames)).toContain('turn_final');
    expect(second.actors).toMatchObject([{ sequence: second.frames.at(-1)!.sequence }]);
    const all = watch(client, 'org_1', 0);
    await settle();
    expect([all.frames[0]!.sequence, all.frames.length]).toEqual([1, second.frames.at(-1)!.sequence]);
  });

  it('shows names of states and events only, never content or owners', async () => {
    const { rig, watch } = watchable();
    const said: BusBody[] = [];
    const client = await rig.open({ providerParams: { turns: [{ text: 'canary spoken words', seconds: 1 }] } });
    rig.bus.subscribe(sessionFrames(client.session.opening.sessionId), (body) => said.push(body));
    watch(client);
    client.session.audio(speech(3));
    await rig.advance(5_000);
    client.session.control({ type: 'close' });
    await rig.advance(10_000);
    const text = JSON.stringify(said);
    expect(said.length).toBeGreaterThan(0);
    expect(client.finals.length).toBeGreaterThan(0);
    for (const { text: spoken } of client.finals) expect(text).not.toContain(spoken);
    expect(text).not.toMatch(/canary|key_1|org_1|"context"/);
  });

  it('serves several watchers, and stops all work when the last has left', async () => {
    const { rig, service, watch } = watchable();
    const client = await rig.open();
    const timers = timersOf(rig.clock);
    const said: BusBody[] = [];
    rig.bus.subscribe(sessionFrames(client.session.opening.sessionId), (body) => said.push(body));
    const [one, two] = [watch(client), watch(client)];
    await settle();
    one.detach();
    client.session.audio(speech(1));
    await rig.advance(1_000);
    expect([one.frames.length, two.frames.length > 0, service.size]).toEqual([0, true, 1]);
    two.detach();
    await settle();
    const before = said.length;
    client.session.control({ type: 'finalize' });
    await rig.advance(2_000);
    expect([said.length - before, service.size, two.ended, client.session.charts.isWatched]).toEqual([0, 0, [], false]);
    expect(timersOf(rig.clock)).toBeLessThanOrEqual(timers + 1);
  });

  it('ends its watch one lease after a watcher vanished, and not before', async () => {
    const { rig, service } = watchable();
    const client = await rig.open();
    const { sessionId, organisationId } = client.session.opening;
    const ask = { type: 'watch.renew', sessionId, organisationId, watcher: 'somebody' } as const;
    await rig.bus.request(WATCH_SESSION, rig.bus.address('test'), ask, 1_000);
    rig.clock.increment(WATCH_LEASE_MS - 1);
    expect(service.size).toBe(1);
    await rig.bus.request(WATCH_SESSION, rig.bus.address('test'), ask, 1_000);
    rig.clock.increment(WATCH_LEASE_MS - 1);
    expect(service.size).toBe(1);
    rig.clock.increment(1);
    expect([service.size, client.session.charts.isWatched]).toEqual([0, false]);
  });

  it('renews its lease while it has a watcher', async () => {
    const { rig, service, watch } = watchable();
    const client = await rig.open();
    const watched = watch(client);
    for (let second = 0; second < 25; second++) {
      client.session.control({ type: 'keepalive' } as never);
      await rig.advance(1_000, 1_000);
    }
    expect([service.size, watched.ended, watched.actors.length]).toEqual([1, [], 1]);
  });

  it('looks unknown to another organisation, exactly as a session that does not exist', async () => {
    const { rig, service, elsewhere, watch } = watchable();
    const client = await rig.open();
    const { sessionId } = client.session.opening;
    const foreign = watch(client, 'org_2');
    await settle();
    expect([foreign.ended, foreign.actors, service.size]).toEqual([['unknown'], [], 0]);
    expect(await elsewhere.describe(sessionId, 'org_2')).toBeUndefined();
    for (const id of [`${sessionId}0`, 'ses_zzzzzz0', 'file_1', 'ses_*', 'ses_abcdef>', '']) {
      expect(await elsewhere.describe(id, 'org_1')).toBeUndefined();
    }
    expect(await elsewhere.describe(sessionId, 'org_1')).toMatchObject({
      state: 'streaming',
      legs: [{ model: 'loopback/script', state: 'streaming' }],
    });
  });

  it('counts as lost, once, when its node is silent for a whole lease', async () => {
    const { rig, service, watch } = watchable();
    const client = await rig.open();
    const watched = watch(client);
    await settle();
    service.close();
    rig.bus.serve(WATCH_SESSION, () => {
      throw new Error('frozen');
    });
    for (let second = 0; second < 20; second++) {
      client.session.control({ type: 'keepalive' } as never);
      await rig.advance(1_000, 1_000);
    }
    expect(watched.ended).toEqual(['lost']);
  });
});

describe('a watch request to a node', () => {
  it.each([
    [{ type: 'watch.renew' }],
    [{ type: 'watch.renew', sessionId: 1, organisationId: 'org_1', watcher: 'x' }],
    [{ type: 'watch.everything', sessionId: 's', organisationId: 'org_1', watcher: 'x' }],
    [{ type: 'session.describe', sessionId: 's', organisationId: 'o'.repeat(129), watcher: 'x' }],
  ])('counts as unknown for an invalid body: %j', async (body) => {
    const { rig, service } = watchable();
    expect(await rig.bus.request(WATCH_SESSION, rig.bus.address('test'), body as BusBody, 1_000)).toEqual({
      type: 'session.unknown',
    });
    expect(service.size).toBe(0);
  });

  it('bounds sessions, the share of each organisation, and the watchers of each session', async () => {
    const { rig, service } = watchable();
    const renew = (client: RigClient, watcher: string) => {
      const { sessionId, organisationId } = client.session.opening;
      const body = { type: 'watch.renew', sessionId, organisationId, watcher };
      return rig.bus.request(WATCH_SESSION, rig.bus.address('test'), body, 1_000);
    };
    const clients = [];
    for (let index = 0; index < 101; index++) clients.push(await rig.open());
    for (const client of clients.slice(0, 50)) expect((await renew(client, 'w')).type).toBe('watch.on');
    expect((await renew(clients[50]!, 'w')).type).toBe('watch.full');
    for (const { session } of clients.slice(50, 100)) Object.assign(session.opening, { organisationId: 'org_2' });
    for (const client of clients.slice(50, 75)) expect((await renew(client, 'w')).type).toBe('watch.on');
    expect((await renew(clients[75]!, 'w')).type).toBe('watch.full');
    Object.assign(clients[100]!.session.opening, { organisationId: 'org_3' });
    expect((await renew(clients[100]!, 'w')).type).toBe('watch.on');
    for (let index = 1; index < 32; index++) expect((await renew(clients[0]!, `w${index}`)).type).toBe('watch.on');
    expect((await renew(clients[0]!, 'w32')).type).toBe('watch.full');
    expect((await renew(clients[0]!, 'w1')).type).toBe('watch.on');
    service.close();
    expect([service.size, ...clients.filter(({ session }) => session.charts.isWatched)]).toEqual([0]);
  });
});

const never = () => {
  throw new Error('There is nothing to watch.');
};

it('more steps than fit in a tick are counted in one frame', () => {
  const clock = new SimulatedClock();
  const told: WatchedFrame[][] = [];
  const drops: number[] = [];
  let onlooker: ChartWatcher | undefined;
  let order = 0;
  const watched = new WatchedSession({
    feed: 1,
    around: { bus: new MemoryBus(), sessionId: 'ses_1', chain: [], breakers: { watch: never } },
    model: 'loopback/script',
    charts: {
      steps: [{ actor: 'turn', machine: 'turn', value: 'state', status: 'active' }],
      watch: (given) => {
        onlooker = given;
        return { order: () => order, detach: () => {} };
      },
    },
    log: new SessionLog(() => new Date(0)),
    figures: () => ({ ...NO_FIGURES, money: 'free' }),
    clock,
    publish: ({ frames }) => told.push(frames),
    onDrop: (count) => drops.push(count),
    onReleased: () => {},
  });
  watched.renew('somebody');
  const step = (value: string) => {
    order++;
    onlooker!({ actor: 'turn', machine: 'turn', value, status: 'active', event: 'e', edges: [], through: [], order });
  };
  clock.increment(TICK_MS);
  told.length = 0;
  for (let index = 0; index < FRAMES_PER_TICK_MAX + 10; index++) step(`state ${index}`);
  clock.increment(TICK_MS);
  step('another');
  clock.increment(TICK_MS);
  clock.increment(TICK_MS);
  expect([told.length, told[0]!.length, drops]).toEqual([2, FRAMES_PER_TICK_MAX + 1, [10]]);
  expect(told[0]!.at(-1)).toMatchObject({ kind: 'dropped', sequence: 66, count: 10 });
  expect(stepsIn(told[1]!)).toMatchObject([{ value: 'another', sequence: 67 }]);
});
