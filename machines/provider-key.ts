// What is known of a customer's own provider key: whether sessions may be dialled with it. Evaluated purely on the stored
// row; no actor runs for it. What a provider's answer means is decided by its folder.
import { assign, setup } from 'xstate';
import { declaredAction } from './declared.ts';

export interface ProviderKeyInput {
  /** Refusals in a row after which the key is disabled; at least 2. */
  failuresMax: number;
}

export interface ProviderKeyContext extends ProviderKeyInput {
  /** Refusals in a row, by sessions, files and tests. */
  failures: number;
}

export type ProviderKeyState = 'untested' | 'checking' | 'usable' | 'failing' | 'disabled' | 'rejected';

export type ProviderKeyEvent =
  /** A test call to the provider begins; one of the three below follows. */
  | { type: 'check.begun' }
  | { type: 'check.accepted' }
  | { type: 'check.refused' }
  /** The provider could not be reached, or its answer says nothing of the key. */
  | { type: 'check.unanswered' }
  /** A session or a file ran on the key. */
  | { type: 'use.accepted' }
  /** The provider refused the key to a session or a file. */
  | { type: 'use.refused' };

export const providerKeyMachine = setup({
  types: {
    context: {} as ProviderKeyContext,
    events: {} as ProviderKeyEvent,
    input: {} as ProviderKeyInput,
    tags: {} as 'barred',
  },
  actions: {
    /** Its people are to hear that sessions are refused from now on. */
    tellDisabled: declaredAction('tellDisabled'),
    countFailure: assign({ failures: ({ context }) => Math.min(context.failuresMax, context.failures + 1) }),
    forget: assign({ failures: 0 }),
    spend: assign({ failures: ({ context }) => context.failuresMax }),
  },
  guards: {
    isLast: ({ context }) => context.failures + 1 >= context.failuresMax,
    isSpent: ({ context }) => context.failures >= context.failuresMax,
  },
}).createMachine({
  id: 'provider-key',
  description: "A customer's own key at a provider, from its test to its end.",
  // Pure transitions build a throw-away actor without input; a context that tolerates that is twice as fast.
  context: ({ input }) => ({ failuresMax: input?.failuresMax ?? 1, failures: 0 }),
  initial: 'untested',
  states: {
    untested: {
      description: 'Used, and judged by how that goes.',
      on: {
        'check.begun': 'checking',
        'use.accepted': { target: 'usable', actions: 'forget' },
        'use.refused': [
          { guard: 'isLast', target: 'disabled', actions: ['countFailure', 'tellDisabled'] },
          { target: 'failing', actions: 'countFailure' },
        ],
      },
    },
    checking: {
      on: {
        'check.accepted': { target: 'usable', actions: 'forget' },
        'check.refused': { target: 'rejected', actions: 'spend' },
        'check.unanswered': [{ guard: 'isSpent', target: 'disabled' }, { target: 'untested' }],
      },
    },
    usable: {
      on: {
        'check.begun': 'checking',
        'use.refused': { target: 'failing', actions: 'countFailure' },
      },
    },
    failing: {
      description: 'Refused of late; used on, as it may have been in passing.',
      on: {
        'check.begun': 'checking',
        'use.accepted': { target: 'usable', actions: 'forget' },
        'use.refused': [
          { guard: 'isLast', target: 'disabled', actions: ['countFailure', 'tellDisabled'] },
          { actions: 'countFailure' },
        ],
      },
    },
    disabled: {
      description:
        'Refused too often: nothing is dialled with it before a test, or what still runs on it, shows it good.',
      tags: 'barred',
      on: {
        'check.begun': 'checking',
        'use.accepted': { target: 'usable', actions: 'forget' },
      },
    },
    rejected: {
      description: 'The provider refused it in a test.',
      tags: 'barred',
      on: {
        'check.begun': 'checking',
        'use.accepted': { target: 'usable', actions: 'forget' },
      },
    },
  },
  options: { maxIterations: 200 },
});
