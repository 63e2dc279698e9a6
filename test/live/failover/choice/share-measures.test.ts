// What edges report to each other of how models are doing: on three nodes the same figures, little traffic, and nothing hostile believed.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { BusBody, Detach } from '../../../../src/cluster/bus/bus.ts';
import { MODELS_MEASURED } from '../../../../src/cluster/bus/subjects.ts';
import { ModelMeasures } from '../../../../src/live/failover/choice/measures.ts';
import { SHARE_MS, shareMeasures } from '../../../../src/live/failover/choice/share-measures.ts';
import { timersOf } from '../../session/support.ts';

const SLUG = 'a/one';

/** Edges that hear each other, and everything that was said. */
function edges(count: number) {
  const clock = new SimulatedClock();
  const said: BusBody[] = [];
  const receivers = new Set<(body: BusBody) => void>();
  const nodesListeners = new Set<() => void>();
  const goneListeners = new Set<(node: string) => void>();
  const drops: string[] = [];
  let isConnected = true;
  const state = { edges: count };
  const open = (index: number) => {
    const measures = new ModelMeasures(clock);
    const bus = {
      node: `node0${index}`,
      get isConnected() {
        return isConnected;
      },
      publish: (_: string, body: BusBody) => {
        said.push(body);
        for (const receive of [...receivers]) receive(JSON.parse(JSON.stringify(body)) as BusBody);
      },
      subscribe: (_: string, receive: (body: BusBody) => void): Detach => {
        receivers.add(receive);
        return () => void receivers.delete(receive);
      },
    };
    const listening =
      <Listener>(listeners: Set<Listener>) =>
      (listener: Listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      };
    const detach = shareMeasures({
      ...{ bus, clock, measures, edges: () => state.edges },
      onNodes: listening(nodesListeners),
      onGone: listening(goneListeners),
      knows: (slug) => slug.startsWith('a/'),
      onDrop: (name) => drops.push(name),
    });
    return { measures, detach };
  };
  const all = Array.from({ length: count }, (_, index) => open(index));
  const pass = (ms = SHARE_MS) => clock.increment(ms);
  const figures = () => all.map(({ measures }) => measures.figuresOf('live', SLUG));
  return {
    ...{ clock, said, all, drops, state, open, pass, figures, receivers },
    joined: () => nodesListeners.forEach((listener) => void listener()),
    gone: (node: string) => goneListeners.forEach((listener) => void listener(node)),
    connect: (value: boolean) => {
      isConnected = value;
    },
  };
}

describe('three nodes', () => {
  it('have the same figures within half a minute, and repeat nothing that has not changed', () => {
    const { all, said, pass, figures } = edges(3);
    const [one, two] = all;
    for (let time = 0; time < 10; time++) one!.measures.outcome('live', SLUG, time < 3 ? 'error' : 'good', 'org_1');
    one!.measures.delayed('live', SLUG, 300);
    two!.measures.outcome('live', SLUG, 'empty', 'org_2');
    pass();
    const [first] = figures();
    expect(first).toMatchObject({ attempts: 11, failures: 4, delays: 1 });
    expect(figures()).toEqual([first, first, first]);
    expect(said).toHaveLength(2);
    pass();
    expect(said).toHaveLength(2);
    one!.measures.outcome('live', SLUG, 'good', 'org_1');
    pass();
    expect(said).toHaveLength(3);
    expect(figures().map(({ attempts }) => attempts)).toEqual([12, 12, 12]);
  });

  it('say nothing of organisations, and nothing of what was said', () => {
    const { all, said, pass } = edges(2);
    all[0]!.measures.outcome('live', SLUG, 'error', 'org_secret');
    pass();
    expect(JSON.stringify(said)).not.toContain('org_secret');
    expect(said).toEqual([
      {
        ...{ type: MODELS_MEASURED, node: 'node00' },
        models: [{ mode: 'live', model: SLUG, attempts: 1, errors: 1, empties: 0, delays: [] }],
      },
    ]);
  });

  it('repeat all of it every five minutes, so that a lost message is made good, until it is six hours old', () => {
    const { all, said, pass, figures } = edges(2);
    all[0]!.measures.outcome('live', SLUG, 'error');
    for (let minute = 0; minute < 355; minute++) pass(60_000);
    expect(figures().map(({ attempts }) => attempts)).toEqual([1, 1]);
    expect(said.length).toBeGreaterThan(60);
    for (let minute = 0; minute < 15; minute++) pass(60_000);
    expect(figures().map(({ attempts }) => attempts)).toEqual([0, 0]);
    const before = said.length;
    for (let minute = 0; minute < 30; minute++) pass(60_000);
    expect(said).toHaveLength(before);
  });

  it('report to a node that joins, and forget one that is gone', () => {
    const { all, open, pass, joined, gone, figures, state } = edges(2);
    all[0]!.measures.outcome('live', SLUG, 'error');
    pass();
    const late = open(2);
    state.edges = 3;
    joined();
    pass();
    expect(late.measures.figuresOf('live', SLUG).attempts).toBe(1);
    gone('node00');
    expect(figures()[1]).toMatchObject({ attempts: 0 });
  });

  it('put 100 models in a message', () => {
    const { all, said, pass } = edges(2);
    for (let at = 0; at < 250; at++) all[0]!.measures.outcome('batch', `a/${at}`, 'good');
    pass();
    expect(said.map((body) => (body as unknown as { models: unknown[] }).models.length)).toEqual([100, 100, 50]);
    expect(all[1]!.measures.figuresOf('batch', 'a/249').attempts).toBe(1);
  });
});

it('says nothing on a node that is alone, or not connected', () => {
  const { all, said, pass, state, connect } = edges(2);
  all[0]!.measures.outcome('live', SLUG, 'error');
  state.edges = 1;
  pass();
  state.edges = 2;
  connect(false);
  pass();
  expect(said).toEqual([]);
  connect(true);
  pass();
  expect(said).toHaveLength(1);
});

it('leaves no timer and no listener behind', () => {
  const { all, clock, receivers } = edges(2);
  for (const { detach } of all) detach();
  expect([timersOf(clock), receivers.size]).toEqual([0, 0]);
});

describe('a report', () => {
  const row = { mode: 'live', model: SLUG, attempts: 4, errors: 1, empties: 0, delays: [[3, 2]] };
  const good = { type: MODELS_MEASURED, node: 'other', models: [row] };
  const rows = (more: object) => ({ ...good, models: [{ ...row, ...more }] });

  it.each<[string, unknown, string | undefined]>([
    ['of another node is taken', good, undefined],
    ['with members of later versions is taken', { ...rows({ later: 1 }), more: true }, undefined],
    ['of this node is ignored', { ...good, node: 'node00' }, undefined],
    ['that is null is left out', null, 'unread_measures'],
    ['of another type is left out', { ...good, type: 'other' }, 'unread_measures'],
    ['without a node is left out', { ...good, node: '' }, 'unread_measures'],
    ['of 101 models is left out', { ...good, models: Array(101).fill(row) }, 'unread_measures'],
    ['of less than nothing is left out', rows({ attempts: -1 }), 'unread_measures'],
    ['of half an attempt is left out', rows({ attempts: 0.5 }), 'unread_measures'],
    ['of too many attempts is left out', rows({ attempts: 1e12 }), 'unread_measures'],
    ['with failures that are not numbers is left out', rows({ errors: 'many' }), 'unread_measures'],
    ['with a cell that there is not is left out', rows({ delays: [[64, 1]] }), 'unread_measures'],
    ['with 65 cells is left out', rows({ delays: Array(65).fill([0, 1]) }), 'unread_measures'],
    ['of another mode is left out', rows({ mode: 'call' }), 'unread_measures'],
    ['of a model with a very long name is left out', rows({ model: 'a/'.repeat(200) }), 'unread_measures'],
    ['of a model that this node does not have is left out', rows({ model: 'z/one' }), 'measures_unknown_model'],
    ['of a model that objects have is left out', rows({ model: '__proto__' }), 'measures_unknown_model'],
  ])('%s', (_, body, drop) => {
    const { receivers, drops, figures } = edges(1);
    for (const receive of receivers) receive(body as BusBody);
    expect(drops).toEqual(drop === undefined ? [] : [drop]);
    const isTaken = drop === undefined && (body as { node: string }).node !== 'node00';
    expect(figures()[0]?.attempts).toBe(isTaken ? 4 : 0);
  });

  it('finds no room for the 257th node', () => {
    const { receivers, drops } = edges(1);
    for (let at = 0; at < 300; at++)
      for (const receive of receivers) receive({ ...good, node: `made-up-${at}` } as BusBody);
    expect(drops).toEqual(Array(44).fill('measures_no_room'));
  });
});
