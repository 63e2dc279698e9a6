// Which failures count against a model for every organisation. What one organisation sends may fail in any way: a file that makes a
// provider answer 404 or 500, an option that its account may not use, audio that ends a connection. So one organisation alone opens its
// own breaker only; the shared one opens when at least two met failures without a success in between. A request that the provider
// refuses for good (404 and the like) never counts: it may be the request's fault. A provider that could not be reached was sent
// nothing, and counts immediately.
import type { LegFailure } from '../../../../machines/events.ts';

export type CountedFailure = Pick<LegFailure, 'kind'> & Partial<LegFailure>;

/** There was no connection, so no part of the request can be the cause. */
const UNREACHED = 'unreachable';
/** Beyond these, failures count whoever met them. */
const ORGANISATIONS_MAX = 100;

/** The failures of one model since its last success. */
export class SharedFailures {
  readonly #failuresMax: number;
  /** Failures of each organisation. */
  readonly #met = new Map<string, number>();
  /** Organisations that met a failure which opens a breaker at once. */
  readonly #metUrgent = new Set<string>();
  #isCertain = false;

  constructor(failuresMax: number) {
    this.#failuresMax = failuresMax;
  }

  /** Whether the failures are evidence for every organisation. */
  get isShared(): boolean {
    return this.#isCertain || this.#met.size > 1;
  }

  /** @returns the failure as it counts for every organisation; undefined where it does not */
  count(organisationId: string | undefined, failure: CountedFailure): CountedFailure | undefined {
    if (organisationId === undefined || failure.code === UNREACHED) {
      this.#isCertain = true;
      return failure;
    }
    if (failure.lasting === true) return undefined;
    if (this.#met.size >= ORGANISATIONS_MAX) return failure;
    const before = this.#met.get(organisationId) ?? 0;
    this.#met.set(organisationId, before + 1);
    if (failure.kind === 'account' || failure.retryAfterMs !== undefined) {
      this.#metUrgent.add(organisationId);
      if (this.#metUrgent.size > 1) return failure;
    }
    return this.#isWithinShare(before) ? { kind: 'next' } : undefined;
  }

  /** One organisation brings about at most half of the failures that open a breaker. */
  #isWithinShare(before: number): boolean {
    return this.#failuresMax === 1 ? this.#met.size > 1 : before < Math.ceil(this.#failuresMax / 2);
  }
}
