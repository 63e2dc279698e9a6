// The turn chart as a session evaluates it, compared with an actor of the same chart.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, SimulatedClock } from 'xstate';
import { machines } from '../../../../machines/index.ts';
import { type TurnEvent, turnMachine } from '../../../../machines/turn.ts';
import { TurnChart } from '../../../../src/live/session/turns/turn-chart.ts';
import { countsOfProcess } from '../../../../src/runtime/actors.ts';

const WAIT_MS = 700;
const samples = machines.find(({ id }) => id === 'turn')!.samples as readonly TurnEvent[];

function started() {
  const clock = new SimulatedClock();
  const chart = new TurnChart();
  const calls: string[] = [];
  const host = {
    deliverFinal: () => void calls.push('deliverFinal'),
    tellSettled: () => void calls.push('tellSettled'),
    fault: (action: string) => void calls.push(`fault ${action}`),
  };
  chart.start(clock, WAIT_MS, host);
  return { chart, clock, calls, host };
}

describe('the turn chart of a session', () => {
  it('decides what an actor of the chart decides, in every order of events and times', () => {
    const happening = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...samples) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 * WAIT_MS }) },
    );
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 60, size: 'max' }), (sequence) => {
        const { chart, clock, calls } = started();
        const expected: string[] = [];
        const actions = {
          deliverFinal: () => void expected.push('deliverFinal'),
          tellSettled: () => void expected.push('tellSettled'),
        };
        const input = { formattedWaitMs: WAIT_MS };
        const actorClock = new SimulatedClock();
        const actor = createActor(turnMachine.provide({ actions }), { input, clock: actorClock });
        actor.start();
        for (const each of sequence) {
          if (typeof each === 'number') {
            clock.increment(each);
            actorClock.increment(each);
          } else {
            chart.tell(each);
            actor.send(each);
          }
          expect([chart.step?.value, calls]).toEqual([actor.getSnapshot().value, expected]);
        }
        actor.stop();
        chart.stop();
      }),
      { numRuns: 60 },
    );
  });

  it('reports an action that throws, and does the next one', () => {
    const { chart, calls, host } = started();
    host.deliverFinal = () => {
      throw new Error('It is broken.');
    };
    chart.tell({ type: 'turn.heard' });
    chart.tell({ type: 'turn.ended', formattedFollows: false });
    expect([calls, chart.step?.value]).toEqual([['fault deliverFinal', 'tellSettled'], 'idle']);
  });

  it('waits for a formatted final as long as the models need that the client has changed to', () => {
    const { chart, clock, calls } = started();
    chart.formattedWaitMs = 100;
    chart.tell({ type: 'turn.heard' });
    chart.tell({ type: 'turn.ended', formattedFollows: true });
    clock.increment(99);
    expect(calls).toEqual([]);
    clock.increment(1);
    expect(calls).toEqual(['deliverFinal', 'tellSettled']);
  });

  it('decides nothing before it starts and after it stops, and leaves no timer and no count', () => {
    const before = countsOfProcess();
    const idle = new TurnChart();
    idle.tell({ type: 'turn.heard' });
    expect(idle.step).toBeUndefined();
    const { chart, clock, calls } = started();
    chart.tell({ type: 'turn.heard' });
    chart.tell({ type: 'turn.ended', formattedFollows: true });
    expect(countsOfProcess()['turn.awaitingFormatted']).toBe((before['turn.awaitingFormatted'] ?? 0) + 1);
    chart.stop();
    chart.stop();
    chart.tell({ type: 'turn.formatted' });
    clock.increment(10 * WAIT_MS);
    expect([calls, chart.step, countsOfProcess()]).toEqual([[], undefined, before]);
  });
});
