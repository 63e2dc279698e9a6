// Has a session continue with a cheaper model of its chain once a ceiling on spend that leaves such models is reached: at the end of a
// turn after which what is held may not last for another, or at once if no more audio may be sent. It is a failover for which nothing
// has failed: audio without a final is sent again. Models that the ceiling does not leave are tried no more.

import type { Spending } from '../billing/spending.ts';
import type { Charts } from '../charts.ts';
import type { EventWriter } from '../event-writer.ts';
import type { Recovery } from '../recovery.ts';
import type { SessionDependencies, SessionOpening } from '../session-opening.ts';
import type { Turns } from '../turns/turns.ts';
import type { CurrentLeg } from './current-leg.ts';

export interface CheaperModelParts {
  charts: Pick<Charts, 'tell' | 'tellFailover' | 'streaming' | 'hearing' | 'unlinked' | 'mayTry'>;
  leg: Pick<CurrentLeg, 'hasSpareFor' | 'closeSpare'>;
  recovery: Pick<Recovery, 'takenOver'>;
  turns: Pick<Turns, 'open'>;
  spending: Pick<Spending, 'index' | 'leaves' | 'isCeilingNear' | 'continuing'>;
  events: Pick<EventWriter, 'becomingCheaper'>;
}

export class CheaperModel {
  readonly #opening: SessionOpening;
  readonly #dependencies: Pick<SessionDependencies, 'attempts'>;
  readonly #parts: CheaperModelParts;

  constructor(opening: SessionOpening, dependencies: Pick<SessionDependencies, 'attempts'>, parts: CheaperModelParts) {
    this.#opening = opening;
    this.#dependencies = dependencies;
    this.#parts = parts;
  }

  /** A turn has its final. */
  turnSettled(): void {
    const { spending, charts, turns } = this.#parts;
    if (spending.isCeilingNear && charts.streaming && !turns.open) this.#continue();
  }

  /** Nothing more may be sent. False where no model can take over. */
  starved(): boolean {
    const { charts } = this.#parts;
    // The next leg finds out for itself.
    if (charts.unlinked) return true;
    return charts.hearing && this.#continue();
  }

  #continue(): boolean {
    const { charts, leg, recovery, spending, events } = this.#parts;
    const { chain } = this.#opening;
    const index = this.#next();
    const member = index === undefined ? undefined : chain[index];
    if (index === undefined || member === undefined) return false;
    const barred = [...chain.keys()].filter((at) => !spending.leaves(at));
    // A leg at a model that costs too much would be returned to.
    if (!leg.hasSpareFor(member)) leg.closeSpare();
    recovery.takenOver();
    spending.continuing();
    events.becomingCheaper();
    charts.tellFailover({ type: 'members.bounded', index, barred });
    charts.tell({ type: 'session.bounded', index });
    return true;
  }

  /** The next of the chain that the ceiling leaves, or else the first one before it. */
  #next(): number | undefined {
    const { charts, spending } = this.#parts;
    const { chain } = this.#opening;
    const { breakers } = this.#dependencies.attempts;
    const left = [...chain.entries()].flatMap(([at, member]) => {
      const mayTry = at !== spending.index && spending.leaves(at) && charts.mayTry(at) && member.barred !== true;
      return mayTry && !breakers.isOpen(member) ? [at] : [];
    });
    return left.find((at) => at > spending.index) ?? left[0];
  }
}
