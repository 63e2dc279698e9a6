// A scope lets go of everything exactly once, last first, whatever throws.
import { describe, expect, it } from 'vitest';
import { DisposerStack } from '../../src/runtime/disposer-stack.ts';

describe('a scope', () => {
  it('runs its disposers once, last first', () => {
    const scope = new DisposerStack();
    const ran: number[] = [];
    for (const each of [1, 2, 3]) scope.defer(() => ran.push(each));
    expect(scope.disposed).toBe(false);
    scope.dispose();
    scope.dispose();
    expect([ran, scope.disposed]).toEqual([[3, 2, 1], true]);
  });

  it('runs every disposer although some throw, and reports each fault', () => {
    const faults: unknown[] = [];
    const scope = new DisposerStack((error) => faults.push(error));
    const ran: number[] = [];
    for (const each of [1, 2, 3, 4]) {
      scope.defer(() => {
        ran.push(each);
        if (each % 2 === 0) throw each;
      });
    }
    scope.dispose();
    expect([ran, faults]).toEqual([
      [4, 3, 2, 1],
      [4, 2],
    ]);
  });

  it('lets go at once of what is opened too late, also while it is being disposed of', () => {
    const scope = new DisposerStack();
    const ran: string[] = [];
    scope.defer(() => {
      scope.defer(() => ran.push('late'));
      scope.dispose();
      ran.push('first');
    });
    scope.dispose();
    scope.defer(() => ran.push('later'));
    expect(ran).toEqual(['late', 'first', 'later']);
  });
});
