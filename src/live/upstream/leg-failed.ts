// A failure of a provider as an error, where it is thrown and not reported.
import type { LegFailure } from '../../../machines/events.ts';

/** A leg, or a request by HTTP, failed before it finished. */
export class LegFailed extends Error {
  override readonly name = 'LegFailed';
  readonly failure: LegFailure;

  constructor(failure: LegFailure) {
    super(failure.message);
    this.failure = failure;
  }
}
