// A session that is watched: its steps in order and never what it holds, nothing attached before or after, and bounds on all of it.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { BusBody } from '../../src/bus/bus.ts';
import { sessionFrames, WATCH_SESSION } from '../../src/bus/subjects.ts';
import type { ChartWatcher } from '../../src/session/charts.ts';
import { type Frame, SessionsElsewhere } from '../../src/session/watch/watch.ts';
import { WatchService } from '../../src/session/watch/watch-service.ts';
import { WATCH_LEASE_MS } from '../../src/session/watch/watch-words.ts';
import { FRAMES_PER_TICK_MAX, TICK_MS, WatchedSession } from '../../src/session/watch/watched-session.ts';
import { type RigClient, SessionRig, settle } from '../fakes/session-rig.ts';
import { speech, timersOf } from './support.ts';

/** A rig whose sessions can be watched, and everything that is said of them on the bus. */
function watchable() {
  const rig = new SessionRig();
  const drops: number[] = [];
  const { bus, sessions, clock } = rig;
  const service = new WatchService({ bus, sessions, clock, onDrop: (_, count) => drops.push(count) });
  const elsewhere = new SessionsElsewhere({ bus, clock, wallNow: () => new Date(0) });
  const watch = (client: RigClient, organisationId = 'org_1') => {
    const seen = { states: [] as unknown[], frames: [] as Frame[], ended: [] as string[] };
    const detach = elsewhere.watch(client.session.opening.sessionId, organisationId, {
      states: (states) => seen.states.push(states),
      frame: (frame) => seen.frames.push(frame),
      ended: (why) => seen.ended.push(why),
    });
    return { ...seen, detach };
  };
  return { rig, service, elsewhere, drops, watch };
}

const steps = (frames: readonly Frame[]) =>
  frames.map(({ step }) => ('dropped' in step ? `dropped ${step.dropped}` : `${step.machine} ${step.event}`));

describe('a watched session', () => {
  it('shows where its charts are, each step that changes a state in order, and its end', async () => {
    const { rig, service, watch } = watchable();
    const client = await rig.open();
    await rig.advance(200);
    const watched = watch(client);
    await settle();
    expect(watched.states).toEqual([
      [
        { machine: 'session', status: 'active', value: expect.objectContaining({ live: expect.anything() }) },
        expect.objectContaining({ machine: expect.stringMatching(/turn|failover/), status: 'active' }),
        expect.objectContaining({ machine: expect.stringMatching(/turn|failover/), status: 'active' }),
      ],
    ]);
    client.session.audio(speech(2));
    await rig.advance(3_000);
    client.session.control({ type: 'close' });
    await rig.advance(10_000);
    await client.ended();
    expect(watched.frames.map(({ sequence }) => sequence)).toEqual(watched.frames.map((_, index) => index + 1));
    expect(steps(watched.frames)).toContain('session client.close');
    expect(watched.frames.at(-1)).toMatchObject({ step: { machine: 'session', status: 'done' } });
    expect([watched.ended, service.size, timersOf(rig.clock)]).toEqual([['ended'], 0, 0]);
  });

  it('shows names of states and events only, never what was said, asked for or is owned', async () => {
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

  it('is shown to several at once, and let go of when the last has left: nothing is said, armed or kept afterwards', async () => {
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

  it('is let go of when whoever watched is gone without a word, and not before its lease is over', async () => {
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

  it('is renewed as long as it is watched', async () => {
    const { rig, service, watch } = watchable();
    const client = await rig.open();
    const watched = watch(client);
    for (let second = 0; second < 25; second++) {
      client.session.control({ type: 'keepalive' } as never);
      await rig.advance(1_000, 1_000);
    }
    expect([service.size, watched.ended, watched.states.length]).toEqual([1, [], 1]);
  });

  it('of another organisation, or of nobody, is not shown, and the two look the same', async () => {
    const { rig, service, elsewhere, watch } = watchable();
    const client = await rig.open();
    const { sessionId } = client.session.opening;
    const foreign = watch(client, 'org_2');
    await settle();
    expect([foreign.ended, foreign.states, service.size]).toEqual([['unknown'], [], 0]);
    expect(await elsewhere.describe(sessionId, 'org_2')).toBeUndefined();
    for (const id of [`${sessionId}0`, 'ses_zzzzzz0', 'file_1', 'ses_*', 'ses_abcdef>', '']) {
      expect(await elsewhere.describe(id, 'org_1')).toBeUndefined();
    }
    expect(await elsewhere.describe(sessionId, 'org_1')).toMatchObject({
      state: 'streaming',
      legs: [{ model: 'loopback/script', state: 'streaming' }],
    });
  });

  it('whose node answers no more for a whole lease is lost, once', async () => {
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

describe('what is asked of a node', () => {
  it.each([
    [{ type: 'watch.renew' }],
    [{ type: 'watch.renew', sessionId: 1, organisationId: 'org_1', watcher: 'x' }],
    [{ type: 'watch.everything', sessionId: 's', organisationId: 'org_1', watcher: 'x' }],
    [{ type: 'session.describe', sessionId: 's', organisationId: 'o'.repeat(129), watcher: 'x' }],
  ])('in another shape is answered as unknown: %j', async (body) => {
    const { rig, service } = watchable();
    expect(await rig.bus.request(WATCH_SESSION, rig.bus.address('test'), body as BusBody, 1_000)).toEqual({
      type: 'session.unknown',
    });
    expect(service.size).toBe(0);
  });

  it('is bounded: so many sessions at a time, and so many watchers of each', async () => {
    const { rig, service } = watchable();
    const renew = (client: RigClient, watcher: string) => {
      const { sessionId, organisationId } = client.session.opening;
      const body = { type: 'watch.renew', sessionId, organisationId, watcher };
      return rig.bus.request(WATCH_SESSION, rig.bus.address('test'), body, 1_000);
    };
    const clients = [];
    for (let index = 0; index < 101; index++) clients.push(await rig.open());
    for (const client of clients.slice(0, 100)) expect((await renew(client, 'w')).type).toBe('watch.on');
    expect((await renew(clients[100]!, 'w')).type).toBe('watch.full');
    for (let index = 1; index < 32; index++) expect((await renew(clients[0]!, `w${index}`)).type).toBe('watch.on');
    expect((await renew(clients[0]!, 'w32')).type).toBe('watch.full');
    expect((await renew(clients[0]!, 'w1')).type).toBe('watch.on');
    service.close();
    expect([service.size, ...clients.filter(({ session }) => session.charts.isWatched)]).toEqual([0]);
  });
});

it('more steps than fit in a tick are counted in one frame, and a step that changes nothing is none', () => {
  const clock = new SimulatedClock();
  const told: Frame[][] = [];
  const drops: number[] = [];
  let onlooker: ChartWatcher | undefined;
  const watched = new WatchedSession({
    sessionId: 'ses_abcdef1',
    feed: 1,
    charts: {
      steps: [],
      watch: (given) => {
        onlooker = given;
        return () => {};
      },
    },
    clock,
    publish: ({ frames }) => told.push(frames),
    onDrop: (count) => drops.push(count),
    onReleased: () => {},
  });
  watched.renew('somebody');
  const step = (value: string) => onlooker!.step({ machine: 'turn', value, status: 'active' }, 'turn.began');
  for (let index = 0; index < FRAMES_PER_TICK_MAX + 10; index++) for (const _ of [1, 2]) step(`state ${index}`);
  clock.increment(TICK_MS);
  step('another');
  clock.increment(TICK_MS);
  clock.increment(TICK_MS);
  expect([told.length, told[0]!.length, drops]).toEqual([2, FRAMES_PER_TICK_MAX + 1, [10]]);
  expect(told[0]!.at(-1)).toEqual({ sessionId: 'ses_abcdef1', sequence: 65, step: { dropped: 10 } });
  expect(steps(told[1]!)).toEqual(['turn turn.began']);
});
