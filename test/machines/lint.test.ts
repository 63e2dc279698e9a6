// The rules that machines keep: each is shown with a small machine that breaks it, and the real ones break none.

import { describe, expect, test } from 'vitest';
import {
  type AnyStateMachine,
  and,
  assign,
  createMachine,
  fromPromise,
  not,
  or,
  raise,
  sendTo,
  setup,
  stateIn,
} from 'xstate';
import { type MachineEntry, machines } from '../../machines/index.ts';
import { lintMachine } from './lint-machine.ts';

const promise = fromPromise(async () => undefined);
const options = { maxIterations: 200 };

const lint = (machine: AnyStateMachine, samples: MachineEntry['samples'] = [], input: unknown = {}): string[] =>
  lintMachine({ machine, samples, input });

test.each(machines)('$id breaks no rule', (entry) => {
  expect(lintMachine(entry)).toEqual([]);
});

describe('the lint of machines', () => {
  const bad: [string, AnyStateMachine, string][] = [
    [
      'an unknown first state',
      createMachine({ id: 'm', initial: 'one', states: { one: { initial: 'five', states: { four: {} } } }, options }),
      'm.one: there is no first state "five"; there are four.',
    ],
    [
      'a delay that is not declared',
      createMachine({ id: 'm', initial: 'a', states: { a: { after: { soon: 'b' } }, b: {} }, options }),
      'm.a: the delay "soon" is not declared, so it would fire at once.',
    ],
    [
      'a delay that is longer than a timer takes',
      setup({ delays: { month: 30 * 24 * 3_600_000 } }).createMachine({
        id: 'm',
        initial: 'a',
        states: { a: { after: { month: 'b' } }, b: {} },
        options,
      }),
      'm: the delay "month" is 2592000000 ms; it must be 0 to 2147483647.',
    ],
    [
      'a delay that the input leaves undefined',
      setup({
        types: { context: {} as { waitMs: number }, input: {} as { waitMs: number } },
        delays: { wait: ({ context }) => context.waitMs },
      }).createMachine({
        id: 'm',
        context: ({ input }) => ({ waitMs: input.waitMs }),
        initial: 'a',
        states: { a: { after: { wait: 'b' } }, b: {} },
        options,
      }),
      'm: the delay "wait" is undefined ms; it must be 0 to 2147483647.',
    ],
    [
      'a delay without a name',
      createMachine({ id: 'm', initial: 'a', states: { a: { after: { 100: 'b' } }, b: {} }, options }),
      'm.a: the delay 100 is written in place; give it a name in setup().',
    ],
    [
      'an action without a name',
      createMachine({ id: 'm', entry: () => undefined, options }),
      'm: an action is written in place; give it a name in setup().',
    ],
    [
      'an assignment without a name',
      createMachine({ id: 'm', initial: 'a', states: { a: { exit: assign({}) } }, options }),
      'm.a: an action is written in place; give it a name in setup().',
    ],
    [
      'a raised event that is computed',
      createMachine({ id: 'm', entry: raise(() => ({ type: 'x' })), options }),
      'm: an action is written in place; give it a name in setup().',
    ],
    [
      'a guard without a name, also within others',
      setup({ guards: { named: () => true } }).createMachine({
        id: 'm',
        always: { guard: and(['named', not(() => true)]), actions: raise({ type: 'x' }) },
        options,
      }),
      'm: a guard is written in place; give it a name in setup().',
    ],
    [
      'an actor without a name',
      createMachine({ id: 'm', invoke: { src: promise, onError: {} }, options }),
      'm: an actor is written in place; give it a name in setup().',
    ],
    [
      'a part that nothing uses',
      setup({ actions: { stale: () => undefined } }).createMachine({ id: 'm', options }),
      'm: "stale" is declared in actions and never used.',
    ],
    [
      'an event sent to a child',
      setup({ actions: { tell: sendTo('child', { type: 'x' }) } }).createMachine({ id: 'm', entry: 'tell', options }),
      'm: "tell" sends to another actor, which fails when that one is not running; let the host pass it on.',
    ],
    [
      'a child whose failure is not handled',
      setup({ actors: { promise } }).createMachine({
        id: 'm',
        initial: 'a',
        states: { a: { invoke: { src: 'promise', id: 'work', onDone: 'b' } }, b: {} },
        options,
      }),
      'm.a: nothing handles a failure of "work"; add onError.',
    ],
    [
      'a child of the whole machine whose failure is not handled',
      setup({ actors: { promise } }).createMachine({ id: 'm', invoke: { src: 'promise', id: 'work' }, options }),
      'm: nothing handles a failure of "work"; add onError.',
    ],
    [
      'a cycle without a bound',
      createMachine({ id: 'm' }),
      'm: a cycle of eventless transitions would never end; add options.maxIterations.',
    ],
    [
      'a state that nothing leads to',
      createMachine({ id: 'm', initial: 'a', states: { a: {}, island: {} }, options }),
      'm.island: no transition leads here.',
    ],
    [
      'a transition with several targets',
      createMachine({
        id: 'm',
        type: 'parallel',
        states: { one: { initial: 'a', states: { a: {}, b: {} } }, two: { initial: 'c', states: { c: {}, d: {} } } },
        always: { target: ['.one.b', '.two.d'] },
        options,
      }),
      'm: "" has several targets; drawings show one.',
    ],
  ];

  test.each(bad)('finds %s', (_what, machine, finding) => {
    expect(lint(machine)).toEqual([finding]);
  });

  const listening = (descriptor: string): AnyStateMachine =>
    createMachine({ id: 'm', on: { [descriptor]: {} }, options });

  test('finds a handler of every event, or of a family', () => {
    const finding = (descriptor: string) => [`m: "${descriptor}" also swallows failures of actors; name the events.`];
    expect(lint(listening('*'))).toEqual(finding('*'));
    expect(lint(listening('client.*'))).toEqual(finding('client.*'));
  });

  test('finds a sample without a handler, and an event without a sample', () => {
    expect(lint(listening('client.close'), [{ type: 'client.open' }])).toEqual([
      'm: "client.open" is among the samples and handled nowhere.',
      'm: "client.close" is handled and has no sample in machines/index.ts.',
    ]);
  });

  test('leaves an unknown target to XState, which throws at creation', () => {
    expect(() => createMachine({ id: 'm', initial: 'a', states: { a: { on: { x: 'nowhere' } } } })).toThrow('nowhere');
  });
});

test('accepts a valid machine: literal raise, combined guards, nested and parallel states', () => {
  const machine = setup({
    types: { context: {} as { waitMs: number }, input: {} as { waitMs: number } },
    actors: { promise },
    actions: { note: assign({}) },
    guards: { yes: () => true, no: () => false, either: or(['yes', 'no']) },
    delays: { wait: ({ context }) => context.waitMs },
  }).createMachine({
    id: 'm',
    context: ({ input }) => input,
    initial: 'on',
    states: {
      on: {
        type: 'parallel',
        invoke: { src: 'promise', onDone: 'off', onError: 'off' },
        states: {
          left: { entry: raise({ type: 'go' }), on: { go: { guard: 'either', actions: 'note' } } },
          right: { after: { wait: { guard: and([not('no'), stateIn('#m.on.left')]), target: '#m.off' } } },
        },
      },
      off: { type: 'final' },
    },
    options,
  });
  expect(lint(machine, [{ type: 'go' }], { waitMs: 5 })).toEqual([]);
});
