// What came of the attempts at a model within ten minutes, by organisation: what one organisation sends may fail in any way, and says
// little of the model where others have used it as well.

/** Of one slot; those beyond it are counted together. */
const ORGANISATIONS_MAX = 100;
const OTHERS = '';
/** With so many attempts of others, the organisation with the most failures is left out. */
const EVIDENCE_MIN = 20;

/** `good`: it gave words, or its connection held. `error`: it failed. `empty`: it found no words, and another model found some. */
export type Outcome = 'good' | 'error' | 'empty';

export interface Counts {
  attempts: number;
  errors: number;
  empties: number;
}

export class Outcomes {
  readonly #of = new Map<string, Counts>();

  add(outcome: Outcome, organisationId: string = OTHERS): void {
    const name = this.#of.has(organisationId) || this.#of.size < ORGANISATIONS_MAX ? organisationId : OTHERS;
    const counts = this.#of.get(name) ?? { attempts: 0, errors: 0, empties: 0 };
    this.#of.set(name, counts);
    counts.attempts++;
    if (outcome === 'error') counts.errors++;
    else if (outcome === 'empty') counts.empties++;
  }

  /** All of them, without those of the organisation with the most failures where there is enough to judge by. */
  counted(): Counts {
    const all: Counts = { attempts: 0, errors: 0, empties: 0 };
    let worst: Counts | undefined;
    for (const counts of this.#of.values()) {
      all.attempts += counts.attempts;
      all.errors += counts.errors;
      all.empties += counts.empties;
      if (worst === undefined || failuresOf(counts) > failuresOf(worst)) worst = counts;
    }
    if (worst === undefined || failuresOf(worst) === 0 || all.attempts - worst.attempts < EVIDENCE_MIN) return all;
    return {
      attempts: all.attempts - worst.attempts,
      errors: all.errors - worst.errors,
      empties: all.empties - worst.empties,
    };
  }
}

export const failuresOf = ({ errors, empties }: Counts): number => errors + empties;
