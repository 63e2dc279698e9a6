// Machines as plain data: complete, stable, and the same names that a watched actor shows.

import { describe, expect, test } from 'vitest';
import { and, assign, createActor, createMachine, fromPromise, not, or, raise, setup, stateIn } from 'xstate';
import { edgeIdOf, toGraph, wordsOf } from '../../machines/drawing/graph.ts';
import { machines } from '../../machines/index.ts';

describe.each(machines)('the graph of $id', ({ machine }) => {
  const graph = toGraph(machine);

  test('survives JSON unchanged, and is made the same again', () => {
    expect(JSON.parse(JSON.stringify(graph))).toStrictEqual(graph);
    expect(JSON.stringify(toGraph(machine))).toBe(JSON.stringify(graph));
  });

  test('stays the same for the machine that a host provides', () => {
    expect(toGraph(machine.provide({ actions: {} }))).toEqual(graph);
  });

  test('names every state and every edge once, without blanks, and points nowhere else', () => {
    const nodeIds = graph.nodes.map(({ id }) => id);
    const edgeIds = graph.edges.map(({ id }) => id);
    expect(new Set(nodeIds).size).toBe(nodeIds.length);
    expect(new Set(edgeIds).size).toBe(edgeIds.length);
    for (const id of [...nodeIds, ...edgeIds]) expect(id).not.toMatch(/\s/);
    for (const { from, to } of graph.edges) expect(nodeIds).toEqual(expect.arrayContaining([from, to ?? from]));
    for (const { parent, initial } of graph.nodes) {
      expect(nodeIds).toEqual(expect.arrayContaining([parent ?? graph.id, initial ?? graph.id]));
    }
  });

  test('describes the machine', () => {
    expect(graph.description).toMatch(/\.$/);
  });
});

const sample = setup({
  actors: { work: fromPromise(async () => undefined) },
  actions: { note: assign({}), say: (_, _params: { why: string; text: string; times: number }) => undefined },
  guards: { a: () => true, b: () => true, c: () => true },
  delays: { pause: 10 },
}).createMachine({
  id: 'sample',
  initial: 'one',
  states: {
    one: {
      entry: ['note', raise({ type: 'go' })],
      exit: { type: 'say', params: { why: 'leaving', text: 'Good bye.', times: 2 } },
      tags: ['early'],
      description: 'The first.',
      invoke: { src: 'work', id: 'job', onDone: 'two', onError: { target: 'two', actions: 'note' } },
      on: {
        go: [
          { guard: and(['a', not('b'), or(['b', 'c'])]), actions: 'note' },
          { guard: stateIn('#sample.one'), target: 'two' },
          'three',
        ],
      },
      after: { pause: 'three' },
    },
    two: { always: [{ guard: 'a', target: 'three' }, { target: 'one' }] },
    three: { type: 'final' },
  },
});

describe('toGraph', () => {
  const graph = toGraph(sample);
  const edges = graph.edges.map(({ id, to, label, kind, guard, actions }) => [id, to, label, kind, guard, actions]);

  test('lists every kind of transition, readably', () => {
    expect(edges).toEqual([
      ['sample.one:go:0', null, 'go', 'event', 'a and not b and b or c', ['note']],
      ['sample.one:go:1', 'sample.two', 'go', 'event', 'in #sample.one', []],
      ['sample.one:go:2', 'sample.three', 'go', 'event', null, []],
      ['sample.one:done.job:0', 'sample.two', 'done job', 'done', null, []],
      ['sample.one:error.job:0', 'sample.two', 'error job', 'error', null, ['note']],
      ['sample.one:after.pause:0', 'sample.three', 'after pause', 'after', null, []],
      ['sample.two:always:0', 'sample.three', 'always', 'always', 'a', []],
      ['sample.two:always:1', 'sample.one', 'always', 'always', null, []],
    ]);
  });

  test('lists what a state does, without the timers that XState adds', () => {
    expect(graph.nodes[1]).toEqual({
      id: 'sample.one',
      key: 'one',
      parent: 'sample',
      kind: 'atomic',
      initial: null,
      tags: ['early'],
      entry: ['note', 'raise(go)'],
      exit: ['say(leaving)'],
      invokes: [{ id: 'job', src: 'work' }],
      description: 'The first.',
    });
  });

  test('says [else] for the alternative that is left, and nothing for an eventless one that has a guard', () => {
    const words = graph.edges.map((edge) => Object.values(wordsOf(edge, graph)).join('|'));
    expect(words).toEqual([
      'go|[a and not b and b or c]|/ note',
      'go|[in #sample.one]|',
      'go|[else]|',
      'done job||',
      'error job||/ note',
      'after pause||',
      '|[a]|',
      '|[else]|',
    ]);
  });

  test('names the end of a state with states inside', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { initial: 'b', states: { b: { type: 'final' } }, onDone: 'c' }, c: {} },
    });
    expect(toGraph(machine).edges).toMatchObject([
      { id: 'm.a:done.m.a:0', label: 'done m.a', kind: 'done', to: 'm.c' },
    ]);
  });
});

test('edgeIdOf names the transitions that a watched actor takes', () => {
  const seen: string[] = [];
  const actor = createActor(sample, {
    inspect: (event) => {
      if (event.type === '@xstate.microstep') seen.push(...event._transitions.map(edgeIdOf));
    },
  }).start();
  actor.stop();
  expect(seen).toEqual(['sample.one:go:1', 'sample.two:always:0']);
});
