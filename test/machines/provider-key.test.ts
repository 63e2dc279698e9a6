// The provider-key chart as a table: what becomes of a key in each state, whatever happens to it.
import { describe, expect, test } from 'vitest';
import { transition } from 'xstate';
import { type ProviderKeyEvent, type ProviderKeyState, providerKeyMachine } from '../../machines/provider-key.ts';

const MAX = 3;

function judge(state: ProviderKeyState, failures: number, type: ProviderKeyEvent['type']) {
  const before = providerKeyMachine.resolveState({ value: state, context: { failures, failuresMax: MAX } });
  const [after, actions] = transition(providerKeyMachine, before, { type });
  return [after.value, after.context.failures, actions.map((action) => action.type).join()];
}

describe('a key', () => {
  const rows: [ProviderKeyState, number, ProviderKeyEvent['type'], ProviderKeyState, number, string?][] = [
    ['untested', 0, 'check.begun', 'checking', 0],
    ['untested', 0, 'use.accepted', 'usable', 0],
    ['untested', 0, 'use.refused', 'failing', 1],
    ['untested', 2, 'use.refused', 'disabled', 3, 'tellDisabled'],
    ['checking', 0, 'check.accepted', 'usable', 0],
    ['checking', 2, 'check.accepted', 'usable', 0],
    ['checking', 0, 'check.refused', 'rejected', 3],
    ['checking', 0, 'check.unanswered', 'untested', 0],
    ['checking', 2, 'check.unanswered', 'untested', 2],
    ['checking', 3, 'check.unanswered', 'disabled', 3],
    ['usable', 0, 'check.begun', 'checking', 0],
    ['usable', 0, 'use.accepted', 'usable', 0],
    ['usable', 0, 'use.refused', 'failing', 1],
    ['failing', 1, 'use.refused', 'failing', 2],
    ['failing', 2, 'use.refused', 'disabled', 3, 'tellDisabled'],
    ['failing', 2, 'use.accepted', 'usable', 0],
    ['failing', 1, 'check.begun', 'checking', 1],
    ['disabled', 3, 'use.refused', 'disabled', 3],
    ['disabled', 3, 'use.accepted', 'usable', 0],
    ['disabled', 3, 'check.begun', 'checking', 3],
    ['rejected', 3, 'use.refused', 'rejected', 3],
    ['rejected', 3, 'use.accepted', 'usable', 0],
    ['rejected', 3, 'check.begun', 'checking', 3],
  ];

  test.each(rows)(
    'turns from %s after %i refusals, by %s, into %s',
    (state, failures, type, next, count, tells = '') => {
      expect(judge(state, failures, type)).toEqual([next, count, tells]);
    },
  );

  test('works in every state except the two tagged as blocked', () => {
    const barred = (['untested', 'checking', 'usable', 'failing', 'disabled', 'rejected'] as const).filter((value) =>
      providerKeyMachine.resolveState({ value, context: { failures: 0, failuresMax: MAX } }).hasTag('barred'),
    );
    expect(barred).toEqual(['disabled', 'rejected']);
  });
});
