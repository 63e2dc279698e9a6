// When the console says that another model took over: after a failure, and not where the client chose another model.
import { describe, expect, it } from 'vitest';
import { takenOverBy } from '../../src/console/pages/sessions/taken-over.ts';

const [A, B, C] = ['a/one', 'b/two', 'c/three'];
const row = (model: string) => ({ model, byok: false, seconds: 1, cost_usd: '0' });
const legs = (...each: [string, string][]) => each.map(([model, state]) => ({ model, state }));
const live = (...each: [string, string][]) =>
  takenOverBy({ mode: 'live', model: A, legs: legs(...each), usage: each.map(([model]) => row(model)) });

describe('the model that took over', () => {
  it.each([
    [
      'a live session after a failover',
      [
        [A, 'upstream_closed'],
        [B, 'streaming'],
      ],
      B,
    ],
    [
      'an ended session after a failover',
      [
        [A, 'connect_failed'],
        [B, 'closed'],
      ],
      B,
    ],
    [
      'a failover, then a model that the client chose',
      [
        [A, 'timeout'],
        [B, 'streaming'],
        [C, 'streaming'],
      ],
      B,
    ],
    [
      'a model that the client chose, then a failover',
      [
        [A, 'streaming'],
        [B, 'timeout'],
        [C, 'closed'],
      ],
      C,
    ],
    [
      'a model that the client chose',
      [
        [A, 'streaming'],
        [B, 'streaming'],
      ],
      undefined,
    ],
    [
      'a model that the client chose in an ended session',
      [
        [A, 'closed'],
        [B, 'closed'],
      ],
      undefined,
    ],
    [
      'a model that the client chose after a silence',
      [
        [A, 'suspended'],
        [B, 'closed'],
      ],
      undefined,
    ],
    [
      'a reconnection to the same model',
      [
        [A, 'upstream_closed'],
        [A, 'streaming'],
      ],
      undefined,
    ],
    ['a single connection that failed', [[A, 'upstream_closed']], undefined],
  ] as [string, [string, string][], string | undefined][])('follows from %s', (_, each, expected) => {
    expect(live(...each)).toBe(expected);
  });

  it('stays unknown from the bill of a live session', () => {
    expect(takenOverBy({ mode: 'live', model: A, usage: [row(A), row(B)] })).toBeUndefined();
  });

  it('follows from the bill of a file', () => {
    expect(takenOverBy({ mode: 'batch', model: A, usage: [row(B)] })).toBe(B);
    expect(takenOverBy({ mode: 'batch', model: A, usage: [row(A)] })).toBeUndefined();
  });
});
