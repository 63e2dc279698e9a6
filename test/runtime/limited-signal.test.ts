// A signal with a limit of time: aborted by whichever comes first, and by nothing once it is released.
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { limitedSignal } from '../../src/runtime/timeouts.ts';

const timersOf = (clock: SimulatedClock) => (Reflect.get(clock, 'timeouts') as Map<unknown, unknown>).size;

it('aborts when its time is over, and says so', () => {
  const clock = new SimulatedClock();
  const limited = limitedSignal(clock, 100, new AbortController().signal);
  clock.increment(99);
  expect([limited.signal.aborted, limited.isTimedOut]).toEqual([false, false]);
  clock.increment(1);
  expect([limited.signal.aborted, limited.isTimedOut, (limited.signal.reason as Error).name]).toEqual([
    true,
    true,
    'TimeoutError',
  ]);
});

it.each(['before', 'after'])('aborts with the other signal’s reason, when that was aborted %s it was made', (when) => {
  const parent = new AbortController();
  const reason = new Error('gone');
  if (when === 'before') parent.abort(reason);
  const limited = limitedSignal(new SimulatedClock(), 100, parent.signal);
  if (when === 'after') parent.abort(reason);
  expect([limited.signal.reason, limited.isTimedOut]).toEqual([reason, false]);
});

it('leaves no timer and follows no signal after its release', () => {
  const clock = new SimulatedClock();
  const parent = new AbortController();
  const limited = limitedSignal(clock, 100, parent.signal);
  limited.release();
  expect(timersOf(clock)).toBe(0);
  parent.abort();
  expect(limited.signal.aborted).toBe(false);
});
