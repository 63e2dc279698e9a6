// Ceilings on spend as people write them in a field: `100/day, deepgram:20/month`.
import { ceilingsIn, type SpendCeiling } from '../../api/spend-ceilings.ts';

/** Null for none. Throws an Error that says what is accepted. */
export function ceilingsOf(text: string): SpendCeiling[] | null {
  const ceilings = ceilingsIn(text);
  if (ceilings === undefined)
    throw new Error(
      'Spend ceilings are amounts in USD with a period, separated by commas: 100/day, deepgram:20/month. Each period has one for each provider.',
    );
  return ceilings.length === 0 ? null : ceilings;
}
