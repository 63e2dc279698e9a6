// Where a request may be processed. Separate from the schemas, whose library is more than code that works with a rule needs.

/**
 * `europe` is the European Economic Area with Switzerland, where a vendor promises no more than that; `self` is a machine of whoever
 * runs the gateway. Of `global` and `unknown` nothing is promised: no rule is kept by them.
 */
export const REGIONS = [
  'us',
  'ca',
  'br',
  'eu',
  'europe',
  'uk',
  'ch',
  'no',
  'in',
  'jp',
  'kr',
  'sg',
  'au',
  'za',
  'ae',
  'self',
] as const;
export type NamedRegion = (typeof REGIONS)[number];

/** What a request may ask for, and what its key and organisation ask for of all their requests. Null: anything. */
export interface DataResidencyRule {
  regions: readonly NamedRegion[] | null;
  retention: 'none' | null;
}

export const FREE_RULE: DataResidencyRule = { regions: null, retention: null };

export const isFree = ({ regions, retention }: DataResidencyRule): boolean => regions === null && retention === null;

export const isNamedRegion = (text: string): text is NamedRegion => (REGIONS as readonly string[]).includes(text);

/** What keeps to all of them. An empty list of regions is kept by nothing. */
export function strictest(rules: readonly DataResidencyRule[]): DataResidencyRule {
  return rules.reduce(
    (all, { regions, retention }) => ({
      regions:
        all.regions === null || regions === null
          ? (all.regions ?? regions)
          : all.regions.filter((each) => regions.includes(each)),
      retention: all.retention ?? retention,
    }),
    FREE_RULE,
  );
}

/** Regions separated by commas, each once; undefined where one is none. */
export function regionsIn(text: string): NamedRegion[] | undefined {
  const regions = [...new Set(text.split(',').map((region) => region.trim()))];
  return regions.every(isNamedRegion) ? regions : undefined;
}
