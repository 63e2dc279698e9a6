// Whoever looks at the breaker of one model: told of its steps as long as they look, also where the breaker is made, or forgotten,
// meanwhile. A breaker that nobody looks at has nothing attached.
import { type Chart, type Inspection, inspectSystem, type Macrostep, stepsOf } from '../../../runtime/actors.ts';

/** One that is not kept is closed. */
const CLOSED = 'closed';

export type BreakerStep = Pick<Macrostep, 'event' | 'edges' | 'through' | 'value'>;

interface Looked {
  watchers: Set<(step: BreakerStep) => void>;
  inspection: Inspection | undefined;
  value: unknown;
}

export class BreakerWatch {
  readonly #looked = new Map<string, Looked>();

  /** Gives the state of now, and what ends it. */
  add(key: string, actor: Chart | undefined, watcher: (step: BreakerStep) => void) {
    const looked = this.#looked.get(key) ?? this.#look(key, actor);
    looked.watchers.add(watcher);
    return {
      value: looked.value,
      detach: () => {
        if (!looked.watchers.delete(watcher) || looked.watchers.size > 0) return;
        looked.inspection?.detach();
        this.#looked.delete(key);
      },
    };
  }

  started(key: string, actor: Chart): void {
    const looked = this.#looked.get(key);
    if (looked !== undefined) this.#inspect(looked, actor);
  }

  dropped(key: string): void {
    const looked = this.#looked.get(key);
    if (looked === undefined) return;
    looked.inspection?.detach();
    looked.inspection = undefined;
    if (looked.value !== CLOSED) tell(looked, { event: 'breaker.forgotten', edges: [], through: [], value: CLOSED });
  }

  #look(key: string, actor: Chart | undefined): Looked {
    const looked: Looked = { watchers: new Set(), inspection: undefined, value: CLOSED };
    this.#looked.set(key, looked);
    if (actor !== undefined) this.#inspect(looked, actor);
    return looked;
  }

  #inspect(looked: Looked, actor: Chart): void {
    looked.value = stepsOf(actor)[0]?.value ?? CLOSED;
    looked.inspection = inspectSystem(actor, (step) => {
      if (step.status === 'active') tell(looked, step);
    });
  }
}

function tell(looked: Looked, step: BreakerStep): void {
  looked.value = step.value;
  for (const watcher of [...looked.watchers]) watcher(step);
}
