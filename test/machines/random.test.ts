// Machines under whatever may happen in whatever order.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EventObject } from 'xstate';
import { machines } from '../../machines/index.ts';
import { type Held, hold } from '../fakes/explore.ts';

const RUNS = { numRuns: 60 };
const STEPS_MAX = 40;

type Move = { send: number } | { tickMs: number } | { settle: number; fails: boolean };

const moves = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ send: fc.nat() }) },
    { weight: 3, arbitrary: fc.record({ tickMs: fc.constantFrom(1, 99, 100, 699, 700, 1_000, 5_000, 60_000) }) },
    { weight: 2, arbitrary: fc.record({ settle: fc.nat(), fails: fc.boolean() }) },
  ),
  { maxLength: STEPS_MAX, size: 'max' },
);

describe.each(machines)('the machine $id, at random', ({ id, machine, input, samples }) => {
  test('never fails, and keeps a context of plain data', async () => {
    await fc.assert(
      fc.asyncProperty(moves, async (sequence) => {
        const held = hold({ machine, input, samples });
        for (const move of sequence) {
          await make(move, held);
          const { status, context } = held.snapshot();
          expect(status).not.toBe('error');
          expect(JSON.parse(JSON.stringify(context))).toStrictEqual(context);
          if (status === 'done') break;
        }
        expect(held.errors).toEqual([]);
        if (id === 'session' && held.snapshot().status === 'done')
          expect(held.snapshot().context.reason).not.toBeNull();
      }),
      RUNS,
    );
  });

  async function make(move: Move, held: Held): Promise<void> {
    if ('send' in move) {
      const sample = samples[move.send % samples.length];
      if (sample !== undefined) held.send(sample);
    } else if ('tickMs' in move) held.clock.increment(move.tickMs);
    else {
      const running = held.running();
      const child = running[move.settle % running.length];
      if (child !== undefined) await held.settle(child, move.fails ? new Error('A sample failure.') : undefined);
    }
  }
});

describe('the turn machine', () => {
  const [entry] = machines.filter(({ id }) => id === 'turn');
  const { machine, samples, input } = entry!;
  const { formattedWaitMs } = input as { formattedWaitMs: number };
  const happenings = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...samples) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 * formattedWaitMs }) },
    ),
    { maxLength: 60, size: 'max' },
  );

  test('gives one final for each ended turn, in every order of events and times', () => {
    fc.assert(
      fc.property(happenings, (sequence) => {
        const held = hold({ machine, input, samples });
        const shadow = { state: 'idle', dueMs: 0, nowMs: 0, calls: [] };
        for (const happening of sequence) {
          if (typeof happening === 'number') {
            held.clock.increment(happening);
            shadow.nowMs += happening;
            if (shadow.state.startsWith('awaiting') && shadow.nowMs >= shadow.dueMs) settle(shadow);
          } else {
            held.send(happening);
            follow(shadow, happening);
          }
          expect(held.snapshot().value).toBe(shadow.state);
          expect(held.calls).toEqual(shadow.calls);
        }
      }),
      { numRuns: 200 },
    );
  });

  interface Shadow {
    state: string;
    dueMs: number;
    nowMs: number;
    calls: string[];
  }

  /** The same rules, written down a second time in the plainest way. */
  function follow(shadow: Shadow, { type, formattedFollows }: EventObject & Record<string, unknown>): void {
    const { state } = shadow;
    if (state === 'idle' && type === 'turn.heard') shadow.state = 'speaking';
    if (state === 'speaking' && type === 'turn.discarded') shadow.state = 'idle';
    if (state === 'speaking' && type === 'turn.kept') {
      shadow.calls.push('deliverFinal');
      shadow.state = 'idle';
    }
    if (state === 'speaking' && type === 'turn.emptied')
      Object.assign(shadow, { state: 'awaitingWords', dueMs: shadow.nowMs + 1_000 });
    if (state === 'awaitingWords' && type === 'turn.resumed') shadow.state = 'speaking';
    if (state === 'awaitingWords' && type === 'turn.discarded') shadow.state = 'idle';
    if (state === 'awaitingWords' && type === 'turn.heard') {
      settle(shadow);
      shadow.state = 'speaking';
    }
    if ((state === 'speaking' || state === 'awaitingWords') && type === 'turn.ended') {
      if (formattedFollows === true)
        Object.assign(shadow, { state: 'awaitingFormatted', dueMs: shadow.nowMs + formattedWaitMs });
      else settle(shadow);
    }
    if (
      state === 'awaitingFormatted' &&
      ['turn.formatted', 'turn.flush', 'turn.discarded', 'turn.heard'].includes(type)
    ) {
      settle(shadow);
      if (type === 'turn.heard') shadow.state = 'speaking';
    }
  }

  function settle(shadow: Shadow): void {
    shadow.calls.push('deliverFinal', 'tellSettled');
    shadow.state = 'idle';
  }
});
