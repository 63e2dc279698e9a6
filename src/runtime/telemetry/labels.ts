// How many values a label of a metric may have.

/** Distinct values of one label; further ones are counted together under `other`. */
const LABEL_VALUES_MAX = 200;

/** Lets a bounded number of values through; the rest become `other`. */
export function boundedLabel(): (value: string) => string {
  const seen = new Set<string>();
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= LABEL_VALUES_MAX) return 'other';
    seen.add(value);
    return value;
  };
}
