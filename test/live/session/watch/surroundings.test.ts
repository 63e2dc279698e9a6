// What a watched session has a part in: its legs on any node, the breakers of its models, its node, its money and its place.
import { describe, expect, it } from 'vitest';
import { fromPromise, SimulatedClock } from 'xstate';
import type { LegFailure } from '../../../../machines/events.ts';
import { nodeMachine } from '../../../../machines/node.ts';
import type { WatchedFrame } from '../../../../src/api/console/watching.ts';
import { startObserved } from '../../../../src/runtime/actors.ts';
import { FarRig } from '../../../fakes/far-rig.ts';
import { type RigOptions, SessionRig, settle } from '../../../fakes/session-rig.ts';
import { speech, timersOf } from '../support.ts';
import { stepsIn, watchable } from './watchable.ts';

const lost: LegFailure = { kind: 'next', reason: 'upstream_closed', code: 'closed', message: 'It is gone.' };
const chain = { model: 'loopback/script', fallbacks: [{ model: 'loopback/numbered' }] };

/** Every actor that was shown, by its id: as it was when it came. */
const shownIn = (frames: readonly WatchedFrame[]) =>
  new Map(
    frames
      .flatMap((frame) => (frame.kind === 'actors' ? frame.actors : frame.kind === 'actor' ? [frame.actor] : []))
      .map((actor) => [actor.id, actor]),
  );
const whereIs = (frames: readonly WatchedFrame[], actor: string, event: string) =>
  frames.findIndex((frame) => frame.kind === 'step' && frame.actor === actor && frame.event === event);

const worlds: [string, (options?: RigOptions) => { rig: SessionRig; legNode: string }][] = [
  [
    'on its own node',
    (options) => {
      const rig = new SessionRig(options);
      return { rig, legNode: rig.bus.node };
    },
  ],
  [
    'on another node',
    (options) => {
      const { rig, nodes } = new FarRig(options);
      return { rig, legNode: nodes[0]!.bus.node };
    },
  ],
];

describe.each(worlds)('the leg of a watched session %s', (_, world) => {
  it('appears with its model, node and steps, before their effects', async () => {
    const { rig, legNode } = world();
    const { watch } = watchable(rig);
    const client = await rig.open(chain);
    const watched = watch(client);
    await rig.advance(1_000);
    client.session.audio(speech(2));
    await rig.advance(2_000);
    client.session.leg.fail(lost);
    await rig.advance(2_000);
    const frames = [...watched.actors, ...watched.frames];
    const shown = shownIn(frames);
    expect(shown.get('leg:1')).toMatchObject({ machine: 'upstream', about: 'loopback/script', node: legNode });
    expect(shown.get('leg:2')).toMatchObject({ machine: 'upstream', about: 'loopback/numbered', node: legNode });
    const told = watched.frames;
    const end = told.findIndex(
      (frame) => frame.kind === 'step' && frame.actor === 'leg:1' && frame.status !== 'active',
    );
    expect(end).toBeGreaterThan(whereIs(told, 'session', 'upstream.failed'));
    const ready = told[whereIs(told, 'leg:2', 'provider.ready')];
    expect(ready).toMatchObject({ value: 'streaming', edges: ['upstream.handshaking:provider.ready:0'] });
    expect(whereIs(told, 'session', 'upstream.ready')).toBeGreaterThan(told.indexOf(ready!));
    client.session.control({ type: 'close' });
    await rig.advance(10_000);
    await client.ended();
    expect(stepsIn(told).findLast(({ actor }) => actor === 'leg:2')).toMatchObject({
      value: 'finished',
      status: 'done',
    });
    expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_frame, index) => told[0]!.sequence + index));
  });

  it('keeps nothing attached without a watcher', async () => {
    const { rig } = world();
    const { watch } = watchable(rig);
    const client = await rig.open(chain);
    await rig.advance(1_000);
    const before = timersOf(rig.clock);
    const watched = watch(client);
    await rig.advance(1_000);
    expect(timersOf(rig.clock)).toBeGreaterThan(before);
    watched.detach();
    await rig.advance(1_000);
    expect(timersOf(rig.clock)).toBe(before);
    client.session.leg.fail(lost);
    await rig.advance(1_000);
    expect(stepsIn(watched.frames)).toEqual([]);
  });
});

it('shows the breakers of all models of its chain, also those created or removed meanwhile', async () => {
  const { rig, watch } = watchable({ breakers: { failuresMax: 1 } });
  const client = await rig.open(chain);
  const watched = watch(client);
  await settle();
  const shown = shownIn(watched.actors);
  expect([shown.get('breaker:1'), shown.get('breaker:2')]).toMatchObject([
    { machine: 'breaker', about: 'loopback/script', value: 'closed', node: rig.bus.node },
    { machine: 'breaker', about: 'loopback/numbered', value: 'closed' },
  ]);
  const [model] = client.session.opening.chain;
  rig.breakers.failed(model!, { kind: 'next' });
  rig.breakers.succeeded(model!);
  await rig.advance(200);
  const steps = stepsIn(watched.frames).filter(({ actor }) => actor === 'breaker:1');
  expect(steps.map(({ event, value, edges }) => [event, value, edges])).toEqual([
    ['call.failed', 'open', ['breaker.closed:call.failed:0']],
    ['call.succeeded', 'closed', ['breaker.open:call.succeeded:0']],
  ]);
});

const never = fromPromise<void, void>(() => new Promise(() => {}));
const idleNode = nodeMachine.provide({
  actors: { start: never, listen: never, stop: never },
  actions: { beginDrain: () => {} },
});

it('shows its node, and each of its steps', async () => {
  const node = startObserved(idleNode, { drainMs: 1_000 }, new SimulatedClock(), { ended() {}, failed() {} });
  const { rig, watch } = watchable({}, { nodeChart: () => node });
  const client = await rig.open();
  const watched = watch(client);
  await settle();
  expect(shownIn(watched.actors).get('node')).toMatchObject({ machine: 'node', value: 'starting', node: rig.bus.node });
  node.send({ type: 'node.stop' });
  await rig.advance(200);
  expect(stepsIn(watched.frames).find(({ actor }) => actor === 'node')).toMatchObject({ value: 'stopping' });
});

it('shows its wait for a node where none can be reached', async () => {
  const world = new FarRig();
  const { rig, edge } = world;
  const { watch } = watchable(rig);
  const client = await rig.open();
  const watched = watch(client);
  await rig.advance(500);
  edge.cut();
  client.session.audio(speech(1));
  await rig.advance(5_000);
  edge.mend();
  await rig.advance(3_000);
  const placing = stepsIn(watched.frames).flatMap(({ actor, value }) => (actor === 'placing' ? [value] : []));
  expect(shownIn(watched.actors).get('placing')).toBeDefined();
  expect(placing).toEqual(expect.arrayContaining(['asking', 'waiting_for_bus', 'placed']));
  expect(placing.indexOf('waiting_for_bus')).toBeLessThan(placing.lastIndexOf('placed'));
});
