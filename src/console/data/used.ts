// Which providers or models the organisation has used lately: what was never used is neither good nor bad.
import type { UsageList } from '../../api/usage.ts';
import { useAnswer } from './answer.ts';

const DAYS = 90;
const DAY_MS = 86_400_000;

/** Undefined until it is known. */
export function useUsed(by: 'provider' | 'model'): ReadonlySet<string> | undefined {
  const from = new Date(Date.now() - DAYS * DAY_MS).toISOString().slice(0, 10);
  const { value } = useAnswer<UsageList>(`usage?from=${from}&group_by=${by}`);
  return value && new Set(value.data.map(({ group }) => group));
}
