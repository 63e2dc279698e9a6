// The order of the models that a request could go to: a pure function of what they cost, how they have been doing, and what matters to
// the request. Few measurements decide little: rates and delays are pulled towards what is usual.
import type { Preference } from '../../../api/choice.ts';
import type { Figures } from './measures.ts';

export interface Rankable {
  slug: string;
  provider: string;
  /** Epoch seconds: when the model came out. */
  created: number;
  /** With all that the request adds to it. */
  microUsdPerMinute: number;
  /** Its circuit breaker is open. */
  isOpen: boolean;
  /** Wishes of the request that it does not meet. */
  unmet: number;
  figures: Figures;
  /** Errors for each word, as the operator has measured; undefined without a measurement, and where it does not matter. */
  errorRate?: number | undefined;
}

/** What one candidate may have over the next. */
export type Criterion =
  | 'breaker'
  | 'wishes'
  | 'reliable'
  | 'measured'
  | 'accuracy'
  | 'failures'
  | 'delay'
  | 'price'
  | 'age'
  | 'name';

const ORDER: Readonly<Record<Preference, readonly Criterion[]>> = {
  reliability: ['breaker', 'wishes', 'failures', 'delay', 'price', 'age'],
  latency: ['breaker', 'wishes', 'reliable', 'delay', 'failures', 'price', 'age'],
  price: ['breaker', 'wishes', 'price', 'failures', 'delay', 'age'],
  accuracy: ['breaker', 'wishes', 'measured', 'accuracy', 'failures', 'delay', 'price', 'age'],
};

/** A model is expected to fail as often as this, with the weight of so many attempts. */
const EXPECTED_RATE = 0.03;
const EXPECTED_WEIGHT = 100;
/** Rates below it are alike, and so are those between it and twice, four times … as much. */
const RATE_STEP = 0.005;
/** Beyond it a model is not chosen for its speed. */
const UNRELIABLE_RATE = 0.1;

/** A delay has the weight of so many, in a model of which none is known. */
const USUAL_WEIGHT = 10;
const USUAL_MS = 1_000;
/** Delays within 19 % of each other are alike. */
const STEPS_PER_OCTAVE = 4;

/** Of words that are wrong: rates within 9 % of each other are alike, and so are all that are well below this. */
const WRONG_STEPS_PER_OCTAVE = 8;
const WRONG_LEAST = 0.005;

/** The best first. `over`: what each has over the next; undefined of the last. */
export function ranked<Candidate extends Rankable>(
  candidates: readonly Candidate[],
  preference: Preference,
): { candidate: Candidate; over: Criterion | undefined }[] {
  // Sums of floats depend on their order.
  const named = [...candidates].sort((one, other) => (one.slug < other.slug ? -1 : 1));
  const usual = usualDelays(named);
  const order = ORDER[preference];
  const rows = named.map((candidate) => ({ candidate, scores: scoresOf(candidate, usual) }));
  const differing = (one: Row, other: Row) => order.find((each) => one.scores[each] !== other.scores[each]);
  rows.sort((one, other) => {
    const criterion = differing(one, other);
    if (criterion === undefined) return one.candidate.slug < other.candidate.slug ? -1 : 1;
    return one.scores[criterion] - other.scores[criterion];
  });
  return rows.map((row, index) => {
    const next = rows[index + 1];
    return { candidate: row.candidate, over: next === undefined ? undefined : (differing(row, next) ?? 'name') };
  });
}

/** Less is better. */
type Scores = Readonly<Record<Criterion, number>>;
type Row = { candidate: Rankable; scores: Scores };

function scoresOf(candidate: Rankable, usual: UsualDelays): Scores {
  const { isOpen, unmet, figures, errorRate, microUsdPerMinute, created } = candidate;
  const rate = expectedRate(figures);
  return {
    breaker: isOpen ? 1 : 0,
    wishes: unmet,
    reliable: rate > UNRELIABLE_RATE ? 1 : 0,
    failures: Math.max(0, Math.floor(Math.log2(rate / RATE_STEP)) + 1),
    delay: Math.floor(usual.expected(candidate) * STEPS_PER_OCTAVE),
    measured: errorRate === undefined ? 1 : 0,
    accuracy: Math.floor(Math.log2((errorRate ?? 1) + WRONG_LEAST) * WRONG_STEPS_PER_OCTAVE),
    price: microUsdPerMinute,
    age: -created,
    name: 0,
  };
}

/** How often the next attempt is expected to fail. */
export const expectedRate = ({ attempts, failures }: Figures): number =>
  (failures + EXPECTED_RATE * EXPECTED_WEIGHT) / (attempts + EXPECTED_WEIGHT);

interface UsualDelays {
  /** As a logarithm of milliseconds. */
  expected(candidate: Rankable): number;
}

/** The delay of a model is expected to be like that of its provider's others, and these like that of all. */
function usualDelays(candidates: readonly Rankable[]): UsualDelays {
  const all = new Mean();
  const byProvider = new Map<string, Mean>();
  for (const { provider, figures } of candidates) {
    const mean = byProvider.get(provider) ?? new Mean();
    byProvider.set(provider, mean);
    all.add(figures);
    mean.add(figures);
  }
  const ofAll = all.towards(Math.log2(USUAL_MS));
  return {
    expected: ({ provider, figures }) => {
      const own = new Mean();
      own.add(figures);
      return own.towards(byProvider.get(provider)?.without(own).towards(ofAll) ?? ofAll);
    },
  };
}

/** Of logarithms of delays, each with its weight. */
class Mean {
  #sum = 0;
  #weight = 0;

  add({ delayMs, delays }: Figures): void {
    if (delayMs === undefined) return;
    this.#sum += Math.log2(delayMs) * delays;
    this.#weight += delays;
  }

  without(part: Mean): Mean {
    const rest = new Mean();
    rest.#sum = this.#sum - part.#sum;
    rest.#weight = this.#weight - part.#weight;
    return rest;
  }

  towards(usual: number): number {
    return (this.#sum + usual * USUAL_WEIGHT) / (this.#weight + USUAL_WEIGHT);
  }
}
