// The turn chart of one session. No actor runs: XState's pure `transition` says what an event makes of a state, once for all sessions of
// the process, so that a final costs a look-up. The wait of a state is a timer here.
import { transition } from 'xstate';
import type { Clock } from '../../../../machines/clock.ts';
import { edgeIdOf } from '../../../../machines/drawing/graph.ts';
import { type TurnContext, type TurnEvent, turnDelays, turnMachine } from '../../../../machines/turn.ts';
import { countStates, type Macrostep, type StateCount, type Step } from '../../../runtime/actors.ts';

type TurnState = 'idle' | 'speaking' | 'awaitingWords' | 'awaitingFormatted';
type TurnAction = 'deliverFinal' | 'tellSettled';

/** Does what the chart decides. */
export interface TurnHost extends Record<TurnAction, () => void> {
  /** An action has thrown. */
  fault(action: TurnAction, error: unknown): void;
}

/** What an event makes of a state. */
interface TurnStep {
  value: TurnState;
  actions: readonly TurnAction[];
  /** Ids of the transitions, as they are drawn. */
  edges: string[];
  /** The event that follows if the state lasts for this delay. */
  wait: { delay: keyof typeof turnDelays; event: TurnEvent } | undefined;
}

/** What each event makes of each state. Made with the first session: XState warns if a chart is evaluated in an action of another. */
let steps: ReadonlyMap<string, TurnStep> | undefined;

const keyOf = (value: TurnState, event: TurnEvent): string =>
  'formattedFollows' in event && event.formattedFollows ? `${value} ${event.type} formatted` : `${value} ${event.type}`;

function everyStep(): ReadonlyMap<string, TurnStep> {
  const every = new Map<string, TurnStep>();
  for (const value of Object.keys(turnMachine.states) as TurnState[])
    for (const type of turnMachine.events)
      for (const formattedFollows of type === 'turn.ended' ? [false, true] : [false]) {
        const event = { type, formattedFollows } as TurnEvent;
        const step = evaluate(value, event);
        if (step !== undefined) every.set(keyOf(value, event), step);
      }
  return every;
}

/** Undefined where the event changes nothing. */
function evaluate(value: TurnState, event: TurnEvent): TurnStep | undefined {
  const before = turnMachine.resolveState({ value, context: { formattedWaitMs: 0 } });
  const taken = turnMachine.getTransitionData(before, event);
  if (taken.length === 0) return undefined;
  const [after, actions] = transition(turnMachine, before, event);
  const [wait] = turnMachine.states[after.value]?.after ?? [];
  return {
    value: after.value,
    actions: actions.map(({ type }) => type).filter((type) => !type.startsWith('xstate.')) as TurnAction[],
    edges: taken.map(edgeIdOf),
    wait: wait && { delay: wait.delay as keyof typeof turnDelays, event: { type: wait.eventType } as never },
  };
}

/** Safe to tell anything at any time: before it has started, and after it has stopped, nothing comes of it. */
export class TurnChart {
  #host: TurnHost | undefined;
  #clock: Clock | undefined;
  #value: TurnState = 'idle';
  readonly #context: TurnContext = { formattedWaitMs: 0 };
  #timer: unknown;
  #count: StateCount | undefined;
  /** Is told of each step, while the session is watched. */
  onStep: ((step: Omit<Macrostep, 'order'>) => void) | undefined;

  start(clock: Clock, formattedWaitMs: number, host: TurnHost): void {
    steps ??= everyStep();
    this.#host = host;
    this.#clock = clock;
    this.formattedWaitMs = formattedWaitMs;
    this.#count = countStates('turn', this.#value);
  }

  /** How long a formatted version of a turn is waited for, from the next turn on. */
  set formattedWaitMs(formattedWaitMs: number) {
    this.#context.formattedWaitMs = formattedWaitMs;
  }

  /** Where it is; undefined while it does not run. */
  get step(): Step | undefined {
    return this.#host && { actor: 'turn', machine: 'turn', value: this.#value, status: 'active' };
  }

  tell(event: TurnEvent): void {
    const host = this.#host;
    const step = steps?.get(keyOf(this.#value, event));
    if (host === undefined || step === undefined) return;
    const { value, actions, edges, wait } = step;
    this.#value = value;
    this.#count?.became(value);
    this.#clock?.clearTimeout(this.#timer);
    if (wait !== undefined) {
      const afterMs = turnDelays[wait.delay]({ context: this.#context });
      this.#timer = this.#clock?.setTimeout(() => this.tell(wait.event), afterMs);
    }
    this.onStep?.({ actor: 'turn', machine: 'turn', value, status: 'active', event: event.type, edges, through: [] });
    // What an action leads to may tell the chart of more: it is in its next state already.
    for (const action of actions) {
      try {
        host[action]();
      } catch (error) {
        host.fault(action, error);
      }
    }
  }

  stop(): void {
    if (this.#host === undefined) return;
    this.#host = undefined;
    this.#clock?.clearTimeout(this.#timer);
    this.#count?.over();
    const value = this.#value;
    this.onStep?.({ actor: 'turn', machine: 'turn', value, status: 'stopped', event: '', edges: [], through: [] });
  }
}
