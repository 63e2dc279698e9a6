// Ceilings on spend of a key or an organisation: how they are checked and kept. What counts under them is the ledger's.
import { Value } from '@sinclair/typebox/value';
import { SpendCeilings } from '../../api/spend-ceiling-schema.ts';
import { CEILINGS_MAX, ceilingName, type SpendCeiling } from '../../api/spend-ceilings.ts';
import { StoreError } from '../../store/store-error.ts';

/** Null for none, an empty list too. @throws StoreError `invalid` */
export function checkedCeilings(value: unknown): readonly SpendCeiling[] | null {
  if (value === null) return null;
  if (!Value.Check(SpendCeilings, value))
    throw invalid(
      `Spend ceilings are a list of at most ${CEILINGS_MAX} objects such as {"usd": "10", "period": "day", "provider": "deepgram"}; the period is hour, day or month.`,
    );
  const names = value.map(ceilingName);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalid(`There are two spend ceilings for ${twice.replace(/^\//, 'all providers/')}.`);
  return value.length === 0
    ? null
    : value.map(({ usd, period, provider, only_up_to }) => ({
        ...{ usd, period, ...(provider && { provider }) },
        ...(only_up_to !== undefined && { only_up_to }),
      }));
}

const invalid = (message: string): StoreError => new StoreError('invalid', message);

export const ceilingsOf = (text: string | null): readonly SpendCeiling[] | null =>
  text === null ? null : (JSON.parse(text) as SpendCeiling[]);

export const textOfCeilings = (ceilings: readonly SpendCeiling[] | null): string | null =>
  ceilings === null ? null : JSON.stringify(ceilings);

/** The ledger, which counts what is spent and held under ceilings. */
export interface CeilingCounters {
  /** Replaces all of a key or organisation, in the caller's transaction. */
  replaceCeilings(scope: string, organisationId: string | null, ceilings: readonly SpendCeiling[]): void;
}
