// Stories of the breaker: what it does with failures, successes, probes and what other nodes say, and for how long it stays open.
import { describe, expect, test } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { type BreakerEvent, breakerMachine } from '../../machines/breaker.ts';
import { type Story, tell } from './story.ts';

const callFailed = (kind = 'next', retryAfterMs = 0) => ({ type: 'call.failed', kind, retryAfterMs });
const hint = (openMs = 30_000) => ({ type: 'hint.opened', openMs });
const begun = { type: 'call.begun' };
const succeeded = { type: 'call.succeeded' };
const breakerStories: Story[] = [
  { story: 'opens after so many failures in a row', events: [callFailed(), callFailed()], state: 'open' },
  { story: 'counts from the start after a success', events: [callFailed(), succeeded, callFailed()], state: 'closed' },
  { story: 'opens at once for a refused credential', events: [callFailed('account')], state: 'open' },
  { story: 'opens at once when the provider asks for time', events: [callFailed('next', 20_000)], state: 'open' },
  {
    story: 'lets one probe through after a while',
    events: [callFailed('account'), 'after openTime', begun],
    state: 'probing',
  },
  {
    story: 'closes when the probe succeeds',
    events: [callFailed('account'), 'after openTime', begun, succeeded],
    state: 'closed',
  },
  {
    story: 'opens again when the probe fails',
    events: [callFailed('account'), 'after openTime', begun, callFailed()],
    state: 'open',
  },
  {
    story: 'takes another probe when the first told nothing',
    events: [callFailed('account'), 'after openTime', begun, { type: 'call.released' }],
    state: 'halfOpen',
  },
  {
    story: 'waits for a probe no longer than it may',
    events: [callFailed('account'), 'after openTime', begun, 'after probeTime'],
    state: 'halfOpen',
  },
  {
    story: 'closes when a call that was made all the same succeeds',
    events: [callFailed('account'), succeeded],
    state: 'closed',
  },
  { story: 'opens when another node says that it left the model alone', events: [hint()], state: 'open' },
  {
    story: 'lets a probe through after a hint as after its own failure',
    events: [hint(), 'after openTime', begun],
    state: 'probing',
  },
  { story: 'waits when another node has probed before it', events: [hint(), 'after openTime', hint()], state: 'open' },
  {
    story: 'lets its own probe tell, whatever others say meanwhile',
    events: [hint(), 'after openTime', begun, hint()],
    state: 'probing',
  },
  { story: 'believes its own success more than a hint', events: [hint(), succeeded], state: 'closed' },
];

describe('a breaker', () => {
  test.each(breakerStories)('$story', async (story) => {
    await tell('breaker', story);
  });

  /** Milliseconds for which a breaker stays open after each of these. */
  const waits = (...events: BreakerEvent[]): number[] => {
    let [snapshot] = initialTransition(breakerMachine, {
      failuresMax: 1,
      openMs: 10_000,
      openMsMax: 40_000,
      probeMs: 1,
    });
    return events.map((event) => {
      [snapshot] = transition(breakerMachine, snapshot, event);
      return snapshot.context.waitMs;
    });
  };
  const failed = (retryAfterMs = 0): BreakerEvent => ({ type: 'call.failed', kind: 'next', retryAfterMs });
  const openTime = { type: 'xstate.after.openTime.breaker.open' } as unknown as BreakerEvent;

  test('stays open twice as long each time it opens again, up to the longest time', () => {
    expect(waits(failed(), openTime, failed(), openTime, failed(), openTime, failed())).toEqual([
      10_000, 10_000, 20_000, 20_000, 40_000, 40_000, 40_000,
    ]);
  });

  test('stays open as long as another node said, up to the longest time, and only a longer word extends it', () => {
    const hinted = (openMs: number): BreakerEvent => ({ type: 'hint.opened', openMs });
    expect(waits(hinted(5_000), hinted(3_000), hinted(7_000), hinted(86_400_000), hinted(1))).toEqual([
      5_000, 5_000, 7_000, 40_000, 40_000,
    ]);
    // The next opening is twice as long, as if it had been the node's own.
    expect(waits(hinted(5_000), openTime, failed()).at(-1)).toBe(20_000);
  });

  test('stays open as long as the provider asked, up to the longest time, and a later word extends it', () => {
    expect(waits(failed(25_000), failed(35_000), failed(7 * 86_400_000), failed(0))).toEqual([
      25_000, 35_000, 40_000, 40_000,
    ]);
  });
});
