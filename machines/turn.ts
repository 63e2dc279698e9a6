// One turn after the other: when a turn has begun, when its final is due, and that it is given exactly once. The texts are
// held by the host (src/live/session/turns); this chart sees boundaries only. No actor runs it: the host asks it what comes of an event.
import { setup } from 'xstate';
import { declaredAction } from './declared.ts';

export interface TurnInput {
  /** How long a formatted version of a turn is waited for. */
  formattedWaitMs: number;
}

export type TurnContext = TurnInput;

export type TurnEvent =
  /** The first words of a turn were heard. Always comes before the end of that turn. */
  | { type: 'turn.heard' }
  /** The provider ended the turn. `formattedFollows`: a formatted final of the same turn is to come. */
  | { type: 'turn.ended'; formattedFollows: boolean }
  | { type: 'turn.formatted' }
  /** The provider ended the turn without the words that were heard of it. */
  | { type: 'turn.emptied' }
  /** Words of a turn that was ended without them. */
  | { type: 'turn.resumed' }
  /** The leg failed, and has settled so much of the turn that this is its final: the rest is another turn. */
  | { type: 'turn.kept' }
  /** The turn came to nothing, or its leg failed and it will be heard again from its beginning. */
  | { type: 'turn.discarded' }
  /** Nothing more will be said: what is due is given now. */
  | { type: 'turn.flush' };

/** How long another end is waited for of a turn that was ended without the words that were heard of it. */
const WORDS_WAIT_MS = 1_000;

/** How long a state is waited in. */
export const turnDelays = {
  formattedWait: ({ context }: { context: TurnContext }) => context.formattedWaitMs,
  wordsWait: () => WORDS_WAIT_MS,
};

/** The turn is complete. With every final: a state of its own, left at once, would cost another step of the chart. */
const settled = { target: 'idle', actions: ['deliverFinal', 'tellSettled'] } as const;

const ended = [{ guard: 'formattedFollows', target: 'awaitingFormatted' }, settled] as const;

export const turnMachine = setup({
  types: {
    context: {} as TurnContext,
    events: {} as TurnEvent,
    input: {} as TurnInput,
  },
  actions: {
    /** Gives the final to the client and begins the next turn. */
    deliverFinal: declaredAction('deliverFinal'),
    /** Tells the session chart that a turn is complete. */
    tellSettled: declaredAction('tellSettled'),
  },
  guards: {
    formattedFollows: ({ event }) => event.type === 'turn.ended' && event.formattedFollows,
  },
  delays: turnDelays,
}).createMachine({
  id: 'turn',
  description: 'One final per turn, whatever a provider does.',
  context: ({ input }) => ({ ...input }),
  initial: 'idle',
  states: {
    idle: {
      on: { 'turn.heard': 'speaking' },
    },
    speaking: {
      on: {
        'turn.ended': ended,
        'turn.emptied': 'awaitingWords',
        // No sign of a model that works: the leg is lost.
        'turn.kept': { target: 'idle', actions: 'deliverFinal' },
        'turn.discarded': 'idle',
      },
    },
    awaitingWords: {
      description: 'Words were heard, and the end came without them: the provider may say another.',
      on: {
        'turn.ended': ended,
        'turn.resumed': 'speaking',
        // The next leg hears it again.
        'turn.discarded': 'idle',
        // The next turn has begun: this one came to nothing.
        'turn.heard': { ...settled, target: 'speaking' },
      },
      after: { wordsWait: settled },
    },
    awaitingFormatted: {
      description: 'The unformatted text is there; the formatted one is worth a short wait.',
      on: {
        'turn.formatted': settled,
        'turn.flush': settled,
        // A failed leg cannot send the formatted final any more: the words are settled, so they are given as they are.
        'turn.discarded': settled,
        // The next turn has begun: this one waits no longer.
        'turn.heard': { ...settled, target: 'speaking' },
      },
      after: { formattedWait: settled },
    },
  },
  options: { maxIterations: 200 },
});
