// Actors are started and watched in one place: no throw of an observer, an action or a chart ends the process, and an end is
// told once, if it was one.
import { describe, expect, it, vi } from 'vitest';
import { SimulatedClock, setup } from 'xstate';
import { guardActions, type Observer, startObserved } from '../../src/runtime/actors.ts';
import { uuidv7 } from '../../src/runtime/uuid.ts';

const machine = setup({
  types: { events: {} as { type: 'go' | 'end' | 'break' | 'stop' } },
  actions: {
    work: () => {},
    breakDown: () => {
      throw new Error('broken');
    },
  },
}).createMachine({
  id: 'sample',
  initial: 'first',
  states: {
    first: { on: { go: 'second', end: 'last', break: { actions: 'breakDown' }, stop: { actions: 'work' } } },
    second: { after: { 1000: 'first' } },
    last: { type: 'final' },
  },
  output: () => 'done',
});

function observe(observer: Partial<Observer<typeof machine>> = {}, actions = {}) {
  const calls: string[] = [];
  const clock = new SimulatedClock();
  const actor = startObserved(machine.provide({ actions }), undefined, clock, {
    changed: ({ value }) => calls.push(`changed ${value}`),
    ended: (output) => calls.push(`ended ${output}`),
    failed: (error) => calls.push(`failed ${(error as Error).message}`),
    ...observer,
  });
  return { actor, calls, clock };
}

const throwing = (): never => {
  throw new Error('observer');
};

describe('an observed actor', () => {
  it('starts, reports each state, and ends once', () => {
    const { actor, calls, clock } = observe();
    actor.send({ type: 'go' });
    clock.increment(1_000);
    actor.send({ type: 'end' });
    actor.stop();
    expect(calls).toEqual(['changed first', 'changed second', 'changed first', 'changed last', 'ended done']);
  });

  it.each([
    ['from outside', () => {}],
    ['from within', () => {}],
  ])('reports no end when stopped %s', (way) => {
    const { actor, calls } = observe({}, { work: () => actor.stop() });
    if (way === 'from outside') actor.stop();
    else actor.send({ type: 'stop' });
    expect(calls.filter((call) => !call.startsWith('changed'))).toEqual([]);
    expect(actor.getSnapshot().status).toBe('stopped');
  });

  it('reports a failure once', () => {
    const { actor, calls } = observe();
    actor.send({ type: 'break' });
    expect(calls).toEqual(['changed first', 'failed broken']);
  });

  it('reports a throwing observer once, and continues', () => {
    const { actor, calls } = observe({ changed: throwing });
    actor.send({ type: 'go' });
    expect([calls, actor.getSnapshot().value]).toEqual([['failed observer'], 'second']);
    const other = observe({ ended: throwing });
    other.actor.send({ type: 'end' });
    expect(other.calls.at(-1)).toBe('failed observer');
  });
});

describe('guarded actions', () => {
  it('hand a throw over with the name and the arguments of the action, and return', () => {
    const onFault = vi.fn();
    const guarded = guardActions({ fine: (_: { a: number }) => {}, broken: (_: { a: number }) => throwing() }, onFault);
    guarded.fine({ a: 1 });
    guarded.broken({ a: 2 });
    expect(onFault.mock.calls).toEqual([['broken', { a: 2 }, new Error('observer')]]);
  });
});

describe('a UUID', () => {
  it('follows version 7, is unique, and sorts by time', () => {
    const ids = Array.from({ length: 1_000 }, (_, at) => uuidv7(1_760_000_000_000 + at));
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(Array.from({ length: 1_000 }, () => uuidv7(0))).size).toBe(1_000);
  });
});
