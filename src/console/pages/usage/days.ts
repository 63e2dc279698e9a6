// The days of a month with what each cost, days without any use too.
import type { UsageList } from '../../../api/usage.ts';

export interface Day {
  /** `2026-01-31` */
  date: string;
  usd: number;
}

export function daysOf(month: string, rows: UsageList['data']): Day[] {
  const [year = 0, number = 0] = month.split('-').map(Number);
  const count = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return Array.from({ length: count }, (_, at) => {
    const date = `${month}-${String(at + 1).padStart(2, '0')}`;
    const ofDay = rows.filter(({ group }) => group === date);
    return { date, usd: ofDay.reduce((sum, { cost_usd }) => sum + Number(cost_usd), 0) };
  });
}
